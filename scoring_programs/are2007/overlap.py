"""The overlap of two spans, and what overlaps best.

Source: ARE, "Evaluation metrics": overlap = length of the overlap / max(length of one, length of the other).
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator

from are2007.mentions import Mention


def overlap(one: Mention, other: Mention) -> float:
    """Common tokens over the tokens of the longer span, from 0 to 1 (exactly the same span)."""
    common = min(one[1], other[1]) - max(one[0], other[0])
    return max(common, 0) / max(one[1] - one[0], other[1] - other[0])


class ChainElements:
    """The elements of one chain, to be searched by place.

    Args:
        elements: spans, each once.
        pronouns: which spans of the gold are pronouns.
    """

    def __init__(self, elements: Collection[Mention], pronouns: Collection[Mention]) -> None:
        self.spans = sorted(elements)
        self.exact = set(elements)
        self.longest = max((end - start for start, end in elements), default=0)
        self.pronouns = pronouns

    def best(self, span: Mention, other_than: Mention) -> Mention | None:
        """The element, other than one, that overlaps `span` most; None where none does.

        Of equal overlaps one that is not a pronoun comes first, then the first of the text.
        """
        if span in self.exact and span != other_than:
            return span
        candidates = (element for element in self._overlapping(span) if element != other_than)
        return min(candidates, key=lambda e: (-overlap(span, e), e in self.pronouns, e), default=None)

    def _overlapping(self, span: Mention) -> Iterator[Mention]:
        start, end = span
        first = bisect_left(self.spans, (start - self.longest, 0))
        for element in self.spans[first : bisect_left(self.spans, (end, 0))]:
            if element[1] > start:
                yield element

"""Step 2: select pairs. The main scores take all of them; the alternate scores those of one event type.

Source: BioNLP-ST 2016, SeeDev, "Evaluation service": Filtering.
"""

from collections import defaultdict
from collections.abc import Iterable

from seedev2016.pairing import Pair


def by_type(pairs: Iterable[Pair]) -> dict[str, list[Pair]]:
    """The pairs of each event type, the types in alphabetical order."""
    of_type: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        of_type[pair.type].append(pair)
    return dict(sorted(of_type.items()))

"""Whether one column gives another one away, and by how much more than chance or a constant would."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from statistics import correlation
from typing import NamedTuple

from gen_bundle.ground.tables.values import as_numbers, number

Pairs = Counter[tuple[str, str]]
"""How often each gold value stands beside each public one."""
GOLD, PUBLIC = 0, 1  # places in a pair

# Values of a column of yes and no.
YES = frozenset(["1", "true", "t", "yes", "y"])
BITS = frozenset(["0", "1", "-1", "true", "false", "t", "f", "yes", "no", "y", "n"])
# How likely a chance agreement may be among all pairs of columns that are compared in a file.
DOUBT = -math.log(1e-3)
# A column shows the gold where it agrees for so many of its items, and for so much of what a constant does not get.
SHOWN, BEYOND_CONSTANT = 0.95, 0.9
SUSPECTED = 0.9
# So many items must agree that have not the most frequent label.
MINORITY = 3
# An example submission is the gold itself only if it has all its values, for nearly all items.
COVERED_BY_ANSWER = 0.9
DOUBTFUL = math.log(50)  # what agrees less clearly by this factor is suspected
MOST_BLANKS = 5
CORRELATED, EXACTLY = 0.99, 1 - 1e-6
FEW = 10


class Agreement(NamedTuple):
    """A column's relation to the gold.

    Attributes:
        how: in which form; empty for the gold's own values.
        items: for how many items.
        shown: whether that is beyond doubt; else it is suspected.
    """

    how: str
    items: int
    shown: bool


def agreement(pairs: Pairs, compared: int, runs: Pairs | None = None) -> Agreement | None:
    """Return how a public column gives a gold one away, if it does.

    Args:
        pairs: the items' values in both.
        compared: the number of pairs of columns that are compared, one of which may agree by chance.
        runs: the same with equal items in a row counted once, where rows are joined by their order alone: any two
            sorted columns agree.
    """
    evident = runs or pairs
    total = pairs.total()
    doubt = math.log(max(1, compared)) + DOUBT
    found = _same(pairs, evident, total, doubt) or _renamed(pairs, evident, total, doubt)
    return found or _numbers(pairs, total, doubt)


def repeats(pairs: Pairs, items: int) -> bool:
    """Return whether an example submission is the gold itself: all of its values right, for nearly all items."""
    total = pairs.total()
    counts = _counts(pairs, GOLD)
    minority = total - max(counts.values(), default=0)
    is_many = total >= COVERED_BY_ANSWER * items and minority >= MINORITY + 2
    is_same = _repeated(pairs).total() == total
    return is_same and is_many and no_chance(counts.values())


def right(shown: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return the answers that a column of yes and no beside them calls right: `id,predicted,correct`."""
    found: dict[str, list[str]] = {}
    for name, cells in shown.items():
        if len(set(cells)) == 2 and BITS.issuperset(cells):
            for other, answers in shown.items():
                if other != name:
                    pairs = zip(answers, cells, strict=True)
                    found[f"{other} and {name}"] = [answer if cell in YES else "" for answer, cell in pairs]
    return found


def _same(pairs: Pairs, evident: Pairs, total: int, doubt: float) -> Agreement | None:
    """The gold's own values."""
    same = _repeated(pairs).total()
    if same < SUSPECTED * total:
        return None
    right = _repeated(evident)
    if len(right) < 2 or right.total() - max(right.values()) < MINORITY:
        return None
    top = max(_counts(pairs, GOLD).values())
    if same - SUSPECTED * top <= SUSPECTED * (total - top):
        return None
    evidence = log_orders(right.values()) - (evident.total() - right.total()) * math.log(max(2, len(right)))
    if evidence <= doubt - DOUBTFUL:
        return None
    beyond = (same - top) / max(1, total - top)
    return Agreement("", same, same >= SHOWN * total and beyond >= BEYOND_CONSTANT and evidence > doubt)


def _renamed(pairs: Pairs, evident: Pairs, total: int, doubt: float) -> Agreement | None:
    """Labels under other names, each its own; or as yes and no."""
    golds, publics = _counts(pairs, GOLD), _counts(pairs, PUBLIC)
    is_bits = len(publics) == 2 and publics.keys() <= BITS
    fits = is_bits or len(publics) == len(golds) > 1
    if not fits or 2 * len(golds) > total or not all(_is_label(gold) for gold in golds):
        return None
    best: dict[str, tuple[int, str]] = {}
    for (gold, public), count in pairs.items():
        best[gold] = max(best.get(gold, (0, "")), (count, public))
    counts, names = zip(*best.values(), strict=True)
    agreeing, top = sum(counts), max(publics.values())
    if set(names) != publics.keys() or agreeing - max(counts) < MINORITY:
        return None
    choices = math.log(len(publics))
    evidence = log_orders(_counts(evident, PUBLIC).values()) - len(golds) * choices - (total - agreeing) * choices
    if evidence <= doubt or not _is_share(agreeing, top, total, SUSPECTED, SUSPECTED):
        return None
    how = "as yes and no" if len(publics) < len(golds) else "under other names"
    return Agreement(how, agreeing, _is_share(agreeing, top, total, SHOWN, BEYOND_CONSTANT))


def _is_share(agreeing: int, top: int, total: int, share: float, beyond: float) -> bool:
    """Whether enough items agree, of all and of those that a constant (right for `top`) does not get."""
    return agreeing >= share * total and agreeing - top >= beyond * (total - top)


def _is_label(gold: str) -> bool:
    """Whether a gold value is neither a list nor a text."""
    return not gold.startswith(("[", "{")) and gold.count(" ") <= MOST_BLANKS


def _numbers(pairs: Pairs, total: int, doubt: float) -> Agreement | None:
    """Gold numbers rounded or by a formula; or whatever can be told from the order of numbers."""
    if total < FEW:
        return None
    golds, publics = as_numbers(_counts(pairs, GOLD)), as_numbers(_counts(pairs, PUBLIC))
    if len(golds) > 4 and len(publics) > 4:
        found = _rounded(pairs, golds, publics, total, doubt) or _by_formula(pairs, golds, publics, total)
        if found:
            return found
    if publics and _tells_apart(pairs, publics, at=PUBLIC, doubt=doubt):
        return Agreement("by its order", total, False)
    if len(golds) > 4 and _tells_apart(pairs, golds, at=GOLD, doubt=doubt):
        return Agreement("in groups", total, False)
    return None


def _rounded(
    pairs: Pairs, golds: Mapping[str, float], publics: Mapping[str, float], total: int, doubt: float
) -> Agreement | None:
    decimals = max(len(cell.partition(".")[2]) for cell in publics)
    near = 0.5000001 * 10.0**-decimals
    right = Counter[str]()
    for (gold, public), count in pairs.items():
        if abs(golds[gold] - publics[public]) <= near:
            right[public] += count
    is_shown = right.total() >= SHOWN * total and len(right) > 4 and log_orders(right.values()) > doubt
    return Agreement("rounded", right.total(), True) if is_shown else None


def _by_formula(pairs: Pairs, golds: Mapping[str, float], publics: Mapping[str, float], total: int) -> Agreement | None:
    """Where a straight line leads from one to the other."""
    values = [(golds[gold], publics[public]) for gold, public in pairs.elements()]
    strength = abs(correlation(*zip(*values, strict=True)))
    if strength >= EXACTLY:
        return Agreement("by a formula", total, True)
    return Agreement(f"nearly (correlation {strength:.3f})", total, False) if strength >= CORRELATED else None


def _tells_apart(pairs: Pairs, numbers: Mapping[str, float], *, at: int, doubt: float) -> bool:
    """Whether the other column's few values follow each other without mixing once it is sorted by numbers."""
    labels = _counts(pairs, 1 - at)
    if not 2 <= len(labels) <= FEW or len(numbers) < 2 * len(labels) or min(labels.values()) < MINORITY:
        return False
    in_order = sorted(pairs, key=lambda pair: (numbers[pair[at]], pair[1 - at]))
    return _in_groups([pair[1 - at] for pair in in_order], doubt)


def follows_order(column: Sequence[str]) -> bool:
    """Return whether items that come one after another are sorted by their gold."""
    counts = Counter(column)
    if 2 <= len(counts) <= FEW and min(counts.values()) >= MINORITY:
        return _in_groups(column, DOUBT)
    values = [value for cell in column if (value := number(cell)) is not None]
    if len(values) < len(column) or len(counts) < FEW:
        return False
    return values == sorted(values) or all(one > other for one, other in pairwise(values))


def _in_groups(column: Sequence[str], doubt: float) -> bool:
    """Whether equal values stand together, beyond doubt."""
    counts = Counter(column)
    groups = len(list(groupby(column)))
    return groups == len(counts) and log_orders(counts.values()) - math.lgamma(len(counts) + 1) > doubt


def _counts(pairs: Pairs, at: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for pair, count in pairs.items():
        found[pair[at]] += count
    return found


def _repeated(pairs: Pairs) -> Counter[str]:
    """How often each gold value stands beside itself."""
    found: Counter[str] = Counter()
    for (gold, public), count in pairs.items():
        if gold == public:
            found[gold] += count
    return found


def no_chance(counts: Iterable[int]) -> bool:
    """Return whether values that occur so often stand in one order of so many that it is not by chance."""
    return log_orders(counts) > DOUBT


def log_orders(counts: Iterable[int]) -> float:
    """Return the logarithm of in how many orders values that occur so often can be written: n! / (m1! m2! …)."""
    taken = list(counts)
    return math.lgamma(sum(taken) + 1) - sum(math.lgamma(count + 1) for count in taken)

"""Known ids and gold labels that occur together in a file: record by record, and column by column."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gen_bundle.check.leaks.gold import Gold
from gen_bundle.check.leaks.nested import NestedRecord
from gen_bundle.check.leaks.records import plain
from gen_bundle.check.leaks.tables import WIDEST

# A file whose records name known ids leaks their labels when (nearly) all records agree with the gold.
AGREEMENT = 0.95
# Numbers are known ids by chance more often than names are: more of them must agree.
ENOUGH_TIES, ENOUGH_NUMBERS = 3, 10
DISTINCTIVE_ID = 4
# A column that repeats ids more often than this does not hold ids; the first few repetitions are ignored.
REPEATED, FORGIVEN = 0.05, 20


@dataclass
class Ties:
    """What a file shows about known ids.

    Attributes:
        named: records that give a known id some label.
        agreeing: those among them whose label is the gold one.
        tied: the different ids that got their gold label.
        labels: the gold labels given.
        numbers: whether all of these ids are numbers.
        pair: whether an agreeing record is just an id and its label, and not two small numbers.
    """

    named: int = 0
    agreeing: int = 0
    tied: int = 0
    labels: set[str] = field(default_factory=set)
    numbers: bool = True
    pair: bool = False

    @property
    def perfect(self) -> bool:
        """Whether every label given is the gold one."""
        return 0 < self.agreeing == self.named

    @property
    def nearly_perfect(self) -> bool:
        """Whether so many are the gold ones that the others may be noise."""
        return 0 < self.agreeing >= AGREEMENT * self.named

    @property
    def several(self) -> bool:
        """Whether the agreement is more than a coincidence or a constant."""
        return self.tied >= ENOUGH_TIES and len(self.labels) > 1

    def add(self, gold: Gold, item: str, given: set[str], *, new: bool) -> bool:
        """Note the labels that a record gives an id, `new` if it is the first one; returns whether they are gold."""
        self.named += 1
        if not given <= gold.labels[item]:
            return False
        self.agreeing += 1
        self.tied += new
        self.labels |= given
        self.numbers &= item.isdigit()
        return True


class RecordTies(Ties):
    """Ties of whole records: the first known id of each, and all labels in it."""

    def __init__(self) -> None:
        super().__init__()
        self._ids: set[str] = set()

    def look(self, gold: Gold, record: list[str]) -> None:
        """Look at one record, whose cells are plain."""
        item = next((cell for cell in record if cell in gold.labels), None)
        given = {cell for cell in record if cell in gold.vocabulary and cell != item}
        if item is None or not given or not self.add(gold, item, given, new=item not in self._ids):
            return
        self._ids.add(item)
        two_numbers = item.isdigit() and all(label.isdigit() for label in given)
        self.pair |= len(record) == 2 and len(item) >= DISTINCTIVE_ID and not two_numbers


class ColumnTies:
    """Ties of each two columns, one of ids and one of labels, whatever the others hold."""

    def __init__(self) -> None:
        self._ids: dict[int, set[str]] = defaultdict(set)
        self._repeated: Counter[int] = Counter()
        self._ties: dict[tuple[int, int], Ties] = defaultdict(Ties)

    def look(self, gold: Gold, record: list[str]) -> None:
        """Look at one record, whose cells are plain."""
        labels = [(place, cell) for place, cell in enumerate(record[:WIDEST]) if cell in gold.vocabulary]
        if not labels:
            return
        for place, item in enumerate(record[:WIDEST]):
            if item not in gold.labels or not self._is_of_ids(place):
                continue
            if item in self._ids[place]:
                self._repeated[place] += 1
                continue
            self._ids[place].add(item)
            for other, label in labels:
                if other != place:
                    self._ties[place, other].add(gold, item, {label}, new=True)

    def _is_of_ids(self, place: int) -> bool:
        return self._repeated[place] <= FORGIVEN + REPEATED * len(self._ids[place])

    def found(self) -> Iterator[Ties]:
        """The ties of the columns that may be of ids, where there are enough of them."""
        for (place, _), ties in self._ties.items():
            if self._is_of_ids(place) and ties.tied >= (ENOUGH_NUMBERS if ties.numbers else ENOUGH_TIES):
                yield ties


def ties_of(
    gold: Gold, records: Iterable[list[str]], nested: Iterable[NestedRecord], rows: Iterable[list[str]]
) -> tuple[list[Ties], list[Ties]]:
    """The ties in a file's records as a whole, flat and nested, and those of its columns.

    `records`, `nested` and `rows` are what `records`, `nested_records` and `rows` of this folder read of the file.
    """
    whole, inner, columns, table = RecordTies(), RecordTies(), ColumnTies(), ColumnTies()
    for record in records:
        cells = [plain(cell) for cell in record]
        whole.look(gold, cells)
        columns.look(gold, cells)
    for single, listed in nested:
        cells = [plain(cell) for cell in single]
        if len({cell for cell in cells if cell in gold.labels}) == 1:  # else it holds several items
            inner.look(gold, [*cells, *map(plain, listed)])
    for row in rows:
        table.look(gold, [plain(cell) for cell in row])
    return [whole, inner], [*columns.found(), *table.found()]

"""A competition's tables, as bundle.yaml declares them: file, key, rows and fields.

Runs on Python 3.9 with the standard library alone, because participants run it at home.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any, Collection, Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

from scoring_kit.base.field_types import Field
from scoring_kit.base.row_files import File

Key = Tuple[str, ...]
LINE = "line"
"""As a part of a key of several: the number of a row within its file."""


@dataclass(frozen=True)
class Table:
    """One table of a submission and its gold.

    Attributes:
        id: name of the table; `table` where the competition has a single one.
        file: the participants' file, or files.
        key: names of the fields that identify a row.
        by_line: whether row n answers row n of the gold, so that no file holds the key.
        numbers_rows: whether a part of the key is the number of the row within its file, from 1.
        many: whether a key may have any number of rows.
        reject_missing: whether a key without a row is an error; else it is an empty answer.
        ignores_unknown: whether rows of keys that the gold lacks are left out; else they are errors.
        fields: all fields, those of the key included.
        gold: the organisers' file, or files, in each phase's folder.
        gold_keys: a table of all keys, for gold with many rows or in files; None where the gold holds every key.
        skips_empty: whether a key whose gold cell is empty is left out of the metrics that read it.
        cluster: the gold column of rows that stay together when results are resampled; None: each key by itself.
        unit: what a key, or such a cluster, is called in the singular.
        distinct: with many rows, the field that must not repeat for a key, because a ranking names each item once.
        all_items: whether every item that the gold judges must be ranked.
        public: the columns of the gold that participants may have.
    """

    id: str
    file: File
    key: Tuple[str, ...]
    by_line: bool
    numbers_rows: bool
    many: bool
    reject_missing: bool
    ignores_unknown: bool
    fields: Tuple[Field, ...]
    gold: File
    gold_keys: Optional[File] = None
    skips_empty: bool = False
    cluster: Optional[str] = None
    unit: str = "row"
    distinct: Optional[str] = None
    all_items: bool = False
    public: Sequence[str] = ()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Table":
        """Make a table of its JSON object, as bundle.yaml's reader writes it into the options."""
        given = dict(data)
        given["key"] = tuple(data["key"])
        given["fields"] = tuple(Field.from_dict(field) for field in data["fields"])
        for name in ("file", "gold", "gold_keys"):
            given[name] = data[name] and File(**data[name])
        return cls(**given)

    @cached_property
    def key_fields(self) -> List[Field]:
        """The fields of the key; a key must be there and is never blank."""
        return [self.by_name.get(name) or Field(name, "string") for name in self.key]

    @cached_property
    def by_name(self) -> Dict[str, Field]:
        """The fields by their names."""
        return {field.name: field for field in self.fields}

    @property
    def listing(self) -> File:
        """The organisers' file that has every key, with columns of its own."""
        return self.gold_keys or self.gold

    @property
    def holds_files(self) -> bool:
        """Whether a value is a file, so that there are no rows."""
        return bool(self.file.files)

    @property
    def libraries(self) -> Set[str]:
        """The packages that read its arrays."""
        if not self.holds_files and not self.gold.files:
            return set()
        from scoring_kit.base.array_heads import LIBRARIES

        parts = [*self.file.parts, *self.gold.parts]
        return {LIBRARIES[str(part.format)] for part in parts if part.format in LIBRARIES}

    @property
    def counts_lines(self) -> bool:
        """Whether the place of a row in its file says which it is, so that blank lines count."""
        return self.by_line or self.numbers_rows

    @property
    def answers(self) -> List[Field]:
        """The fields that are not part of the key."""
        return [field for field in self.fields if field.name not in self.key]

    @property
    def only_answer(self) -> Optional[Field]:
        """The one field that is no key, which a JSON value may be by itself; None if there are several."""
        return self.answers[0] if len(self.answers) == 1 else None

    def key_in(self, file: File) -> List[Field]:
        """Return the fields of the key that the rows of a file hold: neither its name nor their number says them."""
        if self.by_line:
            return []
        elsewhere = {file.named_by, LINE} if self.numbers_rows else {file.named_by}
        return [field for field in self.key_fields if field.name not in elsewhere]

    def canonical(self, key: Key) -> Key:
        """Return a key as it is compared: after aliases and case."""
        if not self.folds_keys:
            return key
        return tuple([field.canonical(key[at]) for at, field in enumerate(self.key_fields)])

    @cached_property
    def folds_keys(self) -> bool:
        """Whether keys of different spelling may be the same."""
        return any(field.aliases or field.case == "ignore" for field in self.key_fields)

    def positions(self, keys: Iterable[Key]) -> Dict[Key, int]:
        """Key, as it is compared, → its position."""
        return dict(zip(self.compared(keys), count()))

    def compared(self, keys: Iterable[Key]) -> Iterable[Key]:
        """Keys as they are compared; most are so already."""
        return map(self.canonical, keys) if self.folds_keys else keys

    def field(self, name: str) -> Field:
        return self.by_name[name]


def fields_by_task(table: Table, options: Mapping[str, Any]) -> Dict[str, Set[str]]:
    """Task → the answers in the table that its metrics read; an own function reads all. Only tasks that read any."""
    answers = set(table.by_name).difference(table.key)
    found: Dict[str, Set[str]] = {}
    for task, columns in options["metrics"].items():
        for metric in columns.values():
            if table.id in tables_read(metric):
                read = found.setdefault(task, set())
                read |= answers if metric["file"] else answers.intersection(metric["fields"])
    return found


def tables_read(metric: Mapping[str, Any]) -> Sequence[str]:
    """Return the tables that a metric reads: the one, or the several of an own function."""
    several: Sequence[str] = metric.get("tables") or [metric["table"]]
    return several


def fields_of_tasks(table: Table, options: Mapping[str, Any], tasks: Collection[str]) -> Tuple[Field, ...]:
    """Return the fields that a submission to these tasks answers: all but those that only other tasks' metrics read.

    Columns without names, which are told by their places, are all there in every submission.
    """
    if table.file.columns is not None:
        return tuple(table.answers)
    own: Set[str] = set()
    others: Set[str] = set()
    for task, names in fields_by_task(table, options).items():
        (own if task in tasks else others).update(names)
    return tuple(field for field in table.answers if field.name in own or field.name not in others)


def tasks_left_out(table: Table, read: Mapping[str, Set[str]], there: Collection[str]) -> Set[str]:
    """Return the tasks that a file with the columns `there` does not enter, of those in `read` (see `fields_by_task`).

    A task is left out where every column that only it needs is absent; a file with no answer at all enters all of
    them, so that what it lacks is named.
    """
    required = {field.name for field in table.answers if field.required}
    is_answered = False
    whole: Set[str] = set()
    covered: Set[str] = set()
    for task, names in read.items():
        if names and names.isdisjoint(there):
            continue
        is_answered = True
        if names.intersection(required).issubset(there):
            whole.add(task)
            covered |= names
    if not is_answered:
        return set()
    return {task for task, names in read.items() if task not in whole and not (names - covered).intersection(there)}


def tables_of(options: Mapping[str, Any]) -> Dict[str, Table]:
    """Return the tables in the options of a declared competition, by id."""
    return {data["id"]: Table.from_dict(data) for data in options["tables"]}

"""What a competition's tables are, as bundle.yaml declares them: file, key, rows and fields.

Runs on Python 3.9 with the standard library alone, because participants run it at home.
"""

from dataclasses import dataclass
from typing import Any, Collection, Dict, List, Mapping, Optional, Sequence, Set, Tuple

from declared.fields import Field

Key = Tuple[str, ...]
SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".txt")


@dataclass(frozen=True)
class File:
    """A file of rows, and how it is read.

    Attributes:
        name: its name, whose suffix says what it is.
        quoting: rfc4180, or none where cells are not quoted.
        delimiter: what separates cells, where that is not the suffix's own.
        columns: the names of its columns, in order, where it has no header line.
        skip: so many lines at its beginning are not read.
    """

    name: str
    quoting: str = "rfc4180"
    delimiter: Optional[str] = None
    columns: Optional[Sequence[str]] = None
    skip: int = 0

    @property
    def suffix(self) -> str:
        """The part of the name from its last dot on, in lower case; lines with a delimiter are a table."""
        suffix = "." + self.name.rpartition(".")[2].lower()
        return ".csv" if suffix == ".txt" and self.delimiter else suffix

    @property
    def separator(self) -> str:
        """What separates the cells of a table."""
        return self.delimiter or ("\t" if self.suffix == ".tsv" else ",")


@dataclass(frozen=True)
class Table:
    """One table of a submission and its gold.

    Attributes:
        id: name of the table; `table` where the competition has a single one.
        file: the participants' file.
        key: names of the fields that identify a row; empty where line n answers line n of the gold.
        many: whether a key may have any number of rows.
        reject_missing: whether a key without a row is an error; else it is an empty answer.
        fields: all fields, those of the key included.
        gold: the organisers' file, in each phase's folder.
        gold_keys: a table of all keys, for gold with many rows; None where the gold holds every key.
        cluster: the gold column of rows that stay together when results are resampled; None: each key by itself.
        unit: what a key, or such a cluster, is called in the singular.
        distinct: with many rows, the field that must not repeat for a key, because a ranking names each item once.
    """

    id: str
    file: File
    key: Tuple[str, ...]
    many: bool
    reject_missing: bool
    fields: Tuple[Field, ...]
    gold: File
    gold_keys: Optional[File] = None
    cluster: Optional[str] = None
    unit: str = "row"
    distinct: Optional[str] = None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Table":
        keys = data.get("gold_keys")
        return cls(
            id=data["id"],
            file=File(**data["file"]),
            key=tuple(data["key"]),
            many=data["many"],
            reject_missing=data["reject_missing"],
            fields=tuple(Field.from_dict(field) for field in data["fields"]),
            gold=File(**data["gold"]),
            gold_keys=File(**keys) if keys else None,
            cluster=data.get("cluster"),
            unit=data.get("unit", "row"),
            distinct=data.get("distinct"),
        )

    @property
    def key_fields(self) -> List[Field]:
        """The fields of the key; a key must be there and is never blank."""
        named = {field.name: field for field in self.fields}
        return [named.get(name) or Field(name, "string") for name in self.key]

    @property
    def answers(self) -> List[Field]:
        """The fields that are not part of the key."""
        return [field for field in self.fields if field.name not in self.key]

    @property
    def only_answer(self) -> str:
        """The name of the one field that is no key, which a JSON value may be by itself; empty if there are several."""
        return self.answers[0].name if len(self.answers) == 1 else ""

    def field(self, name: str) -> Field:
        return next(field for field in self.fields if field.name == name)


def fields_by_task(table: Table, options: Mapping[str, Any]) -> Dict[str, Set[str]]:
    """Task → the answers in the table that its metrics read; an own function reads all. Only tasks that read any."""
    answers = {field.name for field in table.answers}
    found: Dict[str, Set[str]] = {}
    for task, columns in options["metrics"].items():
        for metric in columns.values():
            if metric["table"] == table.id:
                read = answers if metric["file"] else answers.intersection(metric["fields"])
                found.setdefault(task, set()).update(read)
    return found


def fields_of_tasks(table: Table, options: Mapping[str, Any], tasks: Collection[str]) -> Tuple[Field, ...]:
    """The fields that a submission to these tasks answers: all but those that only other tasks' metrics read.

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
    """The tasks that a file with the columns `there` does not enter, of those in `read` (see `fields_by_task`).

    A task is left out where every column that only it needs is absent; a file with no answer at all enters all of
    them, so that what it lacks is named.
    """
    required = {field.name for field in table.answers if field.required}
    answered = {task for task, names in read.items() if names.intersection(there) or not names}
    whole = {task for task in answered if read[task].intersection(required).issubset(there)}
    covered = {name for task in whole for name in read[task]}
    if not answered:
        return set()
    return {task for task, names in read.items() if task not in whole and not (names - covered).intersection(there)}


def tables_of(options: Mapping[str, Any]) -> Dict[str, Table]:
    """The tables in the options of a declared competition, by id."""
    return {data["id"]: Table.from_dict(data) for data in options["tables"]}

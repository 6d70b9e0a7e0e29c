"""Whether the tables that participants get hold the ids of the gold: what is answered by one list is scored by another.

A table is an input where it has the key's columns and not all of the answers'. All is well where the inputs of a phase
have exactly the gold's ids, together or one of them, whatever others hold; ids of other phases may be among them, and
an id may be the name of a file. Where that is not so, the closest table of the phase's own folder is the mistake.
Tables without any of the ids are other data, and so are those with twice as many, of which there is only a remark.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from declared.answers import named_key
from declared.reference import GoldTable, gold_keys
from declared.rows import column_names, read_rows
from declared.tables import Key, Table
from scoring_kit.base.field_types import json_text
from scoring_kit.base.row_files import File
from scoring_kit.errors import Problems, first_of

TABLES = (".csv", ".tsv", ".json", ".jsonl")
SHEETS = (".xlsx", ".xls", ".ods", ".parquet", ".feather", ".db", ".sqlite")
MAY_HOLD_TABLES = (*SHEETS, ".zip", ".gz", ".bz2", ".xz", ".tar")
LARGEST = 200_000_000
"""Larger files, in bytes, are not read."""
IDS_SHOWN = 5


@dataclass(frozen=True)
class Input:
    """A table that participants get: its place, the id of each row, and whether it belongs to the phase alone."""

    name: str
    rows: Sequence[Key]
    own: bool

    @cached_property
    def ids(self) -> frozenset[Key]:
        return frozenset(self.rows)


@dataclass(frozen=True)
class Given:
    """The files that participants get with a phase.

    Attributes:
        own: the paths of those of the phase's own folders, by their names.
        common: those that all phases have.
        phases: the folders of all phases' gold.
    """

    own: Mapping[str, str]
    common: Mapping[str, str]
    phases: Sequence[str]

    @property
    def named(self) -> frozenset[Key]:
        """The files' names without their endings, each of which may be an id."""
        return frozenset((Path(name).stem,) for name in (*self.own, *self.common))


def differences(given: Given, golds: Mapping[str, GoldTable]) -> Iterator[tuple[bool, str]]:
    """(whether it is a mistake, what differs) of each table's gold and the inputs to it."""
    for gold in golds.values():
        in_order = list(gold.table.compared(gold.keys))
        inputs = list(_inputs(given, gold.table))
        if in_order in [one.rows for one in inputs]:
            continue  # most often so, and then neither other tables nor the gold of other phases need be looked at
        keys = frozenset(in_order)
        of_others = [frozenset(other.keys) for other in golds.values()]
        found: list[Input] = []
        strange: list[Input] = []
        for one in inputs:
            if one.ids not in of_others:
                kind = strange if one.ids.isdisjoint(keys) else found
                kind.append(one)
        if keys <= given.named | _within(keys, found):
            continue
        of_phases = keys.union(*(gold_keys(Path(folder), gold.table) for folder in given.phases))
        explained = _within(of_phases, found)
        if keys <= given.named | explained:
            continue
        if found:
            yield from _differing(found, explained, keys, of_phases, gold.table, given)
        else:
            yield from _strange(strange, gold.table)


def _within(known: frozenset[Key], inputs: Sequence[Input]) -> frozenset[Key]:
    """The ids of the inputs that have no others than the known ones."""
    return frozenset[Key]().union(*(one.ids for one in inputs if one.ids <= known))


def _strange(inputs: Sequence[Input], table: Table) -> Iterator[tuple[bool, str]]:
    """A remark on each of the phase's own inputs, none of which has an id of the gold."""
    for one in inputs:
        if one.own:
            what = f"none of its {len(one.ids)} {', '.join(table.key)} is in {table.listing.name}"
            yield False, f"{one.name}: {what}."


def _differing(
    found: Sequence[Input],
    explained: frozenset[Key],
    keys: frozenset[Key],
    of_phases: frozenset[Key],
    table: Table,
    given: Given,
) -> Iterator[tuple[bool, str]]:
    closest = max(found, key=lambda one: (one.own, len(one.ids & keys) / len(one.ids | keys)))
    further, lacking = closest.ids - of_phases, keys - closest.ids - explained
    if table.ignores_unknown:  # so that there may be more to answer than is scored
        further = frozenset()
    unread = any(name.lower().endswith(MAY_HOLD_TABLES) for name in (*given.own, *given.common))
    is_mistake = closest.own and not unread and len(further) <= len(keys)
    ids, gold = ", ".join(table.key), table.listing.name
    parts = []
    if further:
        parts.append(f"{len(further)} of its {len(closest.ids)} {ids} are not in {gold}: {_first(further)}")
    if lacking and not _mentioned(lacking, given):
        what = f"{len(lacking)} of the {len(keys)} in {gold} are in no table that participants get"
        parts.append(f"{what}: {_first(lacking)}")
    if parts and (closest.own or not further):
        expected = f"the same {ids} in both, or beside other data a table of exactly those that are scored"
        yield is_mistake, f"{closest.name}: {'; '.join(parts)}. Expected {expected}."


def _inputs(given: Given, table: Table) -> Iterator[Input]:
    for files, own in ((given.own, True), (given.common, False)):
        for name, file in files.items():
            path = Path(file)
            if path.suffix.lower() not in TABLES or path.stat().st_size > LARGEST:
                continue
            rows = _rows(path, table)
            if rows:
                yield Input(name, rows, own)


def _rows(path: Path, table: Table) -> list[Key]:
    """The id of each row of a table; none where it cannot be read, or is no input."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return []
    for quoting in ("rfc4180", "none"):
        file, problems = File(path.name, quoting=quoting, names=table.file.names), Problems()
        if not _is_input(text, file, table):
            return []
        as_input = replace(table, by_line=False, file=file)
        found = read_rows(text, path.name, file, table.key_fields, as_input, problems)
        keys = []
        for _, row in found.rows:
            key = _key(row)
            if key is not None:
                keys.append(key)
        if not problems.found:
            return list(table.compared(keys))
    return []


def _is_input(text: str, file: File, table: Table) -> bool:
    """Whether a table has the key's columns, or is an object by keys, and has not all of the answers' columns."""
    names = set(column_names(text, file))
    answers = file.cells(table.answers)
    if answers and names.issuperset(answers):
        return False
    if file.suffix == ".json" and len(table.key) == 1 and text.lstrip().startswith("{"):
        return True
    return names.issuperset(file.cells(table.key_fields))


def _key(values: Sequence[object]) -> Key | None:
    parts = []
    for value in values:
        text = json_text(value)
        if not isinstance(text, str) or not text.strip():
            return None
        parts.append(text.strip())
    return tuple(parts)


def _mentioned(keys: Collection[Key], given: Given) -> bool:
    """Whether all ids occur in some other file that participants get."""
    wanted = {key[0].encode() for key in keys if len(key) == 1}
    if len(wanted) < len(keys):
        return False
    for name in (*given.own.values(), *given.common.values()):
        path = Path(name)
        if path.stat().st_size <= LARGEST and path.suffix.lower() not in TABLES:
            content = path.read_bytes()
            wanted = {one for one in wanted if one not in content}
    return not wanted


def _first(keys: Collection[Key]) -> str:
    return first_of(sorted(keys), IDS_SHOWN, named_key, "; ")

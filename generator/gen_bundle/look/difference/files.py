"""Differences in programs and data: what their settings and items say first, then which files differ.

Of a data file it is said how many items came, went or changed; never which, and nothing of what they hold.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from gen_bundle.check.bundle import Bundle, once_a_bundle, read_program_json
from gen_bundle.codabench.competition import DataUse
from gen_bundle.codabench.reading import as_text
from gen_bundle.codabench.runnable import PROGRAM_JSON
from gen_bundle.ground.tables.any_file import json_value, lines, rows
from gen_bundle.ground.yaml_document import MAX_METADATA_BYTES
from gen_bundle.ground.zips.tree import Node, sha256_of
from gen_bundle.look.difference.changes import (
    Difference,
    Effect,
    Named,
    changed_settings,
    paired,
    phases_named,
    tasks_named,
    whole_item,
)
from scoring_kit.base.field_types import Field
from scoring_kit.base.row_files import File
from scoring_kit.base.scoring_keys import NOT_SCORING, columns_read
from scoring_kit.base.submissions import is_junk
from scoring_kit.base.texts import counted

ROLES = {
    "scoring_program": ("programs", Effect.RERUN),
    "ingestion_program": ("programs", Effect.RERUN),
    "reference_data": ("reference data", Effect.RERUN),
    "input_data": ("input data", Effect.RERUN),
    "public_data": ("public data", Effect.SHOWN),
    "starting_kit": ("starting kits", Effect.SHOWN),
    "solution": ("solutions", Effect.SHOWN),
}
SHOWN_FILES = 20
Files = Mapping[str, Node]
Key = tuple[str, ...]
"""Names of columns or fields."""
Place = tuple[str, ...]
"""Where something is in program.json; entries of lists by their `id` or `key`."""


def file_changes(old: Bundle, new: Bundle) -> Iterator[Difference]:
    """Yield every program and data file of the tasks, the phases and the solutions."""
    for named in (tasks_named, phases_named):
        for before, after in paired(named(old.competition), named(new.competition)):
            if before is None or after is None:
                continue  # a whole task or phase came or went, which is said where it belongs
            for role in dict.fromkeys([*before.files, *after.files]):
                yield from use_changes(role, after.name, old, before.files.get(role), new, after.files.get(role))
    part, effect = ROLES["solution"]
    for before, after in paired(_solutions(old), _solutions(new)):
        if before is None or after is None:
            yield whole_item(part, (after or before)[0], after is not None, effect)
        else:
            yield from use_changes("solution", after[0], old, before[1], new, after[1])


def _solutions(bundle: Bundle) -> list[Named]:
    """The solutions, each recognised by its name, then by that of its file or its key, then by its place."""
    uses: list[DataUse] = [*bundle.competition.solutions]
    for entry in bundle.entries("solutions"):
        if "key" in entry.value:
            uses.append(DataUse((*entry.at, "key"), "solution", entry.get("key"), ()))
    found = []
    for place, one in enumerate(uses):
        file = PurePosixPath(str(one.path)).stem
        name = as_text(bundle.mapping(one.at[:-1]).get("name")) or ""
        found.append(Named((name, file, place), (name or file, one)))
    return found


def use_changes(
    role: str, name: str, old: Bundle, before: DataUse | None, new: Bundle, after: DataUse | None
) -> Iterator[Difference]:
    """Yield the differences of one program or data in a task, phase or solution of that name."""
    part, effect = ROLES[role]
    item = name
    if part == "programs":
        item = f"{name}: {role.replace('_', ' ')}"
    if before is None or after is None:
        yield whole_item(part, item, after is not None, effect)
        return
    one, other = packed_files(old, before), packed_files(new, after)
    if one is None or other is None:
        if (one is None) != (other is None) or not _is_same(old.find(before.path), before, new.find(after.path), after):
            yield Difference(part, item, "path", effect, str(before.path), str(after.path))
        return
    if part in ("programs", "starting kits"):
        yield from _program_changes(part, item, effect, one, other)
    else:
        yield from _data_changes(part, item, effect, one, other, [*_tables_read(new), *_tables_read(old)])


def _is_same(old: object, before: DataUse, new: object, after: DataUse) -> bool:
    """Whether what cannot be unpacked is the same: by its bytes, or by its path where a site has not given them."""
    if isinstance(old, Node) and isinstance(new, Node):
        return sha256_of(old) == sha256_of(new)
    return str(before.path) == str(after.path)


def packed_files(bundle: Bundle, use: DataUse | None) -> Files | None:
    """Return the files of a program or data, by name; None where its path leads to nothing that can be unpacked."""
    unpacked = bundle.unpacked(use)
    if unpacked is None or unpacked.form in ("no zip", "server"):
        return None
    return {name: node for name, node in unpacked.tree.files() if not is_junk(name)}


def _program_changes(part: str, item: str, effect: Effect, old: Files, new: Files) -> Iterator[Difference]:
    """The settings of a program of ours first, one by one; then the command, and which files differ."""
    said: set[str] = set()
    settings: list[tuple[Place, str | None, str | None]] = []
    before, after = read_program_json(old.get(PROGRAM_JSON)), read_program_json(new.get(PROGRAM_JSON))
    if before and after:
        with suppress(RecursionError):  # nested too deeply for anything of ours
            settings = list(_json_changes(before, after, ()))
            said.add(PROGRAM_JSON)
    for place, one, other in settings:
        if place == ("code",):
            continue  # the digest of the files, which are compared themselves
        becomes = effect
        if effect is Effect.RERUN and _keeps_scores(place, other):
            becomes = Effect.KEEP
        yield Difference(part, item, ".".join(place), becomes, one, other)
    yield from changed_settings(part, item, {"command": (_command(old), effect)}, {"command": (_command(new), effect)})
    if _command(old) != _command(new):
        said |= {"metadata.yaml", "metadata"}
    yield from _changed_files(part, item, effect, old, new, leave=said)


def _keeps_scores(place: Place, new: str | None) -> bool:
    """Whether a setting of ours changes no score that is written: one that scoring does not read, or a column less.

    A column that the platform computes is none that is written.
    """
    if place[:2] in (("options", "metrics"), ("options", "expressions")):
        return len(place) == 4 and new is None
    if place[:1] == ("columns",) and len(place) == 2:
        return new is None or bool((_by_name(json.loads(new)) or {}).get("computation"))
    scope, word = ".".join(place[:-2]), place[-1:]
    return bool(NOT_SCORING[""].intersection(place[:1])) or bool(NOT_SCORING.get(scope, frozenset()).intersection(word))


def _json_changes(old: Any, new: Any, at: Place) -> Iterator[tuple[Place, str | None, str | None]]:
    """The deepest places that differ, with the value on each side; objects in lists are matched by `id` or `key`."""
    before, after = _by_name(old), _by_name(new)
    if before is None or after is None:
        if old != new:
            yield at, _json(old), _json(new)
        return
    for name in dict.fromkeys([*before, *after]):
        yield from _json_changes(before.get(name), after.get(name), (*at, name))


def _json(value: Any) -> str | None:
    if value is None:
        return None
    return json.dumps(value, ensure_ascii=False)


def _by_name(value: Any) -> dict[str, Any] | None:
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and value:
        with suppress(TypeError, KeyError, AttributeError):
            return {str(part.get("id") or part["key"]): part for part in value}
    return None


def _command(files: Files) -> str | None:
    found = files.get("metadata.yaml") or files.get("metadata")
    if found is None:
        return None
    return found.read(MAX_METADATA_BYTES).decode("utf-8", "replace").strip()


def _changed_files(
    part: str, item: str, effect: Effect, old: Files, new: Files, leave: set[str]
) -> Iterator[Difference]:
    changed = []
    for name in sorted((old.keys() | new.keys()) - leave):
        if name not in old:
            changed.append(f"+ {name}")
        elif name not in new:
            changed.append(f"- {name}")
        elif sha256_of(old[name]) != sha256_of(new[name]):
            changed.append(f"~ {name}")
    if changed:
        shown = changed[:SHOWN_FILES]
        if len(changed) > SHOWN_FILES:
            shown.append(f"… and {len(changed) - SHOWN_FILES} more")
        yield Difference(part, item, counted(len(changed), "file"), effect, detail=tuple(shown))


class TableRead(NamedTuple):
    """What a scoring program reads of the gold of a table.

    Attributes:
        key: of its rows; empty where it is not known.
        columns: as its file calls them; None where any may be read: by a function, or a program of others.
    """

    key: Key = ()
    columns: frozenset[str] | None = None


@once_a_bundle
def _tables_read(bundle: Bundle) -> Iterator[TableRead]:
    for task in bundle.competition.tasks:
        program = bundle.program_json(task.files.get("scoring_program"))
        try:
            options = program["options"]
            metrics: list[Mapping[str, Any]] = []
            for columns in options["metrics"].values():
                metrics += columns.values()
            yield from [_table_read(table, metrics) for table in options["tables"]]
        except (KeyError, TypeError, AttributeError):  # another program, which may have a program.json of any kind
            yield TableRead()


def _table_read(table: Mapping[str, Any], metrics: Sequence[Mapping[str, Any]]) -> TableRead:
    gold = File(**table["gold"])
    cells = {field["name"]: gold.place(Field.from_dict(field)).cells for field in table["fields"]}

    def in_file(names: Iterable[str]) -> Iterator[str]:
        for name in names:
            yield from cells.get(name, (name,))

    key, names = tuple(in_file(table["key"])), columns_read(table["key"], metrics)
    if names is None:
        return TableRead(key)
    return TableRead(key, frozenset(in_file(names)))


def _data_changes(
    part: str, item: str, effect: Effect, old: Files, new: Files, tables: Sequence[TableRead]
) -> Iterator[Difference]:
    """How many items of each file came, went or changed; the names of secret files are not secret, their content is."""
    for name in sorted(old.keys() | new.keys()):
        if name not in old or name not in new:
            what = "added" if name in new else "removed"
            yield Difference(part, item, f"{name} {what}", effect)
        elif sha256_of(old[name]) != sha256_of(new[name]):
            before, after = _items(old[name]), _items(new[name])
            text, keeps = _data_change(before, after, tables)
            if not keeps and part == "reference data" and _keeps_columns(name, before, after, tables):
                text, keeps = f"{text}, in columns that scoring does not read: no score changes", True
            becomes = Effect.KEEP if keeps and effect is Effect.RERUN else effect
            yield Difference(part, item, name, becomes, f"{len(before)} items", f"{len(after)} items", (text,))


Items = Sequence[Mapping[str, Any]]


def _data_change(before: Items, after: Items, tables: Sequence[TableRead]) -> tuple[str, bool]:
    """Return how a file differs, and whether it has the same items all the same."""
    if text := _counted(before, after, tables):
        return text, False
    if not before or "\ufffd" in _frozen(before):
        return "other bytes", False  # of no text, or of one that was not read as it is
    return "written differently, the same items: no score changes", True


def _keeps_columns(name: str, before: Items, after: Items, tables: Sequence[TableRead]) -> bool:
    """Whether the rows of a table are the same in all columns that are read; of a table whose columns have names."""
    if not name.endswith((".csv", ".tsv")):
        return False
    read: set[str] = set()
    keys: list[Key] = []
    for table in tables:
        if table.columns is None:
            return False
        read |= table.columns
        keys.append(table.key)
    some: list[list[dict[str, Any]]] = [[], []]
    for items, of_side in zip((before, after), some, strict=True):
        if not _have(items, keys):
            return False
        for item in items:
            of_side.append({column: value for column, value in item.items() if column in read})
    return not _counted(some[0], some[1], tables)


def _have(items: Items, keys: Iterable[Key]) -> bool:
    """Whether items have the fields of one of the keys."""
    return any(items and items[0].keys() >= {*key} for key in keys)


def _counted(before: Items, after: Items, tables: Sequence[TableRead]) -> str:
    """Return what became of items, by a unique key, declared or found among columns; empty where nothing did.

    Without such a key they are compared as bags. Where the order may say which item it is, or a function may read it,
    it counts, too.
    """
    keys: dict[Key, None] = {}
    reads_all = False
    for table in tables:
        reads_all = reads_all or table.columns is None
        if table.key:
            keys[table.key] = None
    # a row of a table of ours that lacks its key is known by its place, and a function may read the order of rows
    counts_order = bool(keys) and (reads_all or not _have(before, keys))
    for name in before[0] if before else ():
        if name:
            keys.setdefault((name,))
    is_moved = False
    for key in keys:
        one, other = _by_key(key, before), _by_key(key, after)
        if one and other:
            changed = sum(one[values] != other[values] for values in one.keys() & other.keys())
            counts = {"added": len(other.keys() - one), "removed": len(one.keys() - other), "changed": changed}
            is_moved = counts_order and not any(counts.values()) and list(one) != list(other)
            break
    else:
        texts, other_texts = [_frozen(item) for item in before], [_frozen(item) for item in after]
        bag, other_bag = Counter(texts), Counter(other_texts)
        counts = {"added": (other_bag - bag).total(), "removed": (bag - other_bag).total()}
        is_moved = bag == other_bag and texts != other_texts
    if not any(counts.values()) and not is_moved:
        return ""
    said = [f"{number} {what}" for what, number in counts.items()]
    if is_moved:
        said.append("in another order")
    return ", ".join(said)


def _items(node: Node) -> Items:
    """The items of a file: rows by column title, objects of JSON, lines of anything else; every one a mapping."""
    value = json_value(node)
    if isinstance(value, dict):
        return [{"key": key, "": one} for key, one in sorted(value.items())]
    if not isinstance(value, list):
        head, *table = [row for row in rows(node) if row] or [[]]
        if table:
            with suppress(ValueError):  # rows of different lengths
                return [dict(zip(head, row, strict=True)) for row in table]
        found = [line for line in lines(node) if line.strip()]
        value = _objects(found) or found
    return [one if isinstance(one, dict) else {"": one} for one in value]


def _objects(found: Iterable[str]) -> list[dict[str, Any]]:
    """The lines of JSON Lines; none where a line is something else."""
    objects = []
    for line in found:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return []
        if not isinstance(value, dict):
            return []
        objects.append(value)
    return objects


def _by_key(key: Key, items: Items) -> dict[tuple[str, ...], str]:
    """Every item by its key; nothing where one lacks a field of it, or two have the same."""
    found = {}
    for item in items:
        if not item.keys() >= {*key}:
            return {}
        found[tuple(str(item[name]) for name in key)] = _frozen(item)
    if len(found) < len(items):
        return {}
    return found


def _frozen(item: Any) -> str:
    return json.dumps(item, sort_keys=True, ensure_ascii=False, default=str)

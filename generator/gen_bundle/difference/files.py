"""Differences in programs and data: what their settings and items say first, then which files differ."""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any

from gen_bundle.check.bundle import Bundle, once_a_bundle
from gen_bundle.codabench.competition import DataUse
from gen_bundle.codabench.yaml_document import MAX_METADATA_BYTES
from gen_bundle.difference.changes import Difference, Effect, Named, changed_settings, paired
from gen_bundle.difference.items import Key, count_changes
from gen_bundle.difference.settings import phase_names, tasks_named
from gen_bundle.zips.reading import sha256_of
from gen_bundle.zips.tree import Node
from gen_bundle.zips.writing import JUNK

# What a program of ours says of itself without changing a score that it writes.
WORDS = frozenset(
    [
        *("competition", "title", "task_names", "meaning", "precision", "hidden", "details"),
        *("details_min_items", "baselines", "computation", "of", "tie_break"),
    ]
)
PROGRAM_JSON = "program.json"
MAX_PROGRAM_JSON = 4 * 1024 * 1024
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


def file_changes(old: Bundle, new: Bundle) -> Iterator[Difference]:
    """Every program and data file of the tasks, the phases and the solutions."""
    for before, after in paired(_holders(old), _holders(new)):
        if before is None or after is None:
            continue  # a whole task, phase or solution came or went, which is said where it belongs
        name, held, were = after[0], after[1], before[1]
        for role in dict.fromkeys([*were, *held]):
            yield from use_changes(role, name, old, were.get(role), new, held.get(role))
    yield from _solution_changes(old, new)


def _holders(bundle: Bundle) -> list[Named]:
    """Tasks and phases with the files that they name, as (name, role → file)."""
    tasks = [
        Named(tuple(("task", name) for name in one.names), (one.value.name, one.value.files))
        for one in tasks_named(bundle.competition)
    ]
    phases = [
        Named(tuple(name and ("phase", name) for name in phase_names(one, place)), (one.name, one.files))
        for place, one in enumerate(bundle.competition.phases)
    ]
    return tasks + phases


def _solution_changes(old: Bundle, new: Bundle) -> Iterator[Difference]:
    part, effect = ROLES["solution"]
    for before, after in paired(_solutions(old), _solutions(new)):
        if before is None or after is None:
            name = (after or before)[0]
            yield Difference(part, name, "added" if after else "removed", effect)
        else:
            yield from use_changes("solution", after[0], old, before[1], new, after[1])


def _solutions(bundle: Bundle) -> list[Named]:
    found = []
    for one in bundle.competition.solutions:
        declared = bundle.yaml["solutions"][one.at[1]] if bundle.format == "v2" else {}
        name = str(declared.get("name") or one.path)
        found.append(Named((name, one.path), (name, one)))
    return found


def use_changes(
    role: str, name: str, old: Bundle, before: DataUse | None, new: Bundle, after: DataUse | None
) -> Iterator[Difference]:
    """The differences of one program or data in a task, phase or solution of that name."""
    part, effect = ROLES[role]
    item = f"{name}: {role.replace('_', ' ')}" if part == "programs" else name
    if before is None or after is None:
        yield Difference(part, item, "added" if after else "removed", effect)
        return
    one, other = packed_files(old, before), packed_files(new, after)
    if one is None or other is None:
        if (one is None) != (other is None) or before.path != after.path:
            yield Difference(part, item, "path", effect, str(before.path), str(after.path))
        return
    if part in ("programs", "starting kits"):
        yield from _program_changes(part, item, effect, one, other)
    else:
        keys = dict.fromkeys([*_declared_keys(new), *_declared_keys(old)])
        yield from _data_changes(part, item, effect, one, other, keys)


def packed_files(bundle: Bundle, use: DataUse | None) -> Files | None:
    """The files of a program or data, by name; None where its path leads to nothing that can be unpacked."""
    unpacked = bundle.unpacked(use)
    if unpacked is None or unpacked.form in ("no zip", "server"):
        return None
    return {name: node for name, node in unpacked.tree.root.files() if JUNK.isdisjoint(name.split("/"))}


def _program_changes(part: str, item: str, effect: Effect, old: Files, new: Files) -> Iterator[Difference]:
    """The settings of a program of ours first, one by one; then the command, and which files differ."""
    said = {PROGRAM_JSON} if PROGRAM_JSON in old and PROGRAM_JSON in new else set()
    try:
        settings = list(_json_changes(program_settings(old), program_settings(new), ""))
    except RecursionError:  # nested too deeply for anything of ours
        settings, said = [], set()
    for name, one, other in settings:
        keeps = effect is Effect.RERUN and _keeps_scores(name, other)
        yield Difference(part, item, name, Effect.KEEP if keeps else effect, one, other)
    yield from changed_settings(part, item, {"command": (_command(old), effect)}, {"command": (_command(new), effect)})
    if _command(old) != _command(new):
        said |= {"metadata.yaml", "metadata"}
    yield from _changed_files(part, item, effect, old, new, leave=said)


def _keeps_scores(name: str, new: str | None) -> bool:
    """Whether a setting of ours changes no score that is written: a word, or a column that is no longer there."""
    words = name.split(".")
    of_options = words[:2] in (["options", "metrics"], ["options", "expressions"])
    is_column = (words[0] == "columns" and len(words) == 2) or (of_options and len(words) == 4)
    return bool(WORDS.intersection(words)) or (is_column and new is None)


def program_settings(files: Files) -> Any:
    """What program.json of one of our programs holds: options, columns, versions; nothing of another program."""
    try:
        program = json.loads(files[PROGRAM_JSON].read(MAX_PROGRAM_JSON)) if PROGRAM_JSON in files else {}
    except (ValueError, RecursionError):
        return {}
    if isinstance(program, dict):
        program.pop("code", None)  # the digest of the files, which are compared themselves
    return program


def _json_changes(old: Any, new: Any, at: str) -> Iterator[tuple[str, str | None, str | None]]:
    """The deepest places that differ, with the value on each side; objects in lists are matched by their `key`."""
    before, after = _by_name(old), _by_name(new)
    if before is None or after is None:
        if old != new:
            yield at, _json(old), _json(new)
        return
    for name in dict.fromkeys([*before, *after]):
        yield from _json_changes(before.get(name), after.get(name), f"{at}.{name}" if at else name)


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _by_name(value: Any) -> dict[str, Any] | None:
    if isinstance(value, list) and value and all(isinstance(part, dict) and "key" in part for part in value):
        return {str(part["key"]): part for part in value}
    return value if isinstance(value, dict) else None


def _command(files: Files) -> str | None:
    found = files.get("metadata.yaml") or files.get("metadata")
    return found.read(MAX_METADATA_BYTES).decode("utf-8", "replace").strip() if found else None


def _changed_files(
    part: str, item: str, effect: Effect, old: Files, new: Files, leave: set[str]
) -> Iterator[Difference]:
    names = sorted((old.keys() | new.keys()) - leave)
    lines = [
        f"{'+' if name not in old else '-' if name not in new else '~'} {name}"
        for name in names
        if name not in old or name not in new or sha256_of(old[name]) != sha256_of(new[name])
    ]
    if lines:
        shown = (*lines[:SHOWN_FILES], *([f"… and {len(lines) - SHOWN_FILES} more"] if lines[SHOWN_FILES:] else []))
        yield Difference(part, item, f"{len(lines)} files", effect, detail=shown)


@once_a_bundle
def _declared_keys(bundle: Bundle) -> Iterator[Key]:
    """The keys of the tables that its scoring programs read, where they come from a declaration."""
    for holder in _holders(bundle):
        program = program_settings(packed_files(bundle, holder.value[1].get("scoring_program")) or {})
        with suppress(KeyError, TypeError):  # another program, which may have a program.json of any kind
            yield from [tuple(map(str, table["key"])) for table in program["options"]["tables"]]


def _data_changes(
    part: str, item: str, effect: Effect, old: Files, new: Files, keys: Collection[Key]
) -> Iterator[Difference]:
    """How many items of each file came, went or changed; the names of secret files are not secret, their content is."""
    for name in sorted(old.keys() | new.keys()):
        if name not in old or name not in new:
            what = f"{name} {'added' if name in new else 'removed'}"
            yield Difference(part, item, what, effect)
        elif sha256_of(old[name]) != sha256_of(new[name]):
            count = count_changes(old[name], new[name], keys)
            text = "written differently, the same items: no score changes" if count.same else str(count)
            becomes = Effect.KEEP if count.same and effect is Effect.RERUN else effect
            yield Difference(part, item, name, becomes, f"{count.old} items", f"{count.new} items", (text,))

"""bundle.yaml → what it declares: strictly, with every error at once, each at its place in the file.

There are two kinds: a competition with a scoring package, and a foreign one, whose programs are packed as they are.
"""

import os
import re
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from gen_bundle.declaration.model import DeclaredCompetition
from gen_bundle.declaration.ready_programs import PROGRAMS, ForeignCompetition, check_foreign_rules, check_packed
from gen_bundle.declaration.rules import check_rules
from gen_bundle.declaration.scoring import DECLARED, DeclaredScoring, settle
from gen_bundle.declaration.source import (
    Broken,
    Section,
    Source,
    Trail,
    apply_overrides,
    columns_of,
    dotted,
    mapping_of,
    nearest,
    read_source,
)
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import known_competitions, resource

FILE = "bundle.yaml"
MISSING = "is missing."


class Declaration(NamedTuple):
    """A declaration that has no fault.

    Attributes:
        competition: what it says, defaults put in.
        scoring: the tables and metrics that it declares.
        option_places: where its options are written: dotted name → file, line and column, or the override; and its
            fields, keys and columns: `field NAME`.
        notes: what the command line changed besides what it says.
    """

    competition: DeclaredCompetition
    scoring: DeclaredScoring
    option_places: Mapping[str, str]
    notes: Sequence[str]


def read_competition(folder: Path, overrides: Iterable[str] = (), layout: str | None = None) -> DeclaredCompetition:
    """Read `folder/bundle.yaml` with the values of `--set` and `--layout` put in; raises as `read_declaration`."""
    return read_declaration(folder, overrides, layout).competition


def is_foreign(folder: Path) -> bool:
    """Return whether `folder/bundle.yaml` names programs that are packed as they are."""
    return _model_of(read_source(folder / FILE)) is ForeignCompetition


def read_foreign(folder: Path, overrides: Iterable[str] = (), data: Path | None = None) -> ForeignCompetition:
    """Read `folder/bundle.yaml` of a foreign competition with the values of `--set` put in.

    What it packs must be there: below `data/`, in the folder `data` where that is given.

    Raises:
        UserError: as for `read_declaration`.
    """
    source = _source(folder, overrides)
    errors = list(_model_errors(ForeignCompetition, source.data))
    rules = Section(source.data, wrong=_places_of(errors))
    check_foreign_rules(rules, folder)
    check_packed(rules, folder, data)
    _refuse(source, [*errors, *rules.found])
    return ForeignCompetition.model_validate(source.data)


def read_declaration(folder: Path, overrides: Iterable[str] = (), layout: str | None = None) -> Declaration:
    """Read `folder/bundle.yaml` with the values of `--set` and `--layout` put in.

    Raises:
        UserError: one message for each thing that is wrong: file, line and column (or the override), the field, what
            is wrong, what was expected.
    """
    source = _source(folder, overrides, layout)
    if _model_of(source) is ForeignCompetition:
        raise UserError(
            f"{folder / FILE}: has programs that are packed as they are ({PROGRAMS}), and no scoring package, which "
            "this needs. Build the bundle; dry-run, rescore, diff, preview and the live verbs take it."
        )
    _check_package(source, folder)
    notes = list(_settle_rule(source))
    scoring = DeclaredScoring()
    found: list[Broken] = []
    if source.data.get("scoring_program") == DECLARED:
        scoring, found = settled(source.data, folder)
    errors = list(_model_errors(DeclaredCompetition, source.data))
    rules = Section(source.data, wrong=_places_of(errors))
    check_rules(rules, folder)
    first: dict[Trail, str] = {}  # of several faults at a place one is enough
    for trail, text in (*found, *errors):
        first.setdefault(trail, text)
    _refuse(source, [*first.items(), *rules.found])
    places = {dotted(trail): source.position(trail) for trail in _trails(source.data.get("options"), ("options",))}
    places |= _places(source)
    return Declaration(DeclaredCompetition.model_validate(source.data), scoring, places, notes)


def settled(data: dict[str, Any], folder: Path) -> tuple[DeclaredScoring, list[Broken]]:
    """Complete a raw declaration in place; returns how it is scored, and what is wrong with it."""
    # what is missing a metric may give
    errors = [error for error in _model_errors(DeclaredCompetition, data) if not error[1].startswith(MISSING)]
    declared = Section(data, wrong=_places_of(errors))
    scoring = settle(declared, folder)
    return scoring, [*errors, *declared.found]


def _places_of(errors: Sequence[Broken]) -> frozenset[Trail]:
    """The places of what the model refuses; a list is right as a whole, or wrong."""
    wrong = set()
    for trail, _ in errors:
        wrong.add(trail)
        if isinstance(trail[-1], int):
            wrong.add(trail[:-1])
    return frozenset(wrong)


def _check_package(source: Source, folder: Path) -> None:
    """See that the scoring package is there: without it nothing else can be said of the declaration."""
    name, ours = source.data.get("scoring_program"), resource("scoring_programs")
    if not isinstance(name, str) or any((root / name / "submission.py").is_file() for root in (ours, folder)):
        return
    known = sorted(path.parent.name for root in (ours, folder) for path in root.glob("*/submission.py"))
    own = f"A package of your own is a folder {name}/ with submission.py beside {FILE}"
    _refuse(source, [(("scoring_program",), f"no scoring package {name!r}. {nearest(name, known)} {own}.")])


def _places(source: Source) -> dict[str, str]:
    """Where fields, keys and columns are declared: `field`, `key` or `column` and a name → file, line and column."""
    submission = Section(mapping_of(source.data.get("submission")), ("submission",))
    found: dict[str, str] = {}
    for table in (submission, *submission.sections("tables")):
        for field in table.sections("fields"):
            found[f"field {field.get('field')}"] = source.position(field.trail)
        for name in table.names("key"):
            found[f"key {name}"] = source.position((*table.trail, "key"))
    for column in columns_of(Section(source.data)):
        found[f"column {column.get('key')}"] = source.position(column.trail)
    return found


def _settle_rule(source: Source) -> Iterator[str]:
    """`--layout tasks` for a competition declared otherwise: its rule `last` or `best` gives way to `all`, with a note.

    Codabench would keep the scores of one task alone. A rule given by --set gets an error instead.
    """
    rule = source.data.get("submission_rule")
    is_asked = source.given.get(("layout",)) == "--layout tasks" and ("submission_rule",) not in source.given
    if is_asked and rule in ("last", "best"):
        source.data["submission_rule"] = "all"
        yield (
            f"submission_rule: {rule} would lose the scores of all tasks but one in layout tasks; "
            "the board lists all submissions instead (all)."
        )


def _model_of(source: Source) -> type[DeclaredCompetition | ForeignCompetition]:
    """Return what a declaration must look like."""
    foreign = isinstance(source.data, dict) and PROGRAMS in source.data
    return ForeignCompetition if foreign else DeclaredCompetition


def _source(folder: Path, overrides: Iterable[str], layout: str | None = None) -> Source:
    """The raw declaration, a mapping, with what the command line overrides."""
    source = read_source(folder / FILE)
    if not isinstance(source.data, dict):
        if not source.problems:
            source.problems.append(f"{FILE}:1:1: is not a mapping. Expected title, phases, tasks …")
        raise UserError(*source.problems)
    if layout is not None and layout != source.data.get("layout"):
        source.data["layout"] = layout
        source.give(("layout",), f"--layout {layout}")
    apply_overrides(source, overrides, _model_of(source).model_fields)
    return source


def _refuse(source: Source, found: Sequence[Broken]) -> None:
    """Name everything that is wrong at once, in the file's order."""
    places = [f"{source.position(trail)}: {_named(source.data, trail)}: {text}" for trail, text in found]
    if problems := source.problems + places:
        raise UserError(*sorted(problems, key=_place))


def _trails(value: Any, trail: Trail) -> Iterator[Trail]:
    """The trails of a value and of all that it holds."""
    yield trail
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _trails(inner, (*trail, key))
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _trails(inner, (*trail, index))


def _place(message: str) -> tuple[int, int, str]:
    """The place that a message names, so that messages come in the file's order."""
    match = re.match(r"[^:\s]+:(\d+):(?:(\d+):)?", message)
    return (int(match[1]), int(match[2] or 0), message) if match else (0, 0, message)


def _named(data: Any, trail: Trail) -> str:
    """The trail in the words of `--set`: list items by their id or key instead of their number."""
    names: list[str | int] = []
    for key in trail:
        item = data[key] if _has(data, key) else None
        name = next((item[k] for k in ("id", "key") if isinstance(item, dict) and isinstance(item.get(k), str)), key)
        if isinstance(key, str):
            name = key
        names.append(name)
        data = item
    return dotted(tuple(names))


def _has(data: Any, key: str | int) -> bool:
    if isinstance(data, list):
        return isinstance(key, int) and key < len(data)
    return isinstance(data, dict) and key in data


def _model_errors(top: type[DeclaredCompetition | ForeignCompetition], data: dict[str, Any]) -> Iterator[Broken]:
    try:
        top.model_validate(data)
    except ValidationError as error:
        reported: set[Trail] = set()
        for detail in error.errors(include_url=False):
            kind = detail["type"]
            place = tuple(key for key in detail["loc"] if key != "[key]")
            trail = _without_choice(place, data, ends_missing=kind == "missing")
            if trail in reported:
                continue
            reported.add(trail)
            if trail in _unread(top, data):
                yield trail, f"is read with a scoring package alone, and there is none with {PROGRAMS}. Leave it out."
            elif kind == "extra_forbidden":
                yield trail, f"unknown key. {nearest(str(trail[-1]), _known_keys(top, trail[:-1]))}"
            elif kind == "missing":
                yield trail, f"{MISSING} {_meaning(top, trail)}."
            elif kind == "string_pattern_mismatch":
                yield (
                    trail,
                    f"does not have the expected form. {_meaning(top, trail)} (found {_shown(detail['input'])}).",
                )
            elif kind == "list_type" and isinstance(detail["input"], dict):
                yield trail, f'expected a list, whose entries begin with "- " (found {_shown(detail["input"])}).'
            elif kind == "model_type":
                yield (
                    trail,
                    f"expected a mapping with {', '.join(_known_keys(top, trail))} (found {_shown(detail['input'])}).",
                )
            else:
                message = detail["msg"].removeprefix("Value error, ").removeprefix("Input ").strip().rstrip(".")
                yield trail, f"{message} (found {_shown(detail['input'])})."


def _unread(top: type[BaseModel], data: dict[str, Any]) -> list[Trail]:
    """Keys at the top that only the other kind of declaration has."""
    if top is DeclaredCompetition:
        return []
    return [(key,) for key in data if key in DeclaredCompetition.model_fields and key not in top.model_fields]


def _without_choice(trail: Trail, data: Any, *, ends_missing: bool) -> Trail:
    """The trail without the names of types that end it where a value may have one of several."""
    for depth, key in enumerate(trail):
        if not _has(data, key):
            return trail if ends_missing and depth == len(trail) - 1 else trail[:depth]
        data = data[key]
    return trail


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _model_at(top: type[BaseModel], trail: Trail) -> type[BaseModel] | None:
    model = top
    for key in trail:
        if isinstance(key, int):
            continue
        if model is not None and key in model.model_fields:
            inner = _inner_model(model.model_fields[key].annotation)
            if inner is None:
                return None
            model = inner
    return model


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if typing.get_origin(annotation) in (list, dict, types.UnionType, typing.Union, typing.Annotated):
        return next((m for a in typing.get_args(annotation) if (m := _inner_model(a)) is not None), None)
    return None


def _known_keys(top: type[BaseModel], trail: Trail) -> list[str]:
    model = _model_at(top, trail)
    return list(model.model_fields) if model else []


def _meaning(top: type[BaseModel], trail: Trail) -> str:
    model = _model_at(top, trail[:-1])
    key = trail[-1]
    if model is None or not isinstance(key, str) or key not in model.model_fields:
        return "Expected a value"
    described = (model.model_fields[key].description or "a value").rstrip(".")
    if not described[1:2].isupper():  # abbreviations such as UUID keep their letters
        described = described[:1].lower() + described[1:]
    return f"Expected: {described}"


def check_inside(folder: Path, files: Iterable[str], folders: Iterable[str]) -> None:
    """See that files, and all that is in folders, named as seen from the competition's `folder`, lie in it.

    Another person's folder could otherwise publish any file that the organiser may read. Links within the competition's
    folder are fine, as are links to it.

    Raises:
        UserError: the named files, and the links below the folders, that lead out of it.
    """
    found = [folder / name for name in files]
    for name in folders:
        found += _links(folder / name)
    outside = []
    for path in dict.fromkeys(found):
        if not path.resolve().is_relative_to(folder.resolve()):
            outside.append(_leads_outside(path, folder))
    # Some installers put links in place of a package's files.
    if outside and folder not in [known.folder for known in known_competitions().values()]:
        raise UserError(*outside)


def _leads_outside(path: Path, folder: Path) -> str:
    shown = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
    further = ", or name your own data with --data" if path.is_relative_to(folder / "data") else ""
    there = f"leads to {path.resolve()}, outside the competition's folder"
    return f"{shown}: {there}. Put the file itself into {folder}{further}."


def _links(top: Path) -> Iterator[Path]:
    """A folder that is a link, and all links below it."""
    if top.is_symlink():
        yield top
    for place, below, files in os.walk(top):
        for name in [*below, *files]:
            if Path(place, name).is_symlink():
                yield Path(place, name)

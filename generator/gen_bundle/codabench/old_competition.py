"""The competition that the platform makes of a bundle in the old format (CodaLab 1.5)."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from gen_bundle.codabench.competition import (
    DEFAULT_IMAGE,
    PHASE_FILES,
    TASK_FILES,
    Column,
    Competition,
    Phase,
    Task,
    is_on,
    limits,
    named_files,
)
from gen_bundle.codabench.dates import Instant, read_instant
from gen_bundle.codabench.document import CompetitionYaml
from gen_bundle.codabench.fields import as_integer, as_text
from gen_bundle.codabench.yaml_document import Path


def old_phases(declared: CompetitionYaml) -> list[tuple[Path, Mapping[Any, Any]]]:
    """The old format's phases in order of `phasenumber`; a parallel parent, which is dropped, left out."""
    phases = declared.mapping(("phases",))
    entries: list[tuple[Path, Mapping[Any, Any]]] = [
        (("phases", key), value) for key, value in phases.items() if isinstance(value, Mapping)
    ]
    numbers: dict[int, Any] = {id(value): value.get("phasenumber") for _, value in entries}
    try:
        entries.sort(key=lambda entry: numbers[id(entry[1])])
    except TypeError:
        return entries
    parallel = any(value.get("is_parallel_parent") or value.get("parent_phasenumber") for _, value in entries)
    return entries[1:] if parallel else entries


def read_v1(declared: CompetitionYaml) -> Competition:
    """The competition that the platform makes of an old-format bundle: one task a phase, ends taken from starts."""
    top = declared.yaml
    entries = old_phases(declared)
    phases: list[Phase] = []
    for order, (at, value) in enumerate(entries):
        start = read_instant(value.get("start_date"), declared.now)
        end, end_at = _old_end(declared, entries, order, at)
        files = named_files(at, value, TASK_FILES, (order,))
        name = str(value.get("label"))
        task = Task(at, order, f"{name} Task", files, is_on(value.get("ingestion_program_only_during_scoring")))
        phases.append(
            Phase(
                at,
                name,
                start,
                end,
                (*at, "start_date"),
                end_at,
                (task,),
                named_files(at, value, PHASE_FILES, (order,)),
                *limits(value),
                is_on(value.get("auto_migration")),
                order,
            )
        )
    return Competition(
        title=as_text(top.get("title")) or "",
        image=as_text(top.get("competition_docker_image") or DEFAULT_IMAGE) or "",
        image_at=("competition_docker_image",),
        tasks=tuple(phase.tasks[0] for phase in phases),
        phases=tuple(phases),
        columns=_old_columns(top),
        queue=bool(top.get("queue")),
        detailed_results=is_on(top.get("enable_detailed_results")),
        programs_available=is_on(top.get("make_programs_available")),
        input_available=is_on(top.get("make_input_data_available")),
        pages=tuple(
            (("html", title), path) for title, path in declared.mapping(("html",)).items() if isinstance(path, str)
        ),
    )


def _old_end(
    declared: CompetitionYaml, entries: list[tuple[Path, Mapping[Any, Any]]], order: int, at: Path
) -> tuple[Instant, Path]:
    if order + 1 < len(entries):
        next_at, following_phase = entries[order + 1]
        following = read_instant(following_phase.get("start_date"), declared.now)
        moment = None
        if following.moment is not None:
            try:
                moment = following.moment - timedelta(days=1)
            except OverflowError:
                fault = "it would be the day before the next phase's start, which is before the year 1"
                return Instant(fault=fault), (*next_at, "start_date")
        return Instant(moment), (*at, "start_date")
    end = declared.yaml.get("end_date")
    return (Instant() if end == "null" else read_instant(end, declared.now)), ("end_date",)


def of_leaderboard(top: Mapping[Any, Any], key: str) -> Mapping[Any, Any]:
    """The mapping `leaderboards` or `columns` of the old format's `leaderboard`; empty where there is none."""
    board = top.get("leaderboard")
    found = board.get(key) if isinstance(board, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def old_columns(top: Mapping[Any, Any]) -> list[tuple[Any, Mapping[Any, Any]]]:
    """The old format's columns in the order of their rank (1 where missing)."""
    columns = of_leaderboard(top, "columns")
    entries = [(key, value) for key, value in columns.items() if isinstance(value, Mapping)]
    try:
        entries.sort(key=lambda entry: entry[1].get("rank", 1))
    except TypeError:
        return entries
    return entries


def board_label(column: Mapping[Any, Any]) -> str | None:
    """The leaderboard that an old column names, lower-cased as the platform compares it."""
    return _label(column.get("leaderboard"))


def old_labels(top: Mapping[Any, Any]) -> set[str]:
    """The labels of the old format's leaderboards, lower-cased as the platform compares them."""
    return {label for board in of_leaderboard(top, "leaderboards").values() if (label := _label(board)) is not None}


def _label(board: Any) -> str | None:
    label = board.get("label") if isinstance(board, Mapping) else None
    return label.lower() if isinstance(label, str) else None


def _old_columns(top: Mapping[Any, Any]) -> tuple[Column, ...]:
    wanted = next(map(_label, of_leaderboard(top, "leaderboards").values()), None)
    return tuple(
        Column(
            ("leaderboard", "columns", key),
            as_text(value.get("title", key)) or "",
            as_text(value.get("label", value.get("title", key))) or "",
            index,
            (value.get("sort") or "desc") == "asc",
            is_on(value.get("hidden")),
            as_integer(value.get("numeric_format", 2)),
            None,
            (),
        )
        for index, (key, value) in enumerate(old_columns(top))
        if board_label(value) == wanted
    )

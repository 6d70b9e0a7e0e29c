"""What bundle.yaml may hold where the programs are somebody else's (`programs:`), packed as they are.

Tasks are Codabench's own, one to one, and the columns belong to the leaderboard. Only what cannot be written is refused
here: what the platform would refuse, or what would not work, the check finds in the finished bundle.
"""

from collections.abc import Container, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from gen_bundle.codabench import serializer_fields as platform
from gen_bundle.codabench.fields import MAX_INTEGER
from gen_bundle.codabench.versions import Computation
from gen_bundle.declaration.model import (
    CompetitionSettings,
    DeclaredLeaderboard,
    DeclaredPage,
    Identifier,
    Line,
    PhaseSettings,
    StrictModel,
    SubmissionRule,
)
from gen_bundle.declaration.overrides import nearest
from gen_bundle.declaration.rules import files, unique
from gen_bundle.declaration.source import Broken, Trail, listed, mappings

PROGRAMS = "programs"
"""The key of bundle.yaml that makes a competition foreign."""
Name = Annotated[str, Field(min_length=1, max_length=platform.NAME.limit)]
ColumnText = Annotated[str, Field(min_length=1, max_length=platform.KEY.limit)]
PackedPath = Annotated[
    str,
    Field(
        min_length=1,
        description="A folder, which is zipped with all that is in it, or a file, which is packed as it is.",
    ),
]
PlatformRule = Literal["Add_And_Delete", "Force_Last", "Force_Latest_Multiple", "Force_Best"]


class Programs(StrictModel):
    """Programs that are packed as they are; a program given for a task comes before its phase's, then the one above."""

    scoring: PackedPath | None = Field(None, description="Folder, zip or file of the scoring program.")
    ingestion: PackedPath | None = Field(
        None, description="Folder, zip or file of the ingestion program. `null`: none, where there is one above."
    )


class ForeignTask(StrictModel):
    """A Codabench task: its programs and its data."""

    id: Identifier = Field(description="By which phases, solutions and `--set` name it.")
    name: Name = Field(description="As participants read it.")
    description: str = Field("", description="Where a phase has several tasks, the platform shows it.")
    key: Line | None = Field(None, description="UUID of a task that the server has already, in place of all else.")
    programs: Programs = Field(default_factory=Programs, description="In place of those of the phase and the top.")
    reference_data: PackedPath | None = Field(None, description="Folder, zip or file. Absent: none.")
    input_data: PackedPath | None = Field(None, description="Folder, zip or file. Absent: none.")
    ingestion_only_during_scoring: bool = Field(
        False, description="The ingestion program runs beside the scoring program, in its step."
    )


class ForeignPhase(PhaseSettings):
    """One phase; those of others may overlap, and have no end."""

    name: Name = Field(description="As participants read it.")
    start: str = Field(description="As the platform reads it: UTC, whatever zone is given. Taken as it is written.")
    end: str | None = Field(None, description="Likewise. Absent: endless.")
    programs: Programs = Field(default_factory=Programs, description="Of this phase's tasks, in place of those above.")
    max_submissions: int = Field(20, ge=0, description="For each participant in the whole phase; 0: no limit.")
    execution_time_limit: int = Field(
        600, ge=0, le=MAX_INTEGER, description="Seconds; the public queue allows 600, and takes 0 for that."
    )
    public_data: PackedPath | None = Field(None, description="Folder, zip or file. Absent: none.")
    starting_kit: PackedPath | None = Field(None, description="Folder, zip or file. Absent: none.")


class ForeignSolution(StrictModel):
    """An example submission, which the dry run takes, and which participants may download."""

    path: PackedPath = Field(description="Folder, zip or file.")
    tasks: list[Identifier] = Field(description="Ids of the tasks that it is for.")
    name: Name | None = Field(None, description="As the platform lists it.")
    description: str = Field("", description="Likewise.")


class ForeignColumn(StrictModel):
    """One column of the leaderboard."""

    key: ColumnText = Field(description="Name of the score as the scoring program writes it.")
    title: ColumnText = Field(description="Heading on the leaderboard.")
    sort: Literal["desc", "asc"] = Field(description="desc: higher is better, asc: lower is better.")
    precision: int = Field(4, description="Decimals shown.")
    hidden: bool = Field(False, description="Kept from the leaderboard; only organisers see it.")
    index: int | None = Field(None, ge=0, le=MAX_INTEGER, description="Its place. Absent: that in this list, from 0.")
    computation: Computation | None = Field(
        None, description="Filled by the platform. avg_rank compares the submissions; it needs Codabench 1.29 or newer."
    )
    of: list[ColumnText] | None = Field(None, description="Keys of the columns it is computed from.")


class ForeignLeaderboard(DeclaredLeaderboard):
    """The leaderboard with its columns, for all tasks and phases."""

    title: Annotated[str, Field(min_length=1, max_length=platform.BOARD_TITLE.limit)] = Field(
        "Results", description="Heading over the leaderboard."
    )
    tie_break: list[str] = Field(
        default_factory=list, description="With ties: equal: keys of the columns that order equal scores."
    )
    key: Annotated[str, Field(min_length=1, max_length=platform.KEY.limit)] = Field(
        "results", description="Its name on the platform."
    )
    primary_index: int = Field(0, ge=0, le=MAX_INTEGER, description="The index of the column that ranks.")
    columns: list[ForeignColumn] = Field(min_length=1, description="Its columns.")


class ForeignCompetition(CompetitionSettings):
    """A competition whose programs are packed as they are."""

    title: Name = Field(description="Name of the competition.")
    contact: str | None = Field(None, description="An e-mail address.")
    submission_rule: SubmissionRule | PlatformRule = Field(
        "all",
        description="What is on the leaderboard: as in other declarations, or by any of the platform's own names.",
    )
    pages: list[DeclaredPage] = Field(description="The competition's pages, in their order.")
    terms: Line = Field(description="File of the terms, relative to bundle.yaml.")
    raw: Literal[True] = Field(True, description="Pages and terms are no templates: they are taken as they are.")
    queue: str | None = Field(None, description="UUID (vhost) of your own queue; the public one where absent.")
    reward: Annotated[str, Field(max_length=platform.REWARD.limit)] | None = Field(
        None, description="What can be won, in a line."
    )
    programs: Programs = Field(description="The programs of all tasks that have none of their own.")
    tasks: list[ForeignTask] = Field(min_length=1, description="Codabench's tasks, in their order.")
    phases: list[ForeignPhase] = Field(min_length=1, description="The phases, in the platform's order.")
    solutions: list[ForeignSolution] = Field(default_factory=list, description="Example submissions.")
    leaderboard: ForeignLeaderboard = Field(description="Its title, its columns, and which of them ranks.")
    fact_sheet: dict[str, Any] = Field(
        default_factory=dict, description="Questions asked with every submission, as the platform reads them."
    )
    enable_detailed_results: bool = Field(False, description="Participants see the page that the program writes.")
    show_detailed_results_in_submission_panel: bool = Field(True, description="Beside their own submissions.")
    show_detailed_results_in_leaderboard: bool = Field(True, description="Beside the rows of the leaderboard.")
    auto_run_submissions: bool = Field(True, description="`false`: organisers start each submission.")
    can_participants_make_submissions_public: bool = Field(True, description="Whether others may download them.")
    make_programs_available: bool = Field(False, description="Participants may download the programs.")
    make_input_data_available: bool = Field(False, description="Participants may download the input data.")
    competition_type: Literal["competition", "benchmark"] = Field("competition", description="How it is listed.")

    def tasks_of(self, phase: ForeignPhase) -> list[ForeignTask]:
        """The tasks of a phase, in the platform's order."""
        return [task for task in self.tasks if phase.tasks is None or task.id in phase.tasks]

    def programs_of(self, task: ForeignTask) -> Programs:
        """A task's programs: its own, else those of a phase that has it, else those of the competition."""
        of_phases = [phase.programs for phase in self.phases if task in self.tasks_of(phase)]
        given: dict[str, str | None] = {}
        for programs in (self.programs, *of_phases, task.programs):
            given |= {role: getattr(programs, role) for role in programs.model_fields_set}
        return Programs(**given)


def check_foreign_rules(data: dict[str, Any], folder: Path) -> Iterator[Broken]:
    """Every broken rule of the raw declaration of a foreign competition."""
    yield from unique(data, "phases", "id")
    yield from unique(data, "tasks", "id")
    yield from files(data, folder)
    yield from _columns(data)
    for name in ("phases", "solutions"):
        yield from _task_ids(data, name)
    yield from _programs_of_phases(data)


def _columns(data: dict[str, Any]) -> Iterator[Broken]:
    board = data.get("leaderboard")
    columns = list(mappings(board, "columns", ("leaderboard",)))
    keys = [str(column.get("key")) for _, column in columns]
    for place, (trail, column) in enumerate(columns):
        if keys[place] in keys[:place]:
            yield (*trail, "key"), f"{keys[place]!r} is used twice. Expected: a different key for each of the columns."
        named = listed(column, "of")
        if named and column.get("computation") is None:
            yield (*trail, "of"), f"is given without a computation. Expected one of {', '.join(get_args(Computation))}."
        for index, key in enumerate(named):
            if key not in keys:
                yield (*trail, "of", index), f"no column {key!r}. {nearest(str(key), keys)}"


def _task_ids(data: dict[str, Any], name: str) -> Iterator[Broken]:
    ids = [str(task.get("id")) for _, task in mappings(data, "tasks")]
    for trail, item in mappings(data, name):
        for index, task in enumerate(listed(item, "tasks")):
            if task not in ids:
                yield (*trail, "tasks", index), f"no task {task!r}. {nearest(str(task), ids)}"


def _programs_of_phases(data: dict[str, Any]) -> Iterator[Broken]:
    """A task that is in several phases is one task: it has one scoring program."""
    for _, task in mappings(data, "tasks"):
        own = task.get(PROGRAMS) or {}
        given: dict[str, tuple[str, Any]] = {}
        for trail, phase in mappings(data, "phases"):
            if phase.get("tasks") is None or task.get("id") in listed(phase, "tasks"):
                yield from _other_programs(trail, phase, own, given)


def _other_programs(
    trail: Trail, phase: dict[str, Any], own: Container[str], given: dict[str, tuple[str, Any]]
) -> Iterator[Broken]:
    """Programs of a phase that are not those of an earlier one with the same task, where that has none of its `own`."""
    programs = phase.get(PROGRAMS)
    if not isinstance(programs, dict):
        programs = {}
    for role in Programs.model_fields:
        path = programs.get(role, "that of the top")
        other, theirs = given.setdefault(role, (str(phase.get("id")), path))
        if role not in own and path != theirs:
            yield (
                (*trail, PROGRAMS),
                f"the phase {other!r} has the same task with another {role} program, and a task has one. Expected a "
                "task of its own for this phase, or the program in the task.",
            )

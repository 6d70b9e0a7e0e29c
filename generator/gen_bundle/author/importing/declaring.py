"""The journey from a foreign project to a declaration: recognise → hold against the original → write.

bundle.yaml becomes the declaration only where every value of the original scorer, and every failure, is the declared
one's as well. Otherwise it stays, and the declaration is written beside it.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gen_bundle.author.importing.comparing import Comparison, Progress
from gen_bundle.author.importing.importing import declaration_text
from gen_bundle.author.importing.searching import DeclarationSearch, Found, scoring_part
from gen_bundle.build.building import BuildRequest, build
from gen_bundle.build.platforms.codabench import SUBMISSION_RULES
from gen_bundle.codabench.dates import read_instant
from gen_bundle.codabench.runnable import open_bundle, read_competition
from gen_bundle.declaration.read import FILE
from gen_bundle.declaration.scoring.metrics import metrics
from gen_bundle.dry_run.engines import Engine
from gen_bundle.dry_run.engines.choose import StrangersError, refuse_strangers
from gen_bundle.dry_run.layout import scratch_folder
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import write_whole
from gen_bundle.ground.yaml_document import read_core_yaml

ORIGINAL, BESIDE = "original.yaml", "declared.yaml"
"""Beside bundle.yaml: what it was, where it became the declaration; the declaration, where it did not."""
REMARK = "Found by gen-bundle import --declare, and compared with the program in programs/."
SAME = (
    *("title", "name", "description", "logo", "contact", "registration", "forum", "reward", "queue"),
    *("pages", "terms", "raw"),
)
PHASE_SAME = (
    *("id", "name", "description", "max_submissions_per_day", "max_submissions", "execution_time_limit"),
    *("auto_migrate", "hide_output", "hide_prediction_output", "hide_score_output", "gold"),
)


@dataclass
class Declared:
    """What became of a scorer.

    Attributes:
        recognised: what its files and columns are, a line each.
        compared: how many values were compared, and are equal; empty where none were.
        stricter: the first of each kind of submission that it scores and the declaration refuses.
        differs: the first of each other kind of difference.
        left: what the declaration does not say, a line each; with any of them it does not take the original's place.
        lost: what else it does not take over of the project.
        file: where the declaration is, beside the data; None: there is none.
    """

    recognised: list[str] = field(default_factory=list)
    compared: str = ""
    stricter: list[str] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    file: str | None = None

    @property
    def is_switched(self) -> bool:
        """Whether bundle.yaml is the declaration now, and `ORIGINAL` what it was."""
        return self.file == FILE


def declare(project: Path, engine: Engine, *, trust: bool = False, progress: Progress = lambda _: None) -> Declared:
    """Find a declaration that scores as a foreign project's program does, and write it into the project.

    Raises:
        UserError: the project cannot be built, or its programs or solutions would run without isolation, and `trust`
            is false.
    """
    declared = Declared()
    with scratch_folder() as work:
        bundle = work / "bundle.zip"
        build(BuildRequest(str(project), bundle, force=True))
        try:
            refuse_strangers(bundle, engine, trust=trust)
        except StrangersError as error:
            whose = "its programs are somebody else's, and would run on this machine without isolation"
            raise UserError(f"{project}: {whose}. If you trust their authors, add --trust.") from error
        competition = read_competition(open_bundle(bundle, work / "opened"))
        try:
            search = DeclarationSearch(competition, engine, work, progress)
            declared.recognised += [pair.said for pair in search.first.pairs]
            found = search.run()
            _tell(declared, search, found)
            if not search.takes_code:
                _write(declared, project, found, work / "whole")
        except UserError as error:
            declared.left += error.messages
    return declared


def _tell(declared: Declared, search: DeclarationSearch, found: Found) -> None:
    """Say what was recognised, what was compared, and what is left."""
    for column in search.columns:
        choice = found.choices.get(column.key)
        if choice is None:
            declared.left.append(f"{column.key}: no metric of this declaration gives its values")
            continue
        declared.recognised.append(f"{column.key}: {choice.said}")
        if choice.form == "{}" and metrics()[choice.metric["name"]].sort != column.sorting:
            declared.left.append(f"{column.key}: is sorted {column.sorting}, its metric the other way")
    declared.left += found.uncompared
    if search.takes_code:
        declared.left.append(
            "the ingestion program: a declaration scores what it writes as its program does, and has no place for it"
        )
    declared.compared = found.comparison.said
    _tell_differences(declared, found.comparison)


def _tell_differences(declared: Declared, comparison: Comparison) -> None:
    """Say the first difference of each kind; refusals each with its reason."""
    told = set()
    for run, column in comparison.differing():
        original, ours = _text(run.original.value(column)), _text(run.declared.value(column))
        kind, kept = ("column", column), declared.differs
        said = f"{column} is {original}, the declaration gives {ours}"
        if run.declared.scores is None:
            kind, kept = ("refused", run.name), declared.stricter
            said = f"{column} {original}; refused: {run.declared.reason}"
        elif run.original.scores is None:
            kind = ("lenient", "")
            said = f"fails ({run.original.reason}); the declaration gives {column} {ours}"
        if kind not in told:
            told.add(kind)
            kept.append(f"{run.name}, task {run.task}: {said}")


def _text(value: float | None) -> str:
    return "no value" if value is None else f"{value:.12g}"


# Writing


def _write(declared: Declared, project: Path, found: Found, work: Path) -> None:
    """Write the declaration: in the place of bundle.yaml where nothing speaks against it, else beside it.

    Raises:
        UserError: a declaration cannot say what the project has, or cannot be built; nothing is written.
    """
    foreign = read_core_yaml((project / FILE).read_bytes()).value
    declaration = _declaration(foreign, found, declared.lost)
    text = declaration_text(declaration, f"{REMARK}\n# {declared.compared}.")
    copy = work / "project"
    shutil.copytree(project, copy)
    (copy / FILE).write_text(text, encoding="utf-8")
    _add_baselines(copy, foreign)
    build(BuildRequest(str(copy), work / "bundle.zip", force=True))
    unlike = declared.left or declared.differs or declared.stricter
    if not unlike:
        shutil.copy(project / FILE, project / ORIGINAL)
        _add_baselines(project, foreign)
    declared.file = BESIDE if unlike else FILE
    write_whole(project / declared.file, text.encode())


def _declaration(foreign: Mapping[str, Any], found: Found, lost: list[str]) -> dict[str, Any]:
    """What bundle.yaml says: the settings as they were, and the scoring as it was found; `lost` gets what is neither.

    Raises:
        UserError: a declaration cannot say what the project has.
    """
    board = foreign["leaderboard"]
    rule = foreign.get("submission_rule", "Add")
    if foreign.get("docker_image"):
        lost.append(f"docker_image: {foreign['docker_image']}; the declared scorer runs in the platform's own")
    if foreign.get("fact_sheet"):
        lost.append("fact_sheet: write its questions anew")
    return {
        **{key: foreign[key] for key in SAME if key in foreign},
        "scoring_program": "declared",
        "submission_rule": next((ours for ours, theirs in SUBMISSION_RULES.items() if theirs == rule), rule),
        "leaderboard": {key: board[key] for key in ("title", "hidden") if key in board},
        "phases": list(_phases(foreign, found.decimals, lost)),
        **scoring_part(found.proposal, _ordered(board, found.columns)),
    }


def _phases(foreign: Mapping[str, Any], decimals: int | None, lost: list[str]) -> Iterator[dict[str, Any]]:
    references = {task["id"]: str(task.get("reference_data")) for task in foreign["tasks"]}
    owners: dict[str, str] = {}  # reference data → the phase whose folder they are in
    for phase in foreign["phases"]:
        name = phase["id"]
        if len(phase["tasks"]) != 1:
            raise UserError(f"phase {name}: has {len(phase['tasks'])} tasks; a declaration has one a phase")
        entry = {key: phase[key] for key in PHASE_SAME if phase.get(key) is not None}
        for key in ("start", "end"):
            if phase.get(key):
                moment = read_instant(phase[key], datetime.now(UTC)).moment
                if moment is None:
                    raise UserError(f"the date {phase[key]!r}: expected one that Codabench reads")
                entry[key] = f"{moment:%Y-%m-%d %H:%M:%S} UTC"
        reference = references[phase["tasks"][0]]
        owner = owners.setdefault(reference, name)
        if owner != name:
            entry["data"] = owner
        elif reference != f"data/{name}":
            raise UserError(f"phase {name}: its gold is in {reference}; expected data/{name}")
        if decimals is not None:
            entry["score_decimals"] = decimals
        lost += _files_lost(phase)
        yield entry


def _files_lost(phase: Mapping[str, Any]) -> Iterator[str]:
    """What of a phase's files participants would not get."""
    if phase.get("starting_kit"):
        yield f"phase {phase['id']}: {phase['starting_kit']}; the build makes a starting kit"
    public, place = phase.get("public_data"), f"data/public/{phase['id']}"
    if public and public != place:
        yield f"phase {phase['id']}: {public}; copy it to {place}/"


def _ordered(board: Mapping[str, Any], columns: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The columns as they stood, that which ranks first; those that the platform fills stay, and new ones come last."""
    primary = board.get("primary_index", 0)
    places: dict[str, int] = {}
    kept: list[Mapping[str, Any]] = list(columns)
    for number, column in enumerate(board["columns"]):
        places[column["key"]] = column.get("index", number)
        if column.get("computation"):
            same = ("key", "title", "sort", "precision", "hidden", "computation")
            kept.append({**{key: column[key] for key in same if key in column}, "of": column.get("of", [])})

    def place(column: Mapping[str, Any]) -> tuple[bool, int]:
        at = places.get(column["key"], len(places))
        return at != primary, at

    return sorted(kept, key=place)


def _add_baselines(project: Path, foreign: Mapping[str, Any]) -> None:
    """Copy the solutions to where a declaration looks for baselines."""
    for solution in foreign.get("solutions", []):
        source = project / solution["path"]
        for phase in foreign["phases"]:
            if set(phase["tasks"]).isdisjoint(solution["tasks"]) or not source.exists():
                continue
            target = project / "data" / "baselines" / phase["id"] / source.name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            else:
                shutil.copy(source, target)

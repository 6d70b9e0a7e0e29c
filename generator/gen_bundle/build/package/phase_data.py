"""A phase's data: gold prepared, checked and tried by the scoring package, and what goes with it."""

import hashlib
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from gen_bundle.build.package.client import Disclosed, SecretFile, TaskColumns, Tried
from gen_bundle.build.package.programs import SAMPLE, write_program
from gen_bundle.build.package.resolve import Resolved, ids
from gen_bundle.codabench.board import DECIMALS
from gen_bundle.declaration.model import DeclaredPhase, DeclaredTask
from gen_bundle.declaration.read import FILE
from gen_bundle.declaration.source import nearest
from gen_bundle.ground.errors import UserError, raise_all
from gen_bundle.ground.zips.writing import Members, below, folder_members, write_zip
from scoring_kit.base.environment import what_is_missing
from scoring_kit.base.submissions import UNREADABLE, is_junk

TEMPLATE = "the template that organiser.py writes"
UNTRIED = (
    "tasks.{}: neither template nor baselines enter it, and its module names no METRICS, so that the columns' keys "
    "were not checked."
)
DISCLOSURE_TOLD_FROM = 0.05
"""The share of the gold up to which nothing is said of what scores give away."""


class GoldElsewhere(NamedTuple):
    """Reference data of tasks or phases that are not in a bundle, and where in these there is gold."""

    secrets: Sequence[SecretFile]
    folder: Path


class PreparedGold(NamedTuple):
    """Prepared reference data, for every phase that uses them.

    Attributes:
        whole: of all tasks together.
        references: part id → its reference data.
        secrets: where in the reference data there is what must not be found in anything public.
        elsewhere: the same of the tasks that this bundle does not score.
        warnings: remarks of the scoring package on the data.
    """

    whole: Path
    references: Mapping[str, Path]
    secrets: Sequence[SecretFile]
    elsewhere: Sequence[GoldElsewhere]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class PhaseData:
    """The data that a phase is built from.

    Attributes:
        phase: the phase.
        gold: its reference data; the same in phases that share data.
        manifest: what participants may know (JSON object of `scoring_kit.manifest.Manifest`).
        template: the empty submission's files.
        baselines: name → the files of one baseline submission.
        public: what participants may download.
        input: what submitted code may read; empty where submissions are predictions.
        warnings: remarks on the data, and on what scores give away of them.
        scores: baseline → column key → score, in the tasks that a build can score.
    """

    phase: DeclaredPhase
    gold: PreparedGold
    manifest: Mapping[str, Any]
    template: Members
    baselines: Mapping[str, Members]
    public: Members
    input: Members
    warnings: tuple[str, ...]
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def prepare_phases(competition: Resolved, work: Path) -> list[PhaseData]:
    """Prepare every phase's data below the folder `work`.

    Args:
        competition: what is built; its organiser process is started where it is not yet.
        work: a folder for what is prepared; reference data come to folders called `ref`, each in a folder of its own.

    Raises:
        UserError: a phase's folder is missing, or the scoring package found faults in the data or the options: all of
            them, over all phases.
    """
    if competition.organiser is None:
        with competition.opened() as opened:
            return prepare_phases(opened, work)
    problems = list(_unused_data(competition))
    gold: dict[str, PreparedGold] = {}
    prepared: list[PhaseData] = []
    of_options = ("options.", *competition.package.option_places.values())

    def note(data_id: str, error: UserError) -> None:
        for one in error.messages:
            placed = one if one.startswith(of_options) else f"{data_id}: {one}"
            problems.append(placed)

    for data_id in competition.data_ids:
        try:
            gold[data_id] = _prepare_gold(competition, data_id, work)
        except UserError as error:
            note(data_id, error)
    for phase in competition.phases:
        if phase.data_id in gold:
            try:
                prepared.append(_prepare(competition, phase, gold[phase.data_id], work))
            except UserError as error:
                note(phase.id, error)
    raise_all(dict.fromkeys(problems))
    digests = {data_id: _digests(one) for data_id, one in gold.items()}
    for at, data in enumerate(prepared):
        prepared[at] = replace(data, warnings=(*data.warnings, *_same_gold(competition, data.phase, digests)))
    return prepared


def _unused_data(competition: Resolved) -> Iterator[str]:
    """Folders of phases that share another's data: what lies there would not be used."""
    for phase in competition.declaration.phases:
        if phase.data is None:
            continue
        for folder in (phase.id, f"public/{phase.id}", f"baselines/{phase.id}", f"input/{phase.id}"):
            if (competition.data / folder).exists():
                yield (
                    f"{competition.data / folder}: is not used, because the phase {phase.id} has `data: {phase.data}`. "
                    "Expected no such folder; remove it, or that key in bundle.yaml."
                )


def _same_gold(competition: Resolved, phase: DeclaredPhase, digests: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Remarks on copies of reference data that an earlier phase has already; `data:` or a link say that it is meant."""
    if phase.data is not None:
        return
    folder = (competition.data / phase.id).resolve()
    for other, theirs in digests.items():
        if other == phase.id:
            return
        if (competition.data / other).resolve() == folder:
            continue
        for part, digest in digests[phase.id].items():
            if theirs.get(part) == digest:
                of_part = f" of {part}" if part else ""
                yield (
                    f"the reference data{of_part} are those of the phase {other}, file for file: "
                    f"every score of {other} reveals gold. Right only where both are meant to score the same "
                    f"data; `data: {other}` in the phase says so, in place of the copied folder."
                )


def _digests(gold: PreparedGold) -> dict[str, str]:
    """The digest of the files of each part, or where a part's tasks have folders of their own, of each of these."""
    digests: dict[str, list[str]] = {}
    for part, folder in gold.references.items():
        for path in folder.rglob("*"):
            if path.is_file():
                whose, *below = path.relative_to(folder).parts
                if not below:
                    whose = part * (len(gold.references) > 1)
                digests.setdefault(whose, []).append(hashlib.sha256(path.read_bytes()).hexdigest())
    return {whose: " ".join(sorted(files)) for whose, files in digests.items()}


def _prepare_gold(competition: Resolved, data_id: str, work: Path) -> PreparedGold:
    """The reference data of the tasks of all phases that use them."""
    tasks = competition.tasks_of_data(data_id)
    given = _given(competition, data_id)
    whole, warnings = checked_reference(competition, tasks, data_id, work / data_id / "ref", given)
    parts = {}
    for part in competition.parts:
        if competition.layout == "joint" or part.tasks == tasks:
            parts[part.id] = whole
        elif set(part.task_ids) & set(ids(tasks)):
            folder = work / f"{data_id}-{part.id}" / "ref"
            parts[part.id], _ = prepare_reference(competition, part.tasks, data_id, folder)
    others = [task for task in _tasks_with_gold(competition, data_id) if task not in tasks]
    elsewhere, unread = _gold_of(competition, data_id, others, work)
    secrets = _secrets(competition, tasks, whole)
    is_secret = any(phase.gold == "secret" for phase in competition.phases if phase.data_id == data_id)
    if is_secret and not secrets:
        raise UserError(
            f"{competition.data / data_id}: nothing in it is secret: its columns identify rows, group them, or are "
            "public. Expected a column that answers are compared with, or `gold: public` in the phase."
        )
    return PreparedGold(whole, parts, secrets, elsewhere, (*warnings, *unread))


def _prepare(competition: Resolved, phase: DeclaredPhase, gold: PreparedGold, work: Path) -> PhaseData:
    request = competition.request(competition.tasks_of(phase))
    asked = {**request, "reference": str(gold.whole)}
    warnings = list(gold.warnings)
    if phase.gold == "secret":
        warnings += _disclosure(competition, phase, asked)
    template = Path(tempfile.mkdtemp(dir=work))
    competition.ask("template", {**asked, "out": str(template)})
    return PhaseData(
        phase=phase,
        gold=gold,
        manifest={"competition": competition.name, **request, "expected": competition.ask("manifest", asked)},
        template=folder_members(template),
        baselines=_baselines(competition, phase),
        public=_public_files(competition, phase),
        input=_input_files(competition, phase),
        warnings=tuple(warnings),
    )


def _disclosure(competition: Resolved, phase: DeclaredPhase, request: Mapping[str, Any]) -> list[str]:
    """Return what the scores of a phase give one participant of its gold, in one line; none where it is at most 5 %."""
    decimals = phase.score_decimals
    if decimals is None and phase.hides_scores:  # participants cannot download scores.json, but ask the site's API
        decimals = DECIMALS
    limits = {"submissions": phase.max_submissions, "decimals": decimals}
    told: Disclosed | None = competition.ask("disclosure", {**request, **limits})
    if told is None:
        return ["what the scores give away of the gold is not measured for this scoring program (docs/disclosure.md)."]
    if not told["items"]:
        scores = f"the scores in {', '.join(told['unmeasured'])}"
        return [f"what {scores} give away of the gold is not measured (docs/disclosure.md)."]
    share = told["decided"] / told["items"]
    if share <= DISCLOSURE_TOLD_FROM:
        return []
    within = f"with {phase.max_submissions} submissions" if phase.max_submissions else "without max_submissions"
    return [
        f"{within} one participant can learn at least {told['decided']} of {told['items']} gold values ({share:.0%}) "
        f"by the attacks that are known, from the scores in {', '.join(told['columns'])} (docs/disclosure.md)."
    ]


def gold_elsewhere(competition: Resolved, work: Path) -> tuple[list[GoldElsewhere], list[str]]:
    """Return the gold of the phases that this bundle does not have, and remarks on gold that could not be read."""
    here = competition.data_ids
    found: list[GoldElsewhere] = []
    remarks: list[str] = []
    for phase in competition.declaration.phases:
        data_id = phase.data_id
        if phase.gold == "secret" and data_id not in here:
            here.append(data_id)
            gold, unread = _gold_of(competition, data_id, _tasks_with_gold(competition, data_id), work)
            found += gold
            remarks += [f"{data_id}: {what}" for what in unread]
    return found, remarks


def _tasks_with_gold(competition: Resolved, data_id: str) -> tuple[DeclaredTask, ...]:
    """The tasks of the whole competition in the phases that use a phase's data."""
    return replace(competition, tasks=tuple(competition.declaration.tasks)).tasks_of_data(data_id)


def _gold_of(
    competition: Resolved, data_id: str, tasks: Sequence[DeclaredTask], work: Path
) -> tuple[list[GoldElsewhere], list[str]]:
    """The gold of tasks that are not scored here, one by one where they cannot be read together, and remarks."""

    def prepared(some: Sequence[DeclaredTask]) -> GoldElsewhere:
        folder = Path(tempfile.mkdtemp(dir=work)) / "gold"
        reference, _ = prepare_reference(competition, some, data_id, folder)
        return GoldElsewhere(_secrets(competition, some, reference), reference)

    if not tasks:
        return [], []
    try:
        return [prepared(tasks)], []
    except UserError:
        found, remarks = [], []
    for task in tasks:
        try:
            found.append(prepared([task]))
        except UserError:
            remarks.append(f"{task.id}: its gold could not be read, so what participants get was not searched for it.")
    return found, remarks


def _secrets(competition: Resolved, tasks: Sequence[DeclaredTask], reference: Path) -> Sequence[SecretFile]:
    answer = competition.ask("secrets", {**competition.request(tasks), "reference": str(reference)})
    files: Sequence[SecretFile] = answer["files"]
    return files


def checked_reference(
    competition: Resolved,
    tasks: Sequence[DeclaredTask],
    data_id: str,
    out: Path,
    given: Mapping[str, Mapping[str, str]] | None = None,
) -> tuple[Path, list[str]]:
    """As `prepare_reference`; the package also checks what it prepared, in a build against what is `given`, too."""
    reference, warnings = prepare_reference(competition, tasks, data_id, out)
    folders = _folders_there(competition, competition.data_ids)
    request = {**competition.request(tasks), "reference": str(reference), "phases": folders, **(given or {})}
    return reference, [*warnings, *competition.ask("check_reference", request)["warnings"]]


def prepare_reference(
    competition: Resolved, tasks: Sequence[DeclaredTask], data_id: str, out: Path
) -> tuple[Path, list[str]]:
    """Prepare the gold of tasks in a phase in the new folder `out`; returns that folder and the package's remarks.

    Raises:
        UserError: the phase's folder is missing, or its data cannot be used.
    """
    source = competition.data / data_id
    if not source.is_dir():
        raise UserError(f"no folder {source}. Expected the reference data of the phase {data_id!r} there.")
    out.mkdir(parents=True)
    alike = [one for one in competition.data_ids if set(ids(tasks)) <= set(ids(competition.tasks_of_data(one)))]
    holding = _folders_there(competition, alike)
    request = {"source": str(source), "out": str(out), "phases": holding or [str(source)]}
    return out, list(competition.ask("prepare", {**competition.request(tasks), **request})["warnings"])


def _folders_there(competition: Resolved, data_ids: Sequence[str]) -> list[str]:
    """The folders of phases' data; one that is missing is an error of its own phase."""
    return [str(folder) for one in data_ids if (folder := competition.data / one).is_dir()]


def _baselines(competition: Resolved, phase: DeclaredPhase) -> dict[str, Members]:
    """Baselines by name: each a folder, a zip, or a single file below `baselines/<phase>/`."""
    folder = competition.data / "baselines" / phase.data_id
    baselines: dict[str, Members] = {}
    for path in sorted(folder.glob("*")):
        if path.name.startswith(".") or is_junk(path.name):
            continue
        name = path.stem if path.is_file() else path.name
        members = _baseline_members(path)
        if not members or name in baselines:
            what = "there are two baselines of this name" if members else "holds no file"
            raise UserError(f"{path}: {what}. Expected each baseline in a folder, a zip or a file of its own.")
        if competition.layout == "separate":
            members = _own_task(members, competition.tasks[0].id, competition.all_task_ids)
        if members and not _of_others(competition, phase, members):
            baselines[name] = members
    return baselines


def _baseline_members(path: Path) -> Members:
    if path.is_dir():
        return folder_members(path)
    if path.suffix.lower() != ".zip":
        return {path.name: path}
    try:
        with zipfile.ZipFile(path) as archive:
            return {member.filename: archive.read(member) for member in archive.infolist() if not member.is_dir()}
    except UNREADABLE as error:
        raise UserError(f"{path}: is not a readable zip. Expected a submission as participants send it.") from error


def _own_task(members: Members, task: str, tasks: list[str]) -> Members:
    """In layout `separate` what lies in the task's own folder is the submission; folders of other tasks are not."""
    own, of_any = {}, False
    for name, content in members.items():
        folder, _, inside = name.partition("/")
        if folder == task and inside:
            own[inside] = content
        of_any |= folder in tasks
    if own or of_any:
        return own
    return members


def _of_others(competition: Resolved, phase: DeclaredPhase, members: Members) -> bool:
    """Whether a declared competition's baseline holds only tables that the phase's tasks do not read."""
    names = {Path(name).name for name in members}
    scoring = competition.scoring
    read: set[str] = set()
    for metric in scoring.metrics_of(ids(competition.tasks_of(phase))):
        read.update(metric.read_tables)
    found = [id_ for id_, table in scoring.tables.items() if table.file.matching(names)]
    return bool(found) and read.isdisjoint(found)


def _public_files(competition: Resolved, phase: DeclaredPhase) -> Members:
    """Everything below `public/`; a folder there that is named like a phase belongs to that phase alone."""
    folder = competition.data / "public"
    others = {other.id for other in competition.declaration.phases} - {phase.data_id}
    return {name: path for name, path in folder_members(folder).items() if name.split("/", 1)[0] not in others}


def _given(competition: Resolved, data_id: str) -> dict[str, dict[str, str]]:
    """`given` and `given_to_all` of the organisers' `check_reference`: public data but the sample, and inputs of code.

    Where there is but one phase, all of it is that phase's.
    """
    phase = next(one for one in competition.phases if one.data_id == data_id)
    files = below("public", _public_files(competition, phase))
    folder = competition.data / "input" / data_id
    if competition.takes_code:
        files |= folder_members(folder, f"input/{data_id}/")
    alone = len({one.data_id for one in competition.declaration.phases}) == 1
    given: dict[str, dict[str, str]] = {"given": {}, "given_to_all": {}}
    for name, path in files.items():
        whose = "given" if alone or name.startswith((f"public/{data_id}/", "input/")) else "given_to_all"
        if isinstance(path, Path) and not name.startswith(f"public/{SAMPLE}/"):
            given[whose][name] = str(path)
    return given


def _input_files(competition: Resolved, phase: DeclaredPhase) -> Members:
    """Return what submitted code may read: everything below `input/<phase>/`."""
    folder = competition.data / "input" / phase.data_id
    if not competition.takes_code:
        if folder.exists():
            raise UserError(
                f"{folder}: only submitted code reads it. Expected submission.kind: code, or no such folder."
            )
        return {}
    members = folder_members(folder)
    if not members:
        raise UserError(f"{folder}: holds no file. Expected what the submitted code may read, without gold.")
    return members


class Trial(NamedTuple):
    """The outcome of a trial.

    Attributes:
        baselines: phase id → baseline → column key → score, in the tasks that were tried and that it enters.
        notes: what could not be tried, and why.
    """

    baselines: Mapping[str, Mapping[str, Mapping[str, float]]]
    notes: Sequence[str]


def check_columns(competition: Resolved) -> dict[str, TaskColumns]:
    """Return what the tasks' modules say of themselves, once the declared columns are found to be among their metrics.

    Raises:
        UserError: every column whose key is not a metric, and every task with a model that does not name its metrics.
    """
    request = {"package": competition.package.name, "tasks": competition.task_ids, "options": competition.options}
    named: dict[str, TaskColumns] = competition.ask("columns", request)
    problems: list[str] = []
    for task in competition.tasks:
        module = f"{competition.package.name}/{task.id}.py"
        metrics = named[task.id]["metrics"]
        if metrics is None:
            if named[task.id]["needs_model"]:
                problems.append(
                    f"{module}: sets NEEDS_MODEL and has no METRICS, so that a build cannot check the columns' keys. "
                    'Expected METRICS = ("…", …), the names of the metrics that score returns.'
                )
            continue
        for column in task.columns:
            is_scored = column.computation is None and column.measured is None  # else it is filled otherwise
            if is_scored and column.key not in metrics:
                what = f"{module} gives no such metric. {nearest(column.key, metrics)}"
                problems.append(f"tasks.{task.id}.columns.{column.key}: {what}")
    raise_all(problems)
    return named


def try_out(competition: Resolved, named: Mapping[str, TaskColumns], phases: Sequence[PhaseData], work: Path) -> Trial:
    """Score template and baselines of each phase with every program of the layout, in the tasks that need no model.

    A column's key that no metric has, a task that `entered` misspells and a scorer that fails on the template are found
    here, before a participant finds them. Tasks that need a model are tried by a dry run.

    Args:
        competition: what is built, opened.
        named: what `check_columns` gave.
        phases: their data.
        work: a folder for what is tried.

    Raises:
        UserError: everything that failed, with phase and submission.
    """
    tasks = [task for task in competition.tasks if not named[task.id]["needs_model"]]
    problems: list[str] = []
    failed: dict[str, list[str]] = {}  # what is wrong → the submissions with which it is
    entered: set[str] = set()
    refused: dict[str, None] = {}
    baselines: dict[str, dict[str, dict[str, float]]] = {data.phase.id: {} for data in phases}
    for phase, name, request in _trials(competition, tasks, phases, work):
        try:
            tried: Tried = competition.ask("trial", request)
        except UserError as error:
            for message in error.messages:
                failed.setdefault(message, []).append(f"{phase.id}: {_place(competition, phase, name)}")
            continue
        if "missing" in tried:
            _refuse_left_behind(competition, tried["missing"])
            absent = what_is_missing(tried["missing"])
            return Trial({}, (f"Neither template nor baselines were scored. {absent}",))
        if "refused" in tried:
            why = f"{phase.id}: the template is no valid submission ({tried['refused'].rstrip('.')})."
            if any((competition.data / "baselines" / phase.data_id).glob("[!.]*")):
                refused[f"{why} The kit's valid example is a baseline."] = None
            else:
                where = f"data/baselines/{phase.data_id}/NAME/"
                problems.append(f"{why} The kit needs a valid example: put one into {where}.")
        entered |= set(tried["scores"])
        if name != TEMPLATE:
            for scores in tried["scores"].values():
                baselines[phase.id].setdefault(name, {}).update(scores)
    for message, places in failed.items():
        same = f" The same for {', '.join(places[1:])}." if places[1:] else ""
        problems.append(f"{places[0]}: {message}{same}")
    raise_all(dict.fromkeys(problems))
    for task in ids(tasks):
        if named[task]["metrics"] is None and task not in entered:
            refused[UNTRIED.format(task)] = None
    return Trial(baselines, list(refused))


def _place(competition: Resolved, phase: DeclaredPhase, submission: str) -> str:
    if submission != TEMPLATE:
        return f"baselines/{phase.data_id}/{submission}"
    return "the template, whose answers are empty or 0" if competition.scoring.tables else TEMPLATE


def _refuse_left_behind(competition: Resolved, module: str) -> None:
    """Refuse a module that is not found by those who import it, since it only lies in the competition's folder.

    Raises:
        UserError: it does.
    """
    file, folder = competition.folder / f"{module}.py", competition.folder / module
    if not file.is_file() and not any(folder.glob("*.py")):
        return
    expected = f"the module in the scoring package {competition.package.name}/"
    if not competition.package.is_own:
        expected = f"scoring_files: [{file.name}]"
        if not file.is_file():
            expected = f"its code in files beside {FILE}, named in scoring_files: folders do not travel"
    found = f"{module} lies beside {FILE}, and does not travel with the code that imports it."
    raise UserError(f"{found} Expected {expected}.")


def _trials(
    competition: Resolved, tasks: Sequence[DeclaredTask], phases: Sequence[PhaseData], work: Path
) -> Iterator[tuple[DeclaredPhase, str, dict[str, Any]]]:
    """Each submission of each phase to each program, with those of its tasks that are tried: its name and request."""
    submission = work / "submission.zip"
    for data in phases:
        submissions = {TEMPLATE: data.template}
        if not competition.takes_code:
            submissions |= data.baselines
        for part in competition.parts_of(data.phase):
            own = [task for task in part.tasks if task in tasks]
            if not own:
                continue
            program = write_program(competition, own, work / "trial" / data.phase.id / part.id)
            phase = data.gold.references[part.id].parent
            for name, files in submissions.items():
                write_zip(submission, files, deflated=False)
                request = {"program": program, "phase": phase, "submission": submission}
                yield data.phase, name, {**request, "is_template": name == TEMPLATE}

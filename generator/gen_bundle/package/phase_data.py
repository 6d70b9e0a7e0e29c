"""A phase's data: gold prepared and checked by the scoring package, its secrets, and the files that go with it."""

import hashlib
import itertools
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gen_bundle.codabench.board import DECIMALS
from gen_bundle.declaration.model import Phase, Task
from gen_bundle.errors import UserError
from gen_bundle.package.answers import Disclosed, SecretFile
from gen_bundle.package.client import Organiser
from gen_bundle.package.given_files import baselines_of, given_files, input_files, public_files
from gen_bundle.package.resolve import Part, Resolved
from gen_bundle.zips.writing import folder_members

GoldElsewhere = tuple[Sequence[SecretFile], Path]
"""Reference data of tasks that are not in a bundle, and where in these there is gold."""


@dataclass(frozen=True)
class Gold:
    """Prepared reference data, for every phase that uses them.

    Attributes:
        whole: of all tasks together.
        parts: part id → its reference data.
        secrets, elsewhere, warnings: see `PhaseData`.
    """

    whole: Path
    parts: Mapping[str, Path]
    secrets: Sequence[SecretFile]
    elsewhere: Sequence[GoldElsewhere]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class PhaseData:
    """What a phase is built from.

    Attributes:
        phase: the phase.
        references: part id → its reference data, prepared; the same folders in phases that share data.
        manifest: what participants may know (JSON object of `scoring_kit.manifest.Manifest`).
        template: the empty submission's files.
        baselines: name → the files of one baseline submission.
        public: what participants may download.
        secrets: where in the reference data there is what must not be found in anything public.
        elsewhere: the same of the tasks that this bundle does not score.
        warnings: remarks of the scoring package on the data.
        scores: baseline → column key → score, in the tasks that a build can score.
        input: what submitted code may read; empty where submissions are predictions.
    """

    phase: Phase
    references: Mapping[str, Path]
    manifest: Mapping[str, Any]
    template: Mapping[str, Path | bytes]
    baselines: Mapping[str, Mapping[str, Path | bytes]]
    public: Mapping[str, Path | bytes]
    secrets: Sequence[SecretFile]
    elsewhere: Sequence[GoldElsewhere] = ()
    warnings: tuple[str, ...] = field(default=())
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    input: Mapping[str, Path | bytes] = field(default_factory=dict)


def prepare_phases(competition: Resolved, work: Path, organiser: Organiser | None = None) -> list[PhaseData]:
    """Prepare every phase's data below the folder `work`.

    Args:
        competition: what is built.
        work: a folder for what is prepared; reference data come to folders called `ref`, each in a folder of its own.
        organiser: the package's running organiser process; one is started where none is given.

    Raises:
        UserError: a phase's folder is missing, or the scoring package found faults in the data or the options: all of
            them, over all phases.
    """
    if organiser is None:
        with competition.package.opened() as started:
            return prepare_phases(competition, work, started)
    problems = [problem for phase in competition.declaration.phases for problem in _unused_data(competition, phase)]
    gold: dict[str, Gold] = {}
    prepared: list[PhaseData] = []
    of_options = ("options.", *competition.package.option_places.values())

    def note(data_id: str, error: UserError) -> None:
        problems.extend(m if m.startswith(of_options) else f"{data_id}: {m}" for m in error.messages)

    for data_id in dict.fromkeys(phase.data_id for phase in competition.phases):
        try:
            gold[data_id] = _prepare_gold(competition, organiser, data_id, work)
        except UserError as error:
            note(data_id, error)
    for phase in competition.phases:
        try:
            if phase.data_id in gold:
                prepared.append(_prepare(competition, organiser, phase, gold[phase.data_id], work))
        except UserError as error:
            note(phase.id, error)
    if problems:
        raise UserError(*dict.fromkeys(problems))
    digests = {data_id: _digests(one) for data_id, one in gold.items()}
    return [
        replace(data, warnings=(*data.warnings, *_same_gold(competition, data.phase, digests))) for data in prepared
    ]


def _unused_data(competition: Resolved, phase: Phase) -> Iterator[str]:
    """Folders of a phase that shares another's data: what lies there would not be used."""
    if phase.data is None:
        return
    for folder in (phase.id, f"public/{phase.id}", f"baselines/{phase.id}", f"input/{phase.id}"):
        if (competition.data / folder).exists():
            yield (
                f"{competition.data / folder}: is not used, because the phase {phase.id} has `data: {phase.data}`. "
                "Expected no such folder; remove it, or that key in bundle.yaml."
            )


def _same_gold(competition: Resolved, phase: Phase, digests: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Remarks on copies of reference data that an earlier phase has already; `data:` or a link say that it is meant."""
    if phase.data is not None:
        return
    folder = (competition.data / phase.id).resolve()
    for other in itertools.takewhile(lambda name: name != phase.id, digests):
        if (competition.data / other).resolve() == folder:
            continue
        for part, digest in digests[phase.id].items():
            if digests[other].get(part) == digest:
                yield (
                    f"the reference data{f' of {part}' if part else ''} are those of the phase {other}, file for file: "
                    f"every score of {other} reveals gold. Right only where both are meant to score the same "
                    f"data; `data: {other}` in the phase says so, in place of the copied folder."
                )


def _digests(gold: Gold) -> dict[str, str]:
    """The digest of the files of each part, or where a part's tasks have folders of their own, of each of these."""
    digests: dict[str, list[str]] = {}
    for part, folder in gold.parts.items():
        for path in (path for path in folder.rglob("*") if path.is_file()):
            inside = path.relative_to(folder).parts
            whose = inside[0] if len(inside) > 1 else part if len(gold.parts) > 1 else ""
            digests.setdefault(whose, []).append(hashlib.sha256(path.read_bytes()).hexdigest())
    return {whose: " ".join(sorted(files)) for whose, files in digests.items()}


def _prepare_gold(competition: Resolved, organiser: Organiser, data_id: str, work: Path) -> Gold:
    """The reference data of the tasks of all phases that use them."""
    whole = Part("all", "", competition.tasks_of_data(data_id))
    given = given_files(competition, data_id)
    reference, warnings = checked_reference(competition, organiser, whole, data_id, work / data_id / "ref", given)
    parts = {
        part.id: reference
        if competition.layout == "joint" or part.tasks == whole.tasks
        else prepare_reference(competition, organiser, part, data_id, work / f"{data_id}-{part.id}" / "ref")[0]
        for part in competition.parts
        if any(task in whole.tasks for task in part.tasks)
    }
    others = [task for task in _tasks_with_gold(competition, data_id) if task not in whole.tasks]
    elsewhere, unknown = _gold_of(competition, organiser, data_id, others, work)
    secrets = _secrets(competition, organiser, whole, reference)
    return Gold(reference, parts, secrets, elsewhere, (*warnings, *unknown))


def _prepare(competition: Resolved, organiser: Organiser, phase: Phase, gold: Gold, work: Path) -> PhaseData:
    whole = Part("all", "", competition.tasks_of(phase))
    request = {**_request(competition, whole), "reference": str(gold.whole)}
    disclosed = _disclosure(phase, organiser, request) if phase.gold == "secret" else []
    template = Path(tempfile.mkdtemp(dir=work))
    organiser.call("template", {**request, "out": str(template)})
    return PhaseData(
        phase=phase,
        references={part.id: gold.parts[part.id] for part in competition.parts_of(phase)},
        manifest={
            "competition": competition.name,
            **_request(competition, whole),
            "expected": organiser.call("manifest", request),
        },
        template=folder_members(template),
        baselines=baselines_of(competition, phase),
        public=public_files(competition, phase),
        input=input_files(competition, phase),
        secrets=gold.secrets,
        elsewhere=gold.elsewhere,
        warnings=(*gold.warnings, *disclosed),
    )


def _disclosure(phase: Phase, organiser: Organiser, request: Mapping[str, Any]) -> list[str]:
    """What the scores of a phase give one participant of its gold, in one line, where it is known."""
    decimals = phase.score_decimals
    if decimals is None and phase.hides_scores:  # participants cannot download scores.json, but ask the site's API
        decimals = DECIMALS
    limits = {"submissions": phase.max_submissions, "decimals": decimals}
    told: Disclosed | None = organiser.call("disclosure", {**request, **limits})
    if told is None:
        return ["what the scores give away of the gold is not measured for this scoring program (docs/disclosure.md)."]
    if not told["items"]:
        return [f"what {', '.join(told['unmeasured'])} give away of the gold is not measured (docs/disclosure.md)."]
    within = f"with {phase.max_submissions} submissions" if phase.max_submissions else "without max_submissions"
    share = told["decided"] / told["items"]
    line = (
        f"{within} one participant can learn {told['decided']} of {told['items']} gold values ({share:.0%}) "
        f"for certain, from the scores in {', '.join(told['columns'])}."
    )
    if told["accepted"]:
        return [line]
    if told["decimals"] is not None and told["decimals"] != decimals:
        line += f" score_decimals: {told['decimals']} leaves {told['decided_then']}."
    if told["submissions"]:
        line += f" max_submissions: {told['submissions']} leaves at most 5 %."
    return [line]


def gold_elsewhere(competition: Resolved, organiser: Organiser, work: Path) -> tuple[list[GoldElsewhere], list[str]]:
    """The gold of the phases that this bundle does not have, and remarks on gold that could not be read."""
    phases = competition.declaration.phases
    here = {phase.data_id for phase in competition.phases}
    found: list[GoldElsewhere] = []
    remarks: list[str] = []
    for data_id in dict.fromkeys(phase.data_id for phase in phases if phase.gold == "secret"):
        if data_id not in here:
            tasks = _tasks_with_gold(competition, data_id)
            gold, unread = _gold_of(competition, organiser, data_id, tasks, work)
            found += gold
            remarks += [f"{data_id}: {remark}" for remark in unread]
    return found, remarks


def _tasks_with_gold(competition: Resolved, data_id: str) -> tuple[Task, ...]:
    """The tasks of the whole competition in the phases that use a phase's data."""
    return replace(competition, tasks=tuple(competition.declaration.tasks)).tasks_of_data(data_id)


def _gold_of(
    competition: Resolved, organiser: Organiser, phase: str, tasks: Sequence[Task], work: Path
) -> tuple[list[GoldElsewhere], list[str]]:
    """The gold of tasks that are not scored here, one by one where they cannot be read together, and remarks."""

    def prepared(some: Sequence[Task]) -> GoldElsewhere:
        part = Part("others", "", tuple(some))
        folder = Path(tempfile.mkdtemp(dir=work)) / "gold"
        reference, _ = prepare_reference(competition, organiser, part, phase, folder)
        return _secrets(competition, organiser, part, reference), reference

    found: list[GoldElsewhere] = []
    remarks: list[str] = []
    try:
        found += [prepared(tasks)] if tasks else []
    except UserError:
        for task in tasks:
            try:
                found.append(prepared([task]))
            except UserError:
                remarks.append(
                    f"{task.id}: its gold could not be read, so what participants get was not searched for it."
                )
    return found, remarks


def _secrets(competition: Resolved, organiser: Organiser, part: Part, reference: Path) -> Sequence[SecretFile]:
    answer = organiser.call("secrets", {**_request(competition, part), "reference": str(reference)})
    files: Sequence[SecretFile] = answer["files"]
    return files


def _request(competition: Resolved, part: Part) -> dict[str, Any]:
    return {
        "tasks": part.task_ids,
        "all_tasks": competition.all_task_ids,
        "layout": competition.layout,
        "options": competition.options,
    }


def checked_reference(
    competition: Resolved,
    organiser: Organiser,
    part: Part,
    phase: str,
    out: Path,
    given: Mapping[str, Mapping[str, str]] | None = None,
) -> tuple[Path, list[str]]:
    """`prepare_reference`, and the package's checks of it, in a build also against what is `given`; likewise."""
    reference, warnings = prepare_reference(competition, organiser, part, phase, out)
    folders = [str(competition.data / one) for one in dict.fromkeys(one.data_id for one in competition.phases)]
    request = {**_request(competition, part), "reference": str(reference), "phases": folders, **(given or {})}
    return reference, [*warnings, *organiser.call("check_reference", request)["warnings"]]


def prepare_reference(
    competition: Resolved, organiser: Organiser, part: Part, phase: str, out: Path
) -> tuple[Path, list[str]]:
    """Prepare the gold of a part in a phase in the new folder `out`; returns that folder and the package's remarks.

    Raises:
        UserError: the phase's folder is missing, or its data cannot be used.
    """
    source = competition.data / phase
    if not source.is_dir():
        raise UserError(f"no folder {source}. Expected the reference data of the phase {phase!r} there.")
    out.mkdir(parents=True)
    held = {other.data_id: competition.tasks_of_data(other.data_id) for other in competition.phases}
    phases = [str(competition.data / one) for one, tasks in held.items() if all(task in tasks for task in part.tasks)]
    request = {
        **_request(competition, part),
        "source": str(source),
        "out": str(out),
        "phases": phases or [str(source)],
    }
    return out, list(organiser.call("prepare", request)["warnings"])

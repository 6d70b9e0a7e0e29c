"""The journey from a declaration to a bundle: declaration → resolved competition → prepared data → tree → zip.

On the way the scoring package is tried, and at the end the bundle is checked, and looked at for what makes it a draft.
"""

import os
import re
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from gen_bundle.check import Elsewhere, Finding, check_path
from gen_bundle.check.report import LEAK, OVER
from gen_bundle.codabench.platform_image import PLATFORM_IMAGE
from gen_bundle.declaration.overrides import nearest
from gen_bundle.draft import Lack, lacks
from gen_bundle.errors import UserError
from gen_bundle.image.requirements import not_here
from gen_bundle.package.own_code import announce_own_code, refuse_own_code
from gen_bundle.package.phase_data import GoldElsewhere, PhaseData, gold_elsewhere, prepare_phases
from gen_bundle.package.resolve import Resolved, find_competition, resolve
from gen_bundle.package.trial import check_columns, try_out
from gen_bundle.package.wheels import absent_imports
from gen_bundle.platforms import codabench, codalab
from gen_bundle.remembered import file_digest, remember
from gen_bundle.render.starting_kit import starting_kit_members
from gen_bundle.whole_file import beside
from gen_bundle.zips.unpacking import UNREADABLE
from gen_bundle.zips.writing import write_zip

Progress = Callable[[str], None]
PLATFORMS = {"codabench": codabench, "codalab": codalab}


@dataclass(frozen=True)
class Built:
    """A finished bundle.

    Attributes:
        competition: what it was built from.
        path: where it lies.
        notes: what the organiser should know about it.
        errors: why it would have been refused without `--force`.
        leaks: whether gold lies where participants can read it, which only `--force` lets pass.
        elsewhere: gold that is not in it, and must not be found in it.
        draft: what is missing before it can be published.
    """

    competition: Resolved
    path: Path
    notes: tuple[str, ...]
    errors: tuple[str, ...]
    leaks: bool
    elsewhere: Sequence[Elsewhere]
    draft: tuple[Lack, ...]


class DraftError(UserError):
    """A release was asked for, and `drafts` is what it would have been; nothing was written."""

    status = 1

    def __init__(self, drafts: Sequence[Built]) -> None:
        lacks = dict.fromkeys(str(lack) for bundle in drafts for lack in bundle.draft)
        super().__init__(*lacks, advice="--release: nothing was written.")
        self.drafts = drafts


@dataclass(frozen=True)
class BuildRequest:
    """What the command line asks for.

    Attributes:
        source: name or folder of the competition.
        out: where the bundle goes; None: called like the competition, here.
        release: what keeps a bundle a draft is an error.
        now: the moment of the build, which decides whether a phase is over.
        trust: run also code of the competition's folder that this user has not built before.
        announce: is called with a line that says so.
    """

    source: str
    out: Path | None = None
    data: Path | None = None
    layout: str | None = None
    task: str | None = None
    overrides: tuple[str, ...] = ()
    force: bool = False
    platform: str = "codabench"
    release: bool = False
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    trust: bool = True
    announce: Callable[[str], None] = lambda _: None


def build(request: BuildRequest, progress: Progress = lambda _: None) -> list[Built]:
    """Build a bundle, or in layout `separate` without a task, one for each task.

    Several bundles are put in place together, when all of them are sound.

    Raises:
        UserError: everything that must be fixed; nothing is written then.
        DraftError: likewise, of a release that is a draft.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is not None and not re.fullmatch("[0-9]{1,11}", epoch):
        raise UserError(f"SOURCE_DATE_EPOCH={epoch}: expected whole seconds since 1970, for example 1735689600.")
    try:
        return _build(request, progress)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise UserError(
            f"{place}{error.strerror}. Expected: readable data, and a writable folder with free space for "
            f"{f'--out {request.out}' if request.out else 'the bundle'}."
        ) from error


def finished_bundle(
    source: str,
    work: Path,
    data: Path | None = None,
    layout: str | None = None,
    *,
    trust: bool,
    announce: Callable[[str], None] = lambda _: None,
) -> Path:
    """The bundle (zip or folder) at `source`; a competition, by name or folder, is built into the folder `work` first.

    `trust` and `announce` are those of a `BuildRequest`.

    Raises:
        UserError: it cannot be built, or makes several bundles.
    """
    path = Path(source).expanduser()
    if path.is_file() or (path.is_dir() and not (path / "bundle.yaml").is_file()):
        return path
    out = work / "bundle.zip"
    built = build(BuildRequest(source, out, data, layout, force=True, trust=trust, announce=announce))
    if len(built) > 1:
        raise UserError(f"{source}: layout separate makes {len(built)} bundles. Build them, and name one.")
    return built[0].path


def _build(request: BuildRequest, progress: Progress) -> list[Built]:
    competition = resolve(
        find_competition(request.source), data=request.data, layout=request.layout, overrides=request.overrides
    )
    bundles = _planned(competition, request, request.out or _default_out(competition, request.task))
    foreign = [path for _, path in bundles if path.exists() and not request.force and not _is_bundle(path)]
    if foreign:
        raise UserError(
            *(f"--out {path}: exists and is not a bundle. Choose another path, or remove the file." for path in foreign)
        )
    if request.trust:
        announce_own_code(competition, request.announce)
    else:
        refuse_own_code(competition)
    with ExitStack() as unfinished:
        parts = [unfinished.enter_context(beside(path)) for _, path in bundles]
        built = [
            _build_one(one, path, part, request, progress) for (one, path), part in zip(bundles, parts, strict=True)
        ]
        if request.release and any(one.draft for one in built):
            raise DraftError(built)
        for one, part in zip(built, parts, strict=True):
            part.replace(one.path)
            remember(file_digest(one.path))
        return built


def _default_out(competition: Resolved, task: str | None) -> Path:
    """A name in the folder where we are: a file's, or with layout `separate` and no task a folder's."""
    if task is None and competition.layout == "separate":
        return Path(f"{competition.name}-bundles")
    return Path(f"{competition.name}-{task}.zip" if task else f"{competition.name}.zip")


def _planned(competition: Resolved, request: BuildRequest, out: Path) -> list[tuple[Resolved, Path]]:
    """The bundles to build and where each goes."""
    ids = [task.id for task in competition.tasks]
    if request.task is not None and competition.layout != "separate":
        raise UserError(f"--task {request.task}: only layout separate builds single tasks. Add --layout separate.")
    if request.task is not None and request.task not in ids:
        raise UserError(f"--task {request.task}: no such task. {nearest(request.task, ids)}")
    if request.task is not None:
        bundles = [(competition.only(request.task), out)]
    elif competition.layout == "separate":
        if out.is_file():
            raise UserError(f"--out {out}: is a file. Layout separate fills a folder; with --task it writes a file.")
        bundles = [(competition.only(task), out / f"{competition.name}-{task}.zip") for task in ids]
    else:
        bundles = [(competition, out)]
    taken = [
        f"--out {path}: is a {'folder' if path.is_dir() else 'device'}. Expected the path of a zip file."
        for _, path in bundles
        if path.exists() and not path.is_file()
    ]
    if taken:
        raise UserError(*taken)
    return bundles


def _is_bundle(path: Path) -> bool:
    """Whether a file may be replaced without asking: an earlier bundle."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "competition.yaml" in archive.namelist()
    except UNREADABLE:
        return False


def _build_one(competition: Resolved, out: Path, unfinished: Path, request: BuildRequest, progress: Progress) -> Built:
    """Write the bundle that is meant for `out` to the path `unfinished`."""
    platform = PLATFORMS[request.platform]
    with tempfile.TemporaryDirectory(prefix="gen-bundle-") as work_name, ThreadPoolExecutor(1) as aside:
        work = Path(work_name)
        with competition.package.opened() as organiser:
            progress("preparing reference data")
            phases = prepare_phases(competition, work, organiser)
            elsewhere, unread = gold_elsewhere(competition, organiser, work)
            named = check_columns(competition, organiser)
            progress("scoring template and baselines, and making the starting kits")
            trial = aside.submit(try_out, competition, organiser, named, phases, work)
            kits = {data.phase.id: starting_kit_members(competition, data) for data in phases}
            tried = trial.result()
        progress("writing pages, programs and data")
        phases = [replace(data, scores=tried.baselines.get(data.phase.id, {})) for data in phases]
        tree = platform.bundle_tree(competition, phases, kits)
        write_zip(unfinished, tree)
        hidden = _hidden(phases, elsewhere)
    progress("checking the bundle")
    grave, remarks = _checked(unfinished, competition, hidden, request.platform)
    errors = tuple(_in_a_line(finding) for finding in grave)
    if errors and not request.force:
        raise UserError(*errors, advice=f"{out} was not written. Fix this, or pass --force to write it all the same.")
    warnings = _by_phase([(data.phase.id, text) for data in phases for text in data.warnings])
    absent = ", ".join(not_here(competition.declaration.requirements))
    install = f"pip install {' '.join(competition.declaration.requirements)}"
    here = [f"requirements: {absent}: scores on this machine may differ from the image's. {install}"] if absent else []
    notes = (
        *competition.notes,
        *here,
        *_not_in_the_image(competition),
        *warnings,
        *unread,
        *tried.notes,
        *platform.losses(competition),
        *map(_in_a_line, remarks),
    )
    leaks = any(finding.id == LEAK for finding in grave)
    return Built(competition, out, notes, errors, leaks, hidden, tuple(lacks(competition, phases, tree, request.now)))


def _not_in_the_image(competition: Resolved) -> list[str]:
    """What own code needs and the platform's image lacks."""
    names = ", ".join(absent_imports(competition))
    advice = "Name an image that has it: docker_image (docs/image.md)."
    where = f"imported by the competition's own code, and not in {PLATFORM_IMAGE}, where it runs"
    return [f"{names}: {where}. {advice}"] if names else []


def _by_phase(warnings: list[tuple[str, str]]) -> list[str]:
    """Each warning once, with the phases that it concerns."""
    phases: dict[str, list[str]] = {}
    for phase, text in warnings:
        if phase not in phases.setdefault(text, []):
            phases[text].append(phase)
    return [f"{', '.join(ids)}: {text}" for text, ids in phases.items()]


def _checked(
    bundle: Path, competition: Resolved, hidden: Sequence[Elsewhere], platform: str
) -> tuple[list[Finding], list[Finding]]:
    """What the check finds in a finished bundle: what keeps it from being used, and what it remarks upon.

    The first is what Codabench would refuse, what would not work, and gold where participants can read it. The second
    is about what Codabench ignores, which says nothing new of a bundle in CodaLab's format; dates in the past are named
    with all else that keeps a bundle a draft.
    """
    queue = competition.declaration.queue
    report = check_path(bundle, elsewhere=hidden, known_keys=[queue] if queue else [])
    shown = [finding for finding in report.findings if finding.severity != "note" and finding.id != OVER]
    grave = [finding for finding in shown if finding.grave]
    return grave, [finding for finding in shown if finding not in grave] if platform == "codabench" else []


def _in_a_line(finding: Finding) -> str:
    place = "" if finding.file in finding.what else f"{finding.file}: "
    return f"{place}{finding.what}. {finding.consequence} {finding.repair}"


def _hidden(phases: list[PhaseData], elsewhere: list[GoldElsewhere]) -> list[Elsewhere]:
    """The gold that is not in the bundle: of other phases and tasks, except where a phase's gold is public."""
    others = [one for data in phases if data.phase.gold == "secret" for one in data.elsewhere]
    return [
        Elsewhere(
            [{**one} for one in secrets],
            {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()},
        )
        for secrets, folder in (*others, *elsewhere)
    ]

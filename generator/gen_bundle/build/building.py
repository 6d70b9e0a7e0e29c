"""The journey from a declaration to a bundle: declaration → resolved competition → prepared data → tree → zip.

On the way the scoring package is tried, and at the end the bundle is checked, and looked at for what makes it a draft.
"""

import os
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from gen_bundle.build.draft import Lack, lacks
from gen_bundle.build.foreign import ForeignProject, foreign_tree, is_as_imported, resolve_foreign, unused_data
from gen_bundle.build.package.libraries import not_here, site_here, site_note
from gen_bundle.build.package.phase_data import (
    GoldElsewhere,
    PhaseData,
    check_columns,
    gold_elsewhere,
    prepare_phases,
    try_out,
)
from gen_bundle.build.package.programs import absent_imports, differing_there
from gen_bundle.build.package.resolve import Resolved, check_own_code, find_competition, resolve
from gen_bundle.build.platforms import codabench, codalab
from gen_bundle.build.render.starting_kit import starting_kits
from gen_bundle.check import Elsewhere, Finding, check_path
from gen_bundle.check.report import LACKING, LEAK, MOST_LINES, OVER, SYNTHETIC, UNFINISHED, UNPUBLISHED
from gen_bundle.codabench.reading import YAML_NAME
from gen_bundle.codabench.worker import PLATFORM_IMAGE
from gen_bundle.declaration.read import FILE, is_foreign
from gen_bundle.declaration.source import nearest
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import beside, file_digest, remember
from gen_bundle.ground.zips.writing import write_zip
from scoring_kit.base.submissions import UNREADABLE

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

    competition: Resolved | ForeignProject
    path: Path
    notes: tuple[str, ...]
    errors: tuple[str, ...]
    leaks: bool
    elsewhere: Sequence[Elsewhere]
    draft: tuple[Lack, ...]


class DraftError(UserError):
    """Raised in place of a release that would be a draft: `drafts` are the bundles, of which nothing was written."""

    status = 1

    def __init__(self, drafts: Sequence[Built]) -> None:
        lacks = dict.fromkeys(str(lack) for bundle in drafts for lack in bundle.draft)
        super().__init__(*lacks, advice="--release: nothing was written.")
        self.drafts = drafts


@dataclass(frozen=True)
class BuildRequest:
    """A build as the command line asks for it.

    Attributes:
        source: name or folder of the competition.
        out: where the bundle goes; None: called like the competition, in `folder`.
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
    folder: Path = Path()


def build(request: BuildRequest, progress: Callable[[str], None] = lambda _: None) -> list[Built]:
    """Build a bundle, or in layout `separate` without a task, one for each task.

    Several bundles are put in place together, when all of them are sound.

    Raises:
        UserError: everything that must be fixed; nothing is written then.
        DraftError: a release was asked for, and it would be a draft; nothing is written then.

    >>> [bundle] = build(BuildRequest("process2025", out=Path("process2025.zip")))
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is not None and not re.fullmatch("[0-9]{1,11}", epoch):
        raise UserError(f"SOURCE_DATE_EPOCH={epoch}: expected whole seconds since 1970, for example 1735689600.")
    try:
        folder = find_competition(request.source)
        foreign = is_foreign(folder)
        planned = _planned_foreign(folder, request) if foreign else _planned(folder, request)
        _check_free(planned, force=request.force)
        competition = planned[0][0]
        if isinstance(competition, Resolved):
            check_own_code(competition, trust=request.trust, announce=request.announce)
        return _built(planned, request, progress)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        reason = f"{place}{error.strerror or error}"
        where = f"--out {request.out}" if request.out else "the bundle"
        raise UserError(
            f"{reason}. Expected: readable data, and a writable folder with free space for {where}."
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
    """Return the bundle (zip or folder) at `source`; a competition, by name or folder, is built into `work` first.

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


Planned = Sequence[tuple[Resolved | ForeignProject, Path]]
"""The bundles to build, and where each goes."""


def _planned_foreign(folder: Path, request: BuildRequest) -> Planned:
    given = {"--layout": request.layout, "--task": request.task}
    if request.platform != "codabench":
        given["--platform"] = request.platform
    for option, value in given.items():
        if value is not None:
            raise UserError(
                f"{option} {value}: {folder / FILE} has programs that are packed as they are, for the tasks that it "
                "lists. Leave the option out."
            )
    project = resolve_foreign(folder, data=request.data, overrides=request.overrides)
    return [(project, request.out or request.folder / f"{project.name}.zip")]


def _planned(folder: Path, request: BuildRequest) -> Planned:
    competition = resolve(folder, data=request.data, layout=request.layout, overrides=request.overrides)
    task, name, ids = request.task, competition.name, competition.task_ids
    if task is not None:
        if competition.layout != "separate":
            raise UserError(f"--task {task}: only layout separate builds single tasks. Add --layout separate.")
        if task not in ids:
            raise UserError(f"--task {task}: no such task. {nearest(task, ids)}")
        return [(competition.only(task), request.out or request.folder / f"{name}-{task}.zip")]
    if competition.layout != "separate":
        return [(competition, request.out or request.folder / f"{name}.zip")]
    out = request.out or request.folder / f"{name}-bundles"
    if out.is_file():
        raise UserError(f"--out {out}: is a file. Layout separate fills a folder; with --task it writes a file.")
    return [(competition.only(one), out / f"{name}-{one}.zip") for one in ids]


def _check_free(planned: Planned, *, force: bool) -> None:
    """See that nothing is in the way of bundles: a folder, a device, or without `force` a file that is no bundle."""
    wrong, foreign = [], []
    for _, path in planned:
        if path.exists() and not path.is_file():
            kind = "folder" if path.is_dir() else "device"
            wrong.append(f"--out {path}: is a {kind}. Expected the path of a zip file.")
        elif path.is_file() and not force and not _is_bundle(path):
            foreign.append(f"--out {path}: exists and is not a bundle. Choose another path, or remove the file.")
    if problems := wrong or foreign:
        raise UserError(*problems)


def _is_bundle(path: Path) -> bool:
    """Whether a file may be replaced without asking: an earlier bundle."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "competition.yaml" in archive.namelist()
    except UNREADABLE:
        return False


def _built(planned: Planned, request: BuildRequest, progress: Callable[[str], None]) -> list[Built]:
    """Build each bundle beside its place, and put all in place together."""
    with ExitStack() as unfinished:
        parts = [unfinished.enter_context(beside(path)) for _, path in planned]
        built = []
        for (competition, out), part in zip(planned, parts, strict=True):
            built.append(_build_one(competition, out, part, request, progress))
        if request.release and any(one.draft for one in built):
            raise DraftError(built)
        for one, part in zip(built, parts, strict=True):
            part.replace(one.path)
            if isinstance(one.competition, Resolved):  # programs of others are not this user's for being packed
                remember(file_digest(one.path))
        return built


def _build_one(
    competition: Resolved | ForeignProject,
    out: Path,
    unfinished: Path,
    request: BuildRequest,
    progress: Callable[[str], None],
) -> Built:
    """Write the bundle that is meant for `out` to the path `unfinished`."""
    with tempfile.TemporaryDirectory(prefix="gen-bundle-") as work:
        if isinstance(competition, ForeignProject):
            progress("packing programs and data")
            tree = foreign_tree(competition, Path(work))
            draft = tuple(lacks(competition, (), tree, request.now))
            made = _Contents(tree, (), [*unused_data(competition)], draft)
        else:
            made = _with_package(competition, Path(work), request, progress)
        write_zip(unfinished, made.tree)
    progress("checking the bundle")
    found, noted, lacking = _findings(unfinished, competition, made.hidden)
    leaks = any(finding.id == LEAK for finding in found)
    grave = _causes(found)
    draft = made.draft + tuple(Lack(one.id, f"As imported: {one.what}.", one.repair) for one in lacking)
    if grave and not request.overrides and _is_its_own_work(competition, grave):
        draft += tuple(Lack(one.id, f"As imported: {one.what}. {one.consequence}", one.repair) for one in grave)
        grave = []
    errors = tuple(_in_lines(grave))
    if errors and not request.force:
        raise UserError(*errors, advice=f"{out} was not written. Fix this, or pass --force to write it all the same.")
    notes = [*made.notes]
    if request.platform == "codabench":  # what Codabench ignores says nothing new of a bundle in CodaLab's format
        notes += _in_lines(noted)
    return Built(competition, out, tuple(notes), errors, leaks, made.hidden, draft)


def _is_its_own_work(competition: Resolved | ForeignProject, grave: Sequence[Finding]) -> bool:
    """Whether faults, none of them a leak, are those of a bundle that was imported and not changed since."""
    is_harmless = all(finding.severity == "error" and finding.id != LEAK for finding in grave)
    return is_harmless and isinstance(competition, ForeignProject) and is_as_imported(competition)


class _Contents(NamedTuple):
    """The files of a bundle, and what `Built` says of it before it is checked.

    The phases' data are not kept: of a million rows the keys alone take 110 MiB.
    """

    tree: Mapping[str, bytes | Path]
    hidden: Sequence[Elsewhere]
    notes: Sequence[str]
    draft: tuple[Lack, ...]


def _with_package(
    competition: Resolved, work: Path, request: BuildRequest, progress: Callable[[str], None]
) -> _Contents:
    """Return what a scoring package prepares, in the folder `work`, and is tried with."""
    platform = PLATFORMS[request.platform]
    with ThreadPoolExecutor(1) as aside, competition.opened(site_here(competition)) as opened:
        progress("preparing reference data")
        phases = prepare_phases(opened, work)
        elsewhere, unread = gold_elsewhere(opened, work)
        named = check_columns(opened)
        progress("scoring template and baselines, and making the starting kits")
        trial = aside.submit(try_out, opened, named, phases, work)
        kits = starting_kits(competition, phases)
        tried = trial.result()
    progress("writing pages, programs and data")
    phases = [replace(data, scores=tried.baselines.get(data.phase.id, {})) for data in phases]
    tree = platform.bundle_tree(competition, phases, kits)
    notes = [*_notes(competition, phases), *unread, *tried.notes, *platform.losses(competition)]
    draft = tuple(lacks(competition, phases, tree, request.now))
    return _Contents(tree, _hidden(phases, elsewhere), notes, draft)


def _hidden(phases: Sequence[PhaseData], elsewhere: Sequence[GoldElsewhere]) -> list[Elsewhere]:
    """The gold that is not in the bundle: of other phases and tasks, except where a phase's gold is public."""
    found: list[GoldElsewhere] = []
    for data in phases:
        if data.phase.gold == "secret":
            found += data.gold.elsewhere
    hidden = []
    for gold in (*found, *elsewhere):
        files = {}
        for path in gold.folder.rglob("*"):
            if path.is_file():
                files[path.relative_to(gold.folder).as_posix()] = path.read_bytes()
        hidden.append(Elsewhere(gold.secrets, files))
    return hidden


def _findings(
    bundle: Path, competition: Resolved | ForeignProject, hidden: Sequence[Elsewhere]
) -> tuple[list[Finding], list[Finding], list[Finding]]:
    """Return what the check finds in a finished bundle: what is grave, what is not, and what makes it a draft.

    Grave is what Codabench would refuse, what would not work, and gold where participants can read it. What makes a
    bundle a draft is said by `lacks`, but for two things that only the check knows of a foreign project: made-up gold,
    and what its image has not.
    """
    queue = competition.declaration.queue
    known = [queue] if queue else []
    grave: list[Finding] = []
    others: list[Finding] = []
    lacking: list[Finding] = []
    for finding in check_path(bundle, elsewhere=hidden, known_keys=known).findings:
        if finding.id in (SYNTHETIC, LACKING):
            if isinstance(competition, ForeignProject):
                lacking.append(finding)
        elif finding.id not in (OVER, UNPUBLISHED, UNFINISHED):
            chosen = grave if finding.grave else others
            chosen.append(finding)
    return grave, others, lacking


BASELINE = re.compile(r"^solution solutions/([^/]+)/")
EXAMPLE = re.compile(r"^starting kit starting_kits/([^/]+)\.zip/examples/")


def _causes(found: Sequence[Finding]) -> list[Finding]:
    """Leave out what the examples of a kit show where a baseline of the phase, of which they are made, shows it."""
    phases = {baseline[1] for one in found if (baseline := BASELINE.match(one.what))}
    causes = []
    for one in found:
        example = EXAMPLE.match(one.what)
        if example is None or example[1] not in phases:
            causes.append(one)
    return causes


OWN_FILES = (
    (re.compile(r"^public data public_data/[^/]+?\.zip/"), "public/"),
    (re.compile(r"^solution solutions/([^/]+)/([^/]+)\.zip/"), r"baselines/\1/\2/"),
)
"""How a finding names a file of a built bundle, and which file of the organisers it comes from."""


def _in_lines(findings: Sequence[Finding]) -> list[str]:
    """Each finding in a line, of each rule so many as `check` shows."""
    lines_of: dict[str, dict[str, None]] = {}  # each line once
    for finding in findings:
        lines_of.setdefault(finding.id, {})[_in_a_line(finding)] = None
    found: list[str] = []
    for rule_id, lines in lines_of.items():
        found += [*lines][:MOST_LINES]
        if len(lines) > MOST_LINES:
            found.append(f"… and {len(lines) - MOST_LINES} more of {rule_id} (gen-bundle check --json lists all)")
    return found


def _in_a_line(finding: Finding) -> str:
    what = finding.what
    for of_bundle, own in OWN_FILES:
        what = of_bundle.sub(own, what)
    generated = finding.file == YAML_NAME  # which the organisers have never seen
    place = "" if generated or finding.file in finding.what else f"{finding.file}: "
    return f"{place}{what}. {finding.consequence} {finding.repair}"


def _notes(competition: Resolved, phases: Sequence[PhaseData]) -> Iterator[str]:
    """Yield what the organiser should know: of options, of packages, and of the data."""
    yield from competition.notes
    wanted = competition.declaration.requirements
    if absent := ", ".join(not_here(wanted)):
        install = f"pip install {' '.join(wanted)}"
        yield f"requirements: {absent}: scores on this machine may differ from the image's. {install}"
    if travelling := site_note(competition):
        yield travelling
    if perhaps := [name for name, surely in absent_imports(competition).items() if not surely]:
        where = f"imported somewhere in the competition's own code, and not in {PLATFORM_IMAGE}, where it runs"
        yield f"{', '.join(perhaps)}: {where}. Name an image that has it: docker_image (docs/image.md)."
    if differing := ", ".join(differing_there(competition)):
        there = f"the competition's own code runs in {PLATFORM_IMAGE} with {differing}"
        yield f"{there}. What fails only there is found by: gen-bundle dry-run BUNDLE --engine docker."
    phases_of: dict[str, dict[str, None]] = {}  # each warning once, with the phases that it concerns
    for data in phases:
        for warning in data.warnings:
            phases_of.setdefault(warning, {})[data.phase.id] = None
    for warning, ids in phases_of.items():
        yield f"{', '.join(ids)}: {warning}"

"""Programs and data as paths: what they lead to, what is packed, and what overwrites what."""

import re
from collections.abc import Iterator
from functools import partial

from gen_bundle.check.bundle import Bundle, page_files
from gen_bundle.check.registry import UNPACKER, WORKER, ZIPFILE, Problem, Topic
from gen_bundle.check.rules.shared import PATH_NOT_TEXT, UNKNOWN_KEY, known_key
from gen_bundle.codabench.competition import DataUse
from gen_bundle.codabench.fields import Stage, is_uuid, shown
from gen_bundle.yaml_document import Path
from gen_bundle.zips.tree import Node, OnServer, Unpacked

DATA = Topic(
    "Programs and data as files", f"{UNPACKER}/base_unpacker.py (data files)", reads="both", stage=Stage.SAVE_TASKS
)
PLACEHOLDER = re.compile(r"(?i)(?:readme|licen[cs]e|placeholder)(?:\.\w+)?\Z|\.(?:git\w*|keep|DS_Store)\Z")
PROGRAMS = ("scoring_program", "ingestion_program")
OF_PHASES = ("public_data", "starting_kit")
STAGES = {"solution": Stage.SAVE_SOLUTIONS, "public_data": Stage.SAVE_PHASES, "starting_kit": Stage.SAVE_PHASES}


def where(use: DataUse) -> str:
    """A use as people call it: reference data 'ref'."""
    return f"{use.role.replace('_', ' ')} {shown(use.path)}"


def _running(bundle: Bundle) -> set[Path]:
    """Where the files are named that submissions of some phase meet: programs and data of tasks that are run."""
    return {use.at for task in bundle.competition.used_tasks for use in task.files.values()}


@DATA.refused(
    "data-path-no-text",
    "the path of a program or of data is not a text",
    f"{PATH_NOT_TEXT} → Leave the key out if there is nothing; quote a path that looks like a number.",
    stage=Stage.TASKS,
)
def _data_path_no_text(bundle: Bundle) -> Iterator[Problem]:
    for use in bundle.competition.uses():
        if not isinstance(use.path, str):
            stage = Stage.TASKS
            if use.role in OF_PHASES or bundle.format != "v2":
                stage = Stage.PHASES
            elif use.role == "solution":
                stage = Stage.SOLUTIONS
            order = (use.order[0], 5, *use.order[1:])
            yield Problem(f"{where(use)} is not a path", use.at, stage=stage, order=order)


def _leading_nowhere(bundle: Bundle, *, uuids: bool) -> Iterator[DataUse]:
    """The uses whose path is of nothing in the bundle: UUIDs, which are keys of the server, or the rest."""
    for use in bundle.competition.uses():
        if isinstance(use.path, str) and bundle.find(use.path) is None and is_uuid(use.path) is uuids:
            yield use


def _not_there(use: DataUse, what: str) -> Problem:
    # in SAVE_PHASES each phase first looks up its tasks (place 0) and the leaderboard (1), then its two files
    order = (use.order[0], use.order[1] + 2) if use.role in OF_PHASES else (*use.order, 0)
    return Problem(f"{where(use)} {what}", use.at, stage=STAGES.get(use.role, Stage.SAVE_TASKS), order=order)


@DATA.refused("data-not-found", "a program or data file does not exist")
def _data_not_found(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Cannot find dataset: "…"`.
    → Correct the path: it is relative to the root of the zip, case matters, / separates, and nothing is fetched from
    the web.
    """
    for use in _leading_nowhere(bundle, uuids=False):
        yield _not_there(use, f"is not in the bundle{bundle.hint(use.path)}")


@DATA.note("data-to-be-packed", "a zip that is still a folder")
def _data_to_be_packed(bundle: Bundle) -> Iterator[Problem]:
    """The folder is looked at in place of its zip. A zip of the whole that lacks it ends with `Cannot find dataset`.
    → Pack the bundle as competition.yaml means it: gen-bundle check FOLDER --pack bundle.zip.
    """
    for use in bundle.competition.uses():
        if isinstance(use.path, str) and bundle.to_be_packed(use.path):
            folder = use.path.removesuffix(".zip")
            yield Problem(f"{where(use)} is not packed yet: the folder {folder!r} is there", use.at)


@DATA.refused(
    "data-key-unknown",
    "a program or data refers to a dataset of the server by key",
    'The upload ends with `Cannot find … with key: "…"` if there is no such dataset. '
    f"→ Put the file into the bundle. {known_key('dataset')}",
)
def _data_key_unknown(bundle: Bundle) -> Iterator[Problem]:
    for use in _leading_nowhere(bundle, uuids=True):
        if use.path not in bundle.known_keys:
            yield _not_there(use, f"is the key of a dataset, {UNKNOWN_KEY}")


@DATA.trap("data-whole-bundle", "an empty path, which means the whole bundle")
def _data_whole_bundle(bundle: Bundle) -> Iterator[Problem]:
    """The whole bundle is packed, reference data included; as public data, starting kit or solution participants can
    download it.
    → Leave the key out, or give the path of a separate folder.
    """
    for use in bundle.competition.uses():
        if bundle.find(use.path) is bundle.tree.root:
            yield Problem(f"{where(use)} packs the whole bundle", use.at)


@DATA.broken("data-of-the-server", "the path of a program or data leads out of the bundle")
def _data_of_the_server(bundle: Bundle) -> Iterator[Problem]:
    """The path is followed on the server, and some other file is used. → Give a path inside the bundle."""
    for use in bundle.competition.uses():
        if isinstance(bundle.find(use.path), OnServer):
            yield Problem(f"{where(use)} lies outside the bundle", use.at)


def _unpacked(bundle: Bundle) -> Iterator[tuple[DataUse, Unpacked, bool]]:
    """The programs and data that are there, unpacked, and whether submissions meet them."""
    running = _running(bundle)
    for use in bundle.competition.uses():
        unpacked = bundle.unpacked(use)
        if unpacked is not None:
            yield use, unpacked, use.at in running


@DATA.broken("data-no-zip", "a program or data that is neither a zip nor a folder", source=WORKER)
def _data_no_zip(bundle: Bundle) -> Iterator[Problem]:
    """It is uploaded as it is, but the worker cannot unpack it: every submission fails after minutes with `Bad or empty
    zip file`.
    → Give a folder, or a zip that can be opened.
    """
    for use, unpacked, running in _unpacked(bundle):
        if running and unpacked.fault:
            what = "is not a zip" if unpacked.form == "no zip" else "is a zip that cannot be unpacked"
            yield Problem(f"{where(use)} {what}: {unpacked.fault}", use.at)


@DATA.trap(
    "download-no-zip",
    "a solution, starting kit or public data in a broken zip, or a solution that is not a zip",
    source=WORKER,
)
def _download_no_zip(bundle: Bundle) -> Iterator[Problem]:
    """Participants download something that they cannot open or submit. → Give a folder, or a zip that can be opened."""
    for use, unpacked, running in _unpacked(bundle):
        needs_zip = use.role == "solution" or str(use.path).lower().endswith(".zip")
        if not running and unpacked.fault and needs_zip:
            yield Problem(f"{where(use)} cannot be opened: {unpacked.fault}", use.at)


@DATA.broken("reference-data-empty", "reference data without any file but a README or .gitkeep", source=WORKER)
def _reference_data_empty(bundle: Bundle) -> Iterator[Problem]:
    """The scoring program finds no answers in /app/input/ref, and every run fails. → Put the reference files there."""
    for use, unpacked, running in _unpacked(bundle):
        if not running or use.role != "reference_data" or unpacked.fault or unpacked.form not in ("folder", "zip"):
            continue
        if all(PLACEHOLDER.match(name.rpartition("/")[2]) for name in unpacked.names):
            but = f" but {', '.join(unpacked.names)}" if unpacked.names else ""
            yield Problem(f"{where(use)} contains no file{but}", use.at)


@DATA.trap("data-empty", "input data, public data, a starting kit or a solution without any file")
def _data_empty(bundle: Bundle) -> Iterator[Problem]:
    """Participants get an empty zip. → Put the files there, or leave the key out."""
    for use, unpacked, _ in _unpacked(bundle):
        is_empty = unpacked.form in ("folder", "zip") and not unpacked.fault and not unpacked.names
        if is_empty and use.role not in (*PROGRAMS, "reference_data"):
            yield Problem(f"{where(use)} contains no file", use.at)


@DATA.trap("link-used", "a symbolic link among the programs, data or pages", source=ZIPFILE)
def _link_used(bundle: Bundle) -> Iterator[Problem]:
    """It is unpacked as a small text file with the link's target. → Pack the file itself (zip without -y)."""
    for page in page_files(bundle):
        if isinstance(page.found, Node) and page.found.is_link:
            yield Problem(f"the page {page.path} is a symbolic link", page.at)
    for use in bundle.competition.uses():
        unpacked = bundle.unpacked(use)
        linked = [name for name, node in unpacked.tree.root.files() if node.is_link] if unpacked else []
        if linked:
            yield Problem(f"{where(use)} contains the symbolic link {linked[0]!r}", use.at)


def _overwritten(bundle: Bundle, *, used: bool) -> Iterator[Problem]:
    """What is read after packing wrote a zip there: files of tasks that are run, or the rest."""
    running = _running(bundle)
    for use, earlier, target, replaced in _read_after_packing(bundle):
        if (replaced and use.at in running) is used:
            yield Problem(f"{where(use)} is read after {where(earlier)} was zipped into {target!r}", use.at)


OVERWRITES = "A folder `x/data` is zipped into `data.zip`, one folder up."

DATA.broken(
    "packed-over",
    "packing a folder overwrites a program or data that a task uses",
    f"{OVERWRITES} A file of that name that is read later is no longer the original. "
    "→ Do not give a folder and a zip the same name; include ready-made zips.",
    source=f"{UNPACKER}/utils.py (zip_if_directory)",
)(partial(_overwritten, used=True))

DATA.trap(
    "packed-into",
    "packing a folder writes a zip into another folder, or over a download",
    f"{OVERWRITES} A folder that is packed later contains that zip as well. "
    "→ Do not pack a folder and its parent; include ready-made zips.",
    source=f"{UNPACKER}/utils.py (zip_if_directory)",
)(partial(_overwritten, used=False))


def _read_after_packing(bundle: Bundle) -> Iterator[tuple[DataUse, DataUse, str, bool]]:
    """Uses read after packing wrote a zip there: which, packed by whom, into what, and whether it replaces the file."""
    written: dict[str, DataUse] = {}
    for use in bundle.competition.uses():
        found = bundle.find(use.path)
        if not isinstance(found, Node) or found is bundle.tree.root:
            continue
        plain = _plain(use.path)
        for target, earlier in written.items():
            if target == plain and _contents(bundle, use) != _contents(bundle, earlier):
                yield use, earlier, target, True
            elif found.is_folder and target.startswith(f"{plain}/"):
                yield use, earlier, target, False
        if found.is_folder and (packed := _zip_of(use.path)):
            written.setdefault(packed, use)


def _contents(bundle: Bundle, use: DataUse) -> list[tuple[str, int]]:
    unpacked = bundle.unpacked(use)
    return [(name, node.size) for name, node in unpacked.tree.root.files()] if unpacked else []


def _zip_of(path: str) -> str | None:
    """The file, relative to the bundle, into which the upload zips a folder; None when it lies outside the bundle."""
    above = f"bundle/{path}".rpartition("/")[0].rpartition("/")[0]
    name = path.strip("/").rpartition("/")[2]
    if not above.startswith("bundle") or not name:
        return None
    return _plain(f"{above}/{name}.zip".partition("/")[2])


def _plain(path: str) -> str:
    return "/".join(part for part in path.split("/") if part not in ("", "."))

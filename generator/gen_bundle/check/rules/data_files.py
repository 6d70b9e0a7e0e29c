"""Programs and data as paths: what they lead to, what is packed, and what overwrites what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import UUID

from gen_bundle.check.registry import UNPACKER, WORKER, Effect, Problem, rule
from gen_bundle.codabench.competition import Competition, DataUse
from gen_bundle.codabench.fields import shown
from gen_bundle.codabench.stages import Stage
from gen_bundle.zips.tree import Node, OnServer

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle

FILES = f"{UNPACKER}/base_unpacker.py (data files)"
PROGRAMS = ("scoring_program", "ingestion_program")
STAGES = {"solution": Stage.SAVE_SOLUTIONS, "public_data": Stage.SAVE_PHASES, "starting_kit": Stage.SAVE_PHASES}


def _order(use: DataUse) -> tuple[int, ...]:
    # in SAVE_PHASES each phase first looks up its tasks (place 0) and the leaderboard (1), then its two files (2, 3)
    return (use.order[0], use.order[1] + 2) if use.role in ("public_data", "starting_kit") else (*use.order, 0)


def where(use: DataUse) -> str:
    """A use as people name it: reference_data 'ref'."""
    return f"{use.role.replace('_', ' ')} {shown(use.path)}"


def in_use(competition: Competition) -> list[DataUse]:
    """The files that submissions of some phase meet: programs and data of tasks that are run."""
    return [use for task in competition.used_tasks for use in task.files.values()]


@rule(
    "data-path-no-text",
    Effect.REFUSED,
    Stage.TASKS,
    title="the path of a program or of data is no text",
    consequence="The upload ends with `join() argument must be str, …`.",
    repair="Leave the key out when there is nothing; quote a path that looks like a number.",
    source=FILES,
    reads="both",
)
def _data_path_no_text(bundle: Bundle) -> Iterator[Problem]:
    for use in bundle.competition.uses():
        if not isinstance(use.path, str):
            shared = use.role in ("public_data", "starting_kit")
            stage = Stage.SOLUTIONS if use.role == "solution" else Stage.PHASES if shared else Stage.TASKS
            stage = stage if bundle.format == "v2" else Stage.PHASES
            order = (use.order[0], 5, *use.order[1:])
            yield Problem(f"{where(use)} is no path", use.at, stage=stage, order=order)


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


@rule(
    "data-not-found",
    Effect.REFUSED,
    Stage.SAVE_TASKS,
    title="a program or data file is not there",
    consequence='The upload ends with `Cannot find dataset: "…"`.',
    repair="Correct the path: it is relative to the root of the zip, case counts, / separates, and nothing is fetched "
    "from the web.",
    source=FILES,
    reads="both",
)
def _data_not_found(bundle: Bundle) -> Iterator[Problem]:
    for use in bundle.competition.uses():
        if isinstance(use.path, str) and bundle.tree.find(use.path) is None and not _is_uuid(use.path):
            near = bundle.tree.nearest(use.path)
            hint = f"; there is {near!r}" if near else ""
            stage = STAGES.get(use.role, Stage.SAVE_TASKS)
            yield Problem(f"{where(use)} is not in the bundle{hint}", use.at, stage=stage, order=_order(use))


@rule(
    "data-key-unknown",
    Effect.REFUSED,
    Stage.SAVE_TASKS,
    title="a program or data refers to a dataset of the server by key",
    consequence='The upload ends with `Cannot find … with key: "…"` where there is no such dataset.',
    repair="Put the file into the bundle. If a dataset with this key exists on your server, name it with --known-key.",
    source=FILES,
    reads="both",
)
def _data_key_unknown(bundle: Bundle) -> Iterator[Problem]:
    for use in bundle.competition.uses():
        if not isinstance(use.path, str) or use.path in bundle.known_keys or not _is_uuid(use.path):
            continue
        if bundle.tree.find(use.path) is None:
            stage = STAGES.get(use.role, Stage.SAVE_TASKS)
            what = f"{where(use)} is the key of a dataset, which cannot be assumed to exist"
            yield Problem(what, use.at, stage=stage, order=_order(use))


@rule(
    "data-whole-bundle",
    Effect.TRAP,
    title="an empty path, which means the whole bundle",
    consequence="The whole bundle is packed, reference data included; as public data, starting kit or solution "
    "participants can download it.",
    repair="Leave the key out, or give the path of a folder of its own.",
    source=FILES,
    reads="both",
)
def _data_whole_bundle(bundle: Bundle) -> Iterator[Problem]:
    for use in bundle.competition.uses():
        if isinstance(use.path, str) and bundle.tree.find(use.path) is bundle.tree.root:
            yield Problem(f"{where(use)} packs the whole bundle", use.at)


@rule(
    "data-of-the-server",
    Effect.BROKEN,
    title="the path of a program or data leads out of the bundle",
    consequence="The path is followed on the server: a foreign file is taken.",
    repair="Give a path inside the bundle.",
    source=FILES,
    reads="both",
)
def _data_of_the_server(bundle: Bundle) -> Iterator[Problem]:
    for use in bundle.competition.uses():
        if isinstance(use.path, str) and isinstance(bundle.tree.find(use.path), OnServer):
            yield Problem(f"{where(use)} lies outside the bundle", use.at)


@rule(
    "data-no-zip",
    Effect.BROKEN,
    title="a program or data that is no zip and no folder",
    consequence="It is uploaded as it is; the worker cannot unpack it, and every submission fails after minutes with "
    "`Bad or empty zip file`.",
    repair="Give a folder, or a zip that can be opened.",
    source=WORKER,
    reads="both",
)
def _data_no_zip(bundle: Bundle) -> Iterator[Problem]:
    for use in in_use(bundle.competition):
        package = bundle.package(use)
        if package and package.fault:
            what = "is no zip" if package.kind == "no zip" else "is a zip that cannot be unpacked"
            yield Problem(f"{where(use)} {what}: {package.fault}", use.at)


@rule(
    "download-no-zip",
    Effect.TRAP,
    title="a solution, kit or public data in a broken zip, or a solution that is no zip",
    consequence="Participants download something that they cannot open or submit.",
    repair="Give a folder, or a zip that can be opened.",
    source=WORKER,
    reads="both",
)
def _download_no_zip(bundle: Bundle) -> Iterator[Problem]:
    competition = bundle.competition
    running = {use.at for use in in_use(competition)}
    for use in competition.uses():
        package = bundle.package(use) if use.at not in running else None
        if package and package.fault and (use.role == "solution" or str(use.path).lower().endswith(".zip")):
            yield Problem(f"{where(use)} cannot be opened: {package.fault}", use.at)


@rule(
    "reference-data-empty",
    Effect.BROKEN,
    title="reference data without any file",
    consequence="The scoring program finds an empty /app/input/ref.",
    repair="Put the reference files there, or leave the key out.",
    source=WORKER,
    reads="both",
)
def _reference_data_empty(bundle: Bundle) -> Iterator[Problem]:
    for use in in_use(bundle.competition):
        package = bundle.package(use) if use.role == "reference_data" else None
        if package and package.kind in ("folder", "zip") and not package.fault and not package.names:
            yield Problem(f"{where(use)} holds no file", use.at)


@rule(
    "data-empty",
    Effect.TRAP,
    title="input data, public data, a kit or a solution without any file",
    consequence="Participants get an empty zip.",
    repair="Put the files there, or leave the key out.",
    source=FILES,
    reads="both",
)
def _data_empty(bundle: Bundle) -> Iterator[Problem]:
    for use in bundle.competition.uses():
        if use.role in PROGRAMS or use.role == "reference_data":
            continue
        package = bundle.package(use)
        if package and package.kind in ("folder", "zip") and not package.fault and not package.names:
            yield Problem(f"{where(use)} holds no file", use.at)


ZIPPED = f"{UNPACKER}/utils.py (zip_if_directory)"
OVERWRITES = "Folders are zipped into a file named after them, one folder up."


@rule(
    "packed-over",
    Effect.BROKEN,
    title="packing a folder overwrites a program or data that a task uses",
    consequence=f"{OVERWRITES} A file of that name that is read later is another one than meant.",
    repair="Do not give a folder and a zip the same name; ship ready-made zips.",
    source=ZIPPED,
    reads="both",
)
def _packed_over(bundle: Bundle) -> Iterator[Problem]:
    running = {use.at for use in in_use(bundle.competition)}
    for use, earlier, target, replaced in _overwritten(bundle):
        if replaced and use.at in running:
            yield Problem(f"{where(use)} is read after {where(earlier)} was zipped into {target!r}", use.at)


@rule(
    "packed-into",
    Effect.TRAP,
    title="packing a folder writes a zip into another folder, or over a download",
    consequence=f"{OVERWRITES} A folder that is packed later holds that zip as well.",
    repair="Do not pack a folder and its parent; ship ready-made zips.",
    source=ZIPPED,
    reads="both",
)
def _packed_into(bundle: Bundle) -> Iterator[Problem]:
    running = {use.at for use in in_use(bundle.competition)}
    for use, earlier, target, replaced in _overwritten(bundle):
        if not (replaced and use.at in running):
            yield Problem(f"{where(use)} is read after {where(earlier)} was zipped into {target!r}", use.at)


def _overwritten(bundle: Bundle) -> Iterator[tuple[DataUse, DataUse, str, bool]]:
    """Uses read after packing wrote a zip there: which, packed by whom, into what, and whether it replaces the file."""
    written: dict[str, DataUse] = {}
    for use in bundle.competition.uses():
        found = bundle.tree.find(use.path) if isinstance(use.path, str) else None
        if not isinstance(found, Node) or found is bundle.tree.root:
            continue
        plain = "/".join(part for part in use.path.split("/") if part not in ("", "."))
        for target, earlier in written.items():
            if target == plain and _contents(bundle, use) != _contents(bundle, earlier):
                yield use, earlier, target, True
            elif found.is_folder and target.startswith(f"{plain}/"):
                yield use, earlier, target, False
        packed = _zip_of(use.path) if found.is_folder else None
        if packed is not None:
            written.setdefault(packed, use)


def _contents(bundle: Bundle, use: DataUse) -> list[tuple[str, int]]:
    package = bundle.package(use)
    return [(name, node.size) for name, node in package.tree.root.files()] if package else []


def _zip_of(path: str) -> str | None:
    """The file, relative to the bundle, into which the upload zips a folder; None when it lies outside the bundle."""
    above = f"bundle/{path}".rpartition("/")[0].rpartition("/")[0]
    name = path.strip("/").rpartition("/")[2]
    if not above.startswith("bundle") or not name:
        return None
    return "/".join(part for part in f"{above}/{name}.zip".split("/")[1:] if part not in ("", "."))

"""Opening a bundle, a zip or the folder of an unpacked one, with its competition.yaml."""

import shlex
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from gen_bundle.check.bundle import Bundle, page_files
from gen_bundle.codabench.reading import YAML_NAME
from gen_bundle.codabench.serializer_fields import huge_keys
from gen_bundle.codabench.versions import NEWEST, PlatformVersion
from gen_bundle.codabench.yaml_document import MAX_BYTES, UnreadableYamlError, read_yaml
from gen_bundle.errors import UserError
from gen_bundle.whole_file import beside
from gen_bundle.zips.reading import open_archive
from gen_bundle.zips.tree import Node, folder_tree, ignore_count
from gen_bundle.zips.writing import folder_members, write_zip, zipped


def open_bundle(
    path: Path,
    now: datetime,
    held: ExitStack,
    version: PlatformVersion = NEWEST,
    tick: Callable[[int], None] = ignore_count,
) -> Bundle:
    """Open a bundle, whatever is wrong with it; it can be read until `held` is closed.

    Raises:
        OSError: the path cannot be read.
    """
    archive = None if path.is_dir() else open_archive(held.enter_context(path.open("rb")), tick, held)
    tree = archive.tree if archive else folder_tree(path, tick)
    bundle = Bundle(tree=tree, now=now, platform=version, archive=archive, tick=tick, held=held)
    found = bundle.tree.find(YAML_NAME)
    if isinstance(found, Node) and found.open is not None:
        try:
            bundle.document = read_yaml(found.read(MAX_BYTES + 1))
        except UnreadableYamlError as error:
            bundle.unreadable = error
    return bundle


def open_readable_bundle(path: Path, now: datetime, held: ExitStack, version: PlatformVersion = NEWEST) -> Bundle:
    """Open a bundle whose competition.yaml can be read.

    Raises:
        UserError: the path or its competition.yaml cannot be read.
    """
    try:
        bundle = open_bundle(path, now, held, version)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error
    if bundle.unreadable is not None:
        fault = bundle.unreadable
        place = f":{fault.line}:{fault.column}" if fault.line else ""
        raise UserError(f"{YAML_NAME}{place}: {fault}") from fault
    if bundle.document is None:
        declared = (path / "bundle.yaml").exists()
        build = f"gen-bundle {shlex.quote(str(path.absolute()))} --out bundle.zip"
        hint = f" This is a declaration: build it first, {build}" if declared else ""
        raise UserError(f"{path}: no {YAML_NAME} at its root.{hint}")
    if not bundle.yaml:
        raise UserError(f"{YAML_NAME}: expected a mapping with title, pages, tasks, phases and leaderboards")
    if huge_keys(bundle):
        raise UserError(f"{YAML_NAME}: its aliases (&, *) repeat each other to enormous size. Write them out.")
    return bundle


def pack(folder: Path, out: Path) -> None:
    """Zip an unpacked bundle as its competition.yaml means it: where that names X.zip and X/ is there, X.zip is made.

    Raises:
        UserError: there is no readable competition.yaml, `out` exists, or a file cannot be read or written.
    """
    if out.exists():
        raise UserError(f"--pack {out}: exists already. Choose another path, or remove the file.")
    members = folder_members(folder)
    with ExitStack() as held:
        bundle = open_readable_bundle(folder, datetime.now(UTC), held)
        named = [use.path for use in bundle.competition.uses() if isinstance(use.path, str)]
        named += [page.path for page in page_files(bundle) if isinstance(page.path, str)]
        plain = [path.removeprefix("./").rstrip("/") for path in dict.fromkeys(named)]
        for path in plain:
            if bundle.to_be_packed(path):
                top = path.removesuffix(".zip")
                members[path] = zipped(folder_members(folder / top))
                if not any(other == top or other.startswith(f"{top}/") for other in plain):
                    members = {name: what for name, what in members.items() if not name.startswith(f"{top}/")}
    try:
        with beside(out) as unfinished:
            write_zip(unfinished, members)
            unfinished.replace(out)
    except OSError as error:
        raise UserError(f"--pack {out}: {error.strerror}. Expected a writable folder with free space.") from error

"""Opening a bundle, a zip or the folder of an unpacked one, with its competition.yaml."""

import shlex
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

from gen_bundle.check.bundle import Bundle
from gen_bundle.codabench.document import YAML_NAME
from gen_bundle.codabench.versions import NEWEST, PlatformVersion
from gen_bundle.codabench.yaml_document import MAX_BYTES, UnreadableYamlError, read_yaml
from gen_bundle.errors import UserError
from gen_bundle.zips.reading import open_archive
from gen_bundle.zips.tree import Node, folder_tree, ignore_count


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
    if bundle.huge:
        raise UserError(f"{YAML_NAME}: its aliases (&, *) repeat each other to enormous size. Write them out.")
    return bundle

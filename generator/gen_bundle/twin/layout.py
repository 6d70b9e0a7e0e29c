"""Folders as they travel between server, worker and containers."""

import itertools
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder's contents as a zip would carry them.

    Files lose their permission to run, links become what they point at; what is neither file nor folder is left out.

    Raises:
        OSError: Something cannot be read (shutil.Error is one).
    """

    def strange(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if not (Path(folder, name).is_file() or Path(folder, name).is_dir())]

    shutil.copytree(source, target, copy_function=shutil.copyfile, dirs_exist_ok=True, ignore=strange)


def drop_strays(output: Path) -> list[str]:
    """Remove from what a program wrote all that the worker would not upload.

    The worker zips the folder with Python's `make_archive`: files, and links to files as their content. It looks
    links up on its own disk, where nothing outside the folder is the program's; so links that leave the folder go,
    and all that is neither file nor folder.

    Returns:
        A sentence for each thing removed.
    """
    if output.is_symlink():
        output.unlink()
        return ["the output folder was replaced by a link"]
    if not output.is_dir():
        return []
    inside = output.resolve()
    strays = []
    for path in list(_entries(output)):
        kind = path.lstat().st_mode
        if stat.S_ISDIR(kind) or stat.S_ISREG(kind) or (stat.S_ISLNK(kind) and _file_inside(path, inside)):
            continue
        what = f"a link to {str(path.readlink())!r}" if stat.S_ISLNK(kind) else "neither file nor folder"
        strays.append(f"{str(path.relative_to(output))!r} in the output is {what}; the platform does not upload it")
        path.unlink()
    return strays


def _entries(folder: Path) -> Iterator[Path]:
    """Everything below a folder, folders before their contents, without following links."""
    for parent, folders, files in os.walk(folder):
        yield from (Path(parent, name) for name in sorted(folders) + sorted(files))


def _file_inside(link: Path, folder: Path) -> bool:
    try:
        real = link.resolve(strict=True)
    except (OSError, RuntimeError):
        return False
    return real.is_file() and real.is_relative_to(folder)


def allow_owner(folder: Path) -> None:
    """Give us back the rights that a program took from its files; the platform's worker is root and needs none."""
    me = os.geteuid()
    if me == 0:
        return
    for path in itertools.chain([folder], _entries(folder)):  # one by one: a folder is opened before it is looked into
        told = path.lstat()
        if told.st_uid == me and not stat.S_ISLNK(told.st_mode):
            path.chmod(told.st_mode | (0o700 if stat.S_ISDIR(told.st_mode) else 0o600))


def open_to_containers(folder: Path) -> None:
    """Let a container's root write the job's folders.

    It has no capabilities and so cannot write what another user owns. On the platform the worker is root as well;
    here that matters only when we are not.
    """
    me = os.geteuid()
    if me == 0:
        return
    for path in [folder, *_entries(folder)]:
        told = path.lstat()
        if told.st_uid == me and not stat.S_ISLNK(told.st_mode):
            path.chmod(0o777 if stat.S_ISDIR(told.st_mode) else 0o666)

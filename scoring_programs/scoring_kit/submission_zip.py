"""A submission's zip at home: unpacked without trusting it, and packed as the platform wants it.

Runs on Python 3.9 with the standard library alone, on Linux, macOS and Windows.
"""

import os
import shutil
import stat
import zipfile
from pathlib import Path, PurePosixPath
from typing import Collection, Dict, List, Mapping, Optional, Set, Tuple

from scoring_kit.base.submissions import MAX_BYTES, MAX_FILES, UNREADABLE, is_zip
from scoring_kit.errors import Problems, shown
from scoring_kit.submission_files import MAX_FOLDERS, TOO_DEEP, slashed

OTHER_ARCHIVES = {".7z", ".bz2", ".gz", ".rar", ".tar", ".tgz", ".xz", ".zst"}
CHUNK = 1 << 20
NOT_ON_WINDOWS = set('<>:"|?*')


def open_submission(path: Path, work: Path, problems: Problems) -> Path:
    """Return the folder with the files of a zip, a folder or a bare file, unpacked into `work` as the platform would.

    Raises SubmissionError: there is nothing that could be read.
    """
    if path.is_dir():
        return path
    if not os.path.lexists(str(path)):
        problems.error(str(path), "does not exist", "a zip, a folder, or the file itself")
    elif not path.is_file():  # a named pipe, or a link to nowhere
        problems.error(path.name, "cannot be read, as it is no file", "a zip, a folder, or the file itself")
    elif is_zip(path):
        unpack(path, work, problems)
    elif path.suffix.lower() in OTHER_ARCHIVES and not path.name.lower().endswith(".nii.gz"):
        problems.error(path.name, f"is a {path.suffix.lower()} archive", "a zip; the platform accepts no other archive")
    else:
        try:
            shutil.copyfile(path, work / path.name)
        except OSError as error:
            problems.error(path.name, f"cannot be read ({error.strerror or error})", "a file that you can read")
    problems.stop_if_any()
    return work


def unpack(path: Path, folder: Path, problems: Problems) -> None:
    """Unpack a zip into an empty folder; what cannot be accepted is recorded and left out.

    Links, names that lead out of the folder, encrypted and damaged members are errors. Not more than `MAX_BYTES` are
    written, whatever size the zip declares.
    """
    try:
        with zipfile.ZipFile(str(path)) as archive:
            _unpack_members(archive, path.name, folder, problems)
    except UNREADABLE as error:
        problems.error(path.name, f"cannot be read as a zip ({error})", "a zip file; pack it again")


def _unpack_members(archive: zipfile.ZipFile, name: str, folder: Path, problems: Problems) -> None:
    members = archive.infolist()
    if len(members) > MAX_FILES:
        problems.error(name, f"holds {len(members)} files and folders", f"at most {MAX_FILES}")
        return
    folders: Set[str] = set()
    for member in members:
        if slashed(member.filename).count("/") > MAX_FOLDERS:
            problems.error(shown(member.orig_filename), *TOO_DEEP)
            return
        folders.update(_folders(member))
    left = MAX_BYTES
    taken: Dict[str, str] = {}
    for member in members:
        if slashed(member.orig_filename).endswith("/"):
            continue
        where = shown(member.orig_filename)
        inside = slashed(member.filename)
        fault = _fault(member, taken, folders)
        if fault:
            problems.error(where, *fault)
            continue
        taken[inside.lower()] = inside
        target = folder.joinpath(*PurePosixPath(inside).parts)
        try:
            if not target.parent.is_dir():
                target.parent.mkdir(parents=True)
            left -= _write(archive, member, target, left)
        except UNREADABLE as error:
            problems.error(where, f"cannot be unpacked ({error})", "an intact file; pack the zip again")
        if left < 0:
            problems.error(name, f"holds more than {MAX_BYTES / 1e6:g} MB when unpacked", "less")
            return


def _folders(member: zipfile.ZipInfo) -> List[str]:
    """The folders that a member makes, in lower case: those above it, and a folder's own entry."""
    parts = slashed(member.filename).lower().split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def _fault(member: zipfile.ZipInfo, taken: Mapping[str, str], folders: Collection[str]) -> Optional[Tuple[str, str]]:
    """Return what is wrong with a member before it is read, and what is expected."""
    parts = slashed(member.orig_filename).split("/")
    if member.flag_bits & 1:
        return "is encrypted", "a zip without a password"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "is a link", "only regular files and folders"
    if "" in parts or ".." in parts or "." in parts or "\0" in member.orig_filename:
        return "is not a valid name for a file in a zip", "a relative name"
    if os.name == "nt" and NOT_ON_WINDOWS.intersection(member.filename):
        return "cannot be the name of a file on Windows", "letters, digits, - and _"
    twin = taken.get(slashed(member.filename).lower())
    if twin is not None:
        return f"occurs twice (the other: {shown(twin)})", "names that differ by more than upper and lower case"
    if slashed(member.filename).lower() in folders:
        return "is also the name of a folder in the zip", "different names; the platform cannot unpack both"
    return None


def _write(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, most: int) -> int:
    """Write one member and return its size; stops as soon as it is larger than `most`."""
    written = 0
    with archive.open(member) as source, target.open("xb") as out:
        while written <= most:
            chunk = source.read(CHUNK)
            if not chunk:
                break
            out.write(chunk)
            written += len(chunk)
    return written


def pack(files: Mapping[str, Path], out: Path) -> None:
    """Write a zip of `files` (name in the zip → file): the same bytes for the same content."""
    with zipfile.ZipFile(str(out), "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            member = zipfile.ZipInfo(name)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(member, files[name].read_bytes())

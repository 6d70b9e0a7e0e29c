"""The journey from a CodaLab 1.5 bundle to a Codabench one: unpack → convert → write → check."""

import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gen_bundle.check import Finding, check_path
from gen_bundle.codabench.competition import TASK_FILES
from gen_bundle.codabench.yaml_document import UnreadableYamlError, is_endless, read_yaml
from gen_bundle.errors import UserError
from gen_bundle.platforms.from_codalab import NO_IMAGE, PYTHON_2_IMAGE, Conversion, html_as_markdown
from gen_bundle.whole_file import beside
from gen_bundle.zips.bounds import BUNDLE
from gen_bundle.zips.unpacking import ArchiveError, unpack
from gen_bundle.zips.writing import JUNK, Members, folder_members, write_zip, zipped

NOT_PYTHON_3 = "program-not-python-3"


@dataclass(frozen=True)
class Converted:
    """What became of a bundle.

    Attributes:
        lost: what could not be carried over, a line each.
        changed: what is written differently, a line each.
        faults: what Codabench would refuse in the new bundle, and what would keep it from working.
    """

    lost: list[str]
    changed: list[str]
    faults: list[Finding]


def convert(old: Path, new: Path, *, force: bool = False) -> Converted:
    """Write the bundle `old` (zip or folder) in Codabench's format to the zip `new`, which is then checked.

    Raises:
        UserError: `old` is not a bundle of the older format, `new` exists, or nothing can be written there.
    """
    try:
        return _convert(old, new, force)
    except OSError as error:
        raise UserError(
            f"{error.filename or new}: {error.strerror}. Expected: a readable bundle, and a writable folder with "
            f"free space for --out {new}."
        ) from error


def _convert(old: Path, new: Path, force: bool) -> Converted:
    if new.is_dir():
        raise UserError(f"--out {new}: is a folder. Expected the path of a zip file.")
    if new.exists() and not force:
        raise UserError(f"--out {new}: exists already. Choose another path, or pass --force.")
    with tempfile.TemporaryDirectory(prefix="gen-bundle-") as work:
        folder = _opened(old, Path(work))
        document = _document(folder)
        members = folder_members(folder)
        conversion = Conversion(document, members)
        converted = conversion.document()
        del members["competition.yaml"]
        for page in (*converted["pages"], {"title": "Terms", "file": converted["terms"]}):
            members[page["file"]] = _page(members, page["file"], page["title"])
        if any(name.startswith("assets/") for name in members):
            conversion.lost.append("assets/: Codabench publishes no files by themselves; link them from elsewhere")
        for use in sorted({task[role] for task in converted["tasks"] for role in TASK_FILES if role in task}):
            if _unwrapped(members, use, Path(work)):
                conversion.changed.append(
                    f"{use}: the folder in it was taken off, as CodaLab did. Codabench does not, so participants must "
                    "zip files, not the folder around them"
                )
        faults = _written(new, members, converted)
        if "docker_image" not in converted and any(fault.id == NOT_PYTHON_3 for fault in faults):
            converted["docker_image"] = PYTHON_2_IMAGE
            conversion.lost.remove(NO_IMAGE)
            conversion.changed.append(
                f"docker image: none was named, and a program is in Python 2; {PYTHON_2_IMAGE} is CodaLab's old one"
            )
            faults = _written(new, members, converted)
    return Converted(conversion.lost, conversion.changed, faults)


def _written(new: Path, members: Members, document: dict[str, Any]) -> list[Finding]:
    """Write the new bundle; returns what Codabench would refuse in it, and what would keep it from working."""
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, default_style=None, width=100)
    with beside(new) as unfinished:
        write_zip(unfinished, {**members, "competition.yaml": text.encode()})
        unfinished.replace(new)
    return [finding for finding in check_path(new).findings if finding.severity == "error"]


def _unwrapped(members: dict[str, Any], use: str, work: Path) -> bool:
    """Whether a program or data that lies in a single folder, with `metadata` there, was moved to the top.

    Source: `_find_only_folder_with_metadata` of CodaLab's worker, which did so with all that it unpacked.
    """
    if use not in members:  # a folder: its files are members
        names = [name.removeprefix(f"{use}/") for name in members if name.startswith(f"{use}/")]
        top = _only_folder(names)
        for name in names if top else []:
            members[f"{use}/{name.removeprefix(f'{top}/')}"] = members.pop(f"{use}/{name}")
        return bool(top)
    packed = members[use]
    folder = Path(tempfile.mkdtemp(dir=work))
    try:
        unpack(packed, folder, BUNDLE)
    except (ArchiveError, OSError):
        return False  # the check names it
    inside = folder_members(folder)
    top = _only_folder(inside)
    if top:
        members[use] = zipped({name.removeprefix(f"{top}/"): inside[name] for name in inside})
    return bool(top)


def _only_folder(files: Collection[str]) -> str | None:
    """The one folder at the top, beside what systems leave there, if it holds `metadata`."""
    tops = {name.partition("/")[0] for name in files} - JUNK
    if len(tops) != 1:
        return None
    (top,) = tops
    return top if {f"{top}/metadata", f"{top}/metadata.yaml"} & set(files) else None


def _opened(old: Path, work: Path) -> Path:
    if old.is_dir():
        return old
    try:
        unpack(old, work, BUNDLE)
    except (ArchiveError, OSError) as error:
        raise UserError(f"{old}: {error}. Expected the zip or folder of a CodaLab 1.5 bundle.") from error
    return work


def _document(folder: Path) -> dict[str, Any]:
    path = folder / "competition.yaml"
    try:
        document = read_yaml(path.read_bytes()).value
    except OSError as error:
        raise UserError(f"{path.name}: not found at the top of the bundle. Is there a folder around it?") from error
    except UnreadableYamlError as error:
        place = f":{error.line}" if error.line else ""
        raise UserError(f"{path.name}{place} {error}") from error
    if is_endless(document):
        raise UserError(f"{path.name}: its aliases (&, *) repeat each other to enormous size. Write them out.")
    if not isinstance(document, dict):
        raise UserError(f"{path.name}: is not a mapping. Expected title, html, phases, leaderboard.")
    if str(document.get("version", "1")) not in ("1", "1.5"):
        raise UserError(f"{path.name}: has version {document['version']}; only CodaLab 1.5 bundles are converted.")
    missing = [key for key in ("title", "html", "phases", "leaderboard") if not document.get(key)]
    wrong = [key for key in ("html", "phases", "leaderboard") if not isinstance(document.get(key, {}), dict)]
    if missing or wrong:
        raise UserError(
            *(f"{path.name}: {key} is missing. A CodaLab 1.5 bundle has it." for key in missing),
            *(f"{path.name}: {key} is not a mapping, as it is in a CodaLab 1.5 bundle." for key in wrong),
        )
    return document


def _page(members: Members, name: str, title: str) -> bytes:
    """A page's text; only files of the bundle itself are ever read."""
    path = members.get(name)
    if not isinstance(path, Path):
        raise UserError(f"competition.yaml: html: the page {title!r} ({name}) is not in the bundle. Add the file.")
    return html_as_markdown(path.read_text(encoding="utf-8", errors="replace"), title).encode()

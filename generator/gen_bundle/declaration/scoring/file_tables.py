"""Tables whose values are files: one or several for each key, whole ones or arrays."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gen_bundle.declaration.source import Section, nearest
from scoring_kit.base.array_heads import FORMATS, format_of
from scoring_kit.base.field_types import FILE_TYPES, NUMBER
from scoring_kit.base.row_files import File

NONE = "none"
"""As a key: the one file is the one answer."""
LONGEST_NAME = 255
"""Bytes of the name of a file or folder, on every file system that runs programs."""
OF_ROWS = ("rows", "quoting", "header", "delimiter", "skip", "at", "list")
"""Keys of tables of rows."""
OF_KEYS = ("unknown", "missing")
"""Keys that one answer cannot have."""
OF_ENDINGS = f"a name that ends with .{', .'.join(FORMATS)}, or format beside it"


def holds_files(section: Section) -> bool:
    """Return whether the values of a table are files."""
    return any(item.get("type") in FILE_TYPES for item in section.sections("fields"))


def check_file_table(section: Section, key: Sequence[str], fields: Mapping[str, Mapping[str, Any]]) -> None:
    """Note what a table of files cannot have."""
    for name in OF_ROWS:
        if section.get(name) is not None and (name, section.get(name)) != ("rows", "one"):
            section.fault("is for tables of rows; fields of type file or array have none.", name)
    if not key:
        for name in OF_KEYS:
            if section.get(name) not in (None, "reject"):
                section.fault(f"key: none has one answer, which must be there. Expected no {name}.", name)
    for item in section.sections("fields"):
        kind, name = item.get("type"), item.get("field")
        if kind not in FILE_TYPES and name not in key:
            what = f"{name!r} is of type {kind}, which a file of its own does not hold."
            item.fault(f"{what} Expected type file or array, or another table.", "type")
        for place in ("at", "default"):
            if kind in FILE_TYPES and item.get(place) is not None:
                item.fault(f"is for tables of rows; {name!r} is a file.", place)
        for value in fields.get(str(name), {}).get("values") or () if kind == "array" else ():
            if not NUMBER.fullmatch(value):
                item.fault(f"expected numbers (found {value!r}).", "values")


def sent_files(section: Section, key: Sequence[str]) -> File:
    """Return the files of a submission: those of fields that say so, else the table's."""
    found = {str(item.get("field")): item for item in section.sections("fields") if item.get("type") in FILE_TYPES}
    of_table = _named(section, section, key, "file")
    return _file({name: _named(item, section, key, "file") or of_table for name, item in found.items()}, found, section)


def gold_files(section: Section, sent: File, fields: Mapping[str, Section], key: Sequence[str]) -> File:
    """Return the files of gold: those of `reference.fields`, else of the reference, else called as submissions are."""
    of_table = _named(section, section, key, "file")
    named: dict[str, tuple[str, str] | None] = {}
    for name in sent.files:
        own = None
        if name in fields:
            own = _named(fields[name], section, key, "file")
        named[name] = own or of_table or tuple(sent.files[name])  # type: ignore[assignment]
    file = _file(named, fields, section)
    return File(file.name, file.format, names={**sent.names, **file.names}, files=file.files)


def is_of_rows(reference: Section, key: Sequence[str]) -> bool:
    """Return whether the gold is a table of rows: a single file for several keys."""
    name = reference.get("file")
    return bool(key and name) and "{" not in name


def _file(named: Mapping[str, tuple[str, str] | None], said: Mapping[str, Section], section: Section) -> File:
    """The files of fields as one, with the members of .npz that hold them."""
    files = {name: one for name, one in named.items() if one is not None}
    if len(files) < len(named):
        section.fault("is missing. Expected a file name, here or in each field.", "file")
    members = {}
    for name, item in said.items():
        if item.get("column") is None:
            continue
        members[name] = item.get("column")
        if files.get(name, ("", "npz"))[1] != "npz":
            item.fault("names the array within a .npz file; any other holds a single one.", "column")
    return File(", ".join(dict.fromkeys(name for name, _ in files.values())), "", names=members, files=files)


def _named(said: Section, section: Section, key: Sequence[str], at: str) -> tuple[str, str] | None:
    """The name and format that a section gives; None where it gives no name."""
    name = said.get(at)
    if name is None:
        return None
    for fault in _name_faults(name, key):
        said.fault(fault, at)
        return "", ""
    return name, str(said.get("format") or section.get("format") or format_of(name) or "")


def _name_faults(name: str, key: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with the name of the files of a table."""
    part = File(name).named_by
    if not key and part:
        yield f"{name!r}: key: none has a single file. Expected a name without a placeholder."
    elif key and not part:
        yield f"{name!r}: expected {{{key[0]}}} in the name, since each {key[0]} has a file."
    elif part and part != key[0]:
        yield f"{{{part}}} is no field of the key. {nearest(part, list(key))}"
    yield from path_faults(name)


def path_faults(name: str) -> Iterator[str]:
    """Yield what is wrong with a name in which `*`, a placeholder and folders may stand."""
    part = "{" + File(name).named_by + "}"
    if ".." in name.split("/") or name.startswith("/") or "\\" in name:
        yield f"{name!r}: expected a path below the folder, with `/` between its parts."
    if any(len(one.encode()) > LONGEST_NAME for one in name.split("/")):
        yield f"{name[:40]}…: is too long. Expected at most {LONGEST_NAME} bytes, as file systems allow."
    if "*" in name[1:] or name == "*":
        yield f"{name!r}: expected a * at the beginning alone, as in *.csv."
    if "{" in name.replace(part, "") or ("{" in name and "*" in name):
        yield f"{name!r}: expected one placeholder, as in {{doc}}.csv."


def format_faults(file: File, fields: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """(field, what is wrong) where an array is in no file that holds one."""
    for name, (own, file_format) in file.files.items():
        if own and fields.get(name, {}).get("type") == "array" and file_format not in FORMATS:
            yield name, f"{own!r}: expected {OF_ENDINGS}."

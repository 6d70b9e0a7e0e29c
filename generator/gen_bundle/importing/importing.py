"""The journey from a bundle to a project: open → write its files and bundle.yaml → read that."""

import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from gen_bundle.declaration.read import FILE, read_foreign
from gen_bundle.errors import UserError
from gen_bundle.importing.opening import open_any
from gen_bundle.importing.project import write_project
from gen_bundle.new.project import SCHEMA, write_schema
from gen_bundle.platforms.codabench import BundleDumper


@dataclass(frozen=True)
class Imported:
    """What became of a bundle.

    Attributes:
        changed: what is taken for something else, or written differently, a line each.
        converted: in what the project differs from what Codabench itself reads in a bundle of CodaLab's, a line each.
        lost: what could not be carried over, a line each.
        absent: what the bundle names and does not hold, with its place in the project, a line each.
        faults: what bundle.yaml cannot say as it is, a line each, with its place there.
    """

    changed: list[str]
    converted: list[str]
    lost: list[str]
    absent: list[str]
    faults: list[str]


def import_bundle(source: Path, folder: Path) -> Imported:
    """Make a project of a bundle, zip or folder, in either format.

    Args:
        source: the bundle.
        folder: is made whole, or not at all; an empty one may be there.

    Raises:
        UserError: it is no bundle, or is broken, the folder is not empty, or cannot be written.
    """
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise UserError(f"--out {folder}: exists already. Expected a new folder, or an empty one.")
    with ExitStack() as held:
        opened = open_any(source, datetime.now(UTC), held)
        try:
            with _unfinished(folder) as work:
                declaration = write_project(opened, work)
                made_of = f"Made of {source.resolve().name!a} by gen-bundle import."
                (work / FILE).write_text(declaration_text(declaration, made_of), encoding="utf-8")
                write_schema(work)
                faults = _faults(work)
        except OSError as error:
            raise UserError(
                f"{error.filename or source}: {error.strerror or error}. Expected a bundle that can be read, and a "
                f"writable folder with free space for --out {folder}."
            ) from error
    return Imported(opened.changed, opened.converted, opened.lost, opened.absent, faults)


@contextmanager
def _unfinished(folder: Path) -> Iterator[Path]:
    """A folder beside its place, which is moved there whole, or removed."""
    work = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp")
    try:
        work.mkdir(parents=True)
        yield work
        if folder.exists():
            folder.rmdir()
        work.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _faults(folder: Path) -> list[str]:
    try:
        read_foreign(folder)
    except UserError as error:
        # what is absent is said already
        return [message for message in error.messages if ": nothing is at " not in message]
    return []


class _ProjectDumper(BundleDumper):
    """As in competition.yaml, but short mappings on one line, long texts as they are, and nothing by reference."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text_in_lines(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    if "\n" in text:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")
    return BundleDumper.yaml_representers[str](dumper, text)


def _short_on_one_line(dumper: yaml.SafeDumper, mapping: Mapping[str, Any]) -> yaml.Node:
    values = mapping.values()
    plain = not any(isinstance(value, Mapping) or "\n" in str(value) for value in values)
    is_short = plain and len(str(mapping)) <= ONE_LINE
    return dumper.represent_mapping("tag:yaml.org,2002:map", mapping.items(), flow_style=is_short)


def _names_on_one_line(dumper: yaml.SafeDumper, items: Sequence[Any]) -> yaml.Node:
    is_short = all(isinstance(item, str) for item in items) and len(str(items)) <= ONE_LINE
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=is_short)


_ProjectDumper.add_representer(str, _text_in_lines)
_ProjectDumper.add_representer(list, _names_on_one_line)
_ProjectDumper.add_representer(dict, _short_on_one_line)
ONE_LINE = 120
"""Characters of a mapping that is written on one line."""
UNFOLDED = 1_000_000
"""Characters: no text is broken into lines."""


def declaration_text(declaration: dict[str, Any], remark: str) -> str:
    """The text of bundle.yaml, with a line that says where it comes from."""
    head = f"# yaml-language-server: $schema={SCHEMA}\n# {remark}\n"
    body = yaml.dump(declaration, Dumper=_ProjectDumper, sort_keys=False, allow_unicode=True, width=UNFOLDED)
    return head + str(body)

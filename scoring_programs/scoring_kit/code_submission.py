"""A submission that is code: what it must hold, and the folder in which the files that it wrote are handed to scoring.

The ingestion program runs the code and leaves one folder, called after a digest of the submission. A submission cannot
hold a folder of that name, because the digest is also over what is in it: whatever the platform lays over the
ingestion's output, the files of that folder are those that the ingestion program left.

Runs on Python 3.9 with the standard library alone.
"""

import ast
import hashlib
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple

from scoring_kit.errors import Problems, shown
from scoring_kit.submission_files import PROGRAM_FILES, SubmissionFiles

RUN_FOLDER = re.compile(r"run-[0-9a-f]{64}")
PREDICTIONS, RECORD = "predictions", "metadata.json"
OF_SUBMISSION, OF_ORGANISERS, OF_PROGRAM = "submission", "organisers", "program"
"""Whose fault it is that a run handed nothing over."""
FUNCTION, COMMAND = "function", "command"
PREDICT = "predict"
PLATFORM_PYTHON = (3, 11)
"""The oldest Python that an image of a competition has; an older one at home cannot judge all of the syntax."""
CHUNK = 1 << 20


@dataclass(frozen=True)
class CodeEntry:
    """What is run of a submission.

    Attributes:
        file: its name, at the top of the zip.
        interface: `function`: its function `predict(input_folder, output_folder)` is called; `command`: it is run with
            the two folders as arguments.
    """

    file: str
    interface: str

    @classmethod
    def from_dict(cls, data: Optional[Mapping[str, Any]]) -> "Optional[CodeEntry]":
        """Make an entry of its JSON object; None where there is none, and submissions are predictions."""
        return cls(data["file"], data["interface"]) if data else None


def run_folder_name(submission: Path) -> str:
    """The name of the folder that the ingestion program leaves: a SHA-256 over the submission's files and their names.

    Over the sorted relative names, each followed by a zero byte and the SHA-256 of the content (32 bytes).
    """
    digest = hashlib.sha256()
    for name, path in sorted(_files(submission)):
        digest.update(name + b"\0" + _sha256(path))
    return f"run-{digest.hexdigest()}"


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    return _sha256(path).hex()


def code_files(folder: Path, entry: CodeEntry, problems: Problems) -> Dict[str, Path]:
    """The files of a submission that is code, by their name below the entry's folder; all faults go to `problems`."""
    files = SubmissionFiles(folder, (), problems)
    for name in PROGRAM_FILES:
        if (folder / name).is_file():
            what = "makes the platform treat the submission as a program of its own"
            problems.error(name, what, "a submission without this file: remove or rename it")
    for place in sorted(path.name for path in folder.iterdir()) if folder.is_dir() else ():
        if RUN_FOLDER.fullmatch(place):
            problems.error(shown(place), "is a name that only the platform's own run may use", "a submission of code")
    if not files.paths:
        problems.error("submission", "holds no files", f"{entry.file} at the top of the zip")
    elif entry.file not in files.paths:
        found = [name for name in files.paths if name.rpartition("/")[2] == entry.file]
        what = f"is not at the top of the zip; found {shown(found[0])}" if found else "is missing"
        problems.error(entry.file, what, f"{entry.file} at the top of the zip")
    for name, path in files.paths.items():
        if name.endswith(".py"):
            _check_python(name, path, entry, problems)
    return files.paths


def _check_python(name: str, path: Path, entry: CodeEntry, problems: Problems) -> None:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:
        line = getattr(error, "lineno", None)
        where, reason = (f"{name}:{line}", getattr(error, "msg", "")) if line else (name, str(error))
        what = f"is not valid Python {sys.version_info[0]}.{sys.version_info[1]} ({reason})"
        if sys.version_info < PLATFORM_PYTHON:
            problems.warn(where, f"{what}; the platform's is newer")
        else:
            problems.error(where, what, "a file that Python can read")
        return
    if name == entry.file and entry.interface == FUNCTION and not _binds(tree, PREDICT):
        problems.error(
            name, f"has no function {PREDICT}", f"def {PREDICT}(input_folder, output_folder) at its top level"
        )


def _binds(tree: ast.Module, name: str) -> bool:
    """Whether a module may bind `name` anywhere: defined, assigned or imported, also by a star."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == name:
            return True
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name:
            return True
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound = {alias.asname or alias.name.split(".")[0] for alias in node.names}
            if bound & {name, "*"}:
                return True
    return False


def _files(folder: Path) -> Iterator[Tuple[bytes, Path]]:
    """Every regular file below a folder, with its relative name; links are not followed."""
    for parent, _, names in os.walk(str(folder)):
        for name in names:
            path = Path(parent) / name
            if path.is_file() and not path.is_symlink():
                yield os.fsencode(path.relative_to(folder).as_posix()), path


def _sha256(path: Path) -> bytes:
    digest = hashlib.sha256()
    with path.open("rb") as opened:
        for chunk in iter(lambda: opened.read(CHUNK), b""):
            digest.update(chunk)
    return digest.digest()

"""The signature of a run: two numbers are comparable when their signatures match."""

import codecs
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from urllib.parse import quote

from scoring_kit.program import Program
from scoring_kit.results import TaskResult

DIGEST_DIGITS = 4
"""Of the reference data's digest. Participants read it and can compute the digest of any gold that they guess, as often
as they like, so a whole one would confirm every guess. So few digits distinguish data sets and give away 16 bits.
"""


@cache
def _version(library: str) -> str:
    from importlib import metadata  # a tenth of a short run's time, which metrics without libraries need not spend

    return metadata.version(library)


def reference_digest(folder: Path) -> str:
    """SHA-256 over the names and contents of all files below `folder`, its first `DIGEST_DIGITS` hexadecimal digits.

    A byte order mark, CRLF for LF and a last line end say nothing of the gold, and change nothing.
    """
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        same = path.read_bytes().removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n").rstrip(b"\n")
        content = hashlib.sha256(same).hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()[:DIGEST_DIGITS]


def signature(program: Program, results: Mapping[str, TaskResult], digest: str) -> str:
    """One line: competition, tasks, metric options and models, program, library versions, code and reference data."""
    parts = {"competition": program.competition, "tasks": "+".join(program.tasks), "version": program.version}
    for result in results.values():
        parts.update((name, _in_one_part(value)) for name, value in sorted(result.settings.items()))
    for name in sorted({library for result in results.values() for library in result.libraries}):
        parts[name] = _version(name)
    if program.code:
        parts["program"] = program.code
    parts["reference"] = digest
    return "|".join(f"{name}:{value}" for name, value in parts.items())


def _in_one_part(value: str) -> str:
    """A setting without blanks and bars, where a signature is taken apart; all else stays readable."""
    return "".join(quote(letter) if letter.isspace() or letter == "|" else letter for letter in value)

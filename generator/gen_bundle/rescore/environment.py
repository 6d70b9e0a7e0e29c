"""What runs a scoring program, beside the program itself: an image, or this machine's Python and its packages."""

import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from typing import Literal

OURS = "gen-bundle"
SCORES = re.compile(r"""extra == ['"](score|models)['"]""")


def environment_of(engine: Literal["docker", "process"]) -> Mapping[str, str]:
    """What of this machine a result depends on, with an engine."""
    return _process_environment() if engine == "process" else _versions({OURS})


@cache
def _process_environment() -> Mapping[str, str]:
    """Versions of Python, of gen-bundle and of what its extras for scoring bring, as far as they are installed."""
    needed = [requirement for requirement in metadata.requires(OURS) or () if SCORES.search(requirement)]
    names = {re.split(r"[^\w.-]", requirement)[0] for requirement in needed}
    return {"python": platform.python_version(), **_versions({OURS, *names})}


def differing(ours: Mapping[str, str], theirs: Mapping[str, str]) -> str:
    """In which versions two environments differ, in words; empty where they are the same."""
    names = sorted({*ours, *theirs})
    found = [(name, ours.get(name, "none"), theirs.get(name, "none")) for name in names]
    return ", ".join(f"{name} {here} here, {there} there" for name, here, there in found if here != there)


def _versions(names: set[str]) -> dict[str, str]:
    versions = {}
    for name in sorted(names):
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions

"""Code that a competition's folder brings itself, and whether it may run.

That is a scoring package beside bundle.yaml, and Python files that the declaration names. What comes with the tool, or
with an installed package, the user has chosen to run.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path

from gen_bundle.errors import UserError
from gen_bundle.local_files import file_digest, is_known, remember
from gen_bundle.package.resolve import Resolved
from gen_bundle.resources import known_competitions
from gen_bundle.zips.writing import folder_members

CODE = (".py", ".pyc", ".so", ".pyd")


def announce_own_code(competition: Resolved, announce: Callable[[str], None]) -> None:
    """Say which code of the folder is about to run, once for each state of it."""
    files = _own_files(competition)
    digest = _digest(files)
    if files and not is_known(digest):
        announce(f"runs the code of {_places(competition)}")
        remember(digest)


def refuse_own_code(competition: Resolved) -> None:
    """Let nothing run that this user has not run before.

    Raises:
        UserError: the folder's own code is unknown here.
    """
    files = _own_files(competition)
    if files and not is_known(_digest(files)):
        raise UserError(
            f"{competition.folder}: only bundle.yaml was looked at, and nothing is wrong in it. The rest takes running "
            f"the folder's own code ({_places(competition)}), which was not built here as it is now. --trust runs it."
        )


def remember_own_code(competition: Resolved) -> None:
    """The user has made it with gen-bundle."""
    remember(_digest(_own_files(competition)))


def _own_files(competition: Resolved) -> dict[str, Path]:
    """Name beside bundle.yaml → file."""
    if competition.folder in [known.folder for known in known_competitions().values()]:
        return {}
    package = competition.package
    found = {path.name: path for path in competition.program_files.values() if path.suffix.lower() in CODE}
    if package.is_own:
        members = folder_members(package.folder, f"{package.name}/")
        found |= {name: path for name, path in members.items() if isinstance(path, Path)}
    return found


def _places(competition: Resolved) -> str:
    names = sorted({name.partition("/")[0] + ("/" if "/" in name else "") for name in _own_files(competition)})
    return ", ".join(f"./{name}" for name in names)


def _digest(files: dict[str, Path]) -> str:
    lines = [f"{name} {file_digest(path)}\n" for name, path in sorted(files.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()

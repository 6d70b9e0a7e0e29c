"""The packages that a competition's own scoring needs besides: resolved once, then installed by their hashes.

`requirements:` of bundle.yaml names them; `image lock` writes them, with all that they bring along, into a file beside
it. Packages of the tool's own locks keep their versions and stay out of that file.
"""

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from gen_bundle.errors import UserError
from gen_bundle.package.locks import Lock, entries, lock_text
from gen_bundle.resources import resource
from gen_bundle.starting import pip_environment, python

LOCK_FILE = "requirements.lock"
PYTHON = "3.11"
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64", "linux_x86_64")
"""The scoring image's Python and what runs on its Debian and on the platform's workers."""
HEAD = """\
# Written by `gen-bundle image lock` from `requirements` of bundle.yaml, for Python {python} on Linux x86_64.
"""


def lock_requirements(wanted: Sequence[str], locks: Sequence[Lock], target: Path, say: Callable[[str], None]) -> bool:
    """Resolve `wanted` (NAME==VERSION) with pip, and write every package with its hash into `target`.

    Returns:
        Whether the file changed; one that fits already is left as it is, and one that nothing needs is removed.

    Raises:
        UserError: pip cannot resolve them, with its own words.
    """
    if not wanted:
        if is_there := target.is_file():
            target.unlink()
            say(f"{target}: removed, since bundle.yaml has no requirements")
        return is_there
    if not missing(wanted, locks, target):
        return False
    # the image with models has torch, and what it brings, from a list of its own
    torch = (resource("docker") / "requirements.cuda.txt").read_text(encoding="utf-8") if "models" in locks else ""
    ours = entries(lock_text(locks) + torch)
    found = _resolved(wanted, [entry.split()[0] for entry in ours.values()])
    lines = [
        f"{name}=={version} \\\n    --hash=sha256:{digest}\n"
        for name, version, digest in sorted(found)
        if name not in ours
    ]
    target.write_text(HEAD.format(python=PYTHON) + "".join(lines), encoding="utf-8")
    say(f"{target}: locked {len(lines)} package{'' if len(lines) == 1 else 's'}")
    return True


def locked_text(wanted: Sequence[str], locks: Sequence[Lock], lock_file: Path, name: str) -> str:
    """What the image installs besides the tool's own locks.

    Raises:
        UserError: every requirement that is not locked.
    """
    unlocked = missing(wanted, locks, lock_file)
    if unlocked:
        repair = f"Lock them on a machine that reaches a package index: gen-bundle image lock {name}."
        raise UserError(f"requirements: {', '.join(unlocked)}: not locked in {lock_file}. {repair}")
    return lock_file.read_text(encoding="utf-8") if wanted and lock_file.is_file() else ""


def missing(wanted: Sequence[str], locks: Sequence[Lock], lock_file: Path) -> list[str]:
    """The requirements that neither the lock file nor the tool's own locks hold in this version."""
    text = lock_text(locks) + (lock_file.read_text(encoding="utf-8") if lock_file.is_file() else "")
    held = {name: entry.split()[0].partition("==")[2] for name, entry in entries(text).items()}
    return [one for one in wanted if held.get(base_name(one)) != one.partition("==")[2]]


def not_here(wanted: Sequence[str]) -> Iterator[str]:
    """The requirements that this machine's Python does not have in this version, each with what it has."""
    for one in wanted:
        version = one.partition("==")[2]
        try:
            found = metadata.version(base_name(one))
        except metadata.PackageNotFoundError:
            found = ""
        if found != version:
            yield f"{one} ({f'{found} is' if found else 'not'} installed)"


def base_name(requirement: str) -> str:
    """The normalised name of a package, without extras."""
    return normal(requirement.partition("==")[0].partition("[")[0])


def normal(name: str) -> str:
    """A package's name as indexes compare it."""
    return name.strip().lower().replace("_", "-").replace(".", "-")


def _resolved(wanted: Sequence[str], pins: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """(name, version, SHA-256) of everything that pip would install."""
    with tempfile.TemporaryDirectory() as folder:
        constraints, report = Path(folder) / "constraints.txt", Path(folder) / "report.json"
        constraints.write_text("".join(f"{pin}\n" for pin in pins), encoding="utf-8")
        command = python("-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed")
        command += ["--only-binary=:all:", f"--python-version={PYTHON}", "--implementation=cp"]
        command += [f"--platform={platform}" for platform in PLATFORMS]
        command += [f"--constraint={constraints}", f"--report={report}", f"--target={folder}/target", *wanted]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=pip_environment())
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")] or [done.stderr.strip()]
            raise UserError(
                *(f"requirements: {line.removeprefix('ERROR: ')}" for line in errors),
                advice="Expected versions that pip finds as wheels and that agree with the tool's own locks.",
            )
        installed: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["install"]
    for one in installed:
        digest = one["download_info"]["archive_info"]["hashes"]["sha256"]
        yield normal(one["metadata"]["name"]), one["metadata"]["version"], digest

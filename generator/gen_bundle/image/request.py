"""Which image a competition needs."""

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from gen_bundle.errors import UserError
from gen_bundle.package.libraries import METRICS, Lock, entries, lock_text, locks_for, model_groups, packages_text
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


Variant = Literal["cpu", "cuda"]


@dataclass(frozen=True)
class ImageRequest:
    """What goes into an image.

    Attributes:
        name: the competition.
        tag: name and tag that the image gets.
        packages: `score` (numpy, SciPy, scikit-learn) or `models` (those, torch and transformers).
        variant: which torch; without meaning where there is none.
        models: hub name → the revision that the competition asks for, None for the locked one.
        folders: models that the competition names by a folder; they are read from there, not baked in.
        metrics: whether it also holds the libraries of declared metrics.
        requirements: packages of the competition's own, NAME==VERSION.
        lock_file: where these are locked, beside bundle.yaml.
    """

    name: str
    tag: str
    packages: Lock
    variant: Variant
    models: Mapping[str, str | None] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    metrics: bool = False
    requirements: tuple[str, ...] = ()
    lock_file: Path = Path(LOCK_FILE)

    @property
    def locks(self) -> tuple[Lock, ...]:
        return (self.packages, *((METRICS,) if self.metrics else ()))

    @property
    def packages_text(self) -> str:
        """Every package with its version and hashes, torch aside; raises UserError for those that are not locked."""
        own = locked_text(self.requirements, self.locks, self.lock_file, self.name)
        return packages_text(self.locks, own)


def request_for(name: str, options: Mapping[str, Any], tag: str, variant: Variant | None = None) -> ImageRequest:
    """The image that a competition's options ask for: every option group with a `model` needs that model.

    The variant follows the option `device` where it is not given; without models the image is the small one.

    Raises:
        UserError: `tag` cannot be given to an image of one's own.
    """
    if "@" in tag or "/" not in tag or ":" not in tag.rpartition("/")[2]:
        raise UserError(
            f"docker_image: {tag} is not a name to build under. "
            "Expected NAME/IMAGE:TAG of your own there, or in the option --tag."
        )
    models: dict[str, str | None] = {}
    folders = []
    for group in model_groups(options):
        if is_folder(group["model"]):
            folders.append(group["model"])
        else:
            models[group["model"]] = models.get(group["model"]) or group.get("revision")
    packages, *further = locks_for(options)
    if packages == "score":
        variant = "cpu"
    variant = variant or ("cuda" if options.get("device") == "cuda" else "cpu")
    return ImageRequest(
        name=name,
        tag=tag,
        packages=packages,
        variant=variant,
        models=models,
        folders=tuple(folders),
        metrics=bool(further),
    )


def is_folder(model: str) -> bool:
    """Whether a model is named by a path, not by its name on the hub (`NAME` or `ORGANISATION/NAME`)."""
    return Path(model).is_absolute() or model.startswith((".", "~"))

"""Which image a competition needs."""

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from gen_bundle.codabench.worker import PACKAGES
from gen_bundle.codabench.worker import PYTHON as PLATFORM_PYTHON
from gen_bundle.errors import UserError
from gen_bundle.package.libraries import (
    METRICS,
    OWN_LOCK,
    OWN_LOCK_HEAD,
    base_name,
    locks_for,
    model_groups,
    own_lock,
    version_of,
)
from gen_bundle.plain_text import counted
from gen_bundle.resources import Lock, entries, lock_text, packages_text, resource
from gen_bundle.starting import pip_environment, python

PYTHON = "3.11"
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64", "linux_x86_64")
"""The scoring image's Python and what runs on its Debian and on the platform's workers."""


def locked_text(wanted: Sequence[str], locks: Sequence[Lock], lock_file: Path, name: str) -> str:
    """What the image installs besides the tool's own locks.

    Raises:
        UserError: every requirement that is not locked.
    """
    own = own_lock(lock_file, PYTHON)
    if unlocked := _missing(wanted, _versions(lock_text(locks) + own)):
        repair = (
            f"Lock them for it on a machine that reaches a package index: gen-bundle image lock {name} --tag NAME:TAG."
        )
        raise UserError(f"requirements: {', '.join(unlocked)}: not locked in {lock_file}. {repair}")
    return own if wanted else ""


def _versions(text: str) -> dict[str, str]:
    """The packages of a lock with their versions."""
    return {name: version_of(entry) for name, entry in entries(text).items()}


def _missing(wanted: Sequence[str], held: Mapping[str, str]) -> list[str]:
    """The requirements that are not held in this version."""
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


def _resolved(wanted: Sequence[str], pins: Sequence[str], python_version: str) -> Iterator[tuple[str, str, str]]:
    """(name, version, SHA-256) of everything that pip would install."""
    with tempfile.TemporaryDirectory() as folder:
        constraints, report = Path(folder) / "constraints.txt", Path(folder) / "report.json"
        constraints.write_text("".join(f"{pin}\n" for pin in pins), encoding="utf-8")
        command = python("-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed")
        command += ["--only-binary=:all:", f"--python-version={python_version}", "--implementation=cp"]
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
        yield base_name(one["metadata"]["name"]), one["metadata"]["version"], digest


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
        platform: whether these are to travel in programs that run in the platform's own image, so that none is built.
    """

    name: str
    tag: str
    packages: Lock
    variant: Variant
    models: Mapping[str, str | None] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    metrics: bool = False
    requirements: tuple[str, ...] = ()
    lock_file: Path = Path(OWN_LOCK)
    platform: bool = False

    @property
    def locks(self) -> tuple[Lock, ...]:
        if self.metrics:
            return self.packages, METRICS
        return (self.packages,)

    @property
    def packages_text(self) -> str:
        """Every package with its version and hashes, torch aside; raises UserError for those that are not locked."""
        own = locked_text(self.requirements, self.locks, self.lock_file, self.name)
        return packages_text(self.locks, own)


def lock_requirements(request: ImageRequest, say: Callable[[str], None]) -> bool:
    """Resolve a competition's own requirements with pip, and write every package with its hash into its lock file.

    Returns:
        Whether the file changed; one that fits already is left as it is, and one that nothing needs is removed.

    Raises:
        UserError: pip cannot resolve them, with its own words.
    """
    wanted, target = request.requirements, request.lock_file
    if not wanted:
        if is_there := target.is_file():
            target.unlink()
            say(f"{target}: removed, since bundle.yaml has no requirements")
        return is_there
    if request.platform:
        python_version, there = PLATFORM_PYTHON, PACKAGES
        pins = _versions(lock_text((METRICS,))) | PACKAGES
    else:
        # the image with models has torch, and what it brings, from a list of its own
        text = lock_text(request.locks)
        if request.packages == "models":
            text += (resource("docker") / "requirements.cuda.txt").read_text(encoding="utf-8")
        python_version, pins = PYTHON, _versions(text)
        there = pins
    held = there | _versions(own_lock(target, python_version))
    if not _missing(wanted, held):
        return False
    found = _resolved(wanted, [f"{name}=={version}" for name, version in pins.items()], python_version)
    lines = []
    for name, version, digest in sorted(found):
        if name not in there:
            lines.append(f"{name}=={version} \\\n    --hash=sha256:{digest}\n")
    target.write_text(OWN_LOCK_HEAD.format(python_version) + "".join(lines), encoding="utf-8")
    say(f"{target}: locked {counted(len(lines), 'package')}")
    return True


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
    elif variant is None:
        variant = "cuda" if options.get("device") == "cuda" else "cpu"
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

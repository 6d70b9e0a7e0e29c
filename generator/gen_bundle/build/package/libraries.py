"""The Python packages that a competition is scored with, by the hashed locks of requirements/.

What the platform's own image lacks of them travels in a scoring program: unpacked wheels, below `site/`. They are those
of `requirements/metrics.txt`, and of the lock beside bundle.yaml, by hash, for the image's Python on Linux x86-64; pip
downloads them once. What is published as source alone, and is plain Python, is taken from that.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from gen_bundle.build.package.resolve import Resolved
from gen_bundle.codabench.worker import PACKAGES, PLATFORM_IMAGE, PYTHON
from gen_bundle.ground.resources import Lock, entries, lock_text
from gen_bundle.ground.starting import pip_environment, python
from gen_bundle.ground.zips.writing import folder_members
from scoring_kit.base.submissions import UNREADABLE

METRICS: Lock = "metrics"
FURTHER = ("ir-measures", "jiwer", "nibabel", "rapidfuzz", "rouge-score", "sacrebleu", "seqeval")
"""Packages of the lock `metrics` beyond those of `score`."""
BRINGS = {
    "ir-measures": ("ir-measures", "pytrec-eval-terrier"),
    "jiwer": ("click", "jiwer", "rapidfuzz"),
    "nibabel": ("nibabel", "typing-extensions"),
    "rapidfuzz": ("rapidfuzz",),
    "rouge-score": ("absl-py", "click", "defusedxml", "nltk", "regex", "rouge-score", "six", "tqdm"),
    "sacrebleu": ("colorama", "lxml", "portalocker", "regex", "sacrebleu", "tabulate"),
}
"""Library of declared metrics → the packages that its wheels need and the image lacks."""
SOURCE_ALONE = "rouge-score"
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
ABIS = (f"--abi=cp{PYTHON.replace('.', '')}", "--abi=abi3", "--abi=none")
SECONDS = 300
MOST_SITE_MB = 250
"""Of what travels, unpacked: a worker unpacks it for every submission."""
OWN_LOCK = "requirements.lock"
"""Beside bundle.yaml: its `requirements`, with all that they bring along; `image lock` writes it."""
OWN_LOCK_HEAD = """\
# Written by `gen-bundle image lock` from `requirements` of bundle.yaml, for Python {} on Linux x86_64.
"""


def locks_for(competition: Resolved) -> tuple[Lock, ...]:
    """Return the locks that a competition needs: the small one or that of models, then that of metrics."""
    packages: Lock = "models" if model_groups(competition) else "score"
    return (packages, METRICS) if _further(competition) else (packages,)


def libraries_beyond_score(competition: Resolved) -> list[str]:
    """Return what a competition needs beyond numpy, SciPy and scikit-learn."""
    models = ["torch", "transformers"] if model_groups(competition) else []
    return [*models, *_further(competition)]


def model_groups(competition: Resolved) -> list[Mapping[str, Any]]:
    """Return every group of options that names a model, those of declared metrics, too."""
    groups, found = [*competition.options.values()], []
    for metric in competition.scoring.metrics_of(competition.all_task_ids):
        if metric.known:
            groups.append(metric.options)
    for group in groups:
        if isinstance(group, Mapping) and isinstance(group.get("model"), str):
            found.append(group)
    return found


def _further(competition: Resolved) -> list[str]:
    used: set[str] = set()
    for metric in competition.scoring.metrics_of(competition.all_task_ids):
        if metric.known:  # a function of the organisers' own brings what it needs itself
            used.update(metric.known.libraries)
    for table in competition.scoring.tables.values():
        used.update(table.libraries)
    return sorted(used.intersection(FURTHER))


def own_lock(file: Path, python: str) -> str:
    """Return the text of a competition's own lock; empty where there is none for this version of Python."""
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return text if text.startswith(OWN_LOCK_HEAD.format(python)) else ""


def versions(text: str) -> dict[str, str]:
    """Return the packages of a lock with their versions."""
    return {name: entry.split()[0].partition("==")[2] for name, entry in entries(text).items()}


def missing(wanted: Collection[str], held: Mapping[str, str]) -> list[str]:
    """Return the requirements that are not held in this version."""
    return [one for one in wanted if held.get(base_name(one)) != one.partition("==")[2]]


def not_here(wanted: Collection[str]) -> Iterator[str]:
    """Yield the requirements that this machine's Python does not have in this version, each with what it has."""
    held = {}
    for one in wanted:
        with suppress(metadata.PackageNotFoundError):
            held[base_name(one)] = metadata.version(base_name(one))
    for one in missing(wanted, held):
        found = held.get(base_name(one))
        yield f"{one} ({f'{found} is' if found else 'not'} installed)"


def base_name(requirement: str) -> str:
    """Return the name of a package as indexes compare it, without extras and version."""
    return requirement.partition("==")[0].partition("[")[0].strip().lower().replace("_", "-").replace(".", "-")


def site_members(competition: Resolved) -> dict[str, bytes | Path]:
    """Return the files of `site/` in the competition's programs; none where nothing is needed, or can be had."""
    _, found = _packages(competition)
    return folder_members(found, "site/") if isinstance(found, Path) else {}


def site_here(competition: Resolved) -> Path | None:
    """Return the folder of a competition's own locked packages where this Python can import them.

    Those are all on the Python of the image; on any other plain Python alone.
    """
    if not competition.declaration.requirements:
        return None
    _, found = _packages(competition)
    if not isinstance(found, Path):
        return None
    is_same = sys.platform == "linux" and f"{sys.version_info.major}.{sys.version_info.minor}" == PYTHON
    return found if is_same or not any(found.rglob("*.so")) else None


def kept_site(names: Iterable[str]) -> Path | None:
    """Return the files of these packages as they travel; None where others' lock has them, or nothing was fetched."""
    locked = entries(lock_text((METRICS,)))
    wanted = sorted(base_name(name) for name in names)
    if not locked.keys() >= set(wanted):
        return None
    folder = _site_folder("".join(locked[name] for name in wanted))
    return folder if folder.is_dir() else None


def site_note(competition: Resolved) -> str:
    """Return what travels in each program, and how large it is; empty where nothing does."""
    packages, found = _packages(competition)
    if not isinstance(found, Path):
        return ""
    size = f"{_megabytes(found):.0f} MB unpacked, at most {MOST_SITE_MB}"
    return f"{', '.join(packages)}: not in {PLATFORM_IMAGE}, so they travel in each program ({size})."


def lacking(competition: Resolved) -> list[str]:
    """Return what neither the platform's image has nor the programs bring, with why; nothing of another image."""
    if competition.declaration.image != PLATFORM_IMAGE:
        return []
    absent = [one for one in libraries_beyond_score(competition) if one not in BRINGS]
    packages, found = _packages(competition)
    if isinstance(found, str):
        absent.append(f"{', '.join(packages)} ({found})")
    return absent


def unlocked(competition: Resolved) -> list[str]:
    """Return the competition's requirements that the platform's image has not, and that are not locked for it."""
    if competition.declaration.image != PLATFORM_IMAGE:
        return []
    held = PACKAGES | versions("".join(_travelling(competition).values()))
    return missing(competition.declaration.requirements, held)


def _travelling(competition: Resolved) -> dict[str, str]:
    """The packages that travel in the programs, each with its entry of a lock."""
    if competition.declaration.image != PLATFORM_IMAGE:
        return {}
    names: set[str] = set()
    for library in libraries_beyond_score(competition):
        names.update(BRINGS.get(library, ()))
    found = {}
    if names:
        locked = entries(lock_text((METRICS,)))
        found = {name: locked[name] for name in sorted(names)}
    if competition.declaration.requirements:
        found |= entries(own_lock(competition.folder / OWN_LOCK, PYTHON))
    return found


def _packages(competition: Resolved) -> tuple[dict[str, str], Path | str | None]:
    """The packages that travel, and where they are (`_site`)."""
    packages = _travelling(competition)
    return packages, _site("".join(packages.values()))


@cache
def _site(locked: str) -> Path | str | None:
    """The folder of what a lock holds, unpacked: from the cache, or downloaded into it; else why there is none.

    None where it holds nothing.
    """
    if not locked:
        return None
    folder = _site_folder(locked)
    try:
        if folder.is_dir():
            return folder
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as work:
            if why := _download(locked, Path(work)):
                return why
            _unpack(Path(work))
            if (size := _megabytes(Path(work) / "site")) > MOST_SITE_MB:
                return f"{size:.0f} MB unpacked, more than the {MOST_SITE_MB} MB that may travel"
            (Path(work) / "site").replace(folder)
    except (*UNREADABLE, subprocess.TimeoutExpired) as error:
        if not folder.is_dir():  # else another build has made it meanwhile
            return f"not downloaded: {error}"
    return folder


def _site_folder(locked: str) -> Path:
    digest = hashlib.sha256(f"site, {PYTHON} {locked}".encode()).hexdigest()
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 raises nothing
    return Path(caches, "gen-bundle", "wheels", digest)


def _megabytes(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def _download(locked: str, work: Path) -> str:
    """Fetch the wheels into `work/wheels`; why that failed, empty where it did not."""
    (work / "locked.txt").write_text(locked, encoding="utf-8")
    options = [f"--python-version={PYTHON}", "--implementation=cp", *ABIS]
    options += [f"--platform={platform}" for platform in PLATFORMS]
    options += ["--no-deps", "--require-hashes", "--only-binary=:all:", f"--no-binary={SOURCE_ALONE}"]
    options += ["--disable-pip-version-check", "--quiet", "--retries=1", "--timeout=15"]
    command = python("-m", "pip", "download", *options, "--requirement", work / "locked.txt", "--dest", work / "wheels")
    done = subprocess.run(command, capture_output=True, text=True, env=pip_environment(), timeout=SECONDS, check=False)
    if done.returncode == 0:
        return ""
    errors = [line.removeprefix("ERROR: ") for line in done.stderr.splitlines() if line.startswith("ERROR:")]
    return f"pip download: {(errors or ['failed'])[-1]}"


def _unpack(work: Path) -> None:
    """Unpack what was downloaded, each file by its hash one of the lock, into `work/site`."""
    for file in sorted((work / "wheels").iterdir()):
        if file.suffix == ".whl":
            shutil.unpack_archive(file, work / "site", "zip")
        else:
            shutil.unpack_archive(file, work / "source", filter="data")
    for folder in (work / "source").glob("*/*/"):  # NAME-VERSION/, with the package and its metadata
        # Called as those of a wheel: NAME.egg-info is what pip leaves beside files, and never packed.
        folder.rename(work / "site" / folder.name.replace(".egg-info", ".dist-info"))

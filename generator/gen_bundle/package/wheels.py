"""What the platform's own image lacks travels in a scoring program: unpacked wheels, below `site/`.

They are those of `requirements/metrics.txt`, by hash, for the image's Python on Linux x86-64; pip downloads them once.
What is published as source alone, and is plain Python, is taken from that.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from gen_bundle.codabench.platform_image import MODULES, PLATFORM_IMAGE, PYTHON
from gen_bundle.package.imports import imported_names
from gen_bundle.package.locks import entries, libraries_beyond_score, lock_text
from gen_bundle.package.resolve import Resolved
from gen_bundle.resources import resource
from gen_bundle.starting import pip_environment, python
from gen_bundle.zips.unpacking import UNREADABLE
from gen_bundle.zips.writing import folder_members

BRINGS = {
    "ir-measures": ("ir-measures", "pytrec-eval-terrier"),
    "jiwer": ("click", "jiwer", "rapidfuzz"),
    "rapidfuzz": ("rapidfuzz",),
    "rouge-score": ("absl-py", "click", "defusedxml", "nltk", "regex", "rouge-score", "six", "tqdm"),
    "sacrebleu": ("colorama", "lxml", "portalocker", "regex", "sacrebleu", "tabulate"),
}
"""Library of declared metrics → the packages that its wheels need and the image lacks."""
SOURCE_ALONE = "rouge-score"
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
ABIS = (f"cp{PYTHON.replace('.', '')}", "abi3", "none")
SECONDS = 300


def site_members(competition: Resolved) -> dict[str, bytes | Path]:
    """The files of `site/` in the competition's programs; none where nothing is needed, or can be had."""
    packages = _packages(competition)
    found = _site(packages) if packages else ""
    return folder_members(found, "site/") if isinstance(found, Path) else {}


def lacking(competition: Resolved) -> list[str]:
    """What neither the platform's image has nor the programs bring, with why; nothing where the image is another."""
    if competition.declaration.image != PLATFORM_IMAGE:
        return []
    absent = [one for one in libraries_beyond_score(competition.options) if one not in BRINGS]
    packages = _packages(competition)
    found = _site(packages) if packages else ""
    return [*absent, f"{', '.join(packages)} ({found})"] if found and isinstance(found, str) else absent


def absent_imports(competition: Resolved) -> list[str]:
    """The modules that the competition's own code imports and the platform's image lacks."""
    if competition.declaration.image != PLATFORM_IMAGE:
        return []
    package = competition.package
    own = [*competition.program_files.values(), *(package.folder.rglob("*.py") if package.is_own else ())]
    files = [path for path in own if path.suffix == ".py" and path.name != "organiser.py"]
    names = {name.partition(".")[0] for path in files for name in imported_names(path)}
    ours = {path.stem for path in resource("scoring_programs").iterdir()}
    return sorted(names - MODULES - ours - sys.stdlib_module_names - {package.name})


def _packages(competition: Resolved) -> tuple[str, ...]:
    if competition.declaration.image != PLATFORM_IMAGE:
        return ()
    return tuple(sorted({name for one in libraries_beyond_score(competition.options) for name in BRINGS.get(one, ())}))


@cache
def _site(packages: tuple[str, ...]) -> Path | str:
    """The folder of these packages, unpacked: from the cache, or downloaded into it; else why there is none."""
    locked = entries(lock_text(("metrics",)))
    text = "".join(locked[name] for name in packages)
    digest = hashlib.sha256(f"{PYTHON} {text}".encode()).hexdigest()
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 raises nothing
    base = Path(caches, "gen-bundle", "wheels")
    try:
        if (base / digest).is_dir():
            return base / digest
        base.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=base) as work:
            if why := _download(text, Path(work)):
                return why
            _unpack(Path(work))
            (Path(work) / "site").replace(base / digest)
    except (*UNREADABLE, subprocess.TimeoutExpired) as error:
        if not (base / digest).is_dir():  # else another build has made it meanwhile
            return f"not downloaded: {error}"
    return base / digest


def _download(locked: str, work: Path) -> str:
    """Fetch the wheels into `work/wheels`; why that failed, empty where it did not."""
    (work / "locked.txt").write_text(locked, encoding="utf-8")
    options = [f"--python-version={PYTHON}", "--implementation=cp", *(f"--abi={abi}" for abi in ABIS)]
    options += [f"--platform={platform}" for platform in PLATFORMS]
    options += ["--no-deps", "--require-hashes", "--only-binary=:all:", f"--no-binary={SOURCE_ALONE}"]
    options += ["--disable-pip-version-check", "--quiet", "--retries=1", "--timeout=15"]
    command = python("-m", "pip", "download", *options, "--requirement", work / "locked.txt", "--dest", work / "wheels")
    done = subprocess.run(command, capture_output=True, text=True, env=pip_environment(), timeout=SECONDS, check=False)
    errors = [line.removeprefix("ERROR: ") for line in done.stderr.splitlines() if line.startswith("ERROR:")]
    return f"pip download: {(errors or ['failed'])[-1]}" if done.returncode else ""


def _unpack(work: Path) -> None:
    """Unpack what was downloaded, each file by its hash one of the lock, into `work/site`."""
    for file in sorted((work / "wheels").iterdir()):
        if file.suffix == ".whl":
            shutil.unpack_archive(file, work / "site", "zip")
        else:
            shutil.unpack_archive(file, work / "source", filter="data")
    for folder in (work / "source").glob("*/*/"):  # NAME-VERSION/, with the package and its metadata
        folder.rename(work / "site" / folder.name)

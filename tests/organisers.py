"""What builds start processes for, kept from one build to the next: for tests that make many bundles.

A package's organiser process goes on (importing its libraries takes up to seconds). A validator runs in the test's own
process, and not again for the same submissions. That a build starts its own processes and ends them, and what the
validator says, tests of the package and of the starting kit show.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from gen_bundle.build.package.client import Organiser, ScoringPackage
from gen_bundle.build.render import starting_kit
from gen_bundle.build.render.starting_kit import ValidatorVerdict
from tests.forks import run_here

opened_anew = ScoringPackage.opened
judged_anew = starting_kit.validator_verdicts
Asked = Sequence[tuple[bytes, Sequence[bytes]]]
Verdicts = Callable[[Asked, ScoringPackage], list[list[ValidatorVerdict]]]


class RunningOrganisers:
    """The processes, by the name and content of their package and where nltk's data are; they end with the block."""

    def __init__(self, copies: Path, ends: ExitStack) -> None:
        self._copies, self._ends = copies, ends
        self._running: dict[tuple[str, ...], Organiser] = {}

    def of(self, package: ScoringPackage) -> Organiser:
        """The running process of a package; it runs a copy of one that does not come with the tool."""
        key = package.name, _digest(package.folder) if package.is_own else "", os.environ.get("NLTK_DATA", "")
        if key not in self._running or self._running[key].process.poll() is not None:
            kept = replace(package, root=self._copied(package, key[1])) if package.is_own else package
            self._running[key] = self._ends.enter_context(opened_anew(kept))
        return replace(self._running[key], package=package)

    def _copied(self, package: ScoringPackage, digest: str) -> Path:
        shutil.copytree(package.folder, self._copies / digest / package.name, dirs_exist_ok=True)
        return self._copies / digest


def _digest(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    content = [(str(path.relative_to(folder)), path.read_bytes()) for path in files]
    return hashlib.sha256(repr(content).encode()).hexdigest()


@pytest.fixture(scope="session")
def running_organisers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningOrganisers]:
    """The processes, which end with the session."""
    with ExitStack() as ends:
        yield RunningOrganisers(tmp_path_factory.mktemp("packages"), ends)


@pytest.fixture(scope="session")
def known_verdicts() -> Verdicts:
    """As `validator_verdicts`, in this process, and not again for the same submissions."""
    known: dict[tuple[bytes, tuple[bytes, ...]], list[ValidatorVerdict]] = {}

    def verdicts(asked: Asked, package: ScoringPackage) -> list[list[ValidatorVerdict]]:
        keys = [(validator, tuple(submissions)) for validator, submissions in asked]
        new = [key for key in keys if key not in known]
        if new:
            with patch.object(subprocess, "run", run_here):
                known.update(zip(new, judged_anew(new, package), strict=True))
        return [known[key] for key in keys]

    return verdicts


@pytest.fixture(scope="module")
def kept_organisers(running_organisers: RunningOrganisers, known_verdicts: Verdicts) -> Iterator[None]:
    """Answer, in all of a module, with processes that run already and with verdicts that are known."""

    @contextmanager
    def opened(package: ScoringPackage, site: Path | None = None) -> Iterator[Organiser]:
        if site is None:
            yield running_organisers.of(package)
            return
        with opened_anew(package, site) as organiser:
            yield organiser

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ScoringPackage, "opened", opened)
        patched.setattr(starting_kit, "validator_verdicts", known_verdicts)
        yield

"""What builds start processes for, kept from one build to the next: for tests that make many bundles.

A package's organiser process goes on (importing its libraries takes up to seconds). A validator runs in a fork of a
process that has imported the standard library's modules for it, and not again for the same submissions. That a build
starts its own processes and ends them, and what the validator says, tests of the package and of the starting kit show.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from gen_bundle.package.client import Organiser, ScoringPackage
from gen_bundle.render import starting_kit
from gen_bundle.render.starting_kit import DRIVER, ValidatorVerdict, write_asked
from tests.forks import Forks

opened_anew = ScoringPackage.opened
judged_anew = starting_kit.validator_verdicts
LIBRARY = ("argparse", "ast", "csv", "dataclasses", "hashlib", "ipaddress", "pathlib", "tempfile", "typing", "zipfile")
"""What validators import that takes longest."""


class RunningOrganisers:
    """The processes, by the name and content of their package; they end with the block."""

    def __init__(self, copies: Path, ends: ExitStack) -> None:
        self._copies, self._ends = copies, ends
        self._running: dict[tuple[str, str], Organiser] = {}

    def of(self, package: ScoringPackage) -> Organiser:
        """The running process of a package; it runs a copy of one that does not come with the tool."""
        key = package.name, _digest(package.folder) if package.is_own else ""
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


class Validators:
    """Runs validators, in forks of one process, and keeps what each has said of each list of submissions."""

    def __init__(self, folder: Path, forks: Forks) -> None:
        self._folder, self._forks = folder, forks
        self._known: dict[tuple[bytes, tuple[bytes, ...]], list[ValidatorVerdict]] = {}
        (folder / "driver.py").write_text(DRIVER, encoding="utf-8")

    def verdicts(
        self, asked: Sequence[tuple[bytes, Sequence[bytes]]], package: ScoringPackage
    ) -> list[list[ValidatorVerdict]]:
        """As `starting_kit.validator_verdicts`."""
        for validator, submissions in asked:
            key = validator, tuple(submissions)
            if key not in self._known:
                found = self._judged(validator, submissions) or judged_anew([(validator, submissions)], package)[0]
                self._known[key] = found
        return [self._known[validator, tuple(submissions)] for validator, submissions in asked]

    def _judged(self, validator: bytes, submissions: Sequence[bytes]) -> list[ValidatorVerdict]:
        """The verdicts; none where the validator failed, which a process of its own shows as it is."""
        folder = self._folder / f"{len(self._known)}"
        folder.mkdir()
        arguments = [write_asked([(validator, submissions)], folder)]
        out = folder / "verdicts.json"
        run = self._forks.start(str(self._folder / "driver.py"), arguments, stdout=out, stderr=folder / "stderr.txt")
        said = json.loads(out.read_text(encoding="utf-8"))[0] if self._forks.wait(run) == 0 else []
        shutil.rmtree(folder)
        return [ValidatorVerdict(status == 0, text.strip()) for status, text in said]


@pytest.fixture(scope="session")
def validators(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Validators]:
    """The validators' process, which ends with the session."""
    with Forks(*LIBRARY) as forks:
        yield Validators(tmp_path_factory.mktemp("validators"), forks)


@pytest.fixture(scope="module")
def kept_organisers(running_organisers: RunningOrganisers, validators: Validators) -> Iterator[None]:
    """Answer, in all of a module, with processes that run already and with verdicts that are known."""

    @contextmanager
    def opened(package: ScoringPackage) -> Iterator[Organiser]:
        yield running_organisers.of(package)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScoringPackage, "opened", opened)
        patch.setattr(starting_kit, "validator_verdicts", validators.verdicts)
        yield

"""Packages of a competition's own: declared, locked with all that they bring, and put into the image."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.build.package.libraries import OWN_LOCK_HEAD
from gen_bundle.cli import root
from gen_bundle.declaration.read import read_competition
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import resource
from gen_bundle.image.models import Weights
from gen_bundle.image.request import ImageRequest
from gen_bundle.image.verbs import gather_context
from tests.generator.build.test_declared import DECLARATION, declare
from tests.generator.build.test_declared import competition as competition

pytestmark = pytest.mark.usefixtures("kept_organisers", "forked_python")
NOTHING = Weights({"hub": "https://hub", "models": [], "punkt": None})
OWN = ImageRequest("own", "me/own:1", "score", "cpu")


def locked(package: str) -> str:
    """A package of the tool's own lock, as NAME==VERSION."""
    text = (resource("requirements") / "score.txt").read_text()
    return next(line.split()[0] for line in text.splitlines() if line.startswith(f"{package}=="))


def wheel(folder: Path, name: str, version: str, *requires: str) -> str:
    """A wheel with nothing inside; returns its SHA-256."""
    info = f"{name}-{version}.dist-info"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {one}" for one in requires]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{info}/METADATA", "\n".join(lines) + "\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A folder that pip takes wheels from, and nowhere else: name → digest of the wheel."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    numpy = locked("numpy").partition("==")[2]
    return {
        "scorer": wheel(folder, "own_scorer", "1.2", "helping>=1", "numpy"),
        "old": wheel(folder, "helping", "0.9"),
        "helping": wheel(folder, "helping", "1.1"),
        "numpy": wheel(folder, "numpy", numpy),
        "newer numpy": wheel(folder, "numpy", "999.0"),
    }


def lock(folder: Path, manifest: Path, *requirements: str) -> Result:
    """Lock what is then declared."""
    declare(folder, {**DECLARATION, "requirements": [*requirements]} if requirements else DECLARATION)
    arguments = ["image", "lock", str(folder), "--tag", "me/own:1", "--manifest", str(manifest)]
    return CliRunner().invoke(root, arguments)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """One whose base image is locked, so that no container engine is asked."""
    path = tmp_path / "models.yaml"
    base = {"name": "python:3.11-slim-bookworm", "digest": "sha256:" + "0" * 64}
    path.write_text(yaml.safe_dump({"models": {}, "punkt": {"files": None}, "base_image": base}))
    return path


@pytest.mark.slow
def test_what_is_declared_is_locked_with_all_that_it_brings(
    competition: Path, manifest: Path, index: dict[str, str], tmp_path: Path
) -> None:
    done = lock(competition, manifest, "own-scorer==1.2")
    assert done.exit_code == 0, done.output
    text = (competition / "requirements.lock").read_text()
    entries = [line for line in text.splitlines() if not line.startswith("#")]
    assert entries == [
        "helping==1.1 \\",
        f"    --hash=sha256:{index['helping']}",
        "own-scorer==1.2 \\",
        f"    --hash=sha256:{index['scorer']}",
    ]
    request = replace(OWN, requirements=("own-scorer==1.2",), lock_file=competition / "requirements.lock")
    context = tmp_path / "context"
    context.mkdir()
    gather_context(context, request, NOTHING)
    packages = (context / "packages.txt").read_text()
    assert packages.count("\nnumpy==") + packages.startswith("numpy==") == 1
    assert "helping==1.1 \\\n    --hash=sha256:" in packages
    assert lock(competition, manifest, "own-scorer==1.2").exit_code == 0
    assert (competition / "requirements.lock").read_text() == text


@pytest.mark.slow
@pytest.mark.usefixtures("index")
@pytest.mark.parametrize(
    ("requirements", "said"),
    [
        (["own-scorer==1.2", "not-there==3.0"], "requirements: No matching distribution found for not-there==3.0"),
        (["strict==5.0"], "requirements: strict 5.0 depends on numpy>=999, and the image has numpy "),
    ],
)
def test_what_cannot_be_resolved_is_said(
    requirements: list[str], said: str, competition: Path, manifest: Path, tmp_path: Path
) -> None:
    wheel(tmp_path / "wheels", "strict", "5.0", "numpy>=999")
    done = lock(competition, manifest, *requirements)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())
    assert not (competition / "requirements.lock").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("index")
def test_the_lock_goes_with_the_requirements(competition: Path, manifest: Path) -> None:
    assert lock(competition, manifest, "own-scorer==1.2").exit_code == 0
    done = lock(competition, manifest)
    assert "removed, since bundle.yaml has no requirements" in done.output
    assert not (competition / "requirements.lock").exists()


def test_a_lock_without_requirements_is_not_installed(tmp_path: Path) -> None:
    request = replace(OWN, lock_file=tmp_path / "requirements.lock")
    without = request.packages_text
    request.lock_file.write_text(OWN_LOCK_HEAD.format("3.11") + "helping==1.1 \\\n    --hash=sha256:0\n")
    assert request.packages_text == without


def test_an_image_is_not_built_of_what_is_not_locked(tmp_path: Path) -> None:
    request = replace(OWN, requirements=("helping==2.0",), lock_file=tmp_path / "requirements.lock")
    request.lock_file.write_text("helping==1.1 \\\n    --hash=sha256:0\n")
    with pytest.raises(UserError, match=r"requirements: helping==2\.0: not locked in .*: gen-bundle image lock own"):
        gather_context(tmp_path, request, NOTHING)


def test_a_package_that_the_tool_locks_itself_needs_no_lock_of_its_own(tmp_path: Path) -> None:
    request = replace(OWN, requirements=(locked("scipy"),), lock_file=tmp_path / "requirements.lock")
    assert "scipy==" in request.packages_text


@pytest.mark.parametrize(
    ("requirements", "fault"),
    [
        (["spacy"], "expected NAME==VERSION, such as spacy==3.8.7"),
        (["spacy>=3"], "expected NAME==VERSION, such as spacy==3.8.7"),
        (["spacy==3.8.7", "Spacy[lookups]==3.8.6"], "'spacy' is listed twice. Expected each package once."),
    ],
)
def test_mistakes_name_their_place(requirements: list[str], fault: str, competition: Path) -> None:
    declare(competition, {**DECLARATION, "requirements": requirements})
    with pytest.raises(UserError) as caught:
        read_competition(competition)
    place = f"requirements.{len(requirements) - 1}: {fault}"
    (message,) = caught.value.messages
    assert message.startswith("bundle.yaml:")
    assert place in message


@pytest.mark.slow
def test_a_build_says_what_is_not_installed_here(competition: Path, tmp_path: Path) -> None:
    declare(competition, {**DECLARATION, "requirements": ["pyyaml==0.0.1", "not-there==3.0"]})
    (built,) = build(BuildRequest(str(competition), tmp_path / "bundle.zip"))
    (note,) = (text for text in built.notes if text.startswith("requirements: "))
    assert "not-there==3.0 (not installed)" in note
    assert "pyyaml==0.0.1 (" in note
    assert note.endswith("pip install pyyaml==0.0.1 not-there==3.0")

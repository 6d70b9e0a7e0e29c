"""A wheel does from any folder what the checkout does: it is built, installed into an empty environment, and used."""

import os
import subprocess
import sys
import tarfile
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest

from gen_bundle.build.building import BuildRequest, build
from tests.fresh_clone import link_locked_packages

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.slow


def run(command: Sequence[str | Path], cwd: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment that holds the wheel and its locked dependencies, and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT], folder)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "env", with_pip=False)
    link_locked_packages(folder / "env")
    uv = Path(sys.executable).with_name("uv")
    run([uv, "pip", "install", "--quiet", "--python", folder / "env", "--no-deps", wheel], folder)
    return folder / "env" / "bin"


def recorded(installed: Path) -> set[str]:
    """The files of the wheel below site-packages."""
    (site,) = installed.parent.glob("lib/python*/site-packages")
    record = next(site.glob("gen_bundle-*.dist-info")) / "RECORD"
    names = {line.rsplit(",", 2)[0] for line in record.read_text(encoding="utf-8").splitlines()}
    return {name for name in names if not name.startswith(("gen_bundle-", ".."))}


def test_nothing_but_the_package_appears_in_site_packages(installed: Path) -> None:
    assert {name.split("/", 1)[0] for name in recorded(installed)} == {"gen_bundle"}


def test_the_wheel_says_its_licence_and_carries_it(installed: Path) -> None:
    (folder,) = installed.parent.glob("lib/python*/site-packages/gen_bundle-*.dist-info")
    assert (folder / "licenses" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert "License-Expression: Apache-2.0\n" in (folder / "METADATA").read_text(encoding="utf-8")


def test_of_docker_and_requirements_the_wheel_carries_what_images_are_built_from(installed: Path) -> None:
    resources = "gen_bundle/resources/"
    carried = {name.removeprefix(resources) for name in recorded(installed) if name.startswith(resources)}
    assert {name for name in carried if not name.startswith(("bundles/", "scoring_programs/"))} == {
        "docker/Dockerfile",
        "docker/bake.py",
        "docker/models.yaml",
        "docker/requirements.cpu.txt",
        "docker/requirements.cuda.txt",
        "docker/scoring_selftest.py",
        "requirements/metrics.txt",
        "requirements/models.txt",
        "requirements/score.txt",
    }


CONTEXTS = """
from pathlib import Path
from gen_bundle.image.models import Weights
from gen_bundle.image.request import ImageRequest
from gen_bundle.image.verbs import gather_context

no_weights = Weights({"models": [], "punkt": None})
for packages, variant in (("score", "cpu"), ("models", "cpu"), ("models", "cuda")):
    folder = Path(f"{packages}-{variant}")
    folder.mkdir()
    gather_context(folder, ImageRequest("task", "scoring/task:1", packages, variant), no_weights)
    assert (folder / "packages.txt").is_file()
"""


def test_the_wheel_gathers_the_context_of_an_image(installed: Path, tmp_path: Path) -> None:
    run([installed / "python", "-c", CONTEXTS], tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"score-cpu", "models-cpu", "models-cuda"}


def test_the_kit_can_be_imported_for_tests_and_editors(installed: Path, tmp_path: Path) -> None:
    run([installed / "python", "-m", "gen_bundle.kit"], tmp_path)
    code = "import scoring_kit.units, scoring_kit.submission_files; print(scoring_kit.__file__)"
    found = Path(run([installed / "python", "-c", code], tmp_path).strip())
    assert (found.parent / "py.typed").is_file()
    assert found.is_relative_to(installed.parent)


def test_the_source_distribution_holds_what_the_wheel_is_built_from_and_no_tests(tmp_path: Path) -> None:
    run([sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", tmp_path, ROOT], tmp_path)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.split("/", 2)[1] for name in opened.getnames()}
    folders = {"generator", "bundles", "scoring_programs", "docker", "requirements"}
    assert names == {*folders, "CHANGELOG.md", "LICENSE", "README.md", "pyproject.toml", "PKG-INFO", ".gitignore"}


def test_the_wheel_builds_what_the_checkout_builds(installed: Path, tmp_path: Path) -> None:
    run([installed / "gen-bundle", "clpsych2025", "--out", "wheel.zip"], tmp_path)
    build(BuildRequest("clpsych2025", tmp_path / "checkout.zip"))
    assert (tmp_path / "wheel.zip").read_bytes() == (tmp_path / "checkout.zip").read_bytes()


def test_the_wheel_starts_a_competition(installed: Path, tmp_path: Path) -> None:
    """That it is built and dry-run, `test_installed_by_pip` shows."""
    run([installed / "gen-bundle", "new", "films"], tmp_path)
    assert {".gitignore", ".github"} <= {path.name for path in (tmp_path / "films").iterdir()}

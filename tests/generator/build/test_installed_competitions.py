"""Competitions that other packages install: listed, built by name, and no code of theirs runs to find them."""

import json
import shutil
from pathlib import Path

import pytest

from gen_bundle.ground.resources import competitions
from tests.generator.build.looking import command
from tests.generator.competition import small_competition

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers")]  # nearly each test builds a bundle


def install(site: Path, package: str, entry_points: str) -> None:
    """What an installer leaves of a distribution, its modules aside."""
    folder = site / f"{package}-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
    (folder / "entry_points.txt").write_text(f"[gen_bundle.competitions]\n{entry_points}\n", encoding="utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for packages, with the competition film_reviews in it; whoever imports that fails."""
    folder = small_competition(tmp_path / "site", name="film_reviews")
    (folder / "__init__.py").write_text("raise RuntimeError('imported')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(folder.parent)
    return folder.parent


def test_it_is_listed_and_built_by_name(site: Path, tmp_path: Path) -> None:
    install(site, "film-task", "film-reviews = film_reviews")
    (row,) = (row for row in json.loads(command("list", "--json").stdout) if row["name"] == "film-reviews")
    assert row["package"] == "film-task 1.0"
    assert row["tasks"] == ["classification"]
    assert "from: film-task 1.0" in command("list").stdout
    done = command("film-reviews", "--out", tmp_path / "films.zip")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "films.zip").exists()


def test_a_folder_inside_a_package(site: Path, tmp_path: Path) -> None:
    shutil.move(site / "film_reviews", site / "films" / "shared_task")
    (site / "films" / "__init__.py").write_text("raise RuntimeError('imported')\n", encoding="utf-8")
    install(site, "films", "film-reviews = films.shared_task")
    done = command("film-reviews", "--out", tmp_path / "films.zip")
    assert done.exit_code == 0, done.output


def test_a_name_that_two_packages_take(site: Path, tmp_path: Path) -> None:
    install(site, "film-task", "film-reviews = film_reviews")
    install(site, "other-films", "film-reviews = film_reviews")
    listed = command("list")
    assert listed.exit_code == 0
    assert "film-reviews is left out: film-reviews: 2 installed competitions have this name" in listed.stderr
    done = command("film-reviews", "--out", tmp_path / "films.zip")
    assert done.exit_code == 2
    for text in ("film-task 1.0", "other-films 1.0", str(site / "film_reviews"), "Give the folder"):
        assert text in done.stderr
    assert command(site / "film_reviews", "--out", tmp_path / "films.zip").exit_code == 0


def test_no_package_takes_the_place_of_what_comes_with_the_tool(site: Path, tmp_path: Path) -> None:
    install(site, "film-task", "process2025 = film_reviews")
    done = command("process2025", "--out", tmp_path / "process.zip")
    assert done.exit_code == 2
    assert "gen-bundle (" in done.stderr
    assert "film-task 1.0" in done.stderr
    assert command(competitions()["process2025"], "--out", tmp_path / "process.zip").exit_code == 0


@pytest.mark.parametrize(
    ("entry_point", "said"),
    [
        ("gone = not_installed", "bundle.yaml does not exist"),
        ("gone = film_reviews.data", "bundle.yaml does not exist"),
        ("gone = film_reviews:task()", "bundle.yaml does not exist"),
        ("gone = .", "bundle.yaml does not exist"),
        ("gone = json", "bundle.yaml does not exist"),
        ("check = film_reviews", "check is a verb of gen-bundle"),
    ],
)
def test_an_entry_point_that_leads_nowhere_is_said_and_ends_nothing(site: Path, entry_point: str, said: str) -> None:
    install(site, "film-task", f"{entry_point}\nfilm-reviews = film_reviews")
    listed = command("list")
    assert listed.exit_code == 0, listed.output
    assert "film-task 1.0" in listed.stderr
    assert said in listed.stderr
    assert "film-reviews" in listed.stdout
    if entry_point.startswith("gone"):
        done = command("gone")
        assert done.exit_code == 2
        assert said in done.stderr


@pytest.mark.parametrize("text", ["", "tasks: [", "title: Films\ntasks: 1\nphases: []\n", "- 1\n"])
def test_a_broken_declaration_ends_no_list(site: Path, text: str) -> None:
    (site / "film_reviews" / "bundle.yaml").write_text(text, encoding="utf-8")
    install(site, "film-task", "film-reviews = film_reviews")
    listed = command("list")
    assert listed.exit_code == 0, listed.output
    assert "note: film-reviews is left out: " in listed.stderr
    assert "clarity2026" in listed.stdout

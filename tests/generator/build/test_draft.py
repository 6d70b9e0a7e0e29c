"""The last line of a build tells the truth: what keeps a bundle a draft, each with its repair, and `--release`."""

import json
import shutil
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from gen_bundle.build.building import DraftError
from gen_bundle.build.draft import Lack
from gen_bundle.build.draft import lacks as all_lacks
from gen_bundle.build.package.phase_data import prepare_phases
from gen_bundle.build.package.resolve import resolve
from gen_bundle.build.render.pages import render_pages
from gen_bundle.ground.resources import SCAFFOLD, SCAFFOLD_TEXT, resource
from tests.generator.build.looking import built, command
from tests.generator.competition import second_module, second_task, small_competition

pytestmark = [pytest.mark.usefixtures("kept_organisers")]  # nearly each test builds a bundle

REAL_GOLD = "id,label\nx1,positive\nx2,negative\nx3,neutral\n"
FINISHED: dict[str, Any] = {"contact": "chair@task.edu", "docker_image": "docker.io/chair/task:1"}

PACKAGE = SCAFFOLD / "package" / "{{cookiecutter.name}}"


def finished(
    parent: Path, change: Callable[[dict[str, Any]], object] = lambda _: None, phases: tuple[str, ...] = ("test",)
) -> Path:
    """A competition that lacks nothing, but for what `change` takes away."""

    def declare(declaration: dict[str, Any]) -> None:
        declaration.update(FINISHED)
        declaration["phases"] = [phase for phase in declaration["phases"] if phase["id"] in phases]
        change(declaration)

    folder = small_competition(parent, declare)
    for name in (
        "baselines",
        *({"dev", "test"} - {*phases}),
        *(f"public/{one}" for one in {"dev", "test"} - {*phases}),
    ):
        shutil.rmtree(folder / "data" / name)
    for phase in phases:
        (folder / "data" / phase / "gold.csv").write_text(REAL_GOLD, encoding="utf-8")
        (folder / "data" / "public" / phase / "texts.csv").write_text("id,text\nx1,Fine.\n", encoding="utf-8")
    for page in (folder / "pages").iterdir():
        lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
        page.write_text("".join(line for line in lines if SCAFFOLD_TEXT not in line), encoding="utf-8")
    shutil.copy(resource("bundles") / "clpsych2025" / "logo.png", folder / "logo.png")
    return folder


def lacks(folder: Path, now: datetime | None = None) -> dict[str, Lack]:
    """What a build finds missing, of the parts of a bundle that it looks at."""
    competition = resolve(folder)
    with tempfile.TemporaryDirectory() as work, competition.opened() as opened:
        phases = prepare_phases(opened, Path(work))
        found = all_lacks(competition, phases, render_pages(competition), now or datetime.now(UTC))
    assert len({lack.id for lack in found}) == len(found)
    return {lack.id: lack for lack in found}


def last_line(result: Result) -> str:
    return result.stderr.splitlines()[-1]


@pytest.mark.slow
def test_a_finished_bundle_is_ready_to_upload(tmp_path: Path) -> None:
    folder = finished(tmp_path, phases=("dev", "test"))
    result = command(folder, "--out", tmp_path / "b.zip", "--release", "--json")
    assert result.exit_code == 0
    assert [record["draft"] for record in json.loads(result.stdout)] == [[]]
    assert last_line(result).endswith("MB, ready to upload")


@pytest.mark.slow
def test_what_the_tool_writes_first_is_a_draft(tmp_path: Path) -> None:
    result = command(small_competition(tmp_path), "--out", tmp_path / "b.zip", "--json")
    assert result.exit_code == 0
    assert last_line(result).endswith("MB, draft, not ready to publish: 4 things are missing")
    (record,) = json.loads(result.stdout)
    assert record["written"]
    assert [lack["id"] for lack in record["draft"]] == [
        *("synthetic-gold", "example-contact", "scaffold-text", "scaffold-logo")
    ]
    for lack in record["draft"]:
        assert f"missing: {lack['what']} {lack['repair']}" in result.stderr


@pytest.mark.slow
def test_a_release_of_a_draft_writes_nothing(tmp_path: Path) -> None:
    folder = finished(tmp_path, lambda declaration: declaration.update(contact="me@example.org"))
    out = tmp_path / "b.zip"
    result = command(folder, "--out", out, "--release", "--json")
    assert result.exit_code == 1
    assert "error: The contact me@example.org is an example. Give yours: --set contact=NAME@DOMAIN." in result.stderr
    assert not out.exists()
    (record,) = json.loads(result.stdout)
    assert (record["written"], [lack["id"] for lack in record["draft"]]) == (False, ["example-contact"])
    assert last_line(command(folder, "--out", out)).endswith("draft, not ready to publish: 1 thing is missing")
    before = out.read_bytes()
    with pytest.raises(DraftError):
        built(folder, out=out, release=True)
    assert out.read_bytes() == before


@pytest.mark.slow
def test_gold_that_comes_with_the_tool_is_synthetic_wherever_it_lies(tmp_path: Path) -> None:
    folder = finished(tmp_path, phases=("dev", "test"))
    shutil.copy(PACKAGE / "data" / "test" / "gold.csv", folder / "data" / "test" / "gold.csv")
    lack = lacks(folder)["synthetic-gold"]
    assert "phase test " in lack.what
    assert "--data DIR, with test/ in it" in lack.repair


@pytest.mark.slow
def test_phases_that_are_over_at_the_moment_of_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dates(declaration: dict[str, Any]) -> None:
        dev, test = declaration["phases"]
        dev.update(start="2031-01-01 UTC", end="2031-01-31 UTC")
        test.update(start="2031-02-01 UTC")
        del test["end"]

    monkeypatch.setenv("SOURCE_DATE_EPOCH", "2000000000")  # 2033: the time that the zip carries, not the build's
    folder = finished(tmp_path, dates, phases=("dev", "test"))
    assert built(folder).draft == ()
    assert lacks(folder, now=datetime(2031, 1, 15, tzinfo=UTC)) == {}
    lack = lacks(folder, now=datetime(2031, 2, 15, tzinfo=UTC))["dates-past"]
    assert lack.what == "In the past: the phase dev ended on 2031-01-31."
    assert "--set phases.dev.end=" in lack.repair
    assert "phases.test" not in lack.repair


@pytest.mark.slow
@pytest.mark.parametrize(
    ("contact", "image", "draft"),
    [
        ("a@example.org", "gen-bundle/task:1", True),
        ("a@mail.example.com", "localhost:5000/task:1", True),
        ("a@example-labs.org", "ghcr.io/gen-bundle/task:1", False),
        ("example@uni.org", "docker.io/chair/task:1", False),
    ],
)
def test_an_address_that_belongs_to_nobody_and_an_image_that_only_this_machine_has(
    contact: str, image: str, draft: bool, tmp_path: Path
) -> None:
    found = lacks(finished(tmp_path, lambda declaration: declaration.update(contact=contact, docker_image=image)))
    assert set(found) == ({"example-contact", "local-image"} if draft else set())
    if draft:  # whether there is an engine or an image here, a build does not look
        assert found["local-image"].what == (
            f"{image} is the name of an image of your own machine; the platform cannot pull it."
        )


@pytest.mark.slow
def test_an_image_of_this_machine_beside_a_queue_is_left_to_the_check(tmp_path: Path) -> None:
    queue = "0f0f0f0f-0000-4000-8000-000000000000"
    folder = finished(tmp_path, lambda declaration: declaration.update(docker_image="gen-bundle/task:1", queue=queue))
    assert "local-image" not in lacks(folder)
    command(folder, "--out", tmp_path / "b.zip")
    assert "docker-image-local" in command("check", tmp_path / "b.zip").stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["declared", "package"])
def test_bundle_yaml_that_is_left_as_it_was_written(tmp_path: Path, kind: str) -> None:
    written = (SCAFFOLD / kind / "{{cookiecutter.name}}" / "bundle.yaml").read_text(encoding="utf-8")
    marks = [line for line in written.splitlines() if SCAFFOLD_TEXT in line]
    assert "# TODO(organiser): your dates." in marks
    folder = finished(tmp_path)
    with (folder / "bundle.yaml").open("a", encoding="utf-8") as file:
        file.writelines(f"# {line}\n" for line in marks)
    result = command(folder, "--out", tmp_path / "b.zip", "--release")
    assert result.exit_code == 1
    assert f"bundle.yaml: {SCAFFOLD_TEXT} is still on it" in result.stderr
    assert f"Write it in place of that mark, in {folder}." in result.stderr
    assert not (tmp_path / "b.zip").exists()


@pytest.mark.slow
def test_the_scaffold_says_where_text_is_to_be_written(tmp_path: Path) -> None:
    folder = finished(tmp_path)
    shutil.copytree(PACKAGE / "pages", folder / "pages", dirs_exist_ok=True)
    assert lacks(folder)["scaffold-text"].what == (
        f"pages/overview.md, terms.md: {SCAFFOLD_TEXT} is still on it, where the organisers must write themselves."
    )


@pytest.mark.slow
def test_no_public_data_unless_a_folder_left_empty_says_so(tmp_path: Path) -> None:
    folder = finished(tmp_path, phases=("dev", "test"))
    public = folder / "data" / "public"
    shutil.rmtree(public / "test")
    assert lacks(folder)["no-public-data"].what == "Participants get no data in phase test."
    (public / "test").mkdir()
    assert lacks(folder) == {}
    shutil.rmtree(public)
    assert lacks(folder)["no-public-data"].what == "Participants get no data in phases dev and test."
    public.mkdir()
    assert lacks(folder) == {}


@pytest.mark.slow
def test_what_several_bundles_lack_is_told_once(tmp_path: Path) -> None:
    folder = small_competition(tmp_path, second_task)
    second_module(folder)
    result = command(folder, "--out", tmp_path / "out", "--layout", "separate")
    assert result.stderr.count("The gold of phases dev and test is synthetic") == 1
    assert result.stderr.count("draft, not ready to publish: ") == 2


@pytest.mark.slow
def test_an_empty_description(tmp_path: Path) -> None:
    assert set(lacks(finished(tmp_path, lambda declaration: declaration.update(description=" ")))) == {"no-description"}

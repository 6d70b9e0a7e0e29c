"""`gen-bundle try`: one command from a folder, or a bundle, to the page with its board."""

import json
from pathlib import Path
from shutil import unpack_archive

import pytest

from tests.generator.cli.running import gen_bundle
from tests.generator.competition import small_competition
from tests.yaml_text import dumped, loaded

pytestmark = pytest.mark.usefixtures("kept_organisers", "runs_in_forks")


def tried(*arguments: object, cwd: Path) -> tuple[int, str, str]:
    done = gen_bundle("try", *arguments, "--engine", "process", "--trust", cwd=cwd)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_a_folder_its_bundle_yaml_and_its_bundle_are_tried(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    for source in (folder, folder / "bundle.yaml"):
        status, board, said = tried(source, cwd=tmp_path)
        assert status == 0, said
        made = tmp_path / f"{folder.name}-try"
        assert {path.name for path in made.iterdir()} == {".gitignore", f"{folder.name}.zip", "dry-run", "preview"}
        assert said.splitlines()[-1] == (made / "preview" / "index.html").as_uri()
        assert "phase test" in board
        assert "majority" in board.lower()
        page = (made / "preview" / "index.html").read_text(encoding="utf-8")
        cell = json.loads((made / "dry-run" / "dry-run.json").read_text())["board"][0]["cells"].popitem()[1]
        assert cell in page
    bundle = made / f"{folder.name}.zip"
    status, board, _ = tried(bundle, "--out", "again", cwd=tmp_path)
    assert status == 0
    assert "nothing found that would keep it from working" in board  # the check's verdict
    assert (tmp_path / "again" / "preview" / "index.html").exists()
    assert tried(bundle, "--set", "title=x", cwd=tmp_path)[0] == 2


def test_what_cannot_be_built_is_not_run(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    (folder / "bundle.yaml").write_text("title: P\n", encoding="utf-8")
    status, board, said = tried(folder, cwd=tmp_path)
    assert (status, board) == (2, "")
    assert "tasks: is missing" in said


@pytest.mark.slow
def test_the_worst_status_counts_and_the_page_is_written_all_the_same(tmp_path: Path) -> None:
    assert gen_bundle(small_competition(tmp_path), cwd=tmp_path).returncode == 0
    unpacked = tmp_path / "unpacked"
    unpack_archive(tmp_path / "my-task.zip", unpacked)
    declared = loaded((unpacked / "competition.yaml").read_bytes())
    for owner in (declared, *declared["phases"], *declared["tasks"]):
        owner.pop("solutions", None)
    (unpacked / "competition.yaml").write_text(dumped(declared), encoding="utf-8")
    status, _, said = tried(unpacked, cwd=tmp_path)
    assert status == 2
    assert "the bundle has no solution for these phases" in said
    assert said.splitlines()[-1].endswith("preview/index.html")


@pytest.mark.slow
def test_a_bundle_for_each_task_has_its_own_page(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    status, board, said = tried(folder, "--set", "layout=separate", cwd=tmp_path)
    assert status == 0, said
    pages = [path.relative_to(tmp_path) for path in tmp_path.rglob("index.html") if path.parent.name == "preview"]
    assert pages
    assert board.count("phase test") == len(pages)

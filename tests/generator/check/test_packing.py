"""`check --pack`: a folder zipped as its competition.yaml means it."""

import json
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gen_bundle.cli import root
from tests.generator.check.drafts import first_task, new


def run(*arguments: object) -> Result:
    return CliRunner().invoke(root, ["check", *map(str, arguments), "--now", "2026-01-01"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sound bundle, unpacked, that names ref.zip and holds ref/."""
    return new(first_task(reference_data="ref.zip")).unpack(tmp_path / "bundle")


def test_a_folder_is_packed_and_checked(folder: Path, tmp_path: Path) -> None:
    done = run(folder, "--pack", tmp_path / "b.zip", "--json")
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert (report["path"], report["later"]) == (str(tmp_path / "b.zip"), "ok")
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        names = archive.namelist()
        with zipfile.ZipFile(archive.open("ref.zip")) as inner:
            assert inner.namelist() == ["truth.txt"]
    assert "ref/truth.txt" not in names
    assert "competition.yaml" in names


def test_a_folder_that_something_else_names_stays(folder: Path, tmp_path: Path) -> None:
    text = (folder / "competition.yaml").read_text(encoding="utf-8")
    (folder / "competition.yaml").write_text(text.replace("file: overview.md", "file: ref/page.md"), encoding="utf-8")
    (folder / "ref" / "page.md").write_text("# A page", encoding="utf-8")
    run(folder, "--pack", tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert {"ref/page.md", "ref/truth.txt", "ref.zip"} <= set(archive.namelist())


def test_what_is_in_the_folder_is_judged_at_once(folder: Path) -> None:
    (folder / "ref" / "truth.txt").unlink()
    (folder / "ref" / "README.md").write_text("Here come the answers.", encoding="utf-8")
    done = run(folder)
    assert "reference-data-empty" in done.stdout
    assert "data-to-be-packed" in done.stdout
    assert done.exit_code == 1


@pytest.mark.parametrize("wrong", ["two paths", "a zip", "a declaration", "there already", "no competition.yaml"])
def test_what_is_not_packed(wrong: str, folder: Path, tmp_path: Path) -> None:
    paths, out = [folder], tmp_path / "b.zip"
    if wrong == "two paths":
        paths.append(folder)
    elif wrong == "a zip":
        paths = [tmp_path / "a.zip"]
        paths[0].write_bytes(new().as_zip())
    elif wrong == "a declaration":
        (folder / "bundle.yaml").touch()
    elif wrong == "there already":
        out.write_text("mine", encoding="utf-8")
    else:
        (folder / "competition.yaml").unlink()
    done = run(*paths, "--pack", out)
    assert done.exit_code == 2
    assert done.stderr.startswith("error: ")
    assert not out.exists() or out.read_text(encoding="utf-8") == "mine"

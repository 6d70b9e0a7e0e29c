"""gen-bundle fetch where nothing can be fetched, and the names of files and folders."""

import re
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.live.connection import AnswerError, Connection
from gen_bundle.live.fetch import FetchRequest, fetch, file_name, folder_name
from tests.generator.live.conftest import Verb
from tests.live_server import Site


def test_a_site_that_is_gone_is_not_asked_for_ever(
    running: Site, connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    get, asked = connection.get, list[str]()

    def gone(path: str, **query: Any) -> Any:
        if re.fullmatch(r"submissions/\d+/", path):
            asked.append(path)
            raise AnswerError("GET: no answer in time.")
        return get(path, **query)

    monkeypatch.setattr(connection, "get", gone)
    with pytest.raises(AnswerError, match="no answer in time"):
        fetch(connection, FetchRequest(5, tmp_path / "out", "Test"))
    assert len(asked) == 3


@pytest.mark.parametrize("given", ["fetch --out out", "status", "update bundle.zip", "confirm --bundle bundle.zip"])
def test_who_is_no_organiser_is_refused_first(
    running: Site, verb: Verb, bundle: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.chdir(bundle.parent)
    running.organiser = False
    name, *options = given.split()
    done = verb(name, 5, *options, *(["--engine", "process", "--trust"] if name == "confirm" else []))
    assert done.exit_code == 2
    assert f"competition 5: you are not one of its organisers, as {name} needs" in done.stderr
    assert "Log in as an organiser" in done.stderr
    assert done.stdout == ""
    assert running.changing() == []
    assert not Path("out").exists()


def test_a_phase_that_is_not_there(running: Site, verb: Verb, tmp_path: Path) -> None:
    done = verb("fetch", 5, "--out", tmp_path / "out", "--phase", "dev")
    assert done.exit_code == 2
    assert "--phase dev: no such phase. Expected one of Test (id 21), Final phase (id 22)." in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["eagle", "a.b+c@d-e_f", "Ünal"])
def test_plain_names_are_folders(name: str) -> None:
    assert folder_name(name) == name


def test_odd_names_become_different_folders_that_the_ranking_takes_for_teams() -> None:
    names = ["..", ".", "", "a/b", "a_b", "../a_b", ".a_b", "20250131", "2025-01-31", "a" * 200, "a" * 201, "a b"]
    folders = [folder_name(name) for name in names]
    assert len(set(folders)) == len(names)
    assert not [one for one in folders if one.startswith(".") or "/" in one or one[:1].isdigit() or len(one) > 120]


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("run.zip", "run.zip"),
        ("C:\\x\\run.zip", "run.zip"),
        ("../../.zip", "submission.zip"),
        (None, "submission.zip"),
        ("Deleted ", "Deleted.zip"),
    ],
)
def test_file_names(name: str | None, file: str) -> None:
    assert file_name(name) == file

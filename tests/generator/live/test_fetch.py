"""gen-bundle fetch: everything once, in the layout that the ranking reads, also when it is interrupted."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.ground.errors import UserError
from gen_bundle.live.connection import Connection
from gen_bundle.live.fetch import FetchRequest, fetch
from tests.generator.check.drafts import first_phase
from tests.generator.live.conftest import PHASE, Verb, changed, run_in_c_locale, sent, uploaded
from tests.live_ports import serve_site
from tests.live_server import Site

pytestmark = pytest.mark.slow


def records(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "submissions.json").read_text())
    return found


def downloads(site: Site) -> list[str]:
    return [path.partition("?")[0] for address, _, path, *_ in site.asked if address == site.store]


@pytest.mark.parametrize("paged", [True, False])
def test_everything_is_fetched(running: Site, verb: Verb, tmp_path: Path, paged: bool) -> None:
    running.paged = paged
    out = tmp_path / "out"
    done = verb("fetch", 5, "--out", out)
    assert done.exit_code == 0, done.output
    assert f"{out / '0-test'}: 4 submissions, 4 of them new" in done.stderr
    test = out / "0-test"
    assert sorted(path.relative_to(test).as_posix() for path in test.rglob("*.*") if path.is_file()) == [
        "board.json",
        "logs/103/scoring_stderr.txt",
        "other/owl/2030-01-02T03-04-02/submission.zip",
        "results/101.zip",
        "results/102.zip",
        "results/104.zip",
        "submissions.json",
        "submissions/eagle/2030-01-02T03-04-00/submission.zip",
        "submissions/eagle/2030-01-02T03-04-01/submission.zip",
        "submissions/owl/2030-01-02T03-04-03/submission.zip",
    ]
    assert (test / "submissions/owl/2030-01-02T03-04-03/submission.zip").read_bytes() == sent("good")
    assert (test / "logs/103/scoring_stderr.txt").read_text() == "line 3: no label"
    first, second, failed, good = records(test)
    assert first["organization"] == "Eagles"
    assert (second["on_leaderboard"], second["scores"], second["complete"]) == (True, {"points": 0.5}, True)
    assert (failed["status"], failed["message"]) == ("Failed", "scoring_hostname-1")
    assert good["created"] == "2030-01-02T03:04:03Z"
    assert json.loads((test / "board.json").read_text())["submissions"][0]["owner"] == "eagle"
    assert [row["email"] for row in json.loads((out / "participants.json").read_text())] == ["e@site.org", "o@site.org"]
    assert (out / "1-final-phase" / "submissions.json").is_file()


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_what_is_fetched_is_its_owners_alone(running: Site, verb: Verb, tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        assert verb("fetch", 5, "--out", tmp_path / "out").exit_code == 0
        (tmp_path / "later").touch()
    finally:
        os.umask(before)
    found = [tmp_path / "out", *(tmp_path / "out").rglob("*")]
    assert len(found) > 20
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in found} == {0}
    assert stat.S_IMODE((tmp_path / "later").stat().st_mode) == 0o644


def test_only_what_is_new_is_fetched_again(running: Site, connection: Connection, tmp_path: Path) -> None:
    request = FetchRequest(5, tmp_path / "out")
    fetch(connection, request)
    running.asked.clear()
    fetch(connection, request)
    assert downloads(running) == []
    running.add_submission(PHASE, "owl", sent("new"))
    (tmp_path / "out" / "0-test" / "submissions/eagle/2030-01-02T03-04-00/submission.zip").write_bytes(b"cut")
    test, _ = fetch(connection, request)
    assert test.new_files == 2
    assert [path for path in downloads(running) if path.endswith(".zip")] == ["/bucket/101.zip", "/bucket/106.zip"]


def test_scores_that_come_after_finished_are_waited_for(running: Site, connection: Connection, tmp_path: Path) -> None:
    request = FetchRequest(5, tmp_path / "out", "Test")
    running.late_scores = 1
    (test,) = fetch(connection, request)
    assert test.unfinished == 1
    assert records(test.folder)[0]["scores"] == {}
    running.asked.clear()
    (test,) = fetch(connection, request)
    assert test.unfinished == 0
    assert records(test.folder)[0]["scores"] == {"points": 0.5}
    assert "/bucket/101.zip" not in downloads(running)


def test_a_submission_moves_when_its_run_ends_or_it_is_taken_back(
    running: Site, connection: Connection, tmp_path: Path
) -> None:
    request = FetchRequest(5, tmp_path / "out", "Test")
    row = running.submissions[0]
    row |= {"status": "Running", "scores": []}
    (test,) = fetch(connection, request)
    name = "eagle/2030-01-02T03-04-00/submission.zip"
    assert (test.folder / "other" / name).is_file()
    assert test.unfinished == 1
    row |= {"status": "Finished", "scores": [{"index": 0, "column_key": "points", "score": "0.1"}]}
    fetch(connection, request)
    assert (test.folder / "submissions" / name).is_file()
    assert not (test.folder / "other" / "eagle").exists()
    row["on_leaderboard"] = True
    fetch(connection, request)
    assert records(test.folder)[0]["on_leaderboard"]
    row["is_soft_deleted"] = True
    fetch(connection, request)
    assert (test.folder / "other" / name).is_file()
    running.submissions.pop(1)
    (test,) = fetch(connection, request)
    assert [record["status"] for record in records(test.folder)] == ["Deleted", "Deleted", "Failed", "Finished"]
    assert not (test.folder / "submissions" / "eagle").exists()


def test_an_interrupted_fetch_goes_on(running: Site, connection: Connection, tmp_path: Path) -> None:
    request = FetchRequest(5, tmp_path / "out", "Test")
    download = connection.download

    def until_ctrl_c(url: str, *given: Any) -> int:
        if "/103" in url:
            raise KeyboardInterrupt
        return download(url, *given)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(connection, "download", until_ctrl_c)
        with pytest.raises(KeyboardInterrupt):
            fetch(connection, request)
    (test,) = fetch(connection, request)
    assert (test.submissions, test.new_files) == (4, 2)
    assert downloads(running).count("/bucket/101.zip") == 1


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/submissions/102/get_details/", 500),
        ("/submissions/102/get_details/", [3]),
        ("/submissions/102/", b"<p>Welcome</p>"),
    ],
)
def test_a_submission_that_the_site_cannot_give_is_named_and_passed_over(
    running: Site, verb: Verb, tmp_path: Path, path: str, answer: Any
) -> None:
    running.always = {f"GET /api{path}": answer}
    done = verb("fetch", 5, "--out", tmp_path / "out")
    assert done.exit_code == 1
    assert "submission 102: GET http" in done.stderr
    assert f"{tmp_path / 'out' / '1-final-phase'}: 1 submissions, 1 of them new" in done.stderr
    kept = [record["id"] for record in records(tmp_path / "out" / "0-test") if record["complete"]]
    assert kept == [101, 103, 104]
    running.always = {}
    assert verb("fetch", 5, "--out", tmp_path / "out").exit_code == 0
    assert all(record["complete"] for record in records(tmp_path / "out" / "0-test"))


def test_a_board_that_the_site_cannot_give_is_named(running: Site, verb: Verb, tmp_path: Path) -> None:
    running.always = {f"GET /api/phases/{PHASE}/get_leaderboard/": 500}
    done = verb("fetch", 5, "--out", tmp_path / "out")
    assert done.exit_code == 1
    assert "the leaderboard: GET http" in done.stderr
    assert (tmp_path / "out" / "1-final-phase" / "board.json").is_file()


REFUSED = '<html><title>Not scored</title><section class="note"><h2>predictions: are missing</h2>\n</section></html>'


def test_the_page_of_a_failed_run_is_kept_with_its_reason(running: Site, verb: Verb, tmp_path: Path) -> None:
    for _ in range(2):
        running.add_submission(PHASE, "owl", sent("worse"), status="Failed", page=REFUSED)
    done = verb("fetch", 5, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "failed 2×: predictions: are missing (106, 107)" in done.stderr
    assert "failed 1×: line 3: no label (103)" in done.stderr
    test = tmp_path / "out" / "0-test"
    assert (test / "logs" / "106" / "page.html").read_text() == REFUSED
    reasons = [record["reason"] for record in records(test)]
    assert reasons[2:] == ["line 3: no label", None, "predictions: are missing", "predictions: are missing"]


def test_a_file_that_is_too_large_stays_on_the_site(running: Site, verb: Verb, tmp_path: Path) -> None:
    running.add_submission(PHASE, "owl", bytes(2_000_000))
    done = verb("fetch", 5, "--out", tmp_path / "out", "--max-size", 1)
    assert done.exit_code == 1
    assert "/bucket/106.zip: is larger than 1 MB, and was not fetched (--max-size)." in done.stderr
    assert [record["file"] is None for record in records(tmp_path / "out" / "0-test")][-1]
    assert verb("fetch", 5, "--out", tmp_path / "out").exit_code == 0


def test_a_file_that_the_server_has_lost(running: Site, verb: Verb, tmp_path: Path) -> None:
    del running.files["101.zip"]
    done = verb("fetch", 5, "--out", tmp_path / "out")
    assert done.exit_code == 1
    assert "/bucket/101.zip: answered 404 Not Found: NoSuchKey" in done.stderr
    assert "secret-signature" not in done.output
    assert [record["file"] is None for record in records(tmp_path / "out" / "0-test")] == [True, False, False, False]


@pytest.mark.parametrize(("code", "may_come"), [(403, False), (404, False), (410, False), (413, False), (400, True)])
def test_what_the_store_never_gives_is_not_asked_for_again(
    running: Site, connection: Connection, tmp_path: Path, code: int, may_come: bool
) -> None:
    del running.files["101-result"]
    running.lost = code
    fetch(connection, FetchRequest(5, tmp_path / "out"))
    running.asked.clear()
    fetch(connection, FetchRequest(5, tmp_path / "out"))
    assert ("/bucket/101-result" in downloads(running)) == may_come


def test_a_submission_to_several_tasks_has_one_file(running: Site, connection: Connection, tmp_path: Path) -> None:
    parent = running.add_submission(PHASE, "eagle", sent("both"), has_children=True, scores=[])
    child = running.add_submission(PHASE, "eagle", sent("both"), parent=parent["id"], task={"id": 1, "name": "A"})
    (test,) = fetch(connection, FetchRequest(5, tmp_path / "out", "Test"))
    *_, above, below = records(test.folder)
    assert (above["id"], above["complete"], above["scores"]) == (parent["id"], True, {})
    assert (below["id"], below["file"], below["task"], below["scores"]) == (child["id"], None, "A", {"points": 0.5})
    assert (test.submissions, test.unfinished) == (5, 0)
    running.asked.clear()
    fetch(connection, FetchRequest(5, tmp_path / "out", "Test"))
    assert downloads(running) == []
    child["status"] = "Running"
    (test,) = fetch(connection, FetchRequest(5, tmp_path / "new", "Test"))
    assert test.unfinished == 0  # it counts as its parent's


def test_a_board_in_pages_whose_count_is_another_one(
    running: Site, connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a submission has a row for each of its tasks, the server may count otherwise."""
    monkeypatch.setattr("gen_bundle.live.connection.PAGE_SIZE", 2)
    row = running.boards[PHASE]["submissions"][0]
    running.boards[PHASE]["submissions"] = [row, row, row]
    (test,) = fetch(connection, FetchRequest(5, tmp_path / "out", "Test"))
    assert [one["rank"] for one in json.loads((test.folder / "board.json").read_text())["submissions"]] == [1, 2, 3]


def test_two_within_a_second_are_both_kept(running: Site, connection: Connection, tmp_path: Path) -> None:
    running.add_submission(PHASE, "eagle", sent("twin"), created_when="2030-01-02T03:04:01.9Z")
    (test,) = fetch(connection, FetchRequest(5, tmp_path / "out", "Test"))
    assert records(test.folder)[-1]["file"] == "submissions/eagle/2030-01-02T03-04-02/submission.zip"
    assert records(test.folder)[-1]["created"] == "2030-01-02T03:04:01Z"


def test_pseudonyms_last_and_leave_no_name(running: Site, verb: Verb, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert verb("fetch", 5, "--out", out, "--pseudonyms").exit_code == 0
    before = [record["owner"] for record in records(out / "0-test")]
    assert before[0] == before[1] != before[2] == before[3]
    assert set(before) == {"participant-001", "participant-002"}
    running.add_submission(PHASE, "adder", sent("new"))
    assert verb("fetch", 5, "--out", out, "--pseudonyms").exit_code == 0
    assert [record["owner"] for record in records(out / "0-test")] == [*before, "participant-003"]
    for path in out.rglob("*"):
        seen = path.relative_to(out).as_posix() + (path.read_text("latin-1") if path.suffix == ".json" else "")
        assert not [name for name in ("eagle", "owl", "adder", "Eagles", "site.org") if name in seen.lower()], path
    assert not (out / "0-test" / "logs").exists()
    assert list((tmp_path / "state" / "gen-bundle" / "pseudonyms").iterdir())


@pytest.mark.usefixtures("running")
def test_damaged_pseudonyms_are_not_given_anew(verb: Verb, tmp_path: Path) -> None:
    assert verb("fetch", 5, "--out", tmp_path / "out", "--pseudonyms").exit_code == 0
    (names,) = (tmp_path / "state" / "gen-bundle" / "pseudonyms").iterdir()
    for content in ("", "[]", '{"owl": 1}', "[" * 100_000):
        names.write_text(content)
        done = verb("fetch", 5, "--out", tmp_path / "out", "--pseudonyms")
        assert done.exit_code == 2, done.output
        assert f"{names}: is damaged. It says who has which pseudonym: restore it." in done.stderr
        assert names.read_text() == content


def test_pseudonyms_of_any_name_are_read_in_any_locale(running: Site, verb: Verb, tmp_path: Path) -> None:
    running.add_submission(PHASE, "José", sent("new"))
    with serve_site(running):
        assert verb("fetch", 5, "--pseudonyms", "--out", tmp_path / "one").exit_code == 0
        options = ("--pseudonyms", "--out", tmp_path / "two", "--server", running.address)
        done = run_in_c_locale("-m", "gen_bundle", "fetch", 5, *options)
        assert done.returncode == 0, done.stderr
    one, two = ([record["owner"] for record in records(tmp_path / name / "0-test")] for name in ("one", "two"))
    assert one == two


def test_a_folder_is_one_competitions(running: Site, connection: Connection, tmp_path: Path) -> None:
    out = tmp_path / "out"
    fetch(connection, FetchRequest(5, out))
    with pytest.raises(UserError, match=r"holds competition 5 of .*, without pseudonyms"):
        fetch(connection, FetchRequest(5, out, pseudonyms=True))
    running.competitions[6] = running.competitions[5] | {"id": 6}
    with pytest.raises(UserError, match="holds competition 5 of"):
        fetch(connection, FetchRequest(6, out))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(UserError, match="was not made by gen-bundle fetch"):
        fetch(connection, FetchRequest(5, tmp_path / "mine"))


RECORD = {"id": 1, "owner": "owl", "status": "Finished", "on_leaderboard": False, "complete": True}
RECORD |= dict.fromkeys(("parent", "file", "bytes"))


DAMAGED: list[tuple[str, object, str]] = [
    ("0-test/submissions.json", {}, "is damaged"),
    ("0-test/submissions.json", [{}], "is damaged"),
    ("0-test/submissions.json", [RECORD | {"id": "one"}], "is damaged"),
    ("0-test/submissions.json", [RECORD | {"file": "/gold.zip"}], "'/gold.zip' leads out of the folder"),
    ("0-test/submissions.json", [RECORD | {"file": "a/../../gold.zip"}], "'a/../../gold.zip' leads out of the folder"),
    ("competition.json", [], "is damaged"),
]


@pytest.mark.usefixtures("running")
def test_a_damaged_folder_is_named_and_left(verb: Verb, tmp_path: Path) -> None:
    assert verb("fetch", 5, "--out", tmp_path / "all").exit_code == 0
    for file, content, said in DAMAGED:
        (tmp_path / "all" / file).write_text(json.dumps(content))
        done = verb("fetch", 5, "--out", tmp_path / "all")
        assert done.exit_code == 2, done.output
        assert f"{file}: {said}. Fetch into a new folder." in done.stderr
        assert json.loads((tmp_path / "all" / file).read_text()) == content


@pytest.mark.parametrize("phase", ["test", "0", "21"])
def test_a_phase_by_name_index_or_id(running: Site, connection: Connection, tmp_path: Path, phase: str) -> None:
    (test,) = fetch(connection, FetchRequest(5, tmp_path / "out", phase))
    assert test.name == "Test"


def test_a_site_cannot_name_a_folder_elsewhere(running: Site, connection: Connection, tmp_path: Path) -> None:
    running.competitions[5]["phases"] = [running.competitions[5]["phases"][1] | {"name": "../x/..\\y/../Dev!"}]
    (phase,) = fetch(connection, FetchRequest(5, tmp_path / "in" / "out"))
    assert phase.folder == tmp_path / "in" / "out" / "0-x-y-dev"
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


def test_a_phase_by_its_id_in_the_bundle(site: Site, connection: Connection, tmp_path: Path) -> None:
    number = uploaded(site, changed(tmp_path, first_phase(id="dev")))
    (phase,) = fetch(connection, FetchRequest(number, tmp_path / "out", "dev"))
    assert phase.name == "Main"
    with pytest.raises(UserError, match=r"Expected one of Main \(id \d+\), or of the bundle's ids dev\."):
        fetch(connection, FetchRequest(number, tmp_path / "other", "final"))

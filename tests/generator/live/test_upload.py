"""gen-bundle upload: what is refused here, what the server refuses, and what it stored."""

import json
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.live import upload as journey
from gen_bundle.live.connection import Connection, LiveError
from gen_bundle.live.upload import HandedOverError, set_published, upload
from tests.generator.check.cases.content import REFERENCE, synthetic
from tests.generator.check.drafts import Draft, Edit, drop, first_phase, put, write
from tests.generator.live.conftest import Verb, changed
from tests.live_server import PASSWORD, TOKEN, Site

STEPS = ["POST /api/datasets/", "PUT /bucket/key-101", "PUT /api/datasets/completed/key-101/"]


def test_a_bundle_becomes_an_unpublished_competition(site: Site, bundle: Path, verb: Verb) -> None:
    done = verb("upload", bundle)
    assert done.exit_code == 0, done.output
    (number,) = site.competitions
    assert done.stdout == f"{site.address}/competitions/{number}/\n"
    assert "participants cannot see it yet" in done.stderr
    assert not site.competitions[number]["published"]
    assert site.files["key-101"] == bundle.read_bytes()
    assert site.datasets["key-101"] == {
        "type": "competition_bundle",
        "request_sassy_file_name": "bundle.zip",
        "file_name": "bundle.zip",
        "file_size": bundle.stat().st_size,
    }
    assert site.changing() == STEPS


def test_on_a_terminal_there_is_a_bar(bundle: Path, verb: Verb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gen_bundle.cli.messages.is_terminal", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    done = verb("upload", bundle)
    assert done.exit_code == 0, done.output
    assert "bundle.zip" in done.stderr


def test_publishing_is_asked_for(site: Site, bundle: Path, verb: Verb) -> None:
    done = verb("upload", bundle, "--publish", "--json")
    assert done.exit_code == 0, done.output
    (number,) = site.competitions
    assert json.loads(done.stdout) == {
        "id": number,
        "address": f"{site.address}/competitions/{number}/",
        "published": True,
        "obstacles": [],
        "mismatches": [],
    }
    assert site.competitions[number]["published"]
    for secret in (TOKEN, PASSWORD, "secret-signature"):
        assert secret not in done.output


@pytest.mark.parametrize("lost", [set(), {"toggle_publish/"}])
def test_publishing_twice_does_not_unpublish(site: Site, bundle: Path, connection: Connection, lost: set[str]) -> None:
    """Nor where the answer was lost."""
    site.breaks_after = lost
    done = upload(connection, bundle, publish=True)
    assert done.published
    assert set_published(connection, done.id)
    assert site.competitions[done.id]["published"]
    assert site.changing()[3:] == [f"POST /api/competitions/{done.id}/toggle_publish/"]


EXAMPLE = put("contact_email", "me@example.org")


def _leak(draft: Draft) -> None:
    draft.files["overview.md"] += b"\na\nb\na\n"
    draft.yaml["phases"][0]["public_data"] = "ref"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (drop("image"), "image-missing"),
        (_leak, "leak"),
        (EXAMPLE, "unfinished: the contact me@example.org is an example"),
        (
            put("docker_image", "gen-bundle/mine:1"),
            "docker-image-unpublished: gen-bundle/mine:1 is the name of an image of your own machine",
        ),
        (write("overview.md", b"# TODO(organiser)"), "unfinished: TODO(organiser) is still on overview.md"),
        (synthetic(REFERENCE), "synthetic-gold: the gold of Task is synthetic: it comes with gen-bundle"),
        (first_phase(start="2020-01-01 00:00:00", end="2020-02-01 00:00:00"), "competition-over"),
    ],
)
def test_what_is_not_ready_is_not_sent(site: Site, verb: Verb, tmp_path: Path, change: Edit, reason: str) -> None:
    done = verb("upload", changed(tmp_path, change))
    assert done.exit_code == 1
    assert f"error: {reason}" in done.stderr
    assert "Nothing was uploaded. To upload it nevertheless: --force" in done.stderr
    assert site.changing() == []


def test_force_sends_a_draft_and_says_what_was_wrong(site: Site, verb: Verb, tmp_path: Path) -> None:
    done = verb("upload", changed(tmp_path, EXAMPLE), "--force")
    assert done.exit_code == 0, done.output
    assert "forced: unfinished: the contact me@example.org is an example" in done.stderr
    assert len(site.competitions) == 1


def test_a_refusal_is_explained_by_the_rule_as_often_as_it_comes(site: Site, verb: Verb, tmp_path: Path) -> None:
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"not a zip")
    for _ in range(2):
        done = verb("upload", broken, "--force")
        assert done.exit_code == 1
        assert "the server did not take the bundle: Bad zip file uploaded." in done.stderr
        assert "error: zip-unreadable" in done.stderr
        assert site.datasets == {}


@pytest.mark.slow
def test_a_queue_of_ones_own_is_known(connection: Connection, tmp_path: Path) -> None:
    ours, theirs = put("queue", "my-vhost"), put("docker_image", "localhost:5000/mine:1")  # its workers may have it
    assert upload(connection, changed(tmp_path, ours)).obstacles == ()
    assert upload(connection, changed(tmp_path, ours, theirs)).obstacles == ()
    with pytest.raises(LiveError, match="queue-unknown"):
        upload(connection, changed(tmp_path, put("queue", "another")))


@pytest.mark.parametrize("paged", [True, False])
def test_a_lost_answer_to_unpacking_is_looked_up(site: Site, bundle: Path, connection: Connection, paged: bool) -> None:
    site.paged = paged
    site.competitions = {7: {"id": 7, "title": "A small task"}}
    site.breaks_after = {"datasets/completed/"}
    done = upload(connection, bundle)
    assert done.id in site.competitions
    assert done.id != 7
    assert site.changing() == STEPS


def test_an_upload_that_may_have_been_lost_is_not_repeated(
    site: Site, bundle: Path, connection: Connection, pauses: list[float]
) -> None:
    site.breaks_before = {"datasets/completed/"}
    with pytest.raises(HandedOverError, match="no new competition appeared within 60 seconds") as caught:
        upload(connection, bundle)
    assert "Server Error (500)" in str(caught.value)
    assert 60 <= sum(pauses) < 70
    assert site.changing() == STEPS
    lists = [path for _, method, path, *_ in site.asked if method == "GET" and path.startswith("/api/competitions/?")]
    assert len(lists) == 2 + len(pauses) + 1  # for the version, before it, and after each pause


def test_unpacking_takes_as_long_as_it_takes(
    site: Site, bundle: Path, connection: Connection, pauses: list[float]
) -> None:
    site.unpacking = 30
    said: list[str] = []
    connection.say = said.append
    assert upload(connection, bundle).id in site.competitions
    waits = [one.rpartition(" for ")[0] for one in said if " for " in one]
    assert waits == ["the site has been unpacking"] * 2
    assert max(pauses) == 5


@pytest.mark.slow
def test_unpacking_that_does_not_end(
    site: Site, bundle: Path, connection: Connection, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journey, "PATIENCE_S", 60)
    site.unpacking = 10**6
    with pytest.raises(HandedOverError, match=r"not unpacked the bundle within 1 minutes"):
        upload(connection, bundle)
    assert 60 <= sum(pauses) < 70
    assert site.asked[-1][2].endswith("/creation_status/")
    assert len([path for _, _, path, *_ in site.asked if path.endswith("/creation_status/")]) == len(pauses) + 1


def test_what_was_stored_otherwise_is_said_and_not_published(
    site: Site, bundle: Path, verb: Verb, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests import live_server

    make = live_server._new_competition

    def altered(*given: Any) -> int:
        number = make(*given)
        site.competitions[number]["phases"][0]["max_submissions_per_day"] = 99
        return number

    monkeypatch.setattr(live_server, "_new_competition", altered)
    done = verb("upload", bundle, "--publish")
    assert done.exit_code == 1
    assert "phases, Main: submissions per day: the bundle says 3, the server stored 99" in done.stderr
    assert "not published: it was stored otherwise" in done.stderr
    assert not next(iter(site.competitions.values()))["published"]


@pytest.mark.parametrize("content", [None, "bundle.yaml", "competition.yaml"])
def test_a_folder_or_nothing_is_not_a_bundle(tmp_path: Path, verb: Verb, content: str | None) -> None:
    path = tmp_path / "folder"
    if content:
        path.mkdir()
        (path / content).write_text("version: 2\n")
    done = verb("upload", path)
    assert done.exit_code == 2
    assert ("--release" in done.stderr) == (content == "bundle.yaml")


def test_a_long_file_name_is_cut(site: Site, bundle: Path, connection: Connection) -> None:
    upload(connection, bundle.rename(bundle.with_name("b" * 80 + ".zip")))
    assert site.datasets["key-101"]["file_name"] == "b" * 60 + ".zip"


@pytest.mark.parametrize("fault", [500, b"<p>Welcome</p>", {"status": None}])
def test_a_competition_whose_progress_cannot_be_read_is_found(
    site: Site, bundle: Path, connection: Connection, fault: Any
) -> None:
    site.unpacking = 0
    site.always = {"/creation_status/": fault}
    assert upload(connection, bundle).id in site.competitions


def test_nothing_hides_a_competition_that_may_exist(
    site: Site, bundle: Path, verb: Verb, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.breaks_before = {"datasets/completed/"}
    monkeypatch.setattr(journey, "LOOKING_S", 0)
    done = verb("upload", bundle, "--json")
    assert done.exit_code == 1
    assert f"The competition may exist: {site.address}/competitions/ Look there before" in done.stderr
    left = f"If none came of it, an entry for {bundle.name} is left under Resources (key key-101)."
    assert left in " ".join(done.stderr.split())
    seen = json.loads(done.stdout)
    assert (seen["id"], seen["address"], seen["may_exist"]) == (None, f"{site.address}/competitions/", True)
    again = verb("upload", bundle)
    assert again.exit_code == 1
    assert f"and may have become a competition: {site.address}/competitions/" in again.stderr
    assert verb("upload", bundle, "--yes").exit_code == 0


@pytest.mark.parametrize("answer", [500, b"<p>Welcome</p>", [1, 2, 3]])
def test_a_competition_that_cannot_be_read_back_is_named(site: Site, bundle: Path, verb: Verb, answer: Any) -> None:
    site.unpacking = 0
    number = 104
    site.always = {f"GET /api/competitions/{number}/": answer}
    done = verb("upload", bundle, "--json", "--publish")
    assert list(site.competitions) == [number]
    assert done.exit_code == 1
    assert f"The competition exists: {site.address}/competitions/{number}/ Look there" in done.stderr
    assert json.loads(done.stdout)["id"] == number


def test_the_same_bundle_is_not_uploaded_twice_unasked(
    site: Site, bundle: Path, verb: Verb, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert verb("upload", bundle).exit_code == 0
    (number,) = site.competitions
    again = verb("upload", bundle)
    assert again.exit_code == 1
    assert f"and became {site.address}/competitions/{number}/" in again.stderr
    assert "To make another competition of it: --yes" in again.stderr
    monkeypatch.setattr("gen_bundle.cli.upload.can_answer", lambda: True)
    assert verb("upload", bundle, given="n\n").exit_code == 1
    assert len(site.competitions) == 1
    assert verb("upload", bundle, given="y\n").exit_code == 0
    assert verb("upload", bundle, "--yes").exit_code == 0
    assert len(site.competitions) == 3
    site.competitions.clear()
    monkeypatch.setattr("gen_bundle.cli.upload.can_answer", lambda: False)
    assert verb("upload", bundle).exit_code == 0, "the earlier one was deleted"


def test_a_competition_that_is_not_shown_any_more_counts_as_deleted(site: Site, bundle: Path, verb: Verb) -> None:
    assert verb("upload", bundle).exit_code == 0
    (number,) = site.competitions
    site.always = {f"GET /api/competitions/{number}/": 403}
    assert verb("upload", bundle).exit_code == 0
    assert len(site.competitions) == 2


def test_a_file_that_did_not_arrive_leaves_no_entry(site: Site, bundle: Path, verb: Verb) -> None:
    site.store = "http://127.0.0.1:1"
    done = verb("upload", bundle)
    assert done.exit_code == 1
    assert site.datasets == {}
    assert "Resources" not in done.stderr
    site.always = {"DELETE /api/datasets/": 500}
    done = verb("upload", bundle)
    (key,) = site.datasets
    assert f"An entry for bundle.zip is left under Resources on the site (key {key})." in done.stderr


def test_an_entry_that_may_have_been_made_is_named(site: Site, bundle: Path, verb: Verb) -> None:
    site.breaks_after = {"POST /api/datasets/"}
    done = verb("upload", bundle)
    assert done.exit_code == 1
    assert "An entry for bundle.zip may be left under Resources on the site." in done.stderr


@pytest.mark.parametrize("paged", [False, True])
def test_the_check_follows_the_version_of_the_site(site: Site, verb: Verb, tmp_path: Path, paged: bool) -> None:
    site.paged = paged
    column = {"title": "Rank", "key": "rank", "index": 2, "computation": "avg_rank", "computation_indexes": [0, 1]}
    column |= {"sorting": "asc"}
    bundle = changed(tmp_path, lambda draft: draft.yaml["leaderboards"][0]["columns"].append(column))
    done = verb("upload", bundle)
    assert done.exit_code == (0 if paged else 1), done.output
    assert ("avg_rank" in done.stderr) != paged

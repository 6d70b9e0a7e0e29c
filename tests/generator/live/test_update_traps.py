"""gen-bundle update where the site misbehaves: each trap, and that the competition ends as it should or as it was."""

from pathlib import Path
from typing import Any

import pytest

from gen_bundle.live.update import Update, UpdateError
from tests.generator.check.drafts import both, first_phase, first_task, put, write
from tests.generator.live.conftest import (
    Looked,
    Verb,
    bodies,
    changed,
    close_log,
    competition_of,
    held,
    task_of,
    two_phases,
)
from tests.live_edits import ROLES
from tests.live_server import Site

pytestmark = pytest.mark.slow

NEW_GOLD = write("ref/truth.txt", b"a\nb\nb\n")
NEW_TITLE = put("title", "Other")


def test_a_task_keeps_the_files_that_are_not_replaced(site: Site, number: int, verb: Verb, tmp_path: Path) -> None:
    site.datasets["input"] = {"type": "input_data", "name": "ours"}
    task_of(site)["input_data"] = {"id": 1, "type": "input_data", "name": "ours", "key": "input"}
    both_keys = first_task(input_data="input"), NEW_GOLD
    done = verb("update", number, changed(tmp_path, two_phases, *both_keys), "--apply", "--yes", "--force")
    assert done.exit_code == 0, done.output
    assert task_of(site)["input_data"]["key"] == "input"
    assert task_of(site)["reference_data"]["name"].startswith("reference_data of task")
    (body,) = bodies(site, "PUT /api/tasks/")
    assert body.keys() >= {"name", "description", *ROLES}


def test_a_task_keeps_the_flag_that_only_the_list_shows(site: Site, looked: Looked) -> None:
    task_of(site)["ingestion_only_during_scoring"] = True
    looked(first_task(ingestion_only_during_scoring=True), NEW_GOLD).apply()
    assert task_of(site)["ingestion_only_during_scoring"] is True
    (body,) = bodies(site, "PUT /api/tasks/")
    assert body["ingestion_only_during_scoring"] is True
    lists = [path for _, method, path, *_ in site.asked if (method, path.partition("?")[0]) == ("GET", "/api/tasks/")]
    assert len(lists) == 1  # the flag itself did not change


def test_a_refused_request_that_emptied_fields_is_undone(site: Site, number: int, verb: Verb, tmp_path: Path) -> None:
    before = held(site)
    site.edits.refuses_keys = 1
    done = verb("update", number, changed(tmp_path, two_phases, NEW_GOLD, NEW_TITLE), "--apply", "--yes")
    assert done.exit_code == 1
    assert "answered 400 Bad Request: scoring_program: Object with key=… does not exist." in done.stderr
    assert "Restored: task Task: reference data. The competition is as it was before." in done.stderr
    assert held(site) == before


GOLD_RESTORED = "Restored: task Task: reference data. The competition is as it was before."


def fails_and_is_undone(site: Site, update: Update, why: str, said: str = GOLD_RESTORED) -> None:
    """Apply changes of which one fails."""
    before = held(site)
    with pytest.raises(UpdateError, match=why) as caught:
        update.apply()
    assert said in str(caught.value)
    assert held(site) == before


def test_changes_that_were_made_before_one_is_refused_are_undone(site: Site, looked: Looked) -> None:
    fails_and_is_undone(site, looked(NEW_GOLD, put("docker_image", "x" * 129)), "answered 400")


@pytest.mark.parametrize("request_", ["PUT /api/tasks/", "PATCH /api/competitions/"])
def test_an_answer_of_500_after_the_change_was_made(site: Site, looked: Looked, request_: str) -> None:
    site.breaks_after = {request_}
    looked(NEW_GOLD, NEW_TITLE).apply()
    assert competition_of(site)["title"] == "Other"
    assert task_of(site)["reference_data"]["name"].startswith("reference_data of task")
    assert len([one for one in site.changing() if one.startswith(request_)]) == 1


@pytest.mark.parametrize("request_", ["PUT /api/tasks/", "PATCH /api/competitions/"])
def test_an_answer_of_500_without_the_change(site: Site, looked: Looked, request_: str) -> None:
    site.breaks_before = {request_}
    said = "The competition is as it was before."
    fails_and_is_undone(site, looked(NEW_GOLD, NEW_TITLE), r"Server Error \(500\)", said)


def test_a_lost_answer_to_storing_a_file(site: Site, looked: Looked) -> None:
    site.breaks_after = {"datasets/completed/"}
    looked(NEW_GOLD).apply()
    assert task_of(site)["reference_data"]["name"].startswith("reference_data of task")


def test_a_file_that_cannot_be_stored_changes_nothing(site: Site, looked: Looked) -> None:
    before = held(site)
    site.breaks_before = {"POST /api/datasets/"}
    with pytest.raises(Exception, match=r"Server Error \(500\)"):
        looked(NEW_GOLD, NEW_TITLE).apply()
    assert held(site) == before


def test_what_the_site_stores_otherwise_without_a_word_is_undone(site: Site, number: int, looked: Looked) -> None:
    before = held(site)
    site.edits.stored_otherwise = [{"reward": "a car", "published": True}]
    with pytest.raises(UpdateError) as caught:
        looked(NEW_TITLE).apply()
    assert (
        caught.value.messages[0]
        == "reward, published: the site stored something else than was sent, without saying so."
    )
    assert "could not be restored: published. What was there is in" in caught.value.messages[1]
    assert caught.value.advice == "Restored: title, reward."
    competitions, tasks = before
    competitions[number]["published"] = True
    assert held(site) == (competitions, tasks)


@pytest.mark.parametrize(
    ("key", "moved"),
    [("secret_key", "another"), ("collaborators", ["somebody"]), ("queue", {"id": 3, "name": "a"})],
)
def test_what_no_change_of_ours_may_move_is_watched(site: Site, looked: Looked, key: str, moved: Any) -> None:
    update = looked(NEW_TITLE)
    site.edits.stored_otherwise = [{key: moved}]
    with pytest.raises(UpdateError) as caught:
        update.apply()
    words = key.replace("_", " ")
    assert caught.value.messages[0].startswith(f"{words}: the site stored something else than was sent")
    assert f"could not be restored: {words}." in caught.value.messages[1]


def test_what_was_lost_for_good_is_said(site: Site, looked: Looked) -> None:
    last = competition_of(site)["phases"][1]["id"]
    site.edits.loses_phase = last
    with pytest.raises(UpdateError) as caught:
        looked(first_phase(max_submissions=70)).apply()
    assert "phases" in caught.value.messages[0]
    assert "could not be restored: phases, phase Test: name" in caught.value.messages[1]
    assert "Restored: phase Main: max submissions per person." in caught.value.advice
    assert competition_of(site)["phases"][0]["max_submissions_per_person"] == 30


def test_restoring_is_tried_again(site: Site, looked: Looked) -> None:
    site.edits.stored_otherwise = [{"reward": "a car"}, {"reward": "two cars"}]
    said = "Restored: title, reward. The competition is as it was before."
    fails_and_is_undone(site, looked(NEW_TITLE), "reward: the site stored something else", said)


def test_after_a_change_that_cannot_be_looked_at_the_backup_is_named(
    site: Site, number: int, looked: Looked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    update = looked(NEW_TITLE)
    send = update.connection.send

    def then_the_site_is_gone(*given: Any) -> Any:
        send(*given)
        site.redirects = {f"competitions/{number}/": "https://elsewhere.org/"}

    monkeypatch.setattr(update.connection, "send", then_the_site_is_gone)
    with pytest.raises(UpdateError, match="what the site holds now could not be read") as caught:
        update.apply()
    (backup,) = tmp_path.glob("next.zip.competition-*.json")
    assert str(backup) in caught.value.advice


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_an_interruption_between_two_changes_is_undone(
    site: Site, looked: Looked, monkeypatch: pytest.MonkeyPatch, end: type[BaseException]
) -> None:
    update = looked(NEW_GOLD, NEW_TITLE)
    send, ends = update.connection.send, [end]

    def until_the_end(method: str, path: str, body: Any = None) -> Any:
        answer = send(method, path, body)
        if path.startswith("tasks/") and ends:
            raise ends.pop()
        return answer

    monkeypatch.setattr(update.connection, "send", until_the_end)
    fails_and_is_undone(site, update, "interrupted")


def test_a_log_that_cannot_be_written_between_two_changes_undoes_them(site: Site, looked: Looked) -> None:
    def fault(method: str, path: str) -> None:
        if method == "PUT" and "/tasks/" in path:
            close_log()

    update = looked(NEW_GOLD, NEW_TITLE)
    site.before = fault
    fails_and_is_undone(site, update, "the log of changes cannot be written")


def test_an_answer_that_nobody_foresaw_undoes_the_changes(site: Site, looked: Looked) -> None:
    update = looked(NEW_GOLD, NEW_TITLE)
    odd = [["no competition"]]

    def fault(_: str, path: str) -> Any:
        after = any(method == "PUT" and "/tasks/" in path for _, method, path, *_ in site.asked)
        return odd.pop() if after and odd and "/competitions/" in path else None

    site.before = fault
    fails_and_is_undone(site, update, "answered with data of another kind")


def test_without_a_backup_nothing_is_changed(site: Site, looked: Looked, tmp_path: Path) -> None:
    update, before = looked(NEW_TITLE), held(site)
    update.bundle = tmp_path / "next.zip" / "no-folder.zip"
    with pytest.raises(Exception, match="cannot be written"):
        update.apply()
    assert held(site) == before
    assert site.changing() == []


def test_what_was_changed_while_one_thought_about_it_is_kept(site: Site, looked: Looked) -> None:
    update = looked(NEW_TITLE)
    competition_of(site)["title"] = "By somebody else"
    with pytest.raises(UpdateError, match="title: changed on the site meanwhile") as caught:
        update.apply()
    assert "Nothing was changed by this command." in str(caught.value)
    assert competition_of(site)["title"] == "By somebody else"
    assert not [one for one in site.changing() if one.startswith("PATCH")]


def test_a_limit_that_means_the_same_is_not_sent(site: Site, looked: Looked) -> None:
    competition_of(site)["phases"][0]["max_submissions_per_day"] = None
    assert looked(first_phase(max_submissions_per_day=0)).edits == ()


def test_a_date_is_compared_as_a_moment(site: Site, looked: Looked) -> None:
    competition_of(site)["phases"][0]["start"] = "2031-01-01T02:00:00.250000+02:00"
    assert looked().changes == ()
    assert looked().edits == ()


def test_texts_are_compared_as_the_site_keeps_them(site: Site, looked: Looked) -> None:
    competition_of(site)["pages"][0]["content"] = "# Overview\r\n\r\nMore"
    update = looked(both(write("overview.md", b"\n# Overview\n\nMore\n \n"), put("description", " ")))
    assert update.changes == ()
    assert update.edits == ()

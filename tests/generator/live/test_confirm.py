"""gen-bundle confirm: the bundle's own submissions on the live site, held against the dry run, and removed."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from gen_bundle.codabench.versions import PlatformVersion
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import state_folder
from gen_bundle.live.confirm import Confirmed, ConfirmRequest, confirm
from gen_bundle.live.connection import AnswerError, Connection
from gen_bundle.live.submissions import PREFIX
from tests.generator.check.drafts import Draft, Edit, first_phase, packed, put, write
from tests.generator.dry_run.in_process import ScriptEngine
from tests.generator.live.conftest import Confirming, Start, Verb, close_log
from tests.live_runs import score_answer
from tests.live_server import TOKEN, Site

pytestmark = pytest.mark.slow
SIGNATURE = "competition:small|tasks:a|reference:12"


def differing(done: Confirmed) -> list[tuple[str, str, str, str]]:
    return [(cell.submission, cell.what, cell.here, cell.there) for cell in done.cells if not cell.equal]


def own_files(site: Site) -> list[str]:
    return [one["name"] for one in site.datasets.values() if str(one.get("name")).startswith(PREFIX)]


def cleared(site: Site) -> bool:
    return not site.submissions and not own_files(site)


def with_scores(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes, str], dict[str, Any]]:
    """A worker that scores otherwise."""

    def score(content: bytes, task: str) -> dict[str, Any]:
        done = score_answer(content, task)
        change(done)
        return done

    return score


def tasks_of_two(draft: Draft) -> None:
    first = draft.yaml["tasks"][0]
    draft.yaml["tasks"] = [first, first | {"index": 1, "name": "Second"}]
    draft.yaml["phases"][0]["tasks"] = [0, 1]
    draft.yaml["solutions"][0]["tasks"] = [0, 1]


def two_phases(draft: Draft) -> None:
    phase = draft.yaml["phases"][0]
    draft.yaml["tasks"].append(draft.yaml["tasks"][0] | {"index": 1, "name": "Second"})
    draft.yaml["solutions"][0]["tasks"] = [0, 1]
    later = phase | {"index": 1, "name": "Test", "start": "2098-01-01 00:00:00", "end": "2098-12-31 00:00:00"}
    draft.yaml["phases"] = [phase | {"end": "2097-12-31 00:00:00"}, later | {"tasks": [1]}]


@pytest.mark.parametrize("paged", [True, False])
def test_what_was_seen_here_is_what_they_get(site: Site, confirmed: Confirming, paged: bool) -> None:
    site.paged = paged
    done = confirmed()
    assert done.good
    assert done.platform_version == ("1.32" if paged else "1.25")
    assert [(cell.submission, cell.what, cell.here, cell.there) for cell in done.cells] == [
        ("good", "status", "Finished", "Finished"),
        ("good", "points", "0.75", "0.75"),
        ("good", "more", "0.375", "0.375"),
        ("good", "signature", SIGNATURE, SIGNATURE),
        ("template", "status", "Finished", "Finished"),
        ("template", "points", "0", "0"),
        ("template", "more", "0", "0"),
        ("template", "signature", SIGNATURE, SIGNATURE),
    ]
    assert done.left == []
    assert cleared(site)
    changing = [re.sub(r"\d+", "ID", request) for request in site.changing() if "/api/submissions/" in request]
    assert changing == ["POST /api/submissions/"] * 2 + ["DELETE /api/submissions/ID/"] * 2


def test_the_verb(site: Site, start: Start, confirm_verb: Verb) -> None:
    done = confirm_verb(start(), "--json")
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert (answer["good"], answer["engine"], len(answer["cells"])) == (True, "process", 8)
    assert "all 8 cells are equal" in done.stderr
    assert "2 of your 3 a day and 30 in all count for as long as the submissions exist" in done.stderr
    assert cleared(site)
    assert TOKEN not in done.output
    log = (state_folder() / "changes.log").read_text()
    assert log.count("/api/submissions/") == 8  # each as it is sent, and with its answer
    for secret in (TOKEN, "secret-signature"):
        assert secret not in log


def test_a_difference_is_shown_in_its_cell(site: Site, start: Start, confirm_verb: Verb) -> None:
    started = start()
    site.score = with_scores(lambda done: done["scores"][0].update(score="0.7400000000"))
    done = confirm_verb(started)
    assert done.exit_code == 1
    (line,) = [line for line in done.stdout.splitlines() if "good" in line and "points" in line]
    assert [cell.strip() for cell in line.strip("│").split("│")] == [
        *("Main", "good", "Task", "points", "0.75", "0.74", "differs")
    ]
    assert "2 of 8 cells differ" in done.stderr
    assert cleared(site)


def test_another_outcome_is_shown_with_its_reason(site: Site, confirmed: Confirming) -> None:
    site.score = lambda content, task: {
        "status": "Failed",
        "status_details": "No https://s3.org/a.zip?Signature=s3cr3t found",
        "logs": {},
    }
    done = confirmed()
    assert differing(done)[:3] == [
        ("good", "status", "Finished", "Failed: No https://s3.org/a.zip found"),
        ("good", "points", "0.75", "–"),
        ("good", "more", "0.375", "–"),
    ]
    assert cleared(site)


def test_a_submission_that_fails_here_and_there_is_equal_and_not_good(confirmed: Confirming) -> None:
    done = confirmed(write("good.zip", packed({"other.txt": b"1"})))
    assert differing(done) == []
    assert done.cells[0].here.startswith("Failed: Submission failed: ")
    assert not done.good
    assert done.problems == [f"Main/good: did not pass the dry run either. {done.cells[0].here.rstrip('.')}."]


def test_a_tiny_difference_between_machines_is_none(site: Site, confirmed: Confirming) -> None:
    site.score = with_scores(lambda done: done["scores"][1].update(score=f"{float(done['scores'][1]['score']) + 5e-7}"))
    assert confirmed().good


@pytest.mark.parametrize(
    ("log", "there"),
    [
        ("", None),  # a silent worker, or one that was too slow
        ("ored in 1.5 s\n0.75\n", None),  # the beginning is lost
        (f"signature: {SIGNATURE[:-1]}", None),  # the end is
        (f"signature: {SIGNATURE[:-1]}4\n", f"{SIGNATURE[:-1]}4"),
    ],
)
def test_another_signature_is_a_difference_and_a_lost_one_is_not(
    site: Site, confirmed: Confirming, log: str, there: str | None
) -> None:
    site.score = with_scores(lambda done: done.update(logs={"scoring_stdout": log}))
    found = [cell[3] for cell in differing(confirmed()) if cell[1] == "signature"]
    assert found == ([there] * 2 if there else [])


def test_finished_comes_before_the_scores(site: Site, confirmed: Confirming, pauses: list[float]) -> None:
    site.late_scores = 6
    assert confirmed().good
    assert sum(pauses) < 60


def test_a_submission_that_fails_after_its_scores(site: Site, confirmed: Confirming, connection: Connection) -> None:
    """The worker finds some faults only when it has sent them."""

    def pause(seconds: float) -> None:
        for row in site.submissions:
            if row["status"] == "Finished":
                row["status"] = "Failed"

    connection.pause = pause
    assert ("good", "status", "Finished", "Failed: scoring_hostname-1") in differing(confirmed())


def test_scores_that_never_come(site: Site, confirmed: Confirming, pauses: list[float]) -> None:
    site.score = with_scores(lambda done: done.update(scores=[]))
    done = confirmed()
    assert ("good", "points", "0.75", "–") in differing(done)
    assert 60 <= sum(pauses) < 120


def test_progress_and_the_end_of_patience(site: Site, start: Start, confirm_verb: Verb) -> None:
    site.running = 10**6
    done = confirm_verb(start(), "--timeout", 0)
    assert done.exit_code == 1
    assert "0/2 finished; still running: Main/good (Submitted), Main/template (Submitted)" in done.stderr
    assert "Main/good: not finished within 0 minutes: no worker took it." in done.stderr
    assert sum("cancel_submission" in path for _, _, path, *_ in site.asked) == 2
    assert cleared(site)
    assert "GET http" in (state_folder() / "changes.log").read_text()


def test_a_worker_that_waits_for_a_person_is_named(
    site: Site, connection: Connection, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, bundle = start()
    site.competitions[number]["enable_human_in_the_loop"] = True
    monkeypatch.setattr("tests.live_runs.STEPS", ("Awaiting validation",))
    site.running = 10**6
    steps: list[str] = []
    connection.say = steps.append
    done = confirm(connection, ConfirmRequest(number, bundle, patience_s=90), ScriptEngine())
    assert steps[0] == "each submission waits until the operator of the worker approves it"
    assert done.problems[0] == (
        "Main/good: not finished within 1.5 minutes: the operator of the worker has not approved it."
    )
    assert [cell.there for cell in done.cells] == ["Awaiting validation"] * 2
    assert cleared(site)


def test_a_phase_of_several_tasks_is_compared_task_by_task(site: Site, confirmed: Confirming) -> None:
    site.score = lambda content, task: score_answer(content, task) | ({"scores": []} if task == "Second" else {})
    done = confirmed(tasks_of_two)
    assert {cell.task for cell in done.cells} == {"Task", "Second"}
    assert {(cell.task, cell.what) for cell in done.cells if not cell.equal} == {
        ("Second", "points"),
        ("Second", "more"),
    }
    assert cleared(site)


def test_a_solution_goes_to_its_own_tasks_alone(confirmed: Confirming) -> None:
    done = confirmed(tasks_of_two, put("solutions", 0, "tasks", [1]))
    assert done.good
    assert {cell.task for cell in done.cells if cell.submission == "good"} == {"Second"}


def test_computed_columns_are_compared_too(confirmed: Confirming) -> None:
    column = {"title": "Sum", "key": "sum", "index": 2, "computation": "sum", "computation_indexes": [0, 1]}
    done = confirmed(lambda draft: draft.yaml["leaderboards"][0]["columns"].append(column))
    assert ("good", "sum", "1.125", "–") in differing(done)  # our site computes nothing


def test_a_lost_answer_is_looked_up_and_nothing_is_sent_twice(site: Site, confirmed: Confirming) -> None:
    site.breaks_after = {"POST /api/submissions/", "DELETE /api/submissions/"}
    done = confirmed()
    assert done.good
    assert done.left == []
    assert site.changing().count("POST /api/submissions/") == 2
    assert cleared(site)


def test_a_submission_that_may_be_lost_is_not_sent_again(site: Site, confirmed: Confirming) -> None:
    site.breaks_before = {"POST /api/submissions/"}
    done = confirmed()
    (problem,) = done.problems
    assert problem.startswith("Main/good: not submitted. POST http")
    assert problem.endswith("Server Error (500), and no submission appeared within 60 seconds.")
    assert {cell.submission for cell in done.cells} == {"template"}
    assert cleared(site)


def test_a_submission_that_appears_late_is_removed_all_the_same(
    site: Site, confirmed: Confirming, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gen_bundle.live.submissions.LOOKING_S", 0)
    hidden: list[str] = []

    def before(_: str, path: str) -> Any:
        if "POST /api/submissions/" in site.changing() and not hidden and path.startswith("/api/submissions/?"):
            hidden.append(path)
            return []
        return None

    site.before = before
    site.breaks_after = {"POST /api/submissions/"}
    assert len(confirmed().problems) == 1
    assert cleared(site)


def test_the_limit_is_asked_for_before_each_submission(site: Site, confirmed: Confirming) -> None:
    done = confirmed(first_phase(max_submissions_per_day=1))
    assert done.problems == [
        "Main/template: not submitted. Reached maximum allowed submissions for today for this phase"
    ]
    assert not done.good
    assert cleared(site)


def test_a_phase_that_is_closed_is_skipped_with_its_reason(site: Site, confirmed: Confirming, start: Start) -> None:
    started = start(two_phases)
    done = confirmed(started=started)
    assert done.good
    assert {cell.phase for cell in done.cells} == {"Main"}
    (reason,) = done.closed
    assert reason.startswith("phase Test: not confirmed, since the site takes submissions only within the dates.")
    assert "it starts 2098-01-01 00:00 UTC. To confirm it now, move its dates" in reason
    assert not confirmed(started=started, phase="Test").good


def test_the_dates_of_the_site_decide_whether_a_phase_is_closed(
    site: Site, confirmed: Confirming, start: Start
) -> None:
    started = start()
    site.competitions[started[0]]["phases"][0]["end"] = "2021-01-01T00:00:00Z"
    done = confirmed(started=started)
    (reason,) = done.closed
    assert "it ended 2021-01-01 00:00 UTC. To confirm it now, move its dates" in reason
    assert site.changing() == []


def test_older_sites_take_submissions_to_closed_phases(site: Site, confirmed: Confirming) -> None:
    site.paged = False
    done = confirmed(two_phases, phase="Test")
    assert done.good
    assert done.platform_version == "1.25"
    assert any("take submissions all the same" in note for note in done.notes)


def test_a_site_that_closes_earlier_than_it_says(site: Site, confirmed: Confirming) -> None:
    """The version that is named decides what is tried; the site has the last word."""
    done = confirmed(two_phases, phase="Test", version=PlatformVersion.V1_25)
    assert "answered 400 Bad Request: This phase does not take submissions now." in done.problems[0]
    assert cleared(site)


def test_tasks_of_the_same_name_cannot_be_told_apart(confirmed: Confirming) -> None:
    done = confirmed(tasks_of_two, put("tasks", 1, "name", "Task"))
    assert done.problems[0] == "phase Main: two of its tasks have the same name, and cannot be told apart."


@pytest.mark.parametrize(
    "change",
    [write("kit.zip", packed({"README.md": b"Hello"})), write("good.zip", packed({"answer.txt": b"0"}))],
    ids=["a kit without one", "the same as the solution"],
)
def test_a_template_with_nothing_of_its_own_is_not_submitted(confirmed: Confirming, change: Edit) -> None:
    assert {cell.submission for cell in confirmed(change).cells} == {"good"}


@pytest.mark.parametrize(("rule", "harmless"), [("Force_Best", False), ("Force_Last", False), ("Add", True)])
def test_no_submission_pushes_an_earlier_one_off_the_board(
    site: Site, confirmed: Confirming, start: Start, rule: str, harmless: bool
) -> None:
    started = start(put("leaderboards", 0, "submission_rule", rule))
    (phase,) = site.competitions[started[0]]["phases"]
    baseline = site.add_submission(phase["id"], "ada", b"", on_leaderboard=True)
    site.add_submission(phase["id"], "somebody", b"", on_leaderboard=True)
    done = confirmed(started=started)
    assert done.good is harmless
    assert [row["id"] for row in site.submissions if row["owner"] == "ada"] == [baseline["id"]]
    assert baseline["on_leaderboard"]
    if not harmless:
        assert (
            f"a submission of yours is on its leaderboard ({baseline['id']}). With the rule {rule} " in done.problems[0]
        )


def test_a_child_on_the_board_is_not_pushed_off_either(site: Site, confirmed: Confirming, start: Start) -> None:
    started = start(tasks_of_two, put("leaderboards", 0, "submission_rule", "Force_Last"))
    (phase,) = site.competitions[started[0]]["phases"]
    site.add_submission(phase["id"], "ada", b"", id=7, has_children=True, children=[8])
    site.add_submission(phase["id"], "ada", b"", id=8, parent=7, on_leaderboard=True)
    assert "on its leaderboard (7)" in confirmed(started=started).problems[0]


def test_what_an_earlier_confirm_left_may_be_replaced(site: Site, confirmed: Confirming, start: Start) -> None:
    started = start(put("leaderboards", 0, "submission_rule", "Force_Last"))
    assert confirmed(started=started, keep=True).good
    assert any(row["on_leaderboard"] for row in site.submissions)
    assert confirmed(started=started).cells


def test_submissions_that_wait_for_the_organiser_are_started(site: Site, confirmed: Confirming, start: Start) -> None:
    started = start()
    site.competitions[started[0]]["auto_run_submissions"] = False
    assert confirmed(started=started).good
    assert sum(request.endswith("run_submission/") for request in site.changing()) == 2


def test_submissions_can_be_kept(site: Site, start: Start, confirm_verb: Verb) -> None:
    started = start()
    done = confirm_verb(started, "--keep")
    assert done.exit_code == 0, done.output
    ids = [row["id"] for row in site.submissions]
    assert len(ids) == 2
    assert all(f"left on the site: submission {one}" in done.stderr for one in ids)
    again = confirm_verb(started)
    earlier = ", ".join(map(str, sorted(ids)))
    assert f"note: phase Main: submissions of an earlier confirm are still there: {earlier}." in again.stderr


def test_what_cannot_be_removed_is_named(site: Site, start: Start, confirm_verb: Verb) -> None:
    site.breaks_before = {"DELETE /api/submissions/"}
    done = confirm_verb(start())
    assert done.exit_code == 1
    (row,) = site.submissions
    assert f"left on the site: submission {row['id']}: DELETE http" in done.stderr
    assert "but see above" not in done.stderr


@pytest.mark.parametrize("breaks", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_run_cleans_up(
    site: Site, confirmed: Confirming, connection: Connection, breaks: type[BaseException]
) -> None:
    def pause(_: float) -> None:
        raise breaks

    connection.pause = pause
    with pytest.raises(breaks):
        confirmed()
    assert cleared(site)


def test_a_log_that_cannot_be_written_any_more_leaves_nothing(site: Site, confirmed: Confirming) -> None:
    site.score = with_scores(lambda _: close_log())
    assert confirmed().left == []
    assert cleared(site)


def test_an_interrupted_clean_up_names_what_is_left(
    site: Site, connection: Connection, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, bundle = start()
    said: list[str] = []
    connection.say = said.append
    send = connection.send

    def interrupted(method: str, path: str, body: Any = None) -> Any:
        if method == "DELETE":
            raise KeyboardInterrupt
        return send(method, path, body)

    monkeypatch.setattr(connection, "send", interrupted)
    with pytest.raises(KeyboardInterrupt):
        confirm(connection, ConfirmRequest(number, bundle), ScriptEngine())
    ids = [row["id"] for row in site.submissions]
    assert said[-1].startswith(f"left on the site: submissions {ids[0]}, {ids[1]}, and files called {PREFIX}")


def test_a_refused_question_in_the_middle_cleans_up(site: Site, confirmed: Confirming) -> None:
    site.always = {"/get_details/": 400}
    with pytest.raises(AnswerError):
        confirmed()
    assert cleared(site)


def test_a_bad_moment_of_the_server_does_not_end_the_wait(site: Site, confirmed: Confirming) -> None:
    answers = iter([500] * 8)  # two questions, each of which is asked four times
    site.before = lambda _, path: next(answers, None) if re.fullmatch(r"/api/submissions/\d+/", path) else None
    assert confirmed().good
    assert next(answers, None) is None


def test_a_submission_that_somebody_removes_meanwhile(
    site: Site, confirmed: Confirming, connection: Connection
) -> None:
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        if not pauses:
            del site.submissions[0]
        pauses.append(seconds)

    connection.pause = pause
    done = confirmed()
    assert ("good", "status", "Finished", "removed by somebody") in differing(done)
    assert len(pauses) < 10


def test_a_column_that_shows_a_time_is_not_judged_where_there_is_one(
    site: Site, confirmed: Confirming, start: Start
) -> None:
    columns = b'{"columns": [{"key": "points", "measured": null}, {"key": "more", "measured": "seconds"}]}'
    started = start(write("scoring/program.json", columns))
    site.score = with_scores(lambda done: done["scores"][1].update(score="0.9900000000"))
    assert confirmed(started=started).good
    site.score = with_scores(lambda done: done["scores"].pop())
    assert ("good", "more", "0.375", "–") in differing(confirmed(started=started))


@pytest.mark.parametrize("settings", [b"[1]", b'{"columns": 3}', b'{"columns": [3, {}]}', b"{"])
def test_settings_of_any_kind_name_no_measured_column(confirmed: Confirming, settings: bytes) -> None:
    assert confirmed(write("scoring/program.json", settings)).good


def test_a_phase_by_its_id_in_the_bundle(confirmed: Confirming, start: Start) -> None:
    started = start(first_phase(id="dev"))
    assert {cell.phase for cell in confirmed(started=started, phase="dev").cells} == {"Main"}
    with pytest.raises(UserError, match=r"or of the bundle's ids dev\."):
        confirmed(started=started, phase="final")

"""gen-bundle update --rerun: what is rerun, what it takes, and how it goes on after an interruption."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from gen_bundle.ground.fetched import read_records
from gen_bundle.live import reruns
from gen_bundle.live.connection import AnswerError, LiveError
from gen_bundle.live.reruns import read_record
from gen_bundle.live.update import Update, UpdateError
from tests.generator.check.drafts import Edit, first_task, put, write
from tests.generator.live.conftest import Looked, Verb, changed, competition_of, two_phases
from tests.live_edits import computed_board
from tests.live_runs import AnswerError as ServerError
from tests.live_server import Site, packed

NEW_GOLD = write("ref/truth.txt", b"a\nb\nb\n")
ASKED = "/re_run_submission/"
Updated = Callable[..., Result]
Replaced = Callable[[], Update]
RERUN = ("--apply", "--rerun", "--yes")


@pytest.fixture
def updated(number: int, verb: Verb, tmp_path: Path) -> Updated:
    """Runs `update` with options, for the competition's bundle with new gold, or with other edits."""

    def run(*options: str, edits: Sequence[Edit] = (NEW_GOLD,)) -> Result:
        return verb("update", number, changed(tmp_path, two_phases, *edits), *options)

    return run


@pytest.fixture
def replaced(looked: Looked) -> Replaced:
    """Gives the competition its new gold; what is submitted before is to be rerun."""

    def run() -> Update:
        update = looked(NEW_GOLD)
        update.apply()
        return update

    return run


@pytest.fixture
def phases(site: Site, number: int) -> list[int]:
    return [phase["id"] for phase in competition_of(site)["phases"]]


def submitted(site: Site, phase: int, count: int = 1, seconds: float | None = None, **more: Any) -> list[int]:
    """Submissions of different people; `seconds` is what their runs took."""
    ids = []
    for place in range(count):
        row = site.add_submission(phase, f"team-{len(site.submissions)}", b"", **more)
        if seconds is not None:
            times = f"elapsedTime: {seconds + place}\nexitCode: 0\ningestionElapsedTime: null\n"
            site.files[f"{row['id']}-result"] = packed({"metadata": times.encode(), "scores.json": b"{}"})
        ids.append(int(row["id"]))
    return ids


def on_their_way(site: Site) -> list[int]:
    """How many submissions have not ended, with each one that comes from now on."""
    found: list[int] = []
    add = site.add_submission

    def counted(*given: Any, **more: Any) -> Any:
        row = add(*given, **more)
        found.append(sum(one["status"] == "Submitted" for one in site.submissions))
        return row

    site.add_submission = counted  # type: ignore[method-assign]
    return found


def rerun_of(site: Site) -> list[int]:
    """The submissions whose reruns were asked for, in that order."""
    return [int(one.split("/")[3]) for one in site.changing() if one.endswith(ASKED)]


@pytest.mark.slow
def test_nothing_is_rerun_unasked_and_later_what_came_since_is_left_out(
    updated: Updated, site: Site, phases: list[int]
) -> None:
    old = submitted(site, phases[0], 3)
    done = updated("--apply", "--yes")
    assert done.exit_code == 0, done.output
    scored = "phase Main: 3 submissions scored with the old files. Without --rerun, old scores stand beside new ones."
    assert scored in done.stderr
    assert rerun_of(site) == []
    submitted(site, phases[0])  # scored with the new gold
    assert updated(*RERUN).exit_code == 0
    assert rerun_of(site) == old


@pytest.mark.slow
def test_without_apply_it_says_what_reruns_would_take(updated: Updated, site: Site, phases: list[int]) -> None:
    submitted(site, phases[0], 30)
    submitted(site, phases[0], 9, seconds=96)  # the last five took 100 to 104 s
    competition_of(site)["leaderboards"][0]["submission_rule"] = "Add"
    done = updated("--rerun")
    assert done.exit_code == 1
    assert "to be rerun: phase Main: 39 submissions; about 1 h 6 min on one worker (median of 5 measured: 102 s)" in (
        done.stderr
    )
    assert "warning: 39 reruns on the site's public queue: its own button allows 30 at most" in done.stderr
    assert "warning: the leaderboard's rule is Add: the leaderboard shows the replaced runs until" in done.stderr
    assert site.changing() == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no zip",
        packed({"scores.json": b"{}"}),
        packed({"metadata": b"[1"}),
        packed({"metadata": b"elapsedTime: .inf"}),
    ],
)
def test_without_a_measured_time_the_limit_is_given(
    updated: Updated, site: Site, phases: list[int], content: bytes
) -> None:
    for one in submitted(site, phases[0], 2):
        site.files[f"{one}-result"] = content
    done = updated("--rerun")
    assert "phase Main: 2 submissions; no run time is known, at most 30 min" in done.stderr


@pytest.mark.parametrize("failed", [0, 1])
def test_submissions_to_several_tasks_are_several_runs_and_fail_with_one(
    updated: Updated, site: Site, phases: list[int], failed: int
) -> None:
    (parent,) = submitted(site, phases[0], has_children=True, scores=[])
    parts = submitted(site, phases[0], 2, seconds=10, parent=parent)
    site.submissions[0]["children"] = parts
    site.edits.failing = set(parts[:failed])
    done = updated(*RERUN)
    assert done.exit_code == failed, done.output
    assert "phase Main: 1 submission (2 runs); about 1 min on one worker" in done.stderr
    assert f"1 of 1 submissions rerun, {failed} of the last failed" in done.stderr
    assert rerun_of(site) == [parent]


@pytest.mark.slow
def test_what_was_scored_with_the_old_files_is_rerun_the_oldest_first(
    updated: Updated, site: Site, phases: list[int]
) -> None:
    old = submitted(site, phases[0], 12)
    submitted(site, phases[1], 2)  # another task's, whose files stay
    submitted(site, phases[0], status="Cancelled")
    submitted(site, phases[0], is_soft_deleted=True)
    submitted(site, phases[0], is_specific_task_re_run=True)
    old += submitted(site, phases[0], status="Failed")
    done = updated(*RERUN)
    assert done.exit_code == 0, done.output
    assert rerun_of(site) == old
    assert "phase Main: 10 of 13 submissions rerun, 0 of the last failed" in done.stderr
    assert "phase Main: 13 of 13 submissions rerun" in done.stderr
    again = updated(*RERUN)
    assert (again.exit_code, rerun_of(site)) == (0, old)
    assert "nothing to change" in again.stderr


@pytest.mark.slow
def test_what_comes_in_while_files_are_replaced_is_rerun(updated: Updated, site: Site, phases: list[int]) -> None:
    late: list[int] = []

    def before(method: str, path: str) -> None:
        if method == "PUT" and not path.startswith("/api/submissions/"):  # a file arrived, or a task gets it
            late.extend(submitted(site, phases[0]))

    site.before = before
    assert updated(*RERUN).exit_code == 0
    assert len(late) == 2
    assert rerun_of(site) == late


def test_what_is_to_be_rerun_is_kept_before_anything_is_replaced(
    site: Site, number: int, phases: list[int], looked: Looked
) -> None:
    old, kept = submitted(site, phases[0], 2), []

    def before(method: str, path: str) -> None:
        if method == "PUT" and "/tasks/" in path:  # where the machine may go down
            kept.append(read_record(site.address, number).reruns[phases[0]].pending)

    site.before = before
    looked(NEW_GOLD).apply()
    assert kept == [old]


@pytest.mark.slow
@pytest.mark.parametrize("restored", [True, False])
def test_what_is_to_be_rerun_follows_from_what_was_restored(
    site: Site, number: int, phases: list[int], looked: Looked, restored: bool
) -> None:
    old = submitted(site, phases[0], 2)
    puts: list[str] = []

    def before(method: str, path: str) -> ServerError | None:
        refused = bool(puts) and "/submissions/" in path
        if method == "PUT" and "/tasks/" in path:
            puts.append(path)
            refused = len(puts) > 1 and not restored
        return ServerError(403, {"detail": "Not now."}) if refused else None

    site.before = before
    with pytest.raises(UpdateError, match=r"answered 403 Forbidden: Not now\.") as caught:
        looked(NEW_GOLD).apply()
    assert ("could not be restored: task Task: reference data" in str(caught.value)) != restored
    reruns = read_record(site.address, number).reruns
    assert {phase: one.pending for phase, one in reruns.items()} == ({} if restored else {phases[0]: old})


@pytest.mark.slow
def test_a_second_replacement_reruns_the_reruns_and_not_what_they_replaced(
    updated: Updated, site: Site, phases: list[int]
) -> None:
    first = submitted(site, phases[0], 2)
    updated(*RERUN)
    reruns_of_first = [row["id"] for row in site.submissions if row.get("rerun_of")]
    newer = submitted(site, phases[0])
    updated(*RERUN, edits=[write("ref/truth.txt", b"b\n")])
    assert rerun_of(site) == [*first, *reruns_of_first, *newer]


def test_other_changes_need_no_reruns(updated: Updated, site: Site, phases: list[int]) -> None:
    submitted(site, phases[0])
    edits = (put("title", "Other"), first_task(description="More"))
    done = updated(*RERUN, edits=edits)
    assert done.exit_code == 0, done.output
    assert rerun_of(site) == []
    assert "rerun" not in done.stderr


@pytest.mark.slow
def test_only_a_portion_at_a_time_is_on_its_way(
    site: Site, replaced: Replaced, phases: list[int], pauses: list[float]
) -> None:
    submitted(site, phases[0], 25)
    site.edits.runs = 4
    update, beside = replaced(), on_their_way(site)
    assert update.rerun() == []
    assert len(rerun_of(site)) == 25
    assert max(beside) <= reruns.PORTION
    assert pauses


@pytest.mark.slow
def test_an_interrupted_rerun_goes_on_where_it_was(
    site: Site, looked: Looked, replaced: Replaced, phases: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = submitted(site, phases[0], 14)
    update = replaced()
    send = update.connection.send

    def until_ctrl_c(method: str, path: str, body: Any = None) -> Any:
        answer = send(method, path, body)
        if len(rerun_of(site)) == 12:
            raise KeyboardInterrupt  # the twelfth was started, and nobody heard of it
        return answer

    with monkeypatch.context() as patched:
        patched.setattr(update.connection, "send", until_ctrl_c)
        with pytest.raises(KeyboardInterrupt):
            update.rerun()
    again = looked(NEW_GOLD)
    assert [cost.submissions for cost in again.costs()] == [3]
    assert again.rerun() == []
    assert rerun_of(site) == old


def test_a_lost_answer_is_looked_up_and_not_asked_for_again(site: Site, replaced: Replaced, phases: list[int]) -> None:
    old = submitted(site, phases[0], 3)
    update = replaced()
    site.breaks_after = {f"POST /api/submissions/{old[1]}{ASKED}"}
    assert update.rerun() == []
    assert rerun_of(site) == old
    assert [row["rerun_of"] for row in site.submissions if row.get("rerun_of")] == old


def test_one_that_cannot_be_rerun_does_not_stop_the_others(site: Site, phases: list[int], replaced: Replaced) -> None:
    old = submitted(site, phases[0], 3)
    site.edits.refusing = {old[1]}
    update = replaced()
    (fault,) = update.rerun()
    assert fault.startswith(f"submission {old[1]}: POST")
    assert "Server Error (500)" in fault
    assert rerun_of(site) == old


@pytest.mark.slow
def test_reruns_that_fail_where_the_first_run_did_not_are_said(updated: Updated, site: Site, phases: list[int]) -> None:
    old = submitted(site, phases[0], 3)
    failed = submitted(site, phases[0], status="Failed")
    site.edits.failing = {old[0], *failed}
    done = updated(*RERUN)
    assert done.exit_code == 1
    assert f"the rerun of {old[0]}: Failed" in done.stderr
    assert f"the rerun of {failed[0]}" not in done.stderr


def test_when_a_whole_portion_fails_nothing_more_is_rerun(site: Site, replaced: Replaced, phases: list[int]) -> None:
    old = submitted(site, phases[0], 15)
    site.edits.failing = set(old)
    update = replaced()
    with pytest.raises(LiveError, match=r"all of the last 10 reruns failed\. Is the new file right\?"):
        update.rerun()
    assert rerun_of(site) == old[:10]


@pytest.mark.parametrize(("scores", "warned"), [((0.5, 0.5), True), ((0.5, 0.6), False)])
def test_reruns_that_score_as_before_are_suspicious(
    site: Site, replaced: Replaced, phases: list[int], scores: tuple[float, ...], warned: bool
) -> None:
    old = submitted(site, phases[0], 2)
    site.edits.scores = dict(zip(old, scores, strict=True))
    site.late_scores = 1
    update = replaced()
    heard: list[str] = []
    update.connection.say = heard.append
    assert update.rerun() == []
    assert any("the first reruns have the same scores as before" in one for one in heard) == warned


@pytest.mark.slow
def test_reruns_that_do_not_move_end_the_waiting(
    site: Site, replaced: Replaced, phases: list[int], pauses: list[float]
) -> None:
    submitted(site, phases[0])
    site.edits.runs = 10**6
    update = replaced()
    with pytest.raises(LiveError, match="have not moved for 30 minutes"):
        update.rerun()
    assert reruns.STANDSTILL_S <= sum(pauses) < reruns.STANDSTILL_S + 60


def test_what_still_runs_is_rerun_the_next_time(
    updated: Updated, site: Site, phases: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reruns, "SCORES_S", 0)
    (running,) = submitted(site, phases[0], status="Running", scores=[])
    done = updated(*RERUN)
    assert done.exit_code == 1
    assert "phase Main: 1 submission not ended yet may be scored with old and new files." in done.stderr
    assert f"submission {running}: has not ended yet" in done.stderr
    site.submissions[0]["status"] = "Finished"
    assert updated(*RERUN).exit_code == 0
    assert rerun_of(site) == [running]


def test_a_site_that_is_gone_ends_the_reruns(
    site: Site, replaced: Replaced, phases: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted(site, phases[0], 3)
    update = replaced()

    def gone(*_: Any) -> Any:
        raise AnswerError("POST: cannot be reached, or the connection broke.")

    monkeypatch.setattr(update.connection, "send", gone)
    with pytest.raises(AnswerError, match="cannot be reached"):
        update.rerun()


DAMAGED = ["{", "[" * 100_000, "[]", "{}", '{"contents": 3, "reruns": {}}']
DAMAGED += ['{"contents": {}, "reruns": {"1": {"due": 2}}}']


def test_a_damaged_record_is_not_guessed_at(updated: Updated, tmp_path: Path) -> None:
    assert updated("--apply", "--yes").exit_code == 0
    (record,) = (tmp_path / "state" / "gen-bundle" / "updates").iterdir()
    for content in DAMAGED:
        record.write_text(content)
        done = updated()
        assert done.exit_code == 2, content
        assert "is damaged. It says what was replaced and rerun: restore it, or delete it to start anew." in done.stderr


def ranked(site: Site, phase: int, rule: str, scores: dict[str, float]) -> dict[str, int]:
    """Submissions of some owners on the leaderboard, as a rule puts them there."""
    competition_of(site)["leaderboards"][0]["submission_rule"] = rule
    made = {}
    for owner, score in scores.items():
        given = [{"index": 0, "column_key": "points", "score": f"{score:.10f}"}]
        made[owner] = site.add_submission(phase, owner, packed({"a": b"1"}), scores=given, on_leaderboard=True)["id"]
    return made


def board(site: Site, phase: int) -> list[tuple[str, float]]:
    rows = computed_board(site, phase)["submissions"]
    return [(row["owner"], float(row["scores"][0]["score"])) for row in rows]


# What the board shows after reruns that all score 0.75, where alice had 1.0 from the wrong gold, and bob 0.5.
AFTER = {
    "Force_Best": [("alice", 1.0), ("bob", 0.75)],
    "Force_Latest_Multiple": [("alice", 1.0), ("alice", 0.75), ("bob", 0.75), ("bob", 0.5)],
    "Force_Last": [("alice", 0.75), ("bob", 0.75)],
    "Add": [("alice", 1.0), ("bob", 0.5)],
    "Add_And_Delete": [("alice", 1.0), ("bob", 0.5)],
    "Add_And_Delete_Multiple": [("alice", 1.0), ("bob", 0.5)],
}


ALL = put("leaderboards", 0, "submission_rule", "Force_Latest_Multiple")


@pytest.mark.slow
@pytest.mark.parametrize("rule", AFTER)
def test_after_reruns_the_board_is_right_or_it_is_said(
    updated: Updated, site: Site, phases: list[int], rule: str
) -> None:
    made = ranked(site, phases[0], rule, {"alice": 1.0, "bob": 0.5})
    edits = (put("leaderboards", 0, "submission_rule", rule), NEW_GOLD)
    planned = updated("--rerun", edits=edits)
    assert f"warning: the leaderboard's rule is {rule}: {reruns.AFTER_RERUNS[rule]}." in planned.stderr
    done = updated(*RERUN, edits=edits)
    assert board(site, phases[0]) == AFTER[rule]
    stale = [owner for owner, score in AFTER[rule] if (owner, score) in (("alice", 1.0), ("bob", 0.5))]
    assert done.exit_code == (1 if stale else 0), done.output
    for owner, one in made.items():
        said = f"is still submission {one} of {owner}, which replaced files scored; its rerun is submission "
        assert (said in done.stderr) == (owner in stale)
    again = updated(edits=edits)
    assert (again.exit_code, again.stdout) == (1 if stale else 0, "The same.\n")
    assert again.stderr.count("which replaced files scored") == len(stale)
    assert len(json.loads(updated("--json", edits=edits).stdout)["still_ranking"]) == len(stale)


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "later"), [*((rule, False) for rule in AFTER), ("Force_Latest_Multiple", True)])
def test_replaced_runs_are_fetched_and_deleted_when_asked(
    updated: Updated, site: Site, number: int, phases: list[int], tmp_path: Path, rule: str, later: bool
) -> None:
    made = ranked(site, phases[0], rule, {"alice": 1.0, "bob": 0.5})
    edits = (put("leaderboards", 0, "submission_rule", rule), NEW_GOLD)
    if later:
        updated(*RERUN, edits=edits)
    done = updated(*(() if later else ["--rerun"]), "--apply", "--remove-replaced", "--yes", edits=edits)
    assert done.exit_code == 0, done.output
    assert board(site, phases[0]) == [("alice", 0.75), ("bob", 0.75)]
    folder = tmp_path / f"next.zip.competition-{number}.submissions"
    deleted = {one for one in made.values() if one not in [row["id"] for row in site.submissions]}
    kept = {record["id"] for record in read_records(folder / "0-main")} if deleted else set()
    assert deleted <= kept
    assert (made["alice"] in deleted) == (rule != "Force_Last")
    again = updated(*RERUN, "--remove-replaced", edits=edits)
    assert (again.exit_code, "nothing to change" in again.stderr) == (0, True)


@pytest.mark.slow
def test_under_the_rule_best_each_file_is_rerun_once_a_correction(
    updated: Updated, site: Site, phases: list[int]
) -> None:
    rule = put("leaderboards", 0, "submission_rule", "Force_Best")
    made = ranked(site, phases[0], "Force_Best", {"alice": 1.0, "bob": 0.5})
    (broken,) = submitted(site, phases[0], status="Failed", scores=[])
    site.submissions[-1]["owner"] = "alice"
    site.edits.failing = {broken}
    first = updated(*RERUN, "--remove-replaced", edits=(rule, NEW_GOLD))
    assert first.exit_code == 0, first.output
    again = rerun_of(site)
    # alice's best run was deleted, and what ranks is looked for when a score arrives; bob's rerun ranks already
    assert [again.count(one) for one in (made["alice"], made["bob"], broken)] == [1, 1, 1]
    assert len(again) == 4
    site.edits.failing |= {row["id"] for row in site.submissions if row.get("rerun_of") == broken}
    site.edits.scores = {row["id"]: 0.25 for row in site.submissions}
    second = updated(*RERUN, "--remove-replaced", edits=(rule, write("ref/truth.txt", b"c\n")))
    assert second.exit_code == 0, second.output
    assert f"to be rerun: phase {competition_of(site)['phases'][0]['name']}: 3 submissions" in second.stderr
    assert "Not deleted" not in second.stderr
    assert sorted(owner for owner, _ in board(site, phases[0])) == ["alice", "bob"]


@pytest.mark.slow
@pytest.mark.parametrize("why", ["refused", "failed", "lost"])
def test_a_replaced_run_that_must_stay_is_named_with_its_place(
    updated: Updated, site: Site, phases: list[int], why: str
) -> None:
    made = ranked(site, phases[0], "Force_Latest_Multiple", {"alice": 1.0, "bob": 0.5})
    if why == "refused":
        site.edits.undeletable = {made["alice"]}
    elif why == "failed":
        site.edits.failing = {made["alice"]}
    else:
        del site.files[f"{made['alice']}.zip"]
    edits = (ALL, NEW_GOLD)
    done = updated(*RERUN, "--remove-replaced", edits=edits)
    assert done.exit_code == 1
    said = {"refused": "You do not have permission", "failed": "is not Finished", "lost": "could not be fetched"}[why]
    (line,) = [line for line in done.stderr.splitlines() if "Not deleted." in line]
    assert line.startswith(f"submission {made['alice']}: ")
    assert said in line
    assert "the bin beside it" in line
    assert f"is still submission {made['alice']} of alice" in done.stderr
    assert ("bob", 0.5) not in board(site, phases[0])


def test_deleting_is_asked_for_with_apply(updated: Updated) -> None:
    done = updated("--remove-replaced")
    assert done.exit_code == 2
    assert "needs --apply" in done.stderr


def test_under_the_rule_last_an_owners_reruns_end_in_their_order(
    site: Site, replaced: Replaced, phases: list[int]
) -> None:
    for score in (0.1, 0.2, 0.3):
        ranked(site, phases[0], "Force_Last", {"alice": score})
    update, beside = replaced(), on_their_way(site)
    assert update.rerun() == []
    assert beside == [1, 1, 1]
    newest = max(row["id"] for row in site.submissions)
    assert [row["id"] for row in site.submissions if row["on_leaderboard"]] == [newest]
    assert update.still_ranking() == ()

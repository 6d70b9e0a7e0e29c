"""gen-bundle update: what differs on the site, what is changed there, and what is left to be done by hand."""

import copy
import io
import json
import stat
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from scoring_kit.base.scoring_keys import NOT_SCORING
from tests.generator.check.drafts import Edit, both, drop, first_phase, first_task, old, packed, png, put, write
from tests.generator.live.conftest import Verb, bodies, changed, competition_of, held, task_of, two_phases, uploaded
from tests.live_server import TOKEN, Site

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("number")]


APPLY = ("--apply", "--yes")
Made = Callable[..., int]
Updated = Callable[..., Result]


@pytest.fixture
def made(site: Site, tmp_path: Path) -> Made:
    """Makes the competition anew, of the bundle after some edits; returns its id."""
    return lambda *edits: uploaded(site, changed(tmp_path, *edits))


@pytest.fixture
def number(made: Made) -> int:
    """A competition that was made of the bundle."""
    return made()


@pytest.fixture
def updated(site: Site, verb: Verb, tmp_path: Path) -> Updated:
    """Brings the competition up to the bundle after some edits."""

    def run(*edits: Edit, options: Sequence[str] = APPLY, given: str | None = None) -> Result:
        (number,) = site.competitions
        return verb("update", number, changed(tmp_path, *edits), *options, given=given)

    return run


def add_page(draft: Any) -> None:
    draft.yaml["pages"].append({"title": "Data", "file": "data.md"})
    draft.files["data.md"] = b"# Data\n\nHere.\n"


def add_input(draft: Any) -> None:
    draft.yaml["tasks"][0]["input_data"] = "input"
    draft.files["input/texts.txt"] = b"one\ntwo\n"


NEW_TITLE = put("title", "Other")
KIT = packed({"README.md": b"Hello"})
QUESTION = {"key": "team", "type": "text", "title": "Team", "selection": ""}
QUESTION |= {"is_required": "false", "is_on_leaderboard": "true"}
# What is changed in the bundle, and what is said of it.
CHANGES: list[tuple[str, Edit, str]] = [
    ("title", put("title", "Other"), "title: A small task → Other"),
    ("description", put("description", "All about it"), "description: nothing → All about it"),
    ("image", put("docker_image", "codalab/codalab-legacy:py37"), "edit   docker_image: codalab/codalab-legacy:py39 →"),
    ("flag", put("enable_detailed_results", True), "enable_detailed_results: no → yes"),
    ("contact", put("contact_email", "ada@uni.edu"), "contact_email: nothing → ada@uni.edu"),
    ("fact sheet", put("fact_sheet", {"team": QUESTION}), "fact_sheet: nothing → team: key=team"),
    ("terms", write("terms.md", b"Be kind.\n"), "Terms: text (1 line out, 1 in)"),
    ("page", write("overview.md", b"# Other\n\n\n"), "Overview: text (2 lines out, 3 in)"),
    ("page's title", put("pages", 0, "title", "Welcome"), "Welcome: title: Overview → Welcome"),
    ("new page", add_page, "Data: added"),
    ("phase's name", first_phase(name="Final"), "Final: name: Main → Final"),
    ("phase's text", first_phase(description="The only one"), "description: nothing → The only one"),
    ("start", first_phase(start="2031-02-01 12:30:00"), "start: 2031-01-01 00:00:00 UTC"),
    ("end", first_phase(end="2031-06-30 23:59:59"), "→ 2031-06-30 23:59:59 UTC"),
    ("no end", drop("phases", 0, "end"), "→ open"),
    ("a day", first_phase(max_submissions_per_day=7), "submissions per day: 3 → 7"),
    ("in all", first_phase(max_submissions=70), "submissions in all: 30 → 70"),
    ("seconds", first_phase(execution_time_limit=60), "time limit per run (s): 900 → 60"),
    ("hidden", first_phase(hide_output=True), "hide_output: no → yes"),
    ("kit", both(first_phase(starting_kit="kit.zip"), write("kit.zip", KIT)), "kits\n  shown  Main: added"),
    ("task's name", first_task(name="Sentiment"), "name: Task → Sentiment"),
    ("task's text", first_task(description="Is it good?"), "description: nothing → Is it good?"),
    ("program", write("scoring/score.py", b"print('better')\n"), "rerun  Task: scoring program: 1 file"),
    ("gold", write("ref/truth.txt", b"a\nb\nb\n"), "rerun  Task: truth.txt: 3 items → 3 items"),
    ("input", add_input, "rerun  Task: added"),
]


@pytest.mark.parametrize(("edit", "said"), [change[1:] for change in CHANGES], ids=[change[0] for change in CHANGES])
def test_each_change_is_seen_and_then_made(site: Site, updated: Updated, edit: Edit, said: str) -> None:
    before = held(site)
    looked = updated(edit, options=())
    assert looked.exit_code == 1, looked.output
    assert said in looked.stdout
    assert "--apply would change 1 of them." in looked.stderr
    assert site.changing() == []
    assert held(site) == before
    done = updated(edit)
    assert done.exit_code == 0, done.output
    assert held(site) != before
    again = updated(edit, options=())
    assert (again.exit_code, again.stdout) == (0, "The same.\n")
    assert len([one for one in site.changing() if "/competitions/" in one or "/tasks/" in one]) == 1


@pytest.mark.parametrize("paged", [True, False])
def test_the_bundle_of_a_competition_is_the_same(site: Site, updated: Updated, paged: bool) -> None:
    site.paged = paged
    done = updated(options=())
    assert (done.exit_code, done.stdout) == (0, "The same.\n"), done.output
    applied = updated(options=(*APPLY, "--rerun"))
    assert applied.exit_code == 0
    assert "nothing to change" in applied.stderr
    assert site.changing() == []


def test_of_several_phases_and_tasks_nothing_else_is_changed(site: Site, made: Made, updated: Updated) -> None:
    number = made(two_phases)
    before = held(site)
    new = [two_phases, put("phases", 1, "end", "2033-01-31 00:00:00"), write("ref2/truth.txt", b"d\n")]
    new += (put("docker_image", "codalab/codalab-legacy:py37"), first_phase(max_submissions=70))
    done = updated(*new)
    assert done.exit_code == 0, done.output
    competitions, tasks = before
    competitions[number]["docker_image"] = "codalab/codalab-legacy:py37"
    competitions[number]["phases"][0]["max_submissions_per_person"] = 70
    competitions[number]["phases"][1]["end"] = "2033-01-31T00:00:00Z"
    final = max(tasks)
    tasks[final]["reference_data"] = site.tasks[final]["reference_data"]
    assert held(site) == (competitions, tasks)
    assert site.tasks[final]["reference_data"]["name"].startswith(f"reference_data of task {final} @ ")
    (body,) = bodies(site, "PATCH")
    assert set(body) == {"docker_image", "phases", "whitelist_emails"}
    assert not any("tasks" in phase for phase in body["phases"])  # the site would run all submissions on "new" ones
    assert updated(*new, options=()).exit_code == 0


def test_a_page_keeps_its_id_and_one_that_is_gone_goes(site: Site, made: Made, updated: Updated) -> None:
    made(add_page)
    kept = competition_of(site)["pages"][0]["id"]
    done = updated(write("overview.md", b"# Other\n"))
    assert done.exit_code == 0, done.output
    assert competition_of(site)["pages"] == [{"id": kept, "index": 0, "title": "Overview", "content": "# Other"}]
    (body,) = bodies(site, "PATCH")
    assert set(body) == {"pages", "whitelist_emails"}


def test_what_is_stored_is_what_the_bundle_holds(site: Site, updated: Updated) -> None:
    gold = packed({"truth.txt": b"b\n", "more/list.txt": b"x\n"})
    done = updated(first_task(reference_data="gold.zip"), write("gold.zip", gold), write("scoring/new.py", b"1\n"))
    assert done.exit_code == 0
    task = task_of(site)
    assert site.files[task["reference_data"]["key"]] == gold
    with zipfile.ZipFile(io.BytesIO(site.files[task["scoring_program"]["key"]])) as archive:
        assert sorted(archive.namelist()) == ["metadata.yaml", "new.py", "score.py"]


@pytest.mark.parametrize(
    ("edit", "said", "where"),
    [
        (put("leaderboards", 0, "columns", 0, "title", "Score"), "points: title", "tab Leaderboard"),
        (drop("leaderboards", 0, "columns", 1), "more: removed", "deletes the column with all its scores"),
        (put("leaderboards", 0, "submission_rule", "Force_Best"), "submission rule", "tab Leaderboard"),
        (put("queue", "my-vhost"), "queue", "tab Details: Queue"),
        (two_phases, "Test: added", "tab Phases: Add phase"),
    ],
)
def test_what_is_to_be_done_by_hand_is_said_and_not_done(
    site: Site, updated: Updated, edit: Edit, said: str, where: str
) -> None:
    before = held(site)
    done = updated(edit)
    assert done.exit_code == 1
    assert any(said in line and where in line for line in done.stderr.splitlines() if "to be done by hand" in line)
    assert held(site) == before
    assert site.changing() == []


def test_public_data_are_compared(made: Made, updated: Updated) -> None:
    given = both(first_phase(public_data="kit"), write("kit/a.txt", b"x\n"))
    made(given)
    assert updated(given, options=()).exit_code == 0
    done = updated(given, write("kit/b.txt", b"y\n"), options=())
    assert done.exit_code == 1
    assert "shown  Main: b.txt added" in done.stdout
    done = updated(options=())
    assert "tab Phases: Public Data" in done.stderr, "what the bundle does not have any more stays until it is removed"


def test_kits_and_public_data_are_replaced_with_the_phase(site: Site, made: Made, updated: Updated) -> None:
    kit = first_phase(starting_kit="kit.zip", public_data="given")
    first = (two_phases, kit, write("kit.zip", packed({"README.md": b"Until May"})), write("given/a.txt", b"x\n"))
    made(*first)
    main, later = (copy.deepcopy(phase) for phase in competition_of(site)["phases"])
    june = packed({"README.md": b"Until June"})
    new = (*first, first_phase(end="2031-06-30 23:59:59"), write("given/b.txt", b"y\n"), write("kit.zip", june))
    done = updated(*new)
    assert done.exit_code == 0, done.output
    phase, other = competition_of(site)["phases"]
    assert other == later
    assert site.files[phase["starting_kit"]["key"]] == june
    assert phase["public_data"]["key"] != main["public_data"]["key"]
    assert phase["tasks"] == main["tasks"]
    (body,) = bodies(site, "PATCH")
    assert body["phases"][0]["starting_kit"] == phase["starting_kit"]["id"]
    assert "starting_kit" not in body["phases"][1]
    again = updated(*new, options=())
    assert (again.exit_code, again.stdout) == (0, "The same.\n")


KEY = "00000000-0000-0000-0000-000000000077"


def test_a_kit_that_is_on_the_site_is_named_by_its_key(site: Site, updated: Updated) -> None:
    before = held(site)
    done = updated(first_phase(starting_kit=KEY), options=(*APPLY, "--force"))
    assert done.exit_code == 1
    assert f"starting_kit {KEY}: the site does not list this file. Nothing was changed." in done.stderr
    assert held(site) == before
    site.datasets[KEY] = {"type": "starting_kit", "name": "ours"}
    done = updated(first_phase(starting_kit=KEY), options=(*APPLY, "--force"))
    assert done.exit_code == 0, done.output
    assert competition_of(site)["phases"][0]["starting_kit"]["key"] == KEY


def test_a_kit_is_brought_back_when_another_change_fails(site: Site, made: Made, updated: Updated) -> None:
    kit = first_phase(starting_kit="kit.zip")
    made(kit, write("kit.zip", packed({"README.md": b"Old"})))
    before = held(site)
    site.edits.stored_otherwise = [{"reward": "a car"}]
    done = updated(kit, write("kit.zip", packed({"README.md": b"New"})))
    assert done.exit_code == 1
    assert "Restored: reward, phase Main: starting kit. The competition is as it was before." in done.stderr
    assert held(site) == before


def test_a_phase_that_is_gone_from_the_bundle_stays_on_the_site(site: Site, made: Made, updated: Updated) -> None:
    made(two_phases)
    done = updated(first_phase(max_submissions=70))
    assert done.exit_code == 1
    assert "phases, Test: removed: on the site, in the competition's editor (Edit), tab Phases" in done.stderr
    assert "The site deletes its submissions, too: fetch them first" in done.stderr
    assert [phase["max_submissions_per_person"] for phase in competition_of(site)["phases"]] == [70, 30]


def test_a_phase_is_not_taken_for_another_one(site: Site, made: Made, updated: Updated) -> None:
    made(two_phases)
    before = held(site)
    done = updated(first_phase(name="Final"), first_task(name="Final task"), add_input)
    assert done.exit_code == 1
    for said in ("phases, Main: removed", "phases, Test: removed", "phases, Final: added", "tasks, Final task: added"):
        assert f"to be done by hand: {said}" in done.stderr
    assert held(site) == before


def test_phases_that_all_have_other_names_are_told_by_their_places(site: Site, made: Made, updated: Updated) -> None:
    made(two_phases)
    names = (first_phase(name="Practice"), put("phases", 1, "name", "Contest"))
    done = updated(two_phases, *names, first_task(name="P"), put("tasks", 1, "name", "C"))
    assert done.exit_code == 0, done.output
    assert [phase["name"] for phase in competition_of(site)["phases"]] == ["Practice", "Contest"]
    assert [task["name"] for task in site.tasks.values()] == ["P", "C"]


def test_programs_read_the_differences(updated: Updated) -> None:
    new = (put("title", "Other"), put("leaderboards", 0, "title", "Board"))
    seen = json.loads(updated(*new, options=["--json"]).stdout)
    assert seen["same"] is False
    what = {"part": "competition", "item": "", "what": "title", "old": "A small task", "new": "Other"}
    assert seen["differences"][0] == {**what, "effect": "shown", "detail": [], "by_hand": None}
    assert seen["differences"][1]["by_hand"].endswith("tab Leaderboard")
    done = updated(*new, options=(*APPLY, "--json"))
    assert done.exit_code == 1
    assert Path(json.loads(done.stdout)["backup"]).is_file()
    assert TOKEN not in done.output


def test_it_asks_and_only_yes_changes_anything(
    site: Site, number: int, updated: Updated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = held(site)
    monkeypatch.setattr("gen_bundle.cli.update.can_answer", lambda: True)
    refused = updated(NEW_TITLE, options=["--apply"], given="n\n")
    assert refused.exit_code == 1
    assert f"A small task ({site.address}/competitions/{number}/): make 1 change?" in refused.stderr
    assert "nothing was changed" in refused.stderr
    assert held(site) == before
    assert [*tmp_path.glob("next.zip.competition*")] == []
    assert updated(NEW_TITLE, options=["--apply"], given="y\n").exit_code == 0
    assert competition_of(site)["title"] == "Other"


def test_where_nobody_can_answer_nothing_is_asked_of_the_site(site: Site, updated: Updated) -> None:
    done = updated(NEW_TITLE, options=["--apply"])
    assert done.exit_code == 2
    assert "nobody can answer here. To agree: --yes" in done.stderr
    assert site.asked == []


def test_a_draft_is_not_applied(site: Site, updated: Updated) -> None:
    contact = put("contact_email", "me@example.org")
    looked = updated(contact, options=())
    said = "unfinished: the contact me@example.org is an example"
    assert f"--apply would refuse the bundle: {said}" in looked.stderr
    done = updated(contact)
    assert done.exit_code == 1
    assert f"error: {said}" in done.stderr
    assert "Nothing was changed. To change it nevertheless: --force" in done.stderr
    assert site.changing() == []
    assert updated(contact, options=(*APPLY, "--force")).exit_code == 0


def test_pages_can_be_changed_after_the_end(site: Site, updated: Updated, tmp_path: Path) -> None:
    over = first_phase(start="2020-01-01 00:00:00", end="2020-02-01 00:00:00")
    uploaded(site, changed(tmp_path, over), force=True)
    done = updated(over, write("overview.md", b"# Results\n"))
    assert done.exit_code == 0, done.output


def test_a_published_competition_is_warned_of(site: Site, updated: Updated) -> None:
    competition_of(site)["published"] = True
    done = updated(NEW_TITLE, options=())
    assert "warning: the competition is published: participants see changes at once." in done.stderr


def test_a_file_that_was_put_there_by_hand_is_unknown_until_it_is_replaced(site: Site, updated: Updated) -> None:
    task_of(site)["reference_data"] = {"id": 9, "type": "reference_data", "name": "gold, corrected", "key": "by-hand"}
    looked = updated(options=())
    assert looked.exit_code == 1
    assert "rerun  Task: content: unknown content, gold, corrected → ref" in looked.stdout
    assert updated().exit_code == 0
    assert updated(options=()).exit_code == 0


@pytest.mark.parametrize("made_when", ["2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z", None])
def test_a_file_of_another_bundle_is_unknown(site: Site, updated: Updated, made_when: str | None) -> None:
    """Or of one that the site does not give."""
    site.datasets[task_of(site)["reference_data"]["key"]]["created_when"] = made_when
    if made_when is None:
        site.edits.bundles.clear()
    done = updated(options=())
    assert done.exit_code == 1
    assert "content: unknown content, reference_data @ 01-01-2030 00:00 → ref" in done.stdout


def test_the_task_of_somebody_else(site: Site, updated: Updated) -> None:
    site.edits.foreign = {task_of(site)["id"]}
    done = updated(write("ref/truth.txt", b"b\n"), first_task(name="Mine"), NEW_TITLE)
    assert done.exit_code == 1
    assert "warning: task Mine is not yours: its files cannot be compared or replaced." in done.stderr
    assert "tasks, Mine: name: the task is not yours: its owner must change it" in done.stderr
    assert competition_of(site)["title"] == "Other"
    assert "as the bundle says as far as can be seen: 1 task is not yours (Mine)." in done.stderr


def test_what_cannot_be_seen_is_not_the_same(site: Site, updated: Updated, monkeypatch: pytest.MonkeyPatch) -> None:
    site.edits.foreign = {task_of(site)["id"]}
    looked = updated(options=())
    assert (looked.exit_code, looked.stdout) == (1, "The same as far as can be seen: 1 task is not yours (Task).\n")
    seen = json.loads(updated(options=["--json"]).stdout)
    assert (seen["same"], seen["unseen"]) == (False, ["Task"])
    assert updated().exit_code == 1
    monkeypatch.setattr("gen_bundle.cli.update.can_answer", lambda: True)
    asked = updated(NEW_TITLE, options=["--apply"], given="n\n")
    assert "make 1 change? The programs and data behind its pages cannot all follow: 1 task is not" in asked.stderr


def test_what_scoring_does_not_read_changes_no_score(site: Site, made: Made, updated: Updated) -> None:
    def settings(value: str) -> Edit:
        unread = {place: dict.fromkeys(sorted(keys), value) for place, keys in NOT_SCORING.items()}
        table, column = {"id": "t"} | unread["options.tables"], {"key": "c"} | unread["columns"]
        program = unread[""] | {"options": {"tables": [table]}, "columns": [column], "version": "1"}
        return write("scoring/program.json", json.dumps(program).encode())

    made(settings("mine"))
    site.add_submission(competition_of(site)["phases"][0]["id"], "owl", b"")
    done = updated(settings("other"), options=["--rerun"])
    assert 'keep   Task: scoring program: competition: "mine" → "other"' in done.stdout
    assert "rerun  " not in done.stdout
    assert "to be rerun" not in done.stderr


def test_only_this_machine_knows_what_it_put_there(
    updated: Updated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert updated(write("ref/truth.txt", b"b\n")).exit_code == 0
    done = updated(write("ref/truth.txt", b"c\n"), options=())
    assert "Task: content: what this machine put there, reference_data of task" in done.stdout
    assert "unknown content" not in done.stdout
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    done = updated(write("ref/truth.txt", b"b\n"), options=())
    assert done.exit_code == 1
    assert "rerun  Task: content: unknown content, reference_data of task" in done.stdout


def test_an_old_bundle_is_to_be_imported(number: int, verb: Verb, tmp_path: Path) -> None:
    path = tmp_path / "old.zip"
    path.write_bytes(old().as_zip())
    done = verb("update", number, path)
    assert done.exit_code == 2
    assert "build that: gen-bundle import" in done.stderr


def test_the_backup_is_private_and_holds_no_secrets(site: Site, number: int, updated: Updated, tmp_path: Path) -> None:
    competition_of(site)["queue"] = {"id": 3, "name": "Ours", "vhost": "hush-vhost", "broker_url": "pyamqp://u:hush@h"}
    done = updated(NEW_TITLE)
    (file,) = tmp_path.glob(f"next.zip.competition-{number}-*Z.json")
    assert str(file) in done.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = file.read_text()
    for secret in (TOKEN, "a-secret-key", "secret-signature", "hush"):
        assert secret not in text
    kept = json.loads(text)
    assert kept["competition"]["title"] == "A small task"
    assert kept["competition"]["whitelist_emails"] == ["guest@site.org"]
    assert kept["tasks"][str(task_of(site)["id"])]["reference_data"]["key"].startswith("reference_data-")


def test_every_change_is_in_the_log_without_secrets(site: Site, number: int, updated: Updated, tmp_path: Path) -> None:
    """Gold is nowhere but in its file."""
    done = updated(NEW_TITLE, write("ref/truth.txt", b"very-secret-label\n"), options=(*APPLY, "--json"))
    assert done.exit_code == 0
    log = (tmp_path / "state" / "gen-bundle" / "changes.log").read_text()
    methods = [line.split()[1] for line in log.splitlines()][-10:]
    assert methods[::2] == methods[1::2] == ["POST", "PUT", "PUT", "PUT", "PATCH"]  # sending, and the answer
    assert f"PATCH {site.address}/api/competitions/{number}/ 200" in log
    for secret in (TOKEN, "secret-signature", "guest@site.org", "very-secret-label"):
        assert secret not in log
    assert "very-secret-label" not in done.output
    sent = b"".join(body for address, _, _, _, body in site.asked if address == site.address)
    assert b"very-secret-label" not in sent
    record = (tmp_path / "state" / "gen-bundle" / "updates").iterdir()
    assert {stat.S_IMODE(file.stat().st_mode) for file in record} == {0o600}


def test_the_logo_is_not_compared(updated: Updated) -> None:
    assert updated(write("logo.png", png(8, 8)), options=()).exit_code == 0

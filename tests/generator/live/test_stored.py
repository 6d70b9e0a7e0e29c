"""What a server stored against the bundle: recorded uploads as the real platform stored them, and every change seen."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.check import Report, check_path
from gen_bundle.check.bundle import open_readable_bundle
from gen_bundle.check.explain import explain_refusal
from gen_bundle.live.competition import Snapshot
from gen_bundle.live.site_bundle import SiteBundle
from gen_bundle.live.upload import mismatches
from gen_bundle.look.difference.report import differences
from tests.generator.check.drafts import NOW
from tests.generator.live.conftest import uploaded
from tests.live_server import Site
from tests.shared import recorded_uploads

ACCEPTED = [case for case in recorded_uploads() if case.get("stored")]
REFUSED = [case for case in recorded_uploads() if not case["accepted"]]
COLUMN = ("index", "key", "sorting", "precision", "hidden", "computation")


def as_answer(stored: dict[str, Any]) -> dict[str, Any]:
    """A recorded row in the words of the API, as far as it was recorded."""
    board = stored["leaderboard"]
    tasks = list(dict.fromkeys(name for phase in stored["phases"] for name in phase["tasks"]))
    return {
        "title": stored["title"],
        "docker_image": stored["docker_image"],
        "pages": [{"id": number, "index": number, "title": title} for number, title in enumerate(stored["pages"])],
        "phases": [
            {
                "id": number,
                "index": number,
                "name": phase["name"],
                "start": phase["start"],
                "end": phase["end"],
                "execution_time_limit": phase["execution_time_limit"],
                "max_submissions_per_day": phase["max_submissions_per_day"],
                "max_submissions_per_person": phase["max_submissions"],
                "tasks": [{"id": tasks.index(name), "name": name} for name in phase["tasks"]],
            }
            for number, phase in enumerate(stored["phases"])
        ],
        "leaderboards": [
            {
                "primary_index": board["primary_index"],
                "submission_rule": board["submission_rule"],
                "columns": [dict(zip(COLUMN, column, strict=False)) for column in board["columns"]],
            }
        ],
    }


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["id"])
def test_a_recorded_refusal_is_explained_by_its_rule(case: dict[str, Any]) -> None:
    report = check_path(case["path"], now=NOW)
    first = next(finding.id for finding in report.findings if finding.first)
    assert (explain_refusal(case["message"], report) or "").startswith(f"{first}: ")


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ("Bad zip file uploaded.", "zip-unreadable"),
        ("Unpacking the bundle failed. Here is the error log: Unknown string format: soon", "date-unreadable"),
        ("columns: Columns must have unique keys!", "column-keys-equal"),
    ],
)
def test_a_refusal_that_the_check_did_not_foresee_is_explained_by_its_words(message: str, rule: str) -> None:
    report = Report("bundle.zip", [])
    assert (explain_refusal(message, report) or "").startswith(f"{rule}: ")


@pytest.mark.parametrize("message", ["The disk is full", "Unpacking the bundle failed. Here is the error log: 'x'"])
def test_a_refusal_that_no_rule_knows(message: str) -> None:
    assert explain_refusal(message, Report("bundle.zip", [])) is None


CHANGES: list[tuple[tuple[Any, ...], Any, str]] = [  # others, `update` sees and makes in its own tests
    (("phases",), [], "phases, Main: added"),
    (("pages",), [], "pages, Overview: added"),
    (("leaderboards", 0, "title"), "Other", "leaderboard: title"),
    (("leaderboards", 0, "primary_index"), 1, "leaderboard: ranked by"),
    (("leaderboards", 0, "columns"), [], "leaderboard, points: added"),
    (("leaderboards", 0, "columns", 0, "sorting"), "asc", "leaderboard, points: better"),
    (("leaderboards", 0, "columns", 0, "precision"), 9, "leaderboard, points: decimals"),
    (("leaderboards", 0, "columns", 0, "hidden"), True, "leaderboard, points: hidden"),
    (("leaderboards", 0, "columns", 0, "computation"), "avg", "leaderboard, points: computed"),
]


@pytest.mark.parametrize(("at", "value", "what"), CHANGES, ids=[change[2] for change in CHANGES])
def test_every_change_is_seen(bundle: Path, at: tuple[Any, ...], value: Any, what: str) -> None:
    site = Site()
    number = uploaded(site, bundle)
    answer = site.competitions[number]
    with ExitStack() as held:
        opened = open_readable_bundle(bundle, NOW, held)
        assert mismatches(Snapshot(answer, site.tasks), opened) == []
        target: Any = answer
        for step in at[:-1]:
            target = target[step]
        assert target[at[-1]] != value
        target[at[-1]] = value
        assert what in [one.what for one in mismatches(Snapshot(answer, site.tasks), opened)]


def test_a_file_that_was_not_stored_is_seen(bundle: Path) -> None:
    site = Site()
    number = uploaded(site, bundle)
    (task,) = site.tasks
    lost = {task: site.tasks[task] | {"reference_data": None}}
    with ExitStack() as held:
        opened = open_readable_bundle(bundle, NOW, held)
        (found,) = mismatches(Snapshot(site.competitions[number], lost), opened)
    assert found.what == "reference data, Task: added"


def _has_tasks_of_different_names(case: dict[str, Any]) -> bool:
    names = [name for phase in case["stored"]["phases"] for name in phase["tasks"]]
    return len(names) == len(set(names))


UPDATABLE = [case for case in ACCEPTED if case["format"] == "v2" and _has_tasks_of_different_names(case)]


@pytest.mark.parametrize("case", UPDATABLE, ids=lambda case: case["id"])
def test_a_recorded_upload_is_the_same_as_its_bundle(case: dict[str, Any]) -> None:
    """What `update` would find right after each upload, as far as it was recorded."""
    answer = as_answer(case["stored"]) | {"id": 1, "whitelist_emails": []}
    unrecorded = ("title", "hidden", "computed")
    with ExitStack() as held:
        bundle = open_readable_bundle(case["path"], NOW, held)
        site = SiteBundle(Snapshot(answer, {}), bundle, None, {})
        parts = ("competition", "phases", "tasks", "leaderboard", "programs", "reference data", "input data")
        found = [one for one in differences(site.bundle, bundle) if one.part in parts and one.what not in unrecorded]
        assert found == []
        assert {key[-1] for edit in site.edits() for key in edit.expected} <= {"pages", "terms"}

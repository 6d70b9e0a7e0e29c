"""What a Codabench site does with new submissions: limits, a worker's steps, the board's rules, cancelling, deleting.

As seen at commit c7dbc756; deleting, cancelling and the dates since v1.32 as read in its source.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.live_server import Site

HTML_500 = b"<!doctype html>\n<html><head><title>Oops</title></head>\n<body><h1>Server Error (500)</h1></body></html>"
STEPS = ("Submitted", "Preparing", "Running", "Scoring")
OVER = ("Finished", "Failed", "Cancelled")
OWNER = "ada"


@dataclass
class AnswerError(Exception):
    """What the server answers; HTML where the body is bytes."""

    code: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)


def score_answer(content: bytes, task: str) -> dict[str, Any]:
    """What the small scoring program of the tests makes of a submission: its answer.txt holds the points."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if "answer.txt" not in archive.namelist():
            text = "Submission failed: Child task failed or non-zero return code. See logs for more details."
            return {"status": "Failed", "status_details": text, "logs": {"scoring_stderr": "no answer.txt\n"}}
        points = float(archive.read("answer.txt"))
    return {
        "scores": [
            {"index": 0, "column_key": "points", "score": f"{points:.10f}"},
            {"index": 1, "column_key": "more", "score": f"{points / 2:.10f}"},
        ],
        "logs": {"scoring_stdout": f"signature: competition:small|tasks:a|reference:12\nscored in 9.5 s\n{points}\n"},
    }


def answer_runs(site: Site, method: str, parts: list[str], given: dict[str, Any]) -> Any:
    """The JSON for a request about new submissions, or None for 204.

    Raises:
        AnswerError: anything but 200.
    """
    match method, parts:
        case "GET", ["can_make_submission", phase]:
            reason = _used_up(site, _phase(site, int(phase)))
            return {"can": reason is None, "reason": reason}
        case "POST", ["submissions"]:
            return _created(site, given)
        case "POST", ["submissions", number, "run_submission"]:
            site.left[int(number)] = site.running
            return {"id": int(number)}
        case "GET", ["submissions", number, "cancel_submission"]:
            for row in _family(site, int(number)):
                row["status"] = row["status"] if row["status"] in OVER else "Cancelled"
            return {"canceled": True}
        case "DELETE", ["submissions", number]:
            return _deleted(site, int(number))
    raise AnswerError(404, {"detail": "Not found."})


def run_on(site: Site, number: int) -> None:
    """Let the worker of a submission do its next step, before the submission is looked at."""
    if site.left.get(number, 0) < 1:
        return
    site.left[number] -= 1
    family = _family(site, number)
    for row in family:
        if row["status"] in OVER:
            continue
        if site.left[number]:
            row["status"] = STEPS[-min(len(STEPS), site.left[number])]
            row["status_details"] = "scoring_hostname-1"
        elif not row["has_children"]:
            _scored(site, row)
    if not site.left[number] and family[0]["has_children"] and family[0]["status"] not in OVER:
        family[0]["status"] = "Finished"  # whatever became of the children


def _scored(site: Site, row: dict[str, Any]) -> None:
    done = {"status": "Finished"} | site.score(site.files[f"{row['id']}.zip"], row["task"]["name"])
    site.store_logs(row["id"], done.pop("logs", {}))
    row |= done
    if row["status"] == "Finished":
        follow_rule(site, row)


def follow_rule(site: Site, row: dict[str, Any]) -> None:
    """What the leaderboard's rule makes of a submission whose scores have just arrived."""
    rule = rule_of(site, row["phase"])
    own = [one for one in site.submissions if (one["phase"], one["owner"]) == (row["phase"], row["owner"])]
    if rule == "Force_Last" or rule == "Force_Best":
        for one in own:
            one["on_leaderboard"] = False
    if rule == "Force_Best":  # of all that are Finished, reruns or not
        row = max((one for one in own if one["status"] == "Finished" and one["scores"]), key=points)
    if rule.startswith("Force_"):
        row["on_leaderboard"] = True


def rule_of(site: Site, phase: int) -> str:
    """The rule by which submissions to a phase come to the leaderboard."""
    return str(_competition(site, phase)["leaderboards"][0]["submission_rule"])


def points(row: dict[str, Any]) -> float:
    """The first score of a submission."""
    return float(row["scores"][0]["score"])


def _created(site: Site, given: dict[str, Any]) -> Any:
    if "data" not in given:
        raise AnswerError(500, HTML_500)
    phase = _phase(site, given["phase"])
    if site.paged and not _active(phase):
        raise AnswerError(400, {"non_field_errors": ["This phase does not take submissions now."]})
    if _used_up(site, phase):
        raise AnswerError(500, HTML_500)
    tasks = [task for task in phase["tasks"] if task["id"] in given.get("tasks", [task["id"]])]
    dataset, content = site.datasets[given["data"]], site.files[given["data"]]
    fresh = {
        "status": "Submitting",
        "scores": [],
        "filename": dataset["request_sassy_file_name"],
        "status_details": None,
    }
    whole = site.add_submission(phase["id"], OWNER, content, **fresh)
    whole |= {"task": tasks[0], "data": given["data"]}
    if len(tasks) > 1:
        children = [
            site.add_submission(phase["id"], OWNER, content, parent=whole["id"], **fresh) | {"task": task}
            for task in tasks
        ]
        site.submissions[-len(tasks) :] = children
        whole |= {"task": None, "has_children": True, "children": [child["id"] for child in children]}
    if _competition(site, phase["id"]).get("auto_run_submissions") is not False:
        site.left[whole["id"]] = site.running
    return {"id": whole["id"], "status": "Submitting"}


def _deleted(site: Site, number: int) -> None:
    family = _family(site, number)
    if not site.organiser or number in site.edits.undeletable:
        raise AnswerError(403, {"detail": "You do not have permission to delete this submission!"})
    if not family[0]["has_children"]:  # else the children hold the file, and go without looking after it
        site.datasets.pop(family[0].get("data", ""), None)
    site.submissions[:] = [row for row in site.submissions if row not in family]


def _family(site: Site, number: int) -> list[dict[str, Any]]:
    """A submission and its children."""
    found = [row for row in site.submissions if number in (row["id"], row["parent"])]
    if not found:
        raise AnswerError(404, {"detail": "Not found."})
    return found


def _competition(site: Site, phase: int) -> dict[str, Any]:
    return next(one for one in site.competitions.values() if any(row["id"] == phase for row in one["phases"]))


def _phase(site: Site, number: int) -> dict[str, Any]:
    found: dict[str, Any] = next(row for row in _competition(site, number)["phases"] if row["id"] == number)
    return found


def _active(phase: dict[str, Any]) -> bool:
    now = datetime.now(UTC)
    end = phase["end"]
    return datetime.fromisoformat(phase["start"]) < now and (not end or now < datetime.fromisoformat(end))


def _used_up(site: Site, phase: dict[str, Any]) -> str | None:
    own = [row for row in site.submissions if row["owner"] == OWNER and row["phase"] == phase["id"]]
    counted = [row for row in own if row["parent"] is None and row["status"] != "Failed"]
    if len(counted) < (phase["max_submissions_per_day"] or len(counted) + 1):
        return None
    return "Reached maximum allowed submissions for today for this phase"

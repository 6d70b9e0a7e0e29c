"""What a Codabench site does when a competition is changed and rerun, with its traps.

Fields that are left out are emptied, lists that lack an item delete it, refused requests have emptied fields before,
and each request replaces the invited addresses.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.live_runs import HTML_500, AnswerError, follow_rule, points, rule_of

if TYPE_CHECKING:
    from tests.live_server import Site

ROLES = ("scoring_program", "reference_data", "input_data", "ingestion_program")
KITS = ("public_data", "starting_kit")
FLAGS = {
    "registration_auto_approve": False,
    "enable_detailed_results": False,
    "show_detailed_results_in_submission_panel": True,
    "show_detailed_results_in_leaderboard": True,
    "auto_run_submissions": True,
    "can_participants_make_submissions_public": True,
    "make_programs_available": False,
    "make_input_data_available": False,
    "forum_enabled": True,
}
PHASE_FLAGS = ("auto_migrate_to_this_phase", "hide_output", "hide_prediction_output", "hide_score_output")


@dataclass
class Edits:
    """Faults of the site when it is changed.

    Attributes:
        foreign: tasks that belong to somebody else.
        stored_otherwise: what the site makes of the next requests to change a competition, without saying so.
        loses_phase: a phase that the site deletes with the next change.
        refuses_keys: keys of files that the site refuses, after it has emptied what was left out.
        failing: submissions whose reruns fail.
        refusing: submissions whose reruns the site cannot start.
        undeletable: submissions that the site does not delete.
        scores: by submission, what its rerun scores; 0.75 else.
        runs: how often the list is asked for until a rerun has ended.
        bundles: the key of the bundle of each competition.
    """

    foreign: set[int] = field(default_factory=set)
    stored_otherwise: list[dict[str, Any]] = field(default_factory=list)
    loses_phase: int | None = None
    refuses_keys: int = 0
    failing: set[int] = field(default_factory=set)
    refusing: set[int] = field(default_factory=set)
    undeletable: set[int] = field(default_factory=set)
    scores: dict[int, float] = field(default_factory=dict)
    runs: int = 1
    running: dict[int, int] = field(default_factory=dict)
    bundles: dict[int, str] = field(default_factory=dict)


def unpacked(site: Site, role: str, number: int, now: str) -> str:
    """The key of a file that came with a bundle, for the task or phase of a number."""
    about = {"type": role, "name": f"{role} @ 01-01-2030 00:00", "created_when": now}
    site.datasets[f"{role}-{number}"] = about | {"was_created_by_competition": True}
    return f"{role}-{number}"


def attached(site: Site, key: str) -> dict[str, Any]:
    """A file of a phase, as the competition shows it."""
    return site.datasets[key] | {"id": number_of(key), "key": key, "value": key}


def number_of(key: str) -> int:
    """The number of a stored file, by which phases name it."""
    return int(key.rpartition("-")[2])


def dataset(site: Site, key: str) -> dict[str, Any]:
    """A file of a task, as the task shows it."""
    found = site.datasets[key]
    return {"id": 1, "type": found["type"], "name": found.get("name"), "key": key}


def shown(site: Site, row: dict[str, Any]) -> dict[str, Any]:
    """A competition as organisers read it; tasks with what is known of their files."""
    row = {"whitelist_emails": []} | copy.deepcopy(row) | {"logo": site.signed("logo.png")}
    if not site.organiser:
        del row["whitelist_emails"]
    for phase in row.get("phases", []):
        for task in phase.get("tasks", []):
            stored = site.tasks.get(task["id"], {})
            task["name"] = stored.get("name", task["name"])
            keys = [stored[role]["key"] for role in ROLES if stored.get(role)]
            task["public_datasets"] = [
                {"was_created_by_competition": False, "created_when": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"}
                | site.datasets.get(key, {})
                | {"key": key}
                for key in keys
            ]
    return row


def shown_task(site: Site, task: dict[str, Any]) -> dict[str, Any]:
    """A task without the flag that only the list of tasks shows."""
    if task["id"] in site.edits.foreign:
        raise AnswerError(404, {"detail": "Not found."})
    return {key: value for key, value in task.items() if key not in ("ingestion_only_during_scoring", "key")}


def listed_tasks(site: Site) -> list[dict[str, Any]]:
    """The tasks as their list shows them."""
    return [
        {"id": number, "name": task["name"], "ingestion_only_during_scoring": task["ingestion_only_during_scoring"]}
        for number, task in site.tasks.items()
        if number not in site.edits.foreign
    ]


def put_task(site: Site, task: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Change a task: what is left out is emptied and saved before anything is validated."""
    if task["id"] in site.edits.foreign:
        raise AnswerError(403, {"detail": "Cannot update a task that is not yours"})
    for role in ROLES[1:]:
        if role not in given:
            task[role] = None
    keys = {role: given[role] for role in ROLES if given.get(role)}
    if site.edits.refuses_keys and not keys.keys().isdisjoint(ROLES):
        site.edits.refuses_keys -= 1
        task["reference_data"] = None
        raise AnswerError(400, {"scoring_program": ["Object with key=… does not exist."]})
    for role, key in keys.items():
        if key not in site.datasets:
            raise AnswerError(400, {role: [f"Object with key={key} does not exist."]})
    for role in ROLES:
        if role in given:
            task[role] = dataset(site, given[role]) if given[role] else None
    task |= {key: given[key] for key in ("name", "description", "ingestion_only_during_scoring") if key in given}
    return task


def patch_competition(site: Site, row: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Change a competition: as a whole or not at all, except that lists which lack an item delete it."""
    if "whitelist_emails" not in given:
        raise AnswerError(500, HTML_500)
    if len(given.get("docker_image") or "") > 128:
        raise AnswerError(400, {"docker_image": ["Ensure this field has no more than 128 characters."]})
    for phase in given.get("phases", []):
        if "id" not in phase:
            raise AnswerError(500, HTML_500)
    row |= {key: _stripped(value) for key, value in given.items() if key not in ("id", "pages", "phases")}
    row["whitelist_emails"] = [address.lower() for address in given["whitelist_emails"]]
    if "pages" in given:
        there = {page["id"]: page for page in row["pages"]}
        row["pages"] = [
            {"id": next(site.numbers)}
            | there.get(page.get("id"), {})
            | {key: _stripped(value) for key, value in page.items() if key != "id"}
            for page in given["pages"]
        ]
    if "phases" in given:
        phases = {phase["id"]: phase for phase in row["phases"]}
        row["phases"] = [phases[phase["id"]] | _all_stripped(_with_files(site, phase)) for phase in given["phases"]]
    if site.edits.stored_otherwise:
        row |= site.edits.stored_otherwise.pop(0)
    if site.edits.loses_phase is not None:
        row["phases"] = [phase for phase in row["phases"] if phase["id"] != site.edits.loses_phase]
    return row


def _with_files(site: Site, phase: dict[str, Any]) -> dict[str, Any]:
    """What is sent of a phase, with the files that it names by their numbers."""
    found = dict(phase)
    for role in KITS:
        if phase.get(role) is not None:
            keys = [key for key, one in site.datasets.items() if one["type"] == role and number_of(key) == phase[role]]
            if not keys:
                raise AnswerError(400, {role: [f'Invalid pk "{phase[role]}" - object does not exist.']})
            found[role] = attached(site, keys[0])
    return found


def _stripped(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _all_stripped(row: dict[str, Any]) -> dict[str, Any]:
    return {key: _stripped(value) for key, value in row.items()}


def files_of(site: Site, number: int) -> dict[str, Any]:
    """The bundle of which a competition was made."""
    key = site.edits.bundles.get(number)
    return {"dumps": []} | ({"bundle": {"name": "bundle.zip", "url": site.signed(key)}} if key else {})


def rerun(site: Site, number: int) -> dict[str, Any]:
    """Run a submission once more, as a new one of the same owner."""
    old = next(row for row in site.submissions if row["id"] == number)
    if old["status"] not in ("Finished", "Failed", "Cancelled"):
        raise AnswerError(403, {"detail": "Cannot request a re-run on a submission that has not finished processing."})
    if number in site.edits.refusing:
        raise AnswerError(500, HTML_500)
    more = {"filename": old["filename"], "status": "Submitted", "scores": []}
    new = site.add_submission(old["phase"], old["owner"], site.files.get(f"{number}.zip", b""), **more)
    new |= {"rerun_of": number, "task": old.get("task")}
    if old["has_children"]:
        new["has_children"] = True
        for child in old["children"]:
            part = site.add_submission(old["phase"], old["owner"], b"", parent=new["id"], status="Submitted", scores=[])
            part["rerun_of"] = child
            site.edits.running[part["id"]] = site.edits.runs
            new["children"] = [*new["children"], part["id"]]
    site.edits.running[new["id"]] = site.edits.runs
    return {"id": new["id"]}


def go_on(site: Site) -> None:
    """Let reruns come nearer to their end each time that somebody looks."""
    for row in site.submissions:
        if row["id"] in site.edits.running:
            site.edits.running[row["id"]] -= 1
            if site.edits.running[row["id"]] <= 0:
                del site.edits.running[row["id"]]
                row["status"] = "Failed" if row["rerun_of"] in site.edits.failing else "Finished"
                if row["status"] == "Finished" and not row["has_children"]:
                    score = site.edits.scores.get(row["rerun_of"], 0.75)
                    row["scores"] = [{"index": 0, "column_key": "points", "score": f"{score:.10f}"}]
                    follow_rule(site, row)


def put_on_board(site: Site, number: int) -> dict[str, Any]:
    """Put a submission on the leaderboard by hand."""
    row = next(one for one in site.submissions if one["id"] == number)
    rule = rule_of(site, row["phase"])
    if rule.startswith("Force_"):
        raise AnswerError(403, {"detail": "Users are not allowed to edit the leaderboard on this Competition"})
    for one in site.submissions:
        if one["owner"] == row["owner"] and rule != "Add_And_Delete_Multiple":
            one["on_leaderboard"] = False
    for one in site.submissions:
        if (one["id"] == number and not one["has_children"]) or one["parent"] == number:
            one["on_leaderboard"] = True
    return {}


def computed_board(site: Site, phase: int) -> dict[str, Any]:
    """The leaderboard of a phase: what is on it, the best first, and of equal scores the earlier one."""
    shown = [one for one in site.submissions if one["phase"] == phase and one["on_leaderboard"]]
    shown.sort(key=lambda one: (-points(one), one["id"]))
    rows = [{key: one[key] for key in ("id", "owner", "scores", "created_when")} for one in shown]
    return {"id": 1, "title": "Results", "primary_index": 0, "tasks": [], "submissions": rows}

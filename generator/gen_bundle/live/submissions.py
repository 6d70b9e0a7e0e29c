"""Submissions as the server gives them: their state and scores, why some failed; and those that gen-bundle makes.

What gen-bundle itself submits is made once, waited for, and removed. What is theirs alone is in their files' name, so
that each is found again although an answer was lost. Endpoints were read in Codabench's source
(`api/views/submissions.py`, `datasets.py`): an organiser may cancel and delete any submission of the competition, and a
deleted one does not count for the limits.
"""

import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.fetched import DELETED
from gen_bundle.ground.plain_text import one_line
from gen_bundle.live.competition import zoned
from gen_bundle.live.connection import AnswerError, Connection, LiveError, Row
from gen_bundle.live.datasets import store_file
from gen_bundle.live.responses import body_in_one_line, unsigned

FINAL = frozenset(["Finished", "Failed", "Cancelled"])
ERROR_LOGS = ("scoring_stderr", "prediction_stderr", "scoring_ingestion_stderr", "prediction_ingestion_stderr")
NO_REASON = "no log, and no reason"
_REASON = re.compile(r'(?s)<section class="note"><h2>(.*?)</h2>(.*?)</section>')  # of our own page of a failed run
PREFIX = "gen-bundle-confirm-"
LOOKING_S = 60.0  # for a submission after an answer was lost
SCORES_S = 60.0  # for scores after Finished: the worker sends them later, and a server may refuse them
OUTPUTS_S = 10.0  # for what comes after the scores: outputs, logs, and a failure after all
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 10.0
GONE = {"status": "removed by somebody", "children": [], "scores": []}


def submissions_of(connection: Connection, phase: int) -> dict[int, dict[str, Any]]:
    """Return all submissions to a phase by id, in that order; those to several tasks with a child for each."""
    return dict(sorted((int(row["id"]), row) for row in connection.rows("submissions/", phase=phase)))


def leaderboard_of(connection: Connection, phase: int) -> tuple[Row, list[Row]]:
    """Return a phase's leaderboard as participants see it: its first page, and all rows from the first rank."""
    pages = connection.pages(f"phases/{phase}/get_leaderboard/")
    return pages[0], [row for page in pages for row in page["submissions"]]


def state(row: Row) -> str:
    """Return the status of a submission; also of one that was taken back."""
    return DELETED if row.get("is_soft_deleted") else str(row.get("status") or "unknown")


def created(row: Row) -> datetime:
    """Return when a submission was made, in UTC, to the second."""
    return zoned(row["created_when"]).astimezone(UTC).replace(microsecond=0)


def organization(row: Row) -> str | None:
    """Return the team or organisation in whose name a submission was made."""
    name = row.get("organization")
    if isinstance(name, Mapping):
        name = name.get("name")
    return name and str(name)


def scores(row: Row) -> dict[str, float | str]:
    """Return the scores by the keys of their columns."""
    found: dict[str, float | str] = {}
    for score in row.get("scores") or []:
        key = str(score["column_key"])
        found[key] = str(score["score"])
        with suppress(ValueError, TypeError):
            found[key] = float(score["score"])
    return found


def message(row: Row) -> str:
    """Return why a submission failed, as the server gives it, in one line; empty where it gives nothing."""
    return one_line(unsigned(" ".join(str(row.get("status_details") or "").split())))


def complete(row: Row) -> bool:
    """Return whether nothing more is to come: the server says Finished before the scores are there."""
    if state(row) == "Finished":
        return bool(row.get("scores") or row.get("has_children"))
    return state(row) in (*FINAL, DELETED)


def on_leaderboard(row: Row, otherwise: bool = False) -> bool:
    """Return whether a submission is on the leaderboard, as far as its row says."""
    given = [row[key] for key in ("on_leaderboard", "leaderboard") if key in row]
    return any(given) if given else otherwise


def delete_submission(connection: Connection, number: int) -> str:
    """Delete a submission with its children, which organisers may; why it is still there, nothing once it is gone."""
    path = f"submissions/{number}/"
    try:
        connection.send("DELETE", path)
    except AnswerError as error:
        looked = error
        if error.unclear:
            try:
                connection.get(path)
            except AnswerError as another:
                looked = another
        if looked.code != 404:
            return f"submission {number}: {error.messages[0]}"
    return ""


def details_of(connection: Connection, submission: int) -> Row:
    """Return the signed addresses of all that belongs to a submission; nothing where the server gives none away."""
    try:
        found: Row = connection.get(f"submissions/{submission}/get_details/")
    except AnswerError as error:
        if error.code not in (403, 404):
            raise
        return {}
    return found


def logs_of(details: Row) -> dict[str, str]:
    """Return the signed addresses of a submission's logs by name; a log without text is an empty file."""
    return {str(log["name"]): str(log["data_file"]) for log in details.get("logs") or [] if log.get("data_file")}


def log_texts(connection: Connection, details: Row, names: Sequence[str]) -> dict[str, str]:
    """Return the beginnings of some of a submission's logs by name, in that order, as far as they are given away."""
    logs = logs_of(details)
    return {name: _text(connection, logs[name]) for name in names if name in logs}


def _text(connection: Connection, url: str) -> str:
    try:
        return connection.text(url)
    except AnswerError as error:
        if error.code not in (403, 404):
            raise
        return ""


def failure_reason(connection: Connection, row: Row, details: Row) -> str:
    """Return why a submission failed, in one line: its page, since logs are often lost; else its log; else its message.

    Of a log the first line counts, or the last one where it is a traceback.
    """
    if url := details.get("detailed_result"):
        text = _text(connection, str(url))
        if found := _REASON.search(text):  # its own lines are not ends of sentences
            text = re.sub(r"\s+", " ", " ".join(found.groups()))
        if reason := body_in_one_line(text):
            return unsigned(reason)
    for text in log_texts(connection, details, ERROR_LOGS).values():
        if lines := text.strip().splitlines():
            line = lines[0]
            if line.startswith("Traceback ("):
                line = lines[-1]
            return one_line(unsigned(line.strip()))
    return message(row) or NO_REASON


class NotMadeError(LiveError):
    """The site did not take a submission."""


@dataclass
class OwnSubmissions:
    """The submissions of one run to one competition.

    Attributes:
        competition: the answer of `competitions/ID/`.
        username: whose submissions they are.
        tag: how the names of their files begin.
        made: their ids, by phase.
        rows: what the site last said of them and their children, by id.
    """

    connection: Connection
    competition: Row
    username: str
    tag: str = field(default_factory=lambda: f"{PREFIX}{secrets.token_hex(4)}")
    made: dict[int, list[int]] = field(default_factory=dict)
    rows: dict[int, Row] = field(default_factory=dict)
    _names: int = 0

    def submit(self, phase: int, file: Path, tasks: Sequence[int] | None) -> int:
        """Make a submission to a phase, or to some of its tasks; its id.

        Raises:
            NotMadeError: the site does not take it, or its answer was lost and no submission appeared.
        """
        self._names += 1
        name = f"{self.tag}-{self._names}"
        self.made.setdefault(phase, [])
        try:
            allowed = self.connection.get(f"can_make_submission/{phase}/")
            if not allowed["can"]:  # else the site would answer 500
                raise NotMadeError(str(allowed.get("reason") or "the site gives no reason"))
            more = {"request_sassy_file_name": f"{name}.zip", "competition": self.competition["id"]}
            key = store_file(self.connection, "submission", file, name, **more)
            body: dict[str, Any] = {"data": key, "phase": phase}
            if tasks:
                body["tasks"] = tasks
            number = self._created(phase, name, body)
            self.made[phase].append(number)
            if self.competition.get("auto_run_submissions") is False:
                self.connection.send("POST", f"submissions/{number}/run_submission/")
        except AnswerError as error:
            raise NotMadeError(*error.messages) from None
        return number

    def _created(self, phase: int, name: str, body: Row) -> int:
        try:
            return int(self.connection.send("POST", "submissions/", body)["id"])
        except AnswerError as error:
            if not error.unclear:
                raise
            lost = error
        # it is looked for, and never sent again: it would be scored twice
        for _ in self.connection.looks(LOOKING_S, FIRST_WAIT_S, LONGEST_WAIT_S):
            if found := self._tagged(phase, name):
                return int(found[0]["id"])
        raise NotMadeError(f"{lost.messages[0].rstrip('.')}, and no submission appeared within {LOOKING_S:g} seconds.")

    def _tagged(self, phase: int, beginning: str) -> list[dict[str, Any]]:
        """Return the submissions that the site lists whose files' names begin so."""
        rows = submissions_of(self.connection, phase).values()
        return [row for row in rows if str(row.get("filename") or "").startswith(beginning)]

    def wait(self, labels: Mapping[int, str], patience_s: float) -> None:
        """Wait until submissions, with their children, are scored; afterwards `rows` are their last states.

        `labels` are what they are called in messages, by id; `patience_s` is in seconds.
        """
        shown, latest = "", 0.0
        for waited in self.connection.looks(patience_s, FIRST_WAIT_S, LONGEST_WAIT_S):
            running = []
            for number, label in labels.items():
                if not self._has_ended(number):
                    known = state(self.rows[number]) if number in self.rows else "not known yet"
                    running.append(f"{label} ({known})")
            text = f"{len(labels) - len(running)}/{len(labels)} finished"
            if running:
                text += f"; still running: {', '.join(running)}"
                latest = waited
            if text != shown:
                self.connection.say(text)
                shown = text
            scored = all(row is GONE or complete(row) for row in self.rows.values())
            if not running and (scored or waited - latest >= SCORES_S):
                break
        self.connection.pause(OUTPUTS_S)
        for number in self.rows:
            self._ask(number)

    def _has_ended(self, number: int) -> bool:
        """Ask for a submission with its children; returns whether all of them have ended."""
        self._ask(number)
        row = self.rows.get(number, {})
        parts = [self._has_ended(int(child)) for child in row.get("children") or []]
        return all(parts) and (row is GONE or state(row) in FINAL)

    def _ask(self, number: int) -> None:
        try:
            self.rows[number] = self.connection.get(f"submissions/{number}/")
        except AnswerError as error:
            if error.code == 404:
                self.rows[number] = GONE
            elif not error.unclear:  # a bad moment of the server: it is asked again
                raise

    def in_words(self) -> list[str]:
        """Return what is on the site."""
        return [f"submission {number}" for numbers in self.made.values() for number in numbers]

    def remove(self) -> list[str]:
        """Cancel and delete all of this run's submissions and files; what is left, in words."""
        left: list[str] = []
        self.connection.log_required = False  # a missing line does less harm than what stays on the site
        try:
            for phase, numbers in self.made.items():
                try:  # those that appeared after their answer was lost
                    for row in self._tagged(phase, self.tag):
                        if not row.get("parent") and row["id"] not in numbers:
                            numbers.append(int(row["id"]))
                except UserError as error:
                    left.append(f"perhaps submissions whose answer was lost: {error.messages[0]}")
                while numbers:
                    self._remove_one(numbers[-1], left)
                    numbers.pop()
            if self.made:
                left += self._removed_files()
        except BaseException:
            rest = ", ".join(str(number) for numbers in self.made.values() for number in numbers)
            for line in (*left, f"submissions {rest or '(none)'}, and files called {self.tag}-…"):
                self.connection.say(f"left on the site: {line}")
            raise
        return left

    def _remove_one(self, number: int, left: list[str]) -> None:
        """Cancel and delete a submission, with its children; adds to what is left why that was not possible."""
        path = f"submissions/{number}/"
        with suppress(AnswerError):  # then its job goes on, and its outcome is lost
            if state(self.connection.get(path)) not in FINAL:
                self.connection.send("GET", f"{path}cancel_submission/")
        if kept := delete_submission(self.connection, number):
            left.append(kept)

    def _removed_files(self) -> list[str]:
        """Delete the files that the site did not delete with their submissions; what is left."""
        left = []
        try:
            rows = self.connection.rows("datasets/", _type="submission", search=self.tag)
        except UserError as error:
            return [f"perhaps files called {self.tag}-… (under Resources): {error.messages[0]}"]
        for row in rows:
            if not str(row.get("name")).startswith(self.tag):
                continue
            try:
                self.connection.send("DELETE", f"datasets/{row['id']}/")
            except AnswerError as error:
                if error.code != 404:
                    left.append(f"file {row['name']} (under Resources): {error.messages[0]}")
        return left

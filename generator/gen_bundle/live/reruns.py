"""Rerunning the submissions whose task got other files: in portions, the oldest first, to be continued at any time.

Reruns are new submissions of the same owners, and the old ones stay, on the leaderboard as well under most rules. The
server's own rerun of a phase starts with the newest, which turns ties on the board around, and reruns what was rerun
before once more.
"""

import statistics
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, PrivateAttr

from gen_bundle.codabench.competition import DEFAULT_LIMIT_S
from gen_bundle.ground.fetched import DELETED
from gen_bundle.ground.local_files import read_json, state_file, write_json
from gen_bundle.ground.yaml_document import MAX_METADATA_BYTES, UnreadableYamlError, read_yaml
from gen_bundle.ground.zips.tree import Node, open_archive
from gen_bundle.live.connection import AnswerError, Connection, LiveError, Row
from gen_bundle.live.submissions import (
    FINAL,
    complete,
    created,
    delete_submission,
    leaderboard_of,
    scores,
    state,
    submissions_of,
)
from scoring_kit.base.texts import counted

PORTION = 10
SAMPLE = 5  # runs of a phase whose times are read
RERUNNABLE = ("Finished", "Failed")
FIRST_WAIT_S, LONGEST_WAIT_S = 2.0, 30.0
STANDSTILL_S = 30 * 60.0  # without any change of a submission's status
SCORES_S = 4.0  # for the scores of a submission that has ended
LOOKING_S = 10.0  # for a rerun after an answer was lost
_BY_HAND = "the leaderboard shows the replaced runs until their owners put the reruns on it, or --remove-replaced does"
AFTER_RERUNS = {
    "Add": _BY_HAND,
    "Add_And_Delete": _BY_HAND,
    "Add_And_Delete_Multiple": _BY_HAND,
    "Force_Last": "each rerun takes the place of its owner's earlier runs on the leaderboard",
    "Force_Latest_Multiple": "the leaderboard shows replaced runs beside reruns, until --remove-replaced deletes them",
    "Force_Best": (
        "the leaderboard keeps the best of replaced runs and reruns, so that a score that only the replaced files gave "
        "stays, until --remove-replaced deletes them"
    ),
}
"""Rule of the leaderboard → what becomes of the rows of replaced runs. Source: leaderboards/strategies.py."""
BIN = "On the site: the competition, tab My Submissions or Submissions, the bin beside it"
LONGEST_RUN_S = 7 * 24 * 3600  # longer ones are not believed
TIMES = ("elapsedTime", "ingestionElapsedTime")


@dataclass
class Reruns:
    """The submissions to a phase that were scored by files which have been replaced.

    Attributes:
        due: their ids.
        done: those that were rerun, with the ids of the reruns; also of earlier replacements, since they live on in
            their reruns.
        again: reruns that were run once more although their files are the present ones, with the ids of the newer runs.
        asked: one whose rerun was asked for, and the newest submission at that time; None once its rerun is known.
    """

    due: list[int] = field(default_factory=list)
    done: dict[int, int] = field(default_factory=dict)
    again: dict[int, int] = field(default_factory=dict)
    asked: tuple[int, int] | None = None

    @property
    def pending(self) -> list[int]:
        """Those that are still to be rerun, the oldest first."""
        return sorted(set(self.due) - set(self.done))

    def replaced(self, numbers: Sequence[int]) -> None:
        """Take note that the files were replaced, so that of these submissions those without a rerun are due.

        What was run once more lives on in its newer run alone: one file of a participant is rerun once.
        """
        self.done |= self.again
        self.again.clear()
        self.due = Reruns(list(numbers), self.done).pending

    def newest(self, number: int) -> int:
        """Return the last rerun of a submission; itself where there is none."""
        while number in self.done:
            number = self.done[number]
        return number


class UpdateRecord(BaseModel):
    """Memory of one competition, in a private file outside of all projects.

    Attributes:
        contents: the digests of stored files by their keys.
        reruns: by phase.
    """

    contents: dict[str, str]
    reruns: dict[int, Reruns]
    _file: Path = PrivateAttr()

    def save(self) -> None:
        """Write the file; a UserError where that is not possible."""
        write_json(self._file, self.model_dump())


def read_record(server: str, competition: int) -> UpdateRecord:
    """Read what is remembered of a competition, if it was ever changed from here; a UserError for a damaged file."""
    file = state_file("updates", server, competition)
    advice = "It says what was replaced and rerun: restore it, or delete it to start anew."
    found = read_json(file, UpdateRecord, advice, missing={"contents": {}, "reruns": {}})
    record = UpdateRecord.model_validate(found)
    record._file = file
    return record


def rerunnable(rows: Iterable[Row]) -> list[int]:
    """Return the submissions that may be rerun once they have ended: not deleted, and no parts of others."""
    gone = {*FINAL, DELETED} - {*RERUNNABLE}
    found = []
    for row in rows:
        if not (row.get("parent") or row.get("is_specific_task_re_run") or state(row) in gone):
            found.append(int(row["id"]))
    return sorted(found)


@dataclass(frozen=True)
class Cost:
    """Cost of the reruns of a phase: how many submissions are rerun, and for how long, in words."""

    submissions: int
    text: str


def estimated(connection: Connection, phase: Row, pending: Sequence[int]) -> Cost:
    """Estimate what reruns will take, from the times that the workers measured for the last runs of the phase."""
    rows = submissions_of(connection, phase["id"])
    jobs = 0
    for one in pending:  # a submission to several tasks is run for each
        jobs += max(1, len(rows.get(one, {}).get("children") or []))
    runs = [row for row in rows.values() if state(row) == "Finished" and not row.get("has_children")]
    newest = sorted(runs, key=created, reverse=True)[:SAMPLE]
    times = []
    for row in newest:
        if seconds := _run_times(connection, int(row["id"])):
            times.append(sum(seconds))
    text = f"phase {phase['name']}: {counted(len(pending), 'submission')}"
    if jobs > len(pending):
        text += f" ({jobs} runs)"
    if not times:
        most = _hours(jobs * int(phase.get("execution_time_limit") or DEFAULT_LIMIT_S))
        return Cost(len(pending), f"{text}; no run time is known, at most {most}")
    median = statistics.median(times)
    took = f"median of {len(times)} measured: {median:.0f} s"
    return Cost(len(pending), f"{text}; about {_hours(jobs * median)} on one worker ({took})")


def _hours(seconds: float) -> str:
    hours, minutes = divmod(max(1, round(seconds / 60)), 60)
    return f"{hours} h {minutes} min".removeprefix("0 h ")


def _run_times(connection: Connection, submission: int) -> list[float]:
    """Return the seconds that a submission's programs ran, as the worker wrote them into its results."""
    times = []
    with suppress(AnswerError):  # an estimate is no reason to fail
        details = connection.get(f"submissions/{submission}/get_details/")
        for name in ("prediction_result", "scoring_result"):
            if not details.get(name):
                continue
            with ExitStack() as held, suppress(AnswerError, UnreadableYamlError):
                file = Path(held.enter_context(tempfile.TemporaryDirectory())) / "result.zip"
                connection.download(str(details[name]), file)
                node = open_archive(held.enter_context(file.open("rb")), held).tree.find("metadata")
                found = read_yaml(node.read(MAX_METADATA_BYTES)).value if isinstance(node, Node) else None
                if isinstance(found, Mapping):
                    for key in TIMES:
                        one = found.get(key)
                        if isinstance(one, (int, float)) and 0 <= one < LONGEST_RUN_S:
                            times.append(float(one))
    return times


@dataclass(frozen=True)
class Stale:
    """A row of the leaderboard whose score came of files that were replaced.

    Attributes:
        phase: the phase's id.
        rank: its place on the leaderboard, from 1.
        rerun: the newest rerun of the submission; None where there is none.
    """

    phase: int
    phase_name: str
    rank: int
    submission: int
    owner: str
    rerun: int | None

    def __str__(self) -> str:
        again = f"its rerun is submission {self.rerun}" if self.rerun else "it was not rerun"
        return (
            f"phase {self.phase_name}: rank {self.rank} is still submission {self.submission} of {self.owner}, which "
            f"replaced files scored; {again}."
        )


def still_ranking(connection: Connection, phase: Row, own: Reruns) -> Iterator[Stale]:
    """Yield the rows of a phase's leaderboard whose scores came of replaced files."""
    replaced = {*own.done, *own.due}
    if not replaced:
        return
    rows = submissions_of(connection, phase["id"])
    for rank, row in enumerate(leaderboard_of(connection, phase["id"])[1], 1):
        number = int(rows.get(row["id"], {}).get("parent") or row["id"])
        if number in replaced:
            replaced.remove(number)  # one to several tasks has several rows
            rerun = own.newest(number) if number in own.done else None
            yield Stale(phase["id"], str(phase["name"]), rank, number, str(row["owner"]), rerun)


@dataclass
class Rerun:
    """The reruns of one phase.

    Attributes:
        rule: by which submissions come onto the leaderboard.
    """

    connection: Connection
    phase: Row
    record: UpdateRecord
    rule: str

    @property
    def _own(self) -> Reruns:
        return self.record.reruns[int(self.phase["id"])]

    def run(self, *, doubt_same_scores: bool = True) -> list[str]:
        """Rerun what is pending; what could not be rerun, and which reruns failed.

        Raises:
            LiveError: a whole portion failed that had not failed before, or nothing moves on the site.
            AnswerError: the server cannot be reached.
        """
        self._remember(self._appeared(0))  # where the last run was interrupted
        rows = self._rows()
        ready: list[int] = []
        faults: list[str] = []
        for one in sorted(set(self._own.pending) & set(rerunnable(rows.values()))):
            if state(rows[one]) in RERUNNABLE:
                ready.append(one)
            else:
                faults.append(f"submission {one}: has not ended yet")
        done = 0
        for wanted in self._portions(ready, rows):
            newest = max(self._rows())
            portion = {}
            for old in wanted:
                if new := self._started(old, newest, faults):
                    portion[old] = new
            done += len(wanted)
            self._follow(portion, rows, f"{done} of {len(ready)} submissions rerun", faults)
            if doubt_same_scores and done == len(wanted) and self._same_scores(portion):
                self._say(
                    "the first reruns have the same scores as before. Reruns that used the old program have been "
                    "reported (codabench #2128): compare one with your dry run."
                )
        return faults

    def _follow(self, portion: Mapping[int, int], rows: Mapping[int, Row], said: str, faults: list[str]) -> None:
        """Wait for a portion of reruns; those that fail where the first run did not become faults."""
        ended = self._ended(list(portion.values()))
        failed, worse = 0, False
        for old, new in portion.items():
            outcome = _outcome(new, ended)
            if outcome != "Finished":
                failed += 1
                if _outcome(old, rows) == "Finished":
                    worse = True
                    faults.append(f"submission {new}, the rerun of {old}: {outcome}")
        self._say(f"{said}, {failed} of the last failed")
        if worse and failed == len(portion):
            raise LiveError(
                f"phase {self.phase['name']}: all of the last {failed} reruns failed. Is the new file right?",
                advice="Nothing more is rerun. Correct the bundle, or pass --rerun again to go on.",
            )

    def _say(self, text: str) -> None:
        self.connection.say(f"phase {self.phase['name']}: {text}")

    def _portions(self, ready: Sequence[int], rows: Mapping[int, Row]) -> Iterator[list[int]]:
        """Yield submissions that run beside each other; of one owner only one where the run that ends last counts."""
        portion: list[int] = []
        owners: set[Any] = set()
        for one in ready:
            owner = rows[one].get("owner")
            if len(portion) == PORTION or (self.rule == "Force_Last" and owner in owners):
                yield portion
                portion, owners = [], set()
            portion.append(one)
            owners.add(owner)
        if portion:
            yield portion

    def remove(self, stale: Sequence[Stale], kept: Set[int]) -> list[str]:
        """Delete replaced runs that rank, and let their reruns rank; what was not deleted, and why.

        Under the rule Force_Best the site looks for the best run only when a score arrives: all replaced runs of these
        owners are deleted, and then one rerun of each owner who is not on the board is run once more.

        Those that are not among `kept`, of which all was fetched, stay.

        Raises:
            LiveError, AnswerError: as for `run`.
        """
        rows, best = self._rows(), self.rule == "Force_Best"
        owners = {one.owner for one in stale}
        numbers = {one.submission for one in stale}
        if best:
            for one in self._own.done:
                row = rows.get(one, {})
                if row.get("owner") in owners and state(row) == "Finished":  # one that failed never ranks
                    numbers.add(one)
        faults, again = [], {}
        for number in sorted(numbers):
            newest = self._own.newest(number)
            if fault := self._deleted(number, newest, rows, kept):
                faults.append(f"{fault}. Not deleted. {BIN}".replace("..", "."))
            else:
                self._say(f"submission {number} was deleted; its rerun is {newest}")
                again[rows[newest].get("owner")] = newest
        if best and again:
            for ranking in leaderboard_of(self.connection, self.phase["id"])[1]:
                again.pop(ranking["owner"], None)
            self._own.due = sorted({*self._own.due, *again.values()})
            faults += self.run(doubt_same_scores=False)
            for number in again.values():
                self._own.due.remove(number)
                if newer := self._own.done.pop(number, None):
                    self._own.again[number] = newer
            self.record.save()
        return faults

    def _deleted(self, number: int, newest: int, rows: Mapping[int, Row], kept: Set[int]) -> str:
        """Delete a replaced run, after its rerun was put on a leaderboard that is kept by hand; why not."""
        if newest == number:
            return f"submission {number}: was not rerun"
        if newest not in rows or _outcome(newest, rows) != "Finished":
            return f"submission {number}: its rerun {newest} is not Finished"
        if number not in kept:
            return f"submission {number}: could not be fetched as a whole"
        try:
            if not self.rule.startswith("Force_"):
                self.connection.send("POST", f"submissions/{newest}/submission_leaderboard_connection/")
        except AnswerError as error:
            return f"submission {newest}: cannot be put on the leaderboard: {error.messages[0]}"
        return delete_submission(self.connection, number)

    def _same_scores(self, portion: Mapping[int, int]) -> bool:
        """Return whether all reruns that have scores have those of the first runs."""
        any_has = False
        for old, new in portion.items():
            if scores := self._scores(new):
                any_has = True
                if scores != self._scores(old):
                    return False
        return any_has

    def _scores(self, number: int) -> dict[str, float | str]:
        """Return the scores of a submission, which come a little after its end."""
        row: Row = {}
        with suppress(AnswerError):  # this decides nothing
            for _ in self.connection.looks(SCORES_S, FIRST_WAIT_S, LONGEST_WAIT_S):
                row = self.connection.get(f"submissions/{number}/")
                if complete(row):
                    break
        return scores(row)

    def _rows(self) -> dict[int, dict[str, Any]]:
        return submissions_of(self.connection, self.phase["id"])

    def _started(self, old: int, newest: int, faults: list[str]) -> int:
        """Rerun a submission, and remember it at once; 0 where the server refuses."""
        self._own.asked = old, newest
        self.record.save()
        try:
            new = int(self.connection.send("POST", f"submissions/{old}/re_run_submission/")["id"])
        except AnswerError as error:
            if error.code is None:
                raise
            new = self._appeared(LOOKING_S) if error.unclear else 0
            if not new:
                faults.append(f"submission {old}: {error.messages[0]}")
        self._remember(new)
        return new

    def _remember(self, new: int) -> None:
        if self._own.asked and new:
            self._own.done[self._own.asked[0]] = new
        self._own.asked = None
        self.record.save()

    def _appeared(self, patience_s: float) -> int:
        """The rerun whose answer was lost; looked for, since asking again would run it twice. 0 where there is none."""
        if self._own.asked is None:
            return 0
        old, newest = self._own.asked
        for _ in self.connection.looks(patience_s, FIRST_WAIT_S, LONGEST_WAIT_S):
            rows = self._rows()
            first = rows.get(old, {})
            for number, row in sorted(rows.items()):
                is_its = all(row.get(key) == first.get(key) for key in ("owner", "filename", "parent"))
                if number > newest and is_its and number not in self._own.done.values():
                    return number
        return 0

    def _ended(self, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
        """All submissions to the phase once some of them have ended; a LiveError where nothing moves any more."""
        still, wait = 0.0, FIRST_WAIT_S
        before: dict[int, Any] = {}
        while True:
            rows, now, waiting = self._rows(), {}, []
            for number in numbers:
                row = rows.setdefault(number, {"is_soft_deleted": True})
                status = state(row)
                now[number] = status, row.get("status_details")
                if status not in (*FINAL, DELETED):
                    waiting.append(str(number))
            if not waiting:
                return rows
            if now != before:
                still, wait, before = 0.0, FIRST_WAIT_S, now
            else:
                still, wait = still + wait, min(2 * wait, LONGEST_WAIT_S)
            if still >= STANDSTILL_S:
                raise LiveError(
                    f"phase {self.phase['name']}: submissions {', '.join(waiting)} have not moved for "
                    f"{STANDSTILL_S / 60:g} minutes.",
                    advice="Is a worker running? Pass --rerun again to go on with the rest.",
                )
            self.connection.pause(wait)


def _outcome(number: int, rows: Mapping[int, Row]) -> str:
    """Return how a submission ended; the site calls one to several tasks Finished whatever became of its parts."""
    outcome = state(rows[number])
    parts = [state(row) for row in rows.values() if row.get("parent") == number]
    return "Failed" if outcome == "Finished" and "Failed" in parts else outcome

"""Rerunning the submissions whose task got other files: in portions, the oldest first, to be continued at any time.

Reruns are new submissions of the same owners, and the old ones stay. The server's own rerun of a phase starts with the
newest, which turns ties on the board around, and reruns what was rerun before once more.
"""

import statistics
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gen_bundle.codabench.yaml_document import MAX_METADATA_BYTES, UnreadableYamlError, read_yaml
from gen_bundle.errors import UserError
from gen_bundle.live.connection import AnswerError, Connection
from gen_bundle.live.submissions import DELETED, FINAL, complete, created, scores, state, submissions_of
from gen_bundle.live.update_record import Reruns, UpdateRecord
from gen_bundle.plain_text import counted
from gen_bundle.zips.reading import open_archive
from gen_bundle.zips.tree import Node, ignore_count

PORTION = 10
SAMPLE = 5  # runs of a phase whose times are read
RERUNNABLE = ("Finished", "Failed")
FIRST_WAIT_S, LONGEST_WAIT_S = 2.0, 30.0
STANDSTILL_S = 30 * 60.0  # without any change of a submission's status
SCORES_S = 4.0  # for the scores of a submission that has ended
LOOKING_S = 10.0  # for a rerun after an answer was lost
DELETED_ROW: dict[str, Any] = {"is_soft_deleted": True}
LONGEST_RUN_S = 7 * 24 * 3600  # longer ones are not believed
TIMES = ("elapsedTime", "ingestionElapsedTime")


class RerunError(UserError):
    """Reruns that were not all made; called again, the rest is."""

    status = 1


@dataclass(frozen=True)
class Cost:
    """What the reruns of a phase take.

    Attributes:
        submissions: how many are rerun.
        jobs: runs that they take; a submission to several tasks is run for each.
        median_s: the median time of runs that were measured, in seconds; None where none was.
        measured: how many were.
        limit_s: seconds that a run may take.
    """

    phase: str
    submissions: int
    jobs: int
    median_s: float | None
    measured: int
    limit_s: int

    def __str__(self) -> str:
        runs = counted(self.submissions, "submission") + (
            f" ({self.jobs} runs)" if self.jobs > self.submissions else ""
        )
        if self.median_s is None:
            return f"phase {self.phase}: {runs}; no run time is known, at most {_hours(self.jobs * self.limit_s)}"
        took = f"median of {self.measured} measured: {self.median_s:.0f} s"
        return f"phase {self.phase}: {runs}; about {_hours(self.jobs * self.median_s)} on one worker ({took})"


def _hours(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


def rerunnable(rows: Iterable[Mapping[str, Any]]) -> list[int]:
    """The submissions that may be rerun once they have ended: participants' own, not deleted, no parts of others."""
    gone = {*FINAL, DELETED} - {*RERUNNABLE}
    return sorted(
        int(row["id"])
        for row in rows
        if not row.get("parent") and not row.get("is_specific_task_re_run") and state(row) not in gone
    )


def estimated(connection: Connection, phase: Mapping[str, Any], pending: Sequence[int]) -> Cost:
    """What reruns will take, from the times that the workers measured for the last runs of the phase.

    Raises:
        AnswerError: the server refuses.
    """
    rows = submissions_of(connection, phase["id"])
    parts = {int(row["id"]): len(row.get("children") or []) for row in rows}
    runs = [row for row in rows if state(row) == "Finished" and not row.get("has_children")]
    newest = sorted(runs, key=created, reverse=True)[:SAMPLE]
    times = [seconds for row in newest if (seconds := _run_time(connection, int(row["id"]))) is not None]
    return Cost(
        str(phase["name"]),
        len(pending),
        sum(max(1, parts.get(one, 1)) for one in pending),
        statistics.median(times) if times else None,
        len(times),
        int(phase.get("execution_time_limit") or 600),
    )


def _run_time(connection: Connection, submission: int) -> float | None:
    """The seconds that a submission's programs ran, as the worker wrote them into its results."""
    try:
        details = connection.get(f"submissions/{submission}/get_details/")
    except AnswerError:  # an estimate is no reason to fail
        return None
    urls = [str(details[name]) for name in ("prediction_result", "scoring_result") if details.get(name)]
    found = [seconds for url in urls for seconds in _times(connection, url)]
    return sum(found) if found else None


def _times(connection: Connection, url: str) -> list[float]:
    with ExitStack() as held, suppress(AnswerError, UnreadableYamlError):
        file = Path(held.enter_context(tempfile.TemporaryDirectory())) / "result.zip"
        connection.download(url, file)
        node = open_archive(held.enter_context(file.open("rb")), ignore_count, held).tree.find("metadata")
        found = read_yaml(node.read(MAX_METADATA_BYTES)).value if isinstance(node, Node) else None
        times = [found.get(key) for key in TIMES] if isinstance(found, Mapping) else []
        return [float(one) for one in times if isinstance(one, (int, float)) and 0 <= one < LONGEST_RUN_S]
    return []


@dataclass
class Rerun:
    """The reruns of one phase.

    Attributes:
        progress: hears of each portion.
    """

    connection: Connection
    phase: Mapping[str, Any]
    record: UpdateRecord
    progress: Callable[[str], None] = lambda _: None

    @property
    def _own(self) -> Reruns:
        return self.record.reruns[int(self.phase["id"])]

    def run(self) -> list[str]:
        """Rerun what is pending; what could not be rerun, and which reruns failed.

        Raises:
            RerunError: a whole portion failed that had not failed before, or nothing moves on the site.
            AnswerError: the server cannot be reached.
        """
        faults: list[str] = []
        self._remember(self._appeared(0))  # where the last run was interrupted
        rows = self._rows()
        possible = set(rerunnable(rows.values()))
        pending = [one for one in self._own.pending if one in possible]
        ready = [one for one in pending if state(rows[one]) in RERUNNABLE]
        faults += [f"submission {one}: has not ended yet" for one in pending if one not in ready]
        for start in range(0, len(ready), PORTION):
            newest = max(self._rows())
            asked = {old: self._started(old, newest, faults) for old in ready[start : start + PORTION]}
            portion = {old: new for old, new in asked.items() if new}
            states = self._ended(list(portion.values()))
            worse = [old for old, new in portion.items() if states[new] != "Finished" == state(rows[old])]
            faults += [f"submission {portion[old]}, the rerun of {old}: {states[portion[old]]}" for old in worse]
            failed = sum(states[new] != "Finished" for new in portion.values())
            done = f"{min(start + PORTION, len(ready))} of {len(ready)}"
            self.progress(f"phase {self.phase['name']}: {done} submissions rerun, {failed} of the last failed")
            if worse and failed == len(portion):
                raise RerunError(
                    f"phase {self.phase['name']}: all of the last {failed} reruns failed. Is the new file right?",
                    advice="Nothing more is rerun. Correct the bundle, or pass --rerun again to go on.",
                )
            if start == 0 and self._same_scores(portion):
                self.progress(
                    f"phase {self.phase['name']}: the first reruns have the same scores as before. Reruns that used "
                    "the old program have been reported (codabench #2128): compare one with your dry run."
                )
        return faults

    def _same_scores(self, portion: Mapping[int, int]) -> bool:
        """Whether all reruns that have scores have those of the first runs."""
        seen = [(self._scores(old), self._scores(new)) for old, new in portion.items()]
        return any(new for _, new in seen) and all(old == new for old, new in seen if new)

    def _scores(self, number: int) -> dict[str, float | str]:
        """The scores of a submission, which come a little after its end."""
        row: dict[str, Any] = {}
        with suppress(AnswerError):  # this decides nothing
            for _ in self.connection.looks(SCORES_S, FIRST_WAIT_S, LONGEST_WAIT_S):
                row = self.connection.get(f"submissions/{number}/")
                if complete(row):
                    break
        return scores(row)

    def _rows(self) -> dict[int, dict[str, Any]]:
        return {int(row["id"]): row for row in submissions_of(self.connection, self.phase["id"])}

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

    def _ended(self, numbers: Sequence[int]) -> dict[int, str]:
        """The states of submissions once all of them have ended.

        Raises:
            RerunError: nothing moves any more.
        """
        still, wait = 0.0, FIRST_WAIT_S
        seen: dict[int, tuple[str, Any]] = {}
        while True:
            rows = self._rows()
            own = {number: rows.get(number, DELETED_ROW) for number in numbers}
            states = {number: state(row) for number, row in own.items()}
            waiting = [number for number in numbers if states[number] not in (*FINAL, DELETED)]
            if not waiting:
                return states
            moves = {number: (states[number], own[number].get("status_details")) for number in numbers}
            still, wait = (still + wait, min(2 * wait, LONGEST_WAIT_S)) if moves == seen else (0.0, FIRST_WAIT_S)
            seen = moves
            if still >= STANDSTILL_S:
                raise RerunError(
                    f"phase {self.phase['name']}: submissions {', '.join(map(str, waiting))} have not moved for "
                    f"{STANDSTILL_S / 60:g} minutes.",
                    advice="Is a worker running? Pass --rerun again to go on with the rest.",
                )
            self.connection.pause(wait)

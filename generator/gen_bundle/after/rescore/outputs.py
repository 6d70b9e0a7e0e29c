"""The files that a rescoring leaves: `rescore.json`, `changes.csv` and `rescore.html`."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gen_bundle.after.rescore.standings import BoardChanges, ScoreChange
from gen_bundle.build.render.html_page import Functions, html_page
from gen_bundle.build.render.rankings import csv_text
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import write_whole
from gen_bundle.ground.plain_text import one_line

TEMPLATE = Path(__file__).resolve().parent / "templates" / "rescore.html.j2"
RUN_FIELDS = ("submission", "task", "status", "exit_code", "scores", "digest")
FIELDS = ("submission", "column", "old", "new", "rank_old", "rank_new")
_KEPT_RESULTS = "[0-9a-f][0-9a-f]"  # folders of results, by how their digests begin
NOT_RUN = "Not run"
"""The status of a run that has no result."""


@dataclass(frozen=True)
class ScoredRun:
    """A submission scored for a task; a record of `runs` in rescore.json.

    Attributes:
        status: `Finished`, `Failed` or `Not run`.
        scores: what the platform would store; None where it stores none.
        digest: of program, reference data, submission, task and image: equal ones have equal results.
        message: why it failed or was not run.
    """

    submission: str
    task: str
    status: str
    exit_code: int | None
    scores: Mapping[str, Any] | None
    digest: str
    message: str = ""


@dataclass(frozen=True)
class Rescored:
    """The results of a rescoring.

    Attributes:
        against: what the old scores are; empty where there are none.
        runs: by submission and task.
        notes: what should be known besides.
        complete: no job got lost, none of the old bundle either.
    """

    title: str
    phase: str
    against: str
    runs: Sequence[ScoredRun]
    comparison: BoardChanges
    notes: Sequence[str] = ()
    complete: bool = True

    @property
    def failed(self) -> Sequence[str]:
        """Return the submission of each run that failed by the submission's fault."""
        return [run.submission for run in self.runs if run.status == "Failed"]

    @property
    def not_run(self) -> Sequence[str]:
        """Return the submission of each run that has no result."""
        return [run.submission for run in self.runs if run.status == NOT_RUN]

    @property
    def others_failed(self) -> Sequence[str]:
        """The submissions that failed, without those of which it is known that they did not fail before."""
        return sorted({*self.failed}.difference(self.comparison.fails_now))

    @property
    def reasons(self) -> Mapping[str, str]:
        """Return why a submission failed or was not run: what its first such run says."""
        return {run.submission: run.message for run in reversed(self.runs) if run.message}

    @property
    def good(self) -> bool:
        """All were scored and nothing changed; without old scores, none failed."""
        return self.complete and (self.comparison.same if self.against else not self.failed)


def make_room(results: Path) -> None:
    """Make the folder of the results kept below `--out`, or go on with those of an earlier rescoring.

    Raises:
        UserError: the folder around it holds something else, or cannot be used.
    """
    out = results.parent
    try:
        holds = sorted(path.name for path in out.glob("[!.]*"))
        others = {*results.glob("[!.]*")}.difference(results.glob(_KEPT_RESULTS))
        if holds and (others or not results.is_dir()):
            raise UserError(
                f"--out {out}: holds files that no rescoring wrote ({', '.join(holds[:5])}). "
                "Expected a new or empty folder, or that of an earlier rescoring."
            )
        results.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--out {out}: cannot be used ({error.strerror}). Expected a folder.") from error


def write_outputs(rescored: Rescored, out: Path) -> None:
    """Write the three files; the same bytes for the same results.

    Raises:
        UserError: one cannot be written.
    """
    write_whole(out / "rescore.json", _json(rescored))
    write_whole(out / "changes.csv", _csv(rescored.comparison.changes))
    write_whole(out / "rescore.html", _html(rescored))


def _json(rescored: Rescored) -> bytes:
    content = {"runs": _records(rescored.runs, RUN_FIELDS), "changes": _records(rescored.comparison.changes, FIELDS)}
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode(errors="backslashreplace")


def _records(found: Iterable[object], names: Sequence[str]) -> list[dict[str, Any]]:
    """What of each is written."""
    records = []
    for one in found:
        records.append({name: getattr(one, name) for name in names})
    return records


def _csv(changes: Sequence[ScoreChange]) -> bytes:
    rows: list[list[object]] = [[*FIELDS[:4], "difference", *FIELDS[4:]]]
    for change in changes:
        score = [change.submission, change.column, change.old, change.new]
        rows.append([*score, difference(change), change.rank_old, change.rank_new])
    return csv_text(rows).encode("utf-8", "backslashreplace")


def difference(change: ScoreChange) -> float | None:
    """New less old, without the noise of binary fractions; None where one of them is missing."""
    return None if change.old is None or change.new is None else round(change.new - change.old, 10)


def shown(value: float | None) -> str:
    """Return a score as people read it."""
    return "–" if value is None else f"{value:.10g}"


def shown_difference(change: ScoreChange) -> str:
    """Return the difference of a score in words or figures."""
    if change.old is None:
        return "new"
    if (by := difference(change)) is None:
        return "lost"
    return f"{by:+.6g}" if by else "same"


def _html(rescored: Rescored) -> bytes:
    filters: Functions = {"line": one_line, "shown": shown, "difference": shown_difference}
    values = {"rescored": rescored, "comparison": rescored.comparison, "messages": rescored.reasons}
    return html_page(TEMPLATE, filters, values).encode("utf-8", "backslashreplace")

"""What the scoring program wrote in a dry run, against the columns of the leaderboard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gen_bundle.check.registry import SCORES, WORKER, Effect, Problem, rule
from gen_bundle.codabench.competition import Column
from gen_bundle.codabench.versions import DIFFERENCES
from gen_bundle.codabench.worker import LONG_LOG_BYTES, LONG_LOG_LINES, is_long_log

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle


def scored_columns(columns: tuple[Column, ...]) -> list[Column]:
    """The columns that a scoring program has to write itself."""
    return [column for column in columns if not column.computation]


@rule(
    "column-never-written",
    Effect.TRAP,
    title="a column that the scoring program does not write",
    consequence="The cell stays empty (n/a), and tie-breaking by it is meaningless.",
    repair="Write the key in every scores.json, or delete the column. Keys count as written, without outer blanks.",
    source=SCORES,
    reads="both",
)
def _column_never_written(bundle: Bundle) -> Iterator[Problem]:
    competition = bundle.competition
    for column in _unwritten(bundle):
        if column.index != competition.primary_index:
            yield Problem(f"no dry run wrote the key {column.key}", column.at)


@rule(
    "primary-never-written",
    Effect.BROKEN,
    title="the scoring program does not write the primary column",
    consequence="Rows without a primary score stand on top of a descending leaderboard.",
    repair="Write the key in every scores.json, or make another column the primary one.",
    source=f"{SCORES}; github.com/codalab/codabench issues 1284 and 2321",
    reads="both",
)
def _primary_never_written(bundle: Bundle) -> Iterator[Problem]:
    for column in _unwritten(bundle):
        if column.index == bundle.competition.primary_index:
            yield Problem(f"no dry run wrote the primary key {column.key}", column.at)


def _unwritten(bundle: Bundle) -> list[Column]:
    if not bundle.dry_run.scored:
        return []
    written = bundle.dry_run.written
    return [column for column in scored_columns(bundle.competition.columns) if column.key not in written]


@rule(
    "computed-key-written",
    Effect.BROKEN,
    title="the scoring program writes the key of a computed column",
    consequence="Written after its inputs, it makes the upload of scores end in a server error.",
    repair="Do not write it: the server computes the column.",
    source=SCORES,
)
def _computed_key_written(bundle: Bundle) -> Iterator[Problem]:
    written = bundle.dry_run.written
    for column in bundle.competition.columns:
        if column.computation and column.key in written:
            yield Problem(f"a dry run wrote the computed key {column.key}", column.at)


@rule(
    "score-without-column",
    Effect.NOTE,
    title="a score that has no column",
    consequence="It is ignored without a word.",
    repair="Add a column with this key, or leave it to the detailed results.",
    source=SCORES,
    reads="both",
)
def _score_without_column(bundle: Bundle) -> Iterator[Problem]:
    keys = {column.key for column in bundle.competition.columns}
    unknown = sorted(bundle.dry_run.written - keys)
    if unknown:
        yield Problem(f"dry runs wrote keys without a column: {', '.join(unknown[:10])}", ("leaderboards",))


@rule(
    "log-too-long",
    Effect.TRAP,
    title="a scoring program that prints much",
    consequence=f"From about {LONG_LOG_LINES} lines or {LONG_LOG_BYTES // 1024} KiB on, logs are unsafe: "
    + "; ".join(f"with version {version} {facts.long_log}" for version, facts in DIFFERENCES.items())
    + ".",
    repair="Print less, what matters last; put the rest into detailed_results.html.",
    source=WORKER,
    reads="both",
)
def _log_too_long(bundle: Bundle) -> Iterator[Problem]:
    lines, size = max(bundle.dry_run.logs, default=(0, 0), key=lambda log: log[1])
    if is_long_log(lines, size):
        yield Problem(f"in a dry run the scoring program printed {lines:,} lines, {size:,} bytes", ("tasks",))

"""The rules of the server: what it takes and stores, which submissions are on the board, and in which order.

Each rule names its place in Codabench's public source of 1.25, below `src/apps/`. What makes a scores file
in the first place is in `gen_bundle.codabench.worker`.
"""

import decimal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from gen_bundle.codabench.competition import AVERAGE_RANK, DEFAULT_LIMIT_S, Column, Leaderboard, Phase
from gen_bundle.codabench.versions import DIFFERENCES, NEWEST, Differences

NOT_AVAILABLE = "n/a"
# leaderboards/models.py, SubmissionScore.score: DecimalField(max_digits=20, decimal_places=10).
DIGITS = 20
DECIMALS = 10
SMALLEST = Decimal(1).scaleb(-DECIMALS)
TOO_LARGE = Decimal("1e10")
_FLOAT = decimal.Context(prec=DIGITS)
_WIDE = decimal.Context(prec=60, rounding=decimal.ROUND_HALF_UP)


def closed(phase: Phase, now: datetime) -> str | None:
    """Return why a phase takes no submission now, or None.

    In 1.25 only the web page looks at the dates, and the API takes submissions to phases that are over; in 1.32 (read
    in threads and forks) the API answers 400.
    """
    start, end = phase.start.moment, phase.end.moment
    if start is not None and now < start:
        return f"phase {phase.id} is not open yet: it starts {start:%Y-%m-%d %H:%M} UTC"
    if end is not None and now > end:
        return f"phase {phase.id} is over: it ended {end:%Y-%m-%d %H:%M} UTC"
    return None


def time_limit(phase_seconds: int | None, *, own_queue: bool) -> int:
    """Seconds that each of two jobs gets: the phase's (600 where none is set), at most 600 on the default queue.

    Source: competitions/tasks.py, `_send_to_compute_worker`, with the server's default MAX_EXECUTION_TIME_LIMIT.
    """
    seconds = phase_seconds or DEFAULT_LIMIT_S
    if own_queue:
        return seconds
    return min(seconds, DEFAULT_LIMIT_S)


class RefusedError(Exception):
    """The server answers the upload of scores with an error; what was stored before stays."""


@dataclass
class Score:
    """One stored score: ten decimals."""

    column: Column
    value: Decimal


def stored_value(key: str, value: object) -> Decimal:
    """Return a score as the database keeps it: ten decimals, ten digits before them.

    Source: Django's `DecimalField.to_python` (a float through a context of 20 digits) and PostgreSQL's numeric(20,
    10), which rounds halves away from zero. True and false count as 1 and 0; texts are read by Python's Decimal.

    Raises:
        RefusedError: No number, not finite, or too large.
    """
    try:
        if isinstance(value, float):
            number = _FLOAT.create_decimal_from_float(value)
        elif isinstance(value, int | str):
            number = Decimal(value)
        else:
            raise RefusedError(f"{key!r} is {kind_of(value)}, expected a number")
    except decimal.InvalidOperation as error:
        raise RefusedError(f"{key!r} is {value!r}, expected a number") from error
    if not number.is_finite():
        raise RefusedError(f"{key!r} is {value!r}, expected a finite number")
    if number.copy_abs() >= TOO_LARGE or abs(stored := rounded(number)) >= TOO_LARGE:
        raise RefusedError(f"{key!r} is {value!r}: ten digits before the point are stored")
    return stored


def shown_text(value: Decimal, precision: int | None) -> str:
    """Return a score as the board shows it; zeros are not padded.

    Source: leaderboards/models.py, `SubmissionScore`: `round(float(score), precision)`.
    """
    return str(round(float(value), precision))


def rounded(number: Decimal) -> Decimal:
    """Return a number with ten decimals."""
    # The sum has no negative zero, and neither has PostgreSQL.
    return _WIDE.add(number.quantize(SMALLEST, context=_WIDE), Decimal())


def combined(computation: str, values: list[Decimal]) -> Decimal:
    """Return what `avg`, `sum`, `min` or `max` makes of scores. Source: leaderboards/models.py, `Column.compute`."""
    with decimal.localcontext(_WIDE):
        if computation == "sum":
            return sum(values, Decimal())
        if computation == "avg":
            return sum(values, Decimal()) / len(values)
    return min(values) if computation == "min" else max(values)


def kind_of(value: object) -> str:
    """Return what a value is, in words."""
    names = {type(None): "null", bool: "true or false", str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), f"a {type(value).__name__}")


class NoBoardError(Exception):
    """The leaderboard's page answers with an error."""


@dataclass(eq=False)
class Submitted:
    """A submission as the server keeps it. In a phase of several tasks one is the parent, with a child for each task.

    Attributes:
        name: What it is called here.
        owner: The participant.
        task: The child's task; None otherwise.
        ended: Its run is over.
        finished: Its status is Finished.
        on_board: It is on the leaderboard.
    """

    name: str
    owner: str
    task: str | None = None
    parent: "Submitted | None" = None
    children: "list[Submitted]" = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    ended: bool = False
    finished: bool = False
    on_board: bool = False

    @property
    def failed(self) -> bool:
        return self.ended and not self.finished

    @property
    def is_shown(self) -> bool:
        """It, or a child of it, is on the leaderboard."""
        return any(part.on_board for part in (self, *self.children))


Cell = tuple[Submitted, Column, str]
Places = list[tuple[int, Decimal]]
"""A submission's sorting key, ascending."""


class RankedRow(NamedTuple):
    """A row of the board: a submission with its entries (one, or one for each task shown), best first."""

    rank: int
    entry: Submitted
    cells: tuple[Cell, ...]


@dataclass
class Board:
    """The leaderboard of one phase, with all its submissions in the order in which they were made."""

    leaderboard: Leaderboard
    version: Differences = DIFFERENCES[NEWEST]
    entries: list[Submitted] = field(default_factory=list)

    def used_up(self, phase: Phase, owner: str) -> str | None:
        """Return why a participant has no submission to the phase left, or None.

        Source: competitions/models.py, `Phase.can_user_make_submissions`: failed submissions and children do not count;
        0 and null mean no limit. All are taken to be of one day.
        """
        made = sum(entry.owner == owner and entry.parent is None and not entry.failed for entry in self.entries)
        if phase.a_day and made >= phase.a_day:
            return "Reached maximum allowed submissions for today for this phase"
        if phase.in_all and made >= phase.in_all:
            return "Reached maximum allowed submissions for this phase"
        return None

    def submit(self, name: str, owner: str, tasks: Sequence[str] = ()) -> Submitted:
        """Return a new submission; with several tasks it gets a child for each.

        Source: competitions/tasks.py, `_run_submission`: more than one task makes a parent with children.
        """
        entry = Submitted(name, owner)
        if len(tasks) > 1:
            entry.children = [Submitted(name, owner, task, parent=entry) for task in tasks]
        self.entries += [entry, *entry.children]
        return entry

    def finish(self, entry: Submitted) -> None:
        """Set a submission to Finished, as the worker does before it sends scores.

        Source: competitions/models.py, `Submission.check_children`: a parent is Finished when all its children ended,
        however.
        """
        entry.ended = entry.finished = True
        self._close_parent(entry)

    def fail(self, entry: Submitted) -> None:
        entry.ended = True
        entry.finished = False
        self._close_parent(entry)

    def _close_parent(self, entry: Submitted) -> None:
        if (parent := entry.parent) and all(child.ended for child in parent.children):
            parent.ended = True
            parent.finished = not self.version.parent_may_fail or any(child.finished for child in parent.children)

    def upload(self, entry: Submitted, scores: object) -> dict[str, Any]:
        """Store the scores that a worker sent, in the order of the file, then apply an automatic rule.

        Source: api/views/submissions.py, `upload_submission_scores`. Keys that are not columns are skipped; the scores
        of a child count for its parent too; computed columns are made anew after each score, on the parent if there
        is one. Not one transaction: what was stored before an error stays, but then the rule is not reached.

        Returns:
            The scores by key.

        Raises:
            RefusedError: HTTP 500; the worker does not look at it and the submission stays Finished.
        """
        if not isinstance(scores, dict):
            raise RefusedError(f"the scores are {kind_of(scores)}, expected an object of column keys and numbers")
        whole = entry.parent or entry
        for key, value in scores.items():
            column = self.leaderboard.column(key)
            if column is None:
                continue
            score = Score(column, stored_value(key, value))
            entry.scores.append(score)
            if whole is not entry:
                whole.scores.append(score)
            self._compute(whole)
        self._apply_rule(entry)
        return scores

    def _compute(self, entry: Submitted) -> None:
        """Make the computed columns from the scores that are there.

        Source: competitions/models.py, `Submission.calculate_scores`, and leaderboards/models.py, `Column.compute`.
        """
        for column in self.leaderboard.columns:
            if column.computation in (None, AVERAGE_RANK):
                continue
            if not column.computation or not column.inputs:
                raise RefusedError(f"column {column.key!r} is computed from no columns")
            inputs = [score.value for score in entry.scores if score.column.index in column.inputs]
            if not inputs:
                continue
            there = [score for score in entry.scores if score.column is column]
            if len(there) > 1:
                raise RefusedError(
                    f"the scorer wrote {column.key!r}, which the platform computes, after the columns it is made of"
                )
            value = rounded(combined(column.computation, inputs))
            if there:
                there[0].value = value
            else:
                entry.scores.append(Score(column, value))

    def _apply_rule(self, entry: Submitted) -> None:
        """Put submissions on the board by themselves, where the rule is an automatic one.

        Source: leaderboards/strategies.py. `Force_Best` looks at the owner's Finished submissions, parents and
        children alike, each by the sum of its scores in each column (hidden ones too), so that one without a primary
        score comes first on a descending board.

        Raises:
            RefusedError: `Force_Best` finds no primary column.
        """
        rule = self.leaderboard.submission_rule
        if rule == "Force_Last":
            self._clear(entry.owner)
            self._put(entry)
        elif rule == "Force_Latest_Multiple":
            self._put(entry)
        elif rule == "Force_Best":
            self._clear(entry.owner)
            primary = self.leaderboard.primary
            if primary is None:
                raise RefusedError(f"no column has the index {self.leaderboard.primary_index} (primary_index)")
            own = [other for other in self.entries if other.owner == entry.owner and other.finished]
            if own:
                order = [primary, *self.leaderboard.columns]
                missing_first = dict.fromkeys(order, self.version.best_prefers_missing)
                self._put(min(own, key=lambda other: _places(other, missing_first)))

    def add_by_hand(self, entry: Submitted) -> None:
        """Put a submission on the board, as a participant does under a manual rule.

        Source: api/views/submissions.py, `submission_leaderboard_connection`: replaces the owner's earlier one, but
        for `Add_And_Delete_Multiple`.
        """
        if self.leaderboard.submission_rule != "Add_And_Delete_Multiple":
            self._clear(entry.owner)
        self._put(entry)

    def _clear(self, owner: str) -> None:
        for entry in self.entries:
            if entry.owner == owner:
                entry.on_board = False

    @staticmethod
    def _put(entry: Submitted) -> None:
        for part in entry.children or [entry]:
            part.on_board = True

    def rows(self, *, shared: bool = False) -> list[RankedRow]:
        """Return the board as it is shown; with `shared`, equal rows share a rank, as they do with `tie_break`.

        Source: api/serializers/leaderboards.py, `LeaderboardPhaseSerializer`/`LeaderboardEntriesSerializer`, and
        api/views/competitions.py, `PhaseViewSet.get_leaderboard`: primary column, then the other visible ones by
        index, then the earlier submission; ranks are positions, so that ties get consecutive ones; children are
        gathered in the row of the one that is met first. Average ranks compare the rows and come last. With `tie_break`
        the columns that it names come in place of the others, and rows that are still equal share a rank, which the
        platform does not do.

        Raises:
            NoBoardError: No column has the primary index, or all are hidden.
        """
        shared = shared or self.leaderboard.tie_break is not None
        primary = self._ranking_column()
        deciding = self._deciding(primary)
        on_board = [entry for entry in self.entries if entry.on_board]
        on_board.sort(key=lambda entry: _places(entry, deciding))
        shown: dict[Submitted, list[Cell]] = {}
        places: dict[Submitted, Places] = {}
        for entry in on_board:
            whole = entry.parent or entry
            # the entries come in order, so that the first part which is met is the best one
            places.setdefault(whole, _places(entry, deciding))
            shown.setdefault(whole, []).extend(_stored_cells(entry))
        _add_average_ranks(list(shown.values()), self.leaderboard.visible)
        if primary.computation == AVERAGE_RANK:
            for whole, cells in shown.items():
                # it compares rows, and so is known only now that they are complete
                places[whole].insert(0, _average_rank_place(cells, primary))
        ranked: list[RankedRow] = []
        for position, whole in enumerate(sorted(shown, key=lambda whole: places[whole]), start=1):
            rank, above = position, ranked[-1:]
            if above and shared and places[above[0].entry] == places[whole]:
                rank = above[0].rank
            ranked.append(RankedRow(rank, whole, tuple(shown[whole])))
        return ranked

    def _ranking_column(self) -> Column:
        if not self.leaderboard.visible:
            raise NoBoardError("No columns exist on the leaderboard (all are hidden)")
        if self.leaderboard.primary is None:
            raise NoBoardError(
                f"no column has the index {self.leaderboard.primary_index} (primary_index): the page answers 500"
            )
        return self.leaderboard.primary

    def _deciding(self, primary: Column) -> dict[Column, bool]:
        """The columns that order the board by stored scores, each with whether a missing score comes first there.

        Where a computed rank comes first, none does on the platform: rows come by age.
        """
        further: Sequence[Column] = self.leaderboard.visible
        if self.leaderboard.tie_break is not None:
            further = [column for key in self.leaderboard.tie_break for column in further if column.key == key]
        elif primary.computation == AVERAGE_RANK:
            further = ()
        deciding: dict[Column, bool] = {}
        if primary.computation != AVERAGE_RANK:
            deciding[primary] = self.version.missing_leads
        for column in further:
            if column is not primary and column.computation != AVERAGE_RANK:
                deciding[column] = self.version.missing_breaks_ties_first
        return deciding

    def cells(self, row: RankedRow, owners: Mapping[str, str]) -> dict[str, str]:
        """Return the shown text of each visible column, `n/a` where there is none.

        In a phase of several tasks `owners` says which a column belongs to; of other columns the first task counts.
        """
        return self._texts(row, row.entry.children or [row.entry], owners)

    def cells_by_task(self, row: RankedRow) -> dict[str, dict[str, str]] | None:
        """Return the same for each task, as the platform lays out a phase of several; None in a phase of one."""
        by_task = {}
        for entry in row.entry.children:
            by_task[entry.task or ""] = self._texts(row, [entry], {})
        return by_task or None

    def _texts(self, row: RankedRow, parts: Sequence[Submitted], owners: Mapping[str, str]) -> dict[str, str]:
        shown: dict[str, str] = {}
        for entry in parts:
            for shown_for, column, text in row.cells:
                if shown_for is entry and owners.get(column.key, entry.task) == entry.task:
                    # the first text counts: a scorer may have written a score for the average rank
                    shown.setdefault(column.key, text)
        return {column.key: shown.get(column.key, NOT_AVAILABLE) for column in self.leaderboard.visible}


def _stored_cells(entry: Submitted) -> list[Cell]:
    """Return what a submission's stored scores show, by the columns' indexes."""
    cells = []
    for score in sorted(entry.scores, key=lambda score: score.column.index or 0):
        if not score.column.hidden:
            cells.append((entry, score.column, shown_text(score.value, score.column.precision)))
    return cells


def _places(entry: Submitted, missing_first: Mapping[Column, bool]) -> Places:
    """Return what a submission is sorted by, column after column.

    Args:
        entry: The submission.
        missing_first: The columns in their order, and whether a missing score comes first in a descending one, as in
            PostgreSQL's order with nulls; in an ascending one it always comes last.
    """
    places: Places = []
    for column, leads in missing_first.items():
        scores = [score.value for score in entry.scores if score.column is column]
        total = sum(scores, Decimal())
        if not column.ascending:
            total = -total
        if scores:
            place = 1
        elif leads and not column.ascending:
            place = 0
        else:
            place = 2
        places.append((place, total))
    return places


def _add_average_ranks(rows: Sequence[list[Cell]], visible: Sequence[Column]) -> None:
    """Add to each row's cells those that compare the rows: one for each task that the row shows scores for."""
    totals: list[dict[int | None, float]] = []
    for cells in rows:
        of_row: dict[int | None, float] = {}
        for _, column, text in cells:
            of_row[column.index] = of_row.get(column.index, 0.0) + float(text)
        totals.append(of_row)
    for column in visible:
        if column.computation != AVERAGE_RANK:
            continue
        for cells, rank in zip(rows, _average_ranks(totals, column, visible), strict=False):
            for task in dict.fromkeys(shown_for for shown_for, _, _ in cells):
                cells.append((task, column, str(rank)))


def _average_ranks(
    rows: Sequence[Mapping[int | None, float]], column: Column, visible: Sequence[Column]
) -> list[float]:
    """The mean rank of each row over the columns that a column refers to, rounded to its precision.

    Ranks are those of the shown scores, in each column's own direction; ties share the mean of their places, and a row
    without a score has the rank of the last of all rows. Hidden columns, and those without any score, take no part.

    Source: Codabench `src/apps/leaderboards/ranking.py` at commit 70f08eff, called by `PhaseViewSet.get_leaderboard`.
    Nothing is stored: every reading of the board computes it anew, so any new row may change it in all others.

    Args:
        rows: What each row shows, by the columns' indexes; summed over tasks.
        column: The column to compute.
        visible: The board's columns that participants see.

    Returns:
        Nothing where no column takes part.
    """
    ranks = []
    for source in visible:
        scores = [row.get(source.index) for row in rows]
        if source.index in column.inputs and scores.count(None) < len(scores):
            ranks.append(_ranks(scores, descending=not source.ascending))
    return [round(sum(of_row) / len(of_row), column.precision) for of_row in zip(*ranks, strict=True)]


def _ranks(scores: Sequence[float | None], *, descending: bool) -> list[float]:
    """1 for the best; a place between two for ties, as scipy's `rankdata(method="average")`."""
    order = sorted((score for score in scores if score is not None), reverse=descending)
    last = float(len(scores))
    return [last if score is None else order.index(score) + (order.count(score) + 1) / 2 for score in scores]


def _average_rank_place(cells: Sequence[Cell], primary: Column) -> tuple[int, Decimal]:
    """Return a row's sorting key where a computed rank comes first; without one it is last in both directions."""
    for _, column, text in cells:
        if column is primary:
            rank = Decimal(float(text))
            return 1, rank if primary.ascending else -rank
    return 2, Decimal()

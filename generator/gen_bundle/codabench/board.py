"""The rules of the server: what it stores of a scores file, which submissions are on the board, and in which order.

Each rule names its place in Codabench's public source of 1.25, below `src/apps/`. What makes a scores file
in the first place is in `gen_bundle.codabench.worker`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from gen_bundle.codabench.average_rank import AVERAGE_RANK, average_ranks
from gen_bundle.codabench.leaderboard import Column, Leaderboard
from gen_bundle.codabench.stored_scores import RefusedError, Score, combined, kind_of, rounded, shown_text, stored_value
from gen_bundle.codabench.versions import DIFFERENCES, NEWEST, Differences

NOT_AVAILABLE = "n/a"


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


Cell = tuple[Submitted, Column, str]
Places = list[tuple[int, Decimal]]
"""What a submission is sorted by, ascending."""


@dataclass(frozen=True)
class RankedRow:
    """A row of the board: a submission with its entries (one, or one for each task shown), best first."""

    rank: int
    entry: Submitted
    cells: tuple[Cell, ...]


class Board:
    """The leaderboard of one phase, with all its submissions in the order in which they were made."""

    def __init__(self, leaderboard: Leaderboard, version: Differences = DIFFERENCES[NEWEST]) -> None:
        self.leaderboard = leaderboard
        self.version = version
        self.entries: list[Submitted] = []

    def submit(self, name: str, owner: str, tasks: Iterable[str] = ()) -> Submitted:
        """A new submission; with several tasks it gets a child for each.

        Source: competitions/tasks.py, `_run_submission`: more than one task makes a parent with children.
        """
        entry = Submitted(name, owner)
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

    def upload(self, entry: Submitted, scores: object) -> None:
        """Store the scores that a worker sent, in the order of the file, then apply an automatic rule.

        Source: api/views/submissions.py, `upload_submission_scores`. Keys that are not columns are skipped; the scores
        of a child count for its parent too; computed columns are made anew after each score, on the parent if there
        is one. Not one transaction: what was stored before an error stays, but then the rule is not reached.

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

    def _compute(self, entry: Submitted) -> None:
        """Make the computed columns from the scores that are there.

        Source: competitions/models.py, `Submission.calculate_scores`, and leaderboards/models.py, `Column.compute`.
        """
        for column in self.leaderboard.columns:
            if column.computation in (None, AVERAGE_RANK):
                continue
            if not column.inputs:
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
                order = [primary, *(column for column in self.leaderboard.columns if column is not primary)]
                missing_first = dict.fromkeys(order, self.version.best_prefers_missing)
                self._put(min(own, key=lambda other: _places(other, missing_first)))

    def add_by_hand(self, entry: Submitted) -> None:
        """What a participant does under a manual rule: put a submission on the board.

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

    def rows(self) -> list[RankedRow]:
        """The board as it is shown.

        Source: api/serializers/leaderboards.py, `LeaderboardPhaseSerializer`/`LeaderboardEntriesSerializer`, and
        api/views/competitions.py, `PhaseViewSet.get_leaderboard`: primary column, then the other visible ones by
        index, then the earlier submission; ranks are positions, so that ties get consecutive ones; children are
        gathered in the row of the one that is met first. Average ranks compare the rows and come last. With `tie_break`
        the columns that it names come in place of the others, and rows that are still equal share a rank, which the
        platform does not do.

        Raises:
            NoBoardError: No column has the primary index, or all are hidden.
        """
        primary = self.leaderboard.primary
        if not self.leaderboard.visible:
            raise NoBoardError("No columns exist on the leaderboard (all are hidden)")
        if primary is None:
            raise NoBoardError(
                f"no column has the index {self.leaderboard.primary_index} (primary_index): the page answers 500"
            )
        deciding = self._deciding(primary)
        ordered = [(_places(entry, deciding), entry) for entry in self.entries if entry.on_board]
        ordered.sort(key=lambda one: one[0])
        rows: dict[Submitted, list[Cell]] = {}
        places: dict[Submitted, Places] = {}
        for place, entry in ordered:
            places.setdefault(entry.parent or entry, place)
            cells = rows.setdefault(entry.parent or entry, [])
            cells += [
                (entry, score.column, shown_text(score.value, score.column.precision))
                for score in sorted(entry.scores, key=lambda score: score.column.index)
                if not score.column.hidden
            ]
        listed = list(rows.items())
        _add_average_ranks([cells for _, cells in listed], self.leaderboard.visible)
        if primary.computation == AVERAGE_RANK:
            places = {entry: [_average_rank_place(cells, primary), *places[entry]] for entry, cells in listed}
            listed.sort(key=lambda row: places[row[0]])
        ranked: list[RankedRow] = []
        for position, (entry, cells) in enumerate(listed, start=1):
            shares = self.leaderboard.tie_break is not None and ranked and places[ranked[-1].entry] == places[entry]
            ranked.append(RankedRow(ranked[-1].rank if shares else position, entry, tuple(cells)))
        return ranked

    def _deciding(self, primary: Column) -> dict[Column, bool]:
        """The columns that order the board by stored scores, each with whether a missing score comes first there.

        Where a computed rank comes first, none does on the platform: rows come by age.
        """
        further = [column for column in self.leaderboard.visible if column is not primary]
        if self.leaderboard.tie_break is not None:
            further = [column for key in self.leaderboard.tie_break for column in further if column.key == key]
        elif primary.computation == AVERAGE_RANK:
            further = []
        deciding = {} if primary.computation == AVERAGE_RANK else {primary: self.version.missing_leads}
        missing_first = self.version.missing_breaks_ties_first
        return deciding | {column: missing_first for column in further if column.computation != AVERAGE_RANK}

    def cells(self, row: RankedRow, owners: Mapping[str, str]) -> dict[str, str]:
        """The shown text of each visible column, `n/a` where there is none.

        In a phase of several tasks `owners` says which a column belongs to; of other columns the first task counts.
        """
        shown: dict[str, str] = {}
        for entry in row.entry.children or [row.entry]:
            for shown_for, column, text in row.cells:
                if shown_for is entry and owners.get(column.key, entry.task) == entry.task:
                    shown.setdefault(column.key, text)
        return {column.key: shown.get(column.key, NOT_AVAILABLE) for column in self.leaderboard.visible}

    def cells_by_task(self, row: RankedRow) -> dict[str, dict[str, str]]:
        """The same for each task, as the platform lays out a phase of several."""
        return {
            entry.task or "": {
                column.key: next((text for e, c, text in row.cells if e is entry and c is column), NOT_AVAILABLE)
                for column in self.leaderboard.visible
            }
            for entry in row.entry.children or [row.entry]
        }


def _places(entry: Submitted, missing_first: Mapping[Column, bool]) -> Places:
    """What a submission is sorted by, column after column.

    Args:
        entry: The submission.
        missing_first: The columns in their order, and whether a missing score comes first in a descending one, as in
            PostgreSQL's order with nulls; in an ascending one it always comes last.
    """
    places: Places = []
    for column, leads in missing_first.items():
        scores, descending = [score.value for score in entry.scores if score.column is column], column.sorting == "desc"
        total = sum(scores, Decimal())
        place = 1 if scores else 0 if leads and descending else 2
        places.append((place, -total if descending else total))
    return places


def _add_average_ranks(rows: Sequence[list[Cell]], visible: Sequence[Column]) -> None:
    """Add to each row's cells those that compare the rows: one for each task that the row shows scores for."""
    totals: list[dict[int, float]] = []
    for cells in rows:
        of_row: dict[int, float] = {}
        for _, column, text in cells:
            of_row[column.index] = of_row.get(column.index, 0.0) + float(text)
        totals.append(of_row)
    for column in visible:
        ranks = average_ranks(totals, column, visible) if column.computation == AVERAGE_RANK else None
        for cells, rank in zip(rows, ranks or (), strict=False):
            cells += [(task, column, str(rank)) for task in dict.fromkeys(shown for shown, _, _ in cells)]


def _average_rank_place(cells: Sequence[Cell], primary: Column) -> tuple[int, Decimal]:
    """What a row is sorted by where a computed rank comes first; a row without one is last in both directions."""
    rank = next((float(text) for _, column, text in cells if column is primary), None)
    if rank is None:
        return 2, Decimal()
    return 1, Decimal(-rank if primary.sorting == "desc" else rank)

"""What a bundle says to participants, read as leniently as the platform's own pages would show it."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.opening import open_readable_bundle
from gen_bundle.codabench.competition import Column, Phase, Task, is_on
from gen_bundle.codabench.dates import Instant, read_instant
from gen_bundle.codabench.fields import as_boolean, as_text
from gen_bundle.codabench.versions import NEWEST, PlatformVersion
from gen_bundle.errors import UserError
from gen_bundle.preview.content import Content, safe_content
from gen_bundle.preview.downloads import Download, downloads
from gen_bundle.preview.logo import MAX_BYTES as MAX_LOGO_BYTES
from gen_bundle.preview.logo import logo_address
from gen_bundle.zips.tree import Node


@dataclass(frozen=True)
class Page:
    """A page of the competition: its title and text."""

    title: str
    content: Content


@dataclass(frozen=True)
class PhaseView:
    """A phase as participants see it; `names` are those by which a dry run may call it."""

    name: str
    names: frozenset[str]
    description: Content
    start: Instant
    end: Instant
    limits: tuple[tuple[str, str], ...]
    tasks: tuple["TaskView", ...]
    downloads: tuple[Download, ...]


@dataclass(frozen=True)
class MilestoneView:
    """A date beside the phases, which our own bundles name and the platform does not read."""

    name: str
    date: Instant


@dataclass(frozen=True)
class TaskView:
    """A task of a phase."""

    name: str
    names: frozenset[str]
    description: str


@dataclass(frozen=True)
class View:
    """A whole competition as participants meet it.

    Attributes:
        facts: further settings, in words.
        milestones: dates beside the phases, in the order of time.
        columns: the leaderboard's visible columns in order; the primary one by `primary`.
        rule: which submissions come onto the board, in words.
        board_hidden: only organisers see the board.
        version: the platform's that is shown.
        notes: what could not be read.
    """

    title: str
    description: str
    logo: str | None
    facts: tuple[tuple[str, str], ...]
    pages: tuple[Page, ...]
    terms: Content | None
    phases: tuple[PhaseView, ...]
    milestones: tuple[MilestoneView, ...]
    columns: tuple[Column, ...]
    primary: Column | None
    rule: str
    board_hidden: bool
    version: PlatformVersion
    notes: tuple[str, ...] = field(default=())


RULES = {
    "Add": "Participants choose one submission each for the board; it can be replaced, not removed.",
    "Add_And_Delete": "Participants choose one submission each for the board, and can remove it.",
    "Add_And_Delete_Multiple": "Participants choose any number of submissions for the board.",
    "Force_Last": "The latest submission of each participant is on the board.",
    "Force_Best": "The best submission of each participant is on the board.",
    "Force_Latest_Multiple": "Every scored submission is on the board.",
}


def read_view(path: Path, now: datetime | None = None, version: PlatformVersion = NEWEST) -> View:
    """Read a bundle (a zip, or the folder of an unpacked one) as a version of the platform would show it.

    Raises:
        UserError: it is not a Codabench bundle of version 2.
    """
    with ExitStack() as held:
        bundle = open_readable_bundle(path, now or datetime.now(UTC), held, version)
        if bundle.version != "2":
            raise UserError(
                f"{path}: competition.yaml has version {bundle.version}, expected 2. "
                "Turn a CodaLab 1.5 bundle into a Codabench one with `gen-bundle convert` first."
            )
        return _Reader(bundle).view()


class _Reader:
    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.notes: list[str] = []

    def view(self) -> View:
        """The competition; what cannot be read becomes a note."""
        top, competition = self.bundle.yaml, self.bundle.competition
        columns = sorted(
            (c for c in competition.columns if not c.hidden), key=lambda c: (c.index is None, c.index or 0)
        )
        primary = next((c for c in competition.columns if c.index == competition.primary_index), None)
        phases = tuple(self._phase(order, phase) for order, phase in enumerate(competition.phases))
        if not phases:
            self.notes.append("There are no phases.")
        if not columns:
            self.notes.append("The leaderboard has no visible column.")
        return View(
            title=as_text(top.get("title")) or "(no title)",
            description=as_text(top.get("description")) or "",
            logo=self._logo(top.get("image")),
            facts=tuple(self._facts()),
            pages=tuple(self._pages()),
            terms=self._text(top.get("terms"), "Terms"),
            phases=phases,
            milestones=tuple(self._milestones()),
            columns=tuple(columns),
            primary=primary,
            rule=RULES.get(competition.submission_rule, f"The rule {competition.submission_rule} is unknown."),
            board_hidden=any(is_on(board.get("hidden")) for board in self.bundle.entries("leaderboards")[:1]),
            version=self.bundle.platform,
            notes=tuple(self.notes),
        )

    def _facts(self) -> list[tuple[str, str]]:
        top = self.bundle.yaml
        facts = [("Registration", "at once" if as_boolean(top.get("registration_auto_approve")) else "after approval")]
        for name, key in (("Contact", "contact_email"), ("Reward", "reward"), ("Queue", "queue")):
            if text := as_text(top.get(key)):
                facts.append((name, text))
        facts.append(("Leaderboard", self.bundle.competition.board_title or "(no title)"))
        facts.append(("Docker image", self.bundle.competition.image or "none"))
        forum = as_boolean(top.get("forum_enabled", True))
        facts.append(("Forum", "yes" if forum else "no"))
        results = as_boolean(top.get("enable_detailed_results", False))
        facts.append(("Detailed results", "shown to participants" if results else "off"))
        questions = top.get("fact_sheet")
        if isinstance(questions, Mapping) and questions:
            titles = [as_text(q.get("title")) or str(key) for key, q in questions.items() if isinstance(q, Mapping)]
            facts.append(("Asked with a submission", "; ".join(titles)))
        return facts

    def _pages(self) -> list[Page]:
        pages = []
        for entry in self.bundle.entries("pages"):
            title = as_text(entry.get("title")) or "(no title)"
            content = self._text(entry.get("file"), title)
            if content is not None:
                pages.append(Page(title, content))
        return pages

    def _text(self, name: Any, title: str) -> Content | None:
        text = self.bundle.text(name) if isinstance(name, str) else None
        if text is None:
            self.notes.append(f"{title}: the file {name!r} is not in the bundle, or is not UTF-8 text.")
            return None
        return safe_content(text, title)

    def _phase(self, order: int, phase: Phase) -> PhaseView:
        entry = self.bundle.mapping(phase.at)
        description = as_text(entry.get("description")) or ""
        return PhaseView(
            name=phase.name,
            names=_names(entry, phase.at[-1]) | {phase.name, str(order)},
            description=safe_content(description, phase.name, first_heading=4),
            start=phase.start,
            end=phase.end,
            limits=tuple(_limits(entry, phase)),
            tasks=tuple(self._task(task) for task in phase.tasks),
            downloads=tuple(downloads(self.bundle, phase)),
        )

    def _milestones(self) -> list[MilestoneView]:
        found = [
            MilestoneView(as_text(entry.get("name")) or "(no name)", read_instant(entry.get("date"), self.bundle.now))
            for entry in self.bundle.entries("milestones")
        ]
        return sorted(found, key=lambda one: one.date.moment or datetime.max.replace(tzinfo=UTC))

    def _task(self, task: Task) -> TaskView:
        entry = self.bundle.mapping(task.at)
        return TaskView(task.name, _names(entry, task.at[-1]) | {task.name}, as_text(entry.get("description")) or "")

    def _logo(self, name: Any) -> str | None:
        found = self.bundle.tree.find(name) if isinstance(name, str) else None
        if not isinstance(found, Node) or found.open is None:
            self.notes.append(f"The logo {name!r} is not in the bundle.")
            return None
        try:
            return logo_address(found.read(MAX_LOGO_BYTES + 1))
        except ValueError as error:
            self.notes.append(f"The logo {name!r} cannot be shown: {error}.")
            return None


def _names(entry: Mapping[Any, Any], position: Any) -> frozenset[str]:
    """The names by which dry-run.json may call a phase or task: our id, its index, its position."""
    return frozenset(str(name) for name in (entry.get("id"), entry.get("index"), position) if name is not None)


def _limits(entry: Mapping[Any, Any], phase: Phase) -> list[tuple[str, str]]:
    limits = [
        ("Submissions a day", str(phase.a_day) if phase.a_day else "no limit"),
        ("Submissions in all", str(phase.in_all) if phase.in_all else "no limit"),
        ("Time to score one", f"{phase.limit_s} s"),
    ]
    hidden = [
        words
        for key, words in (
            ("hide_output", "all output and logs"),
            ("hide_prediction_output", "prediction output"),
            ("hide_score_output", "scoring output"),
        )
        if as_boolean(entry.get(key, False))
    ]
    if hidden:
        limits.append(("Hidden from participants", ", ".join(hidden)))
    if phase.auto_migrate:
        limits.append(("At its start", "submissions of the phase before are run again"))
    return limits

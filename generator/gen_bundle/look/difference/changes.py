"""A difference between two bundles and what it does on the platform; those in what competition.yaml declares."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from gen_bundle.check.bundle import Bundle, page_files
from gen_bundle.codabench.competition import Column, Competition, Phase, Task
from gen_bundle.codabench.dates import Instant
from gen_bundle.codabench.reading import as_boolean, as_integer, as_text
from gen_bundle.codabench.settings import HIDING, QUEUE, TOP_FIELDS, Boolean
from gen_bundle.declaration.dates import AOE
from gen_bundle.ground.yaml_document import Path
from gen_bundle.ground.zips.tree import Node, sha256_of
from scoring_kit.base.texts import counted


class Effect(Enum):
    """The effect of a difference on a running competition that is brought to the new bundle.

    Sources: Codabench's editor and board in 1.25; its page "Update programs or data"; issues #2128 and #2224.
    """

    SHOWN = "seen at once when it is saved in the competition's editor"
    EDIT = "an edit in the competition's editor; it holds for what is submitted afterwards"
    KEEP = "the task's file may be replaced at any time: no score changes, and nothing need be rerun"
    RERUN = "the task's file must be replaced and its submissions rerun; until then old scores stand beside new ones"
    FIXED = "cannot be changed for what is submitted already: submissions, and their reruns, keep their tasks"

    @property
    def key(self) -> str:
        return self.name.lower()


PARTS = (
    *("competition", "pages", "phases", "tasks", "leaderboard"),
    *("programs", "reference data", "input data", "public data", "starting kits", "solutions"),
)


@dataclass(frozen=True)
class Difference:
    """Something that is not the same in both bundles.

    Attributes:
        part: where it belongs, one of `PARTS`.
        item: which page, phase, task, column or file; empty for the competition as a whole.
        what: the setting, or what happened to the item as a whole: `added`, `removed`.
        old, new: as people read them; None where there is nothing. Reference data give counts alone.
        detail: further lines, such as the changed lines of a page.
    """

    part: str
    item: str
    what: str
    effect: Effect
    old: str | None = None
    new: str | None = None
    detail: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "part": self.part,
            "item": self.item,
            "what": self.what,
            "old": self.old,
            "new": self.new,
            "effect": self.effect.key,
            "detail": list(self.detail),
        }


Settings = Mapping[str, tuple[str | None, Effect]]
"""By name: the value as people read it, and what a change of it does."""


def changed_settings(part: str, item: str, old: Settings, new: Settings) -> Iterator[Difference]:
    """Yield the settings of an item that is in both bundles."""
    for name in dict.fromkeys([*old, *new]):
        before, effect = old.get(name, (None, None))
        after, effect_now = new.get(name, (None, None))
        if before != after:
            yield Difference(part, item, name, effect_now or effect or Effect.EDIT, before, after)


def whole_item(part: str, item: str, is_new: bool, effect: Effect) -> Difference:
    """Return an item that came or went as a whole."""
    what = "added" if is_new else "removed"
    return Difference(part, item, what, effect)


MOST_NAMES = 4


@dataclass(frozen=True)
class Named:
    """An item of a bundle, with the names by which its counterpart in another bundle is recognised, surest first."""

    names: tuple[object, ...]
    value: Any

    def name(self, place: int) -> object:
        """Its name at a place among its names; None where there is none."""
        if place >= len(self.names) or self.names[place] == "":
            return None
        return self.names[place]


def paired(old: Sequence[Named], new: Sequence[Named]) -> Iterator[tuple[Any, Any]]:
    """Both sides of every item: by its first name, then by its second, and so on; (old, None) or (None, new) else."""
    partners: dict[int, Any] = {}
    free = list(new)
    # all pairs by the surest name before any by the next: no weaker likeness takes a partner away
    for rank in range(MOST_NAMES):
        for place, one in enumerate(old):
            if place in partners or one.name(rank) is None:
                continue
            partner = next((other for other in free if other.name(rank) == one.name(rank)), None)
            if partner is not None:
                partners[place] = partner.value
                free.remove(partner)
    for place, one in enumerate(old):
        yield one.value, partners.get(place)
    for other in free:
        yield None, other.value


SHOWN, EDIT, KEEP, RERUN, FIXED = Effect
# Settings of a competition that nobody sees until something is submitted, or somebody registers.
EDITED_SETTINGS = frozenset(
    [
        *("docker_image", "queue", "registration_auto_approve", "enable_detailed_results", "auto_run_submissions"),
        "can_participants_make_submissions_public",
    ]
)


def competition_changes(old: Bundle, new: Bundle) -> Iterator[Difference]:
    """Yield the competition's own settings; the scoring image among them."""
    yield from changed_settings("competition", "", _top(old), _top(new))


def _top(bundle: Bundle) -> Settings:
    top = bundle.yaml
    settings: dict[str, tuple[str | None, Effect]] = {}
    for field in (*TOP_FIELDS, QUEUE):
        text = field.read(top) or None
        if isinstance(field.kind, Boolean):
            text = _yes_no(text)
        effect = EDIT if field.key in EDITED_SETTINGS else SHOWN
        settings[field.key] = (text, effect)
    settings["docker_image"] = (bundle.competition.image, EDIT)
    settings["fact_sheet"] = (_questions(top.get("fact_sheet")), EDIT)
    return settings


def _said(value: Any) -> str | None:
    """A text; None where it says nothing: an empty one, or none."""
    return as_text(value) or None


def _questions(sheet: Any) -> str | None:
    if not isinstance(sheet, Mapping) or not sheet:
        return None
    questions = []
    for key, question in sheet.items():
        text = str(key)
        if isinstance(question, Mapping):
            text += f": {', '.join(f'{name}={value}' for name, value in question.items())}"
        questions.append(text)
    return "; ".join(questions)


def text_changes(old: Bundle, new: Bundle) -> Iterator[Difference]:
    """Pages and terms as text, line by line; the logo by its bytes."""
    for before, after in paired(_pages(old), _pages(new)):
        if before is None or after is None:
            yield whole_item("pages", (after or before)[0], after is not None, SHOWN)
            continue
        (old_title, old_text), (title, text) = before, after
        if old_title != title:
            yield Difference("pages", title, "title", SHOWN, old_title, title)
        if old_text.splitlines() != text.splitlines():
            lines = list(difflib.unified_diff(old_text.splitlines(), text.splitlines(), lineterm="", n=0))[2:]
            changed = tuple(line for line in lines if not line.startswith("@@"))
            removed = sum(line.startswith("-") for line in changed)
            what = f"text ({counted(removed, 'line')} out, {len(changed) - removed} in)"
            yield Difference("pages", title, what, SHOWN, detail=changed)
    if _logo(old) != _logo(new):
        yield Difference("competition", "", "logo", SHOWN)


def _pages(bundle: Bundle) -> list[Named]:
    """Title and text of every page, recognised by its title, the title without case, its text, its place."""
    found: list[Named] = []
    for place, page in enumerate(page_files(bundle)):
        title = _title(bundle, page.at)
        text = bundle.text(page.path) or ""
        found.append(Named((title, title.strip().casefold(), text.strip(), place), (title, text)))
    return found


def _title(bundle: Bundle, at: tuple[object, ...]) -> str:
    if at in (("terms",), ("html", "terms")):
        return "Terms"
    if at[0] != "pages":
        return str(at[-1])  # an old bundle's pages are named by their keys
    for one in bundle.entries("pages"):
        if one.at == at[:-1]:
            return as_text(one.get("title")) or ""
    return ""


def _logo(bundle: Bundle) -> str | None:
    path = bundle.yaml.get("image")
    if not isinstance(path, str):
        return None
    found = bundle.tree.find(path)
    return sha256_of(found) if isinstance(found, Node) else None


def phase_changes(old: Bundle, new: Bundle) -> Iterator[Difference]:
    """Phases that came, went or changed: dates in three time zones, limits, tasks, flags."""
    names = {}
    for before, after in paired(tasks_named(old.competition), tasks_named(new.competition)):
        if after is not None:
            names[after.at] = (before or after).name
    for before, after in paired(phases_named(old.competition), phases_named(new.competition)):
        if before is None or after is None:
            effect = EDIT if after else FIXED
            yield whole_item("phases", (after or before).name, after is not None, effect)
            continue
        yield from changed_settings("phases", after.name, _phase(old, before, {}), _phase(new, after, names))


def phases_named(competition: Competition) -> list[Named]:
    """Return the phases, each recognised by our id and its name; its place counts only where it has no id of ours."""
    found = []
    for place, one in enumerate(competition.phases):
        names: tuple[object, ...] = (None, one.name, place)
        if one.id:
            names = (one.id, one.name)
        found.append(Named(names, one))
    return found


def _phase(bundle: Bundle, phase: Phase, names: Mapping[Path, str]) -> Settings:
    """A phase's settings; `names` are those of tasks that had another one."""
    declared = bundle.mapping(phase.at)
    tasks = "; ".join(sorted(names.get(task.at, task.name) for task in phase.tasks))
    return {
        "name": (phase.name, SHOWN),
        "description": (_said(declared.get("description")), SHOWN),
        "start": (in_three_zones(phase.start), SHOWN),
        "end": (in_three_zones(phase.end), SHOWN),
        "submissions per day": (_limit(phase.a_day), EDIT),
        "submissions in all": (_limit(phase.in_all), EDIT),
        "time limit per run (s)": (str(phase.limit_s), EDIT),
        "tasks": (tasks, FIXED),
        "moves on by itself": (_yes_no(phase.auto_migrate), EDIT),
        **{field.key: (_yes_no(declared.get(field.key)), SHOWN) for field in HIDING},
    }


def in_three_zones(instant: Instant) -> str:
    """Return a date in UTC, anywhere on Earth, and this machine's own zone."""
    if instant.fault is not None and instant.moment is None:
        return f"unreadable ({instant.fault})"
    if instant.moment is None:
        return "open"
    try:
        local = instant.moment.astimezone()
        return (
            f"{instant.moment:%Y-%m-%d %H:%M:%S} UTC ({instant.moment.astimezone(AOE):%Y-%m-%d %H:%M} AoE, "
            f"{local:%Y-%m-%d %H:%M %Z} here)"
        )
    except (OverflowError, ValueError):
        return f"{instant.moment.replace(tzinfo=None)} UTC"


def task_changes(old: Bundle, new: Bundle) -> Iterator[Difference]:
    """Tasks that came, went or changed, files aside."""
    for before, after in paired(tasks_named(old.competition), tasks_named(new.competition)):
        if before is None or after is None:
            yield whole_item("tasks", (after or before).name, after is not None, FIXED)
            continue
        yield from changed_settings("tasks", after.name, _task(old, before), _task(new, after))


def tasks_named(competition: Competition) -> list[Named]:
    """Return the tasks, each recognised by its name, then by its index; several of ours share an `id`, one a phase."""
    return [Named((one.name, one.index), one) for one in competition.tasks]


def _task(bundle: Bundle, task: Task) -> Settings:
    return {
        "name": (task.name, SHOWN),
        "description": (_said(bundle.mapping(task.at).get("description")), SHOWN),
        "ingestion only during scoring": (_yes_no(task.ingestion_only_during_scoring), RERUN),
    }


def leaderboard_changes(old: Bundle, new: Bundle) -> Iterator[Difference]:
    """Yield the board: its title, its rule, the column that ranks, and every column by its key."""
    yield from changed_settings("leaderboard", "", _board(old), _board(new))
    for before, after in paired(_columns(old), _columns(new)):
        if before is None or after is None:
            one = after or before
            effect = SHOWN if after is None or one.computation else RERUN
            yield whole_item("leaderboard", one.key or one.title, after is not None, effect)
            continue
        yield from changed_settings("leaderboard", after.key, _column(old, before), _column(new, after))


def _columns(bundle: Bundle) -> list[Named]:
    return [Named((one.key, one.index), one) for one in bundle.competition.columns]


def _board(bundle: Bundle) -> Settings:
    competition = bundle.competition
    primary = competition.leaderboard.primary
    ranking = primary.key if primary else None
    hidden = bundle.mapping(("leaderboards", 0)).get("hidden")
    return {
        "title": (competition.board_title or None, SHOWN),
        "hidden": (_yes_no(hidden), SHOWN),
        "submission rule": (competition.submission_rule, EDIT),
        "ranked by": (ranking, SHOWN),
    }


def _column(bundle: Bundle, column: Column) -> Settings:
    keys = {one.index: one.key for one in bundle.competition.columns}
    better = "lower" if column.ascending else "higher"
    decimals = 2 if column.precision is None else column.precision
    computed = None
    if column.computation:
        of = ", ".join(str(keys.get(index, index)) for index in column.inputs)
        computed = f"{column.computation} of {of}"
    return {
        "key": (column.key, RERUN),
        "title": (column.title, SHOWN),
        "place": (_said(column.index), SHOWN),
        "better": (better, SHOWN),
        "decimals": (str(decimals), SHOWN),
        "hidden": (_yes_no(column.hidden), SHOWN),
        "computed": (computed, SHOWN),
    }


def _yes_no(value: Any) -> str:
    return "yes" if as_boolean(value) else "no"


def _limit(count: int | None) -> str:
    return str(count) if as_integer(count) else "no limit"

"""A bundle of CodaLab 1.5 in Codabench's format: what its competition.yaml says, and what becomes of its files.

How CodaLab ran a competition counts, not what Codabench would read in the old file.
"""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from gen_bundle.author.importing.opening import Imported, put, put_absent
from gen_bundle.check.bundle import Bundle, open_bundle
from gen_bundle.check.registry import RuleEffect
from gen_bundle.check.run import findings_of
from gen_bundle.codabench.competition import AVERAGE_RANK, PHASE_FILES, TASK_FILES
from gen_bundle.codabench.dates import utc
from gen_bundle.codabench.reading import YAML_NAME, as_boolean, as_integer
from gen_bundle.codabench.settings import BOARD_TITLE, COLUMN_TITLE, NAME
from gen_bundle.declaration.dates import FIRST_YEAR, LAST_YEAR
from gen_bundle.declaration.source import mapping_of
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.yaml_document import read_yaml
from gen_bundle.ground.zips.tree import Node, file_of, unpack, write_files
from scoring_kit.base.texts import counted

NOT_PYTHON_3 = "program-not-python-3"
MAPPINGS = ("html", "phases", "leaderboard")
COPIED = ("title", "description", "image", "reward")
PHASE_LIMITS = ("max_submissions", "max_submissions_per_day", "execution_time_limit")
# What a phase allows a day that says nothing: practically no limit on CodaLab, and 5 on Codabench.
OLD_DAY_LIMIT = 999
# Keys without a counterpart that change nothing a participant would notice.
SILENT_TOP = {"html", "phases", "leaderboard", "end_date", "has_registration", "competition_docker_image"}
SILENT_TOP |= {"force_submission_to_leaderboard", "enable_detailed_results", "enable_forum", "published", "version"}
KNOWN_PHASE = {*PHASE_LIMITS, *PHASE_FILES, *TASK_FILES, "ingestion_program_only_during_scoring"}
KNOWN_PHASE |= {"phasenumber", "label", "description", "start_date", "color", "auto_migration", "is_scoring_only"}
KNOWN_PHASE |= {"force_best_submission_to_leaderboard", "phase_never_ends", "is_parallel_parent", "parent_phasenumber"}
NO_IMAGE = "docker image: none was named; Codabench will use its legacy Python 3.7 image"
PYTHON_2_IMAGE = "codalab/codalab-legacy:py2"
OldPhase = Mapping[str, Any]


def in_new_format(old: Bundle, held: ExitStack, imported: Imported) -> Bundle:
    """Return an old bundle in Codabench's format, which can be read until `held` is closed.

    `imported` gets what is to be said of it.

    Raises:
        UserError: it lacks what makes a bundle of CodaLab 1.5.
    """
    _refuse_others(old.yaml)
    work = Path(held.enter_context(TemporaryDirectory(prefix="gen-bundle-")))
    write_files(old.tree, work)
    new = open_bundle(work, old.now, held)
    conversion = Conversion(old.yaml, new.tree, imported)
    document = conversion.document()
    for page in (*document["pages"], {"title": "Terms", "file": document["terms"]}):
        _turn_into_markdown(new.tree, page["file"], page["title"])
    if "assets" in (new.tree.children or {}):
        imported.lost.append("assets/: Codabench publishes no files by themselves; link them from elsewhere")
    imported.changed += _unwrapped(new.tree, document["tasks"], held)
    new = _with_document(new, document)
    if "docker_image" in document:
        return new
    if all(finding.id != NOT_PYTHON_3 for finding in findings_of(new, RuleEffect.BROKEN)):
        imported.lost.append(NO_IMAGE)
        return new
    imported.changed.append(
        f"docker image: none was named, and a program is in Python 2; {PYTHON_2_IMAGE} is CodaLab's old one"
    )
    return _with_document(new, document | {"docker_image": PYTHON_2_IMAGE})


def _refuse_others(document: Mapping[Any, Any]) -> None:
    """Raise UserError where the document is not that of a CodaLab 1.5 bundle."""
    lacking = []
    for key in ("title", *MAPPINGS):
        if not document.get(key) or (key in MAPPINGS and not isinstance(document[key], dict)):
            lacking.append(key)
    if lacking:
        raise UserError(
            f"{YAML_NAME}: this is no bundle: it has neither what Codabench reads (version: 2, pages, tasks, phases, "
            f"leaderboards) nor what CodaLab 1.5 read, of which {', '.join(lacking)} is missing or of another kind."
        )


def _turn_into_markdown(tree: Node, name: str, title: str) -> None:
    found = tree.find(name)
    if isinstance(found, Node) and not found.is_folder:
        text = found.read(found.size).decode("utf-8", "replace")
        put(tree, name, file_of(html_as_markdown(text, title).encode()))


def _with_document(bundle: Bundle, document: Mapping[str, Any]) -> Bundle:
    """Return the bundle with this competition.yaml."""
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True).encode()
    put(bundle.tree, YAML_NAME, file_of(text))
    return Bundle(archive=bundle.archive, is_folder=True, now=bundle.now, held=bundle.held, document=read_yaml(text))


def _unwrapped(tree: Node, tasks: Sequence[Mapping[str, Any]], held: ExitStack) -> Iterator[str]:
    """Take off the folder around each program and each task's data, where CodaLab did; yields what was changed.

    Source: `_find_only_folder_with_metadata` of CodaLab's worker, which did so with all that it unpacked.
    """
    for use in sorted({task[role] for task in tasks for role in TASK_FILES if role in task}):
        found = tree.find(use)
        if not isinstance(found, Node):
            continue
        unpacked = unpack(found, held)
        top = unpacked.wrapping_folder
        if unpacked.fault or top is None:
            continue
        inside = (unpacked.tree.children or {})[top]
        if not {"metadata", "metadata.yaml"}.isdisjoint(inside.children or {}):
            put(tree, use, inside)
            yield (
                f"{use}: the folder in it was taken off, as CodaLab did. Codabench does not, so participants must "
                "zip files, not the folder around them"
            )


class Conversion:
    """Builds the new document of the parsed `old` one; `imported` gets what is lost, changed and to be fixed."""

    def __init__(self, old: Mapping[str, Any], tree: Node, imported: Imported) -> None:
        self.old = old
        self.phases: list[OldPhase] = [mapping_of(phase) for phase in mapping_of(old.get("phases")).values()]
        self.phases.sort(key=lambda phase: _number(phase.get("phasenumber")))
        self.tree = tree
        self.imported = imported

    def document(self) -> dict[str, Any]:
        """Return competition.yaml for Codabench."""
        old, phases = self.old, self._open_phases()
        new: dict[str, Any] = {"version": 2}
        new |= {key: str(old[key]) for key in COPIED if old.get(key) is not None}
        new["registration_auto_approve"] = not _is_on(old.get("has_registration"))
        if old.get("competition_docker_image"):
            new["docker_image"] = str(old["competition_docker_image"])
        new["enable_detailed_results"] = _is_on(old.get("enable_detailed_results"))
        if "enable_forum" in old:
            new["forum_enabled"] = _is_on(old["enable_forum"])
        html = mapping_of(old.get("html"))
        new["terms"] = str(html.get("terms", "terms.md"))
        new["pages"] = []
        for name, file in html.items():
            if name != "terms":
                new["pages"].append({"title": str(name).replace("_", " ").capitalize(), "file": str(file)})
        new |= self._tasks_and_phases(self._side_by_side(phases))
        new["leaderboards"] = [self._leaderboard(phases)]
        for key in old:
            if key not in SILENT_TOP and key not in COPIED:
                self.imported.lost.append(f"{key}: has no counterpart")
        return new

    # Phases

    def _tasks_and_phases(self, groups: Sequence[Sequence[OldPhase]]) -> dict[str, list[dict[str, Any]]]:
        """Return a task for each old phase, and a phase for each group of those that ran at the same time."""
        tasks: list[dict[str, Any]] = []
        phases: list[dict[str, Any]] = []
        for number, group in enumerate(groups):
            numbers = []
            for phase in group:
                numbers.append(len(tasks))
                tasks.append(self._task(len(tasks), phase, alone=len(group) == 1))
            later = groups[number + 1 :]
            phases.append({"index": number, **self._phase(number, group, is_last=not later), "tasks": numbers})
        return {"tasks": tasks, "phases": phases}

    def _open_phases(self) -> list[OldPhase]:
        """Return the phases that take submissions, or all where none does; the parent of parallel ones is none."""
        phases = self.phases
        if any(phase.get("parent_phasenumber") for phase in phases):
            phases = [phase for phase in phases if not _is_on(phase.get("is_parallel_parent"))] or phases
        taking, closed = [], []
        for phase in phases:
            if as_integer(phase.get("max_submissions")) != 0:
                taking.append(phase)
            else:
                closed.append(
                    f"phase {phase.get('label')!r}: submissions are closed in it (max_submissions: 0), which is no "
                    "limit on Codabench; left out, so that there is no phase at that time"
                )
        if not taking:
            self.imported.lost.append(
                "max_submissions: 0 in every phase, which lets nobody submit on CodaLab, is no limit here"
            )
            return phases
        self.imported.changed += closed
        return taking

    def _side_by_side(self, phases: Sequence[OldPhase]) -> list[list[OldPhase]]:
        """Group the phases that ran at the same time: tracks that start together and never end, or have one parent."""
        groups: list[list[OldPhase]] = []
        for phase in phases:
            if groups and _are_tracks(groups[-1][-1], phase):
                groups[-1].append(phase)
            else:
                groups.append([phase])
        for group in groups:
            if len(group) > 1:
                self._tell_tracks(group)
        return groups

    def _tell_tracks(self, group: Sequence[OldPhase]) -> None:
        """Say that phases are one now, and in what they differ that a phase has once."""
        names = _names(group)
        self.imported.changed.append(f"phases {names}: ran side by side, and are tasks of one phase now")
        for key in (*PHASE_LIMITS, *PHASE_FILES, "auto_migration"):
            values = [phase.get(key) for phase in group]
            if values.count(values[0]) < len(values):
                shown = ", ".join("none" if value is None else str(value) for value in values)
                self.imported.faults.append(
                    f"{key} of the phases {names}: {shown}. They are one phase now, with the first; set what is to hold"
                )

    def _task(self, index: int, phase: OldPhase, *, alone: bool) -> dict[str, Any]:
        """Return a phase's task, called as Codabench calls it where it reads the old bundle itself."""
        label = phase.get("label", f"Phase {index + 1}")
        new: dict[str, Any] = {"index": index, "name": f"{label} Task"}
        if phase.get("description") and not alone:
            new["description"] = str(phase["description"])
        if _is_on(phase.get("ingestion_program_only_during_scoring")):
            new["ingestion_only_during_scoring"] = True
        for key in phase:
            if key not in KNOWN_PHASE:
                self.imported.lost.append(f"{key} of phase {label!r}: has no counterpart")
        return new | self._named(phase, TASK_FILES)

    def _named(self, phase: OldPhase, keys: Collection[str]) -> dict[str, Any]:
        """Return where the files of a phase lie.

        A data set of the old server, named by its key, leads nowhere on the new one: it is absent from the bundle.
        """
        found = {}
        for key in keys:
            name = str(phase.get(key) or "").strip().removeprefix("./").rstrip("/")
            if not name:
                continue
            there = (self.tree.find(name) and name) or self.tree.nearest(name)
            if there is None:
                there = put_absent(self.tree, name, key)
            elif there != name:
                self.imported.changed.append(
                    f"{key} of phase {phase.get('label')!r}: {there!r} is taken for {phase[key]!r}"
                )
            found[key] = there
        return found

    def _phase(self, number: int, group: Sequence[OldPhase], *, is_last: bool) -> dict[str, Any]:
        """Return the phase that a group becomes."""
        phase = group[0]
        name = ", ".join(str(one.get("label", f"Phase {number + 1}")) for one in group)
        new: dict[str, Any] = {"name": name[: NAME.limit]}
        if phase.get("description") and len(group) == 1:
            new["description"] = str(phase["description"])
        given = phase.get("start_date")
        start, end = moment(given), self._end(group, is_last=is_last)
        if start is None:
            self.imported.faults.append(f"start_date of phase {name!r}: {given!r} is no date that can be kept; set it")
        if start is not None:
            new["start"] = utc(start)
        if end is not None:
            new["end"] = utc(end)
        new |= self._limits(phase)
        if _is_on(phase.get("auto_migration")) and number > 0:
            new["auto_migrate_to_this_phase"] = True
        return new | self._named(phase, PHASE_FILES)

    def _limits(self, phase: OldPhase) -> dict[str, Any]:
        """Return a phase's limits; what is no number stays as it is, and is refused."""
        limits: dict[str, Any] = {}
        for key in PHASE_LIMITS:
            if phase.get(key) is not None:
                number = as_integer(phase[key])
                limits[key] = phase[key] if number is None else number
        if "max_submissions_per_day" not in limits:
            limits["max_submissions_per_day"] = OLD_DAY_LIMIT
            self.imported.changed.append(
                f"max_submissions_per_day of phase {phase.get('label')!r}: none was given, which is {OLD_DAY_LIMIT} on "
                "CodaLab and 5 on Codabench; written as it was on CodaLab"
            )
        return limits

    def _end(self, group: Sequence[OldPhase], *, is_last: bool) -> datetime | None:
        """Return a phase's end: it lasted until the next one started; on Codabench it must end before that.

        Source: `CompetitionPhase.is_active` of CodaLab 1.5, apps/web/models.py.
        """
        following = self.phases[self.phases.index(group[-1]) + 1 :]
        endless = any(_is_on(phase.get("phase_never_ends")) for phase in group)
        if not following:
            return None if endless else moment(self.old.get("end_date"))
        start, next_start = moment(group[0].get("start_date")), moment(following[0].get("start_date"))
        names, following_name = _names(group), _names(following[:1])
        if endless and not is_last:
            self.imported.faults.append(
                f"phase {names}: never ended on CodaLab (phase_never_ends), and ends when {following_name} starts now, "
                "since Codabench's phases follow each other. Let that phase have its tasks as well, or "
                "leave the end as it is"
            )
        elif start is not None and start == next_start:
            self.imported.faults.append(
                f"phase {names}: starts together with {following_name}, so that no date is its end. Make "
                "both tasks of one phase (tasks: of the phase), or correct the dates"
            )
            return None
        return next_start - timedelta(seconds=1) if next_start else None

    # The leaderboard

    def _leaderboard(self, phases: Sequence[OldPhase]) -> dict[str, Any]:
        """Return the one board: the columns of the first come first, those of the others after them."""
        old = mapping_of(self.old.get("leaderboard"))
        labels, columns = _labels(old), []
        for key, one in mapping_of(old.get("columns")).items():
            column = mapping_of(one)
            label = str(mapping_of(column.get("leaderboard")).get("label", next(iter(labels.values()))))
            labels.setdefault(label.lower(), label)
            columns.append((list(labels).index(label.lower()), _rank(column), str(key), column))
        columns.sort(key=lambda column: column[:2])
        titles = list(labels.values())
        kept: list[dict[str, Any]] = []
        rules: dict[str, Any] = {}
        further = 0
        for board, _, key, column in columns:
            kept.append({"index": len(kept)} | self._column(key, column, ["", *titles[1:]][board]))
            further += board > 0
            if "computed" in column:
                rules[key] = column["computed"]
        if further:
            said = repr(titles[1:]).strip("[]")
            self.imported.changed.append(
                f"leaderboards: Codabench shows one; {counted(further, 'column')} of {said} stand on {titles[0]!r}"
            )
        self._compute(kept, rules)
        if old.get("column_groups"):
            self.imported.lost.append("column_groups: Codabench has none")
        return {
            "title": titles[0][: BOARD_TITLE.limit],
            "key": "results",
            "submission_rule": self._submission_rule(phases),
            "columns": kept,
        }

    def _column(self, key: str, column: Mapping[str, Any], board: str) -> dict[str, Any]:
        """Return a column; one of a further board is called after that where both fit."""
        title, most = str(column.get("label", key)), COLUMN_TITLE.limit or 0
        if board and len(f"{board}: {title}") <= most:
            title = f"{board}: {title}"
        if len(title) > most:
            self.imported.lost.append(f"column {key!r}: its title is cut to {most} characters")
        precision = column.get("numeric_format", 2)
        number = as_integer(precision)
        return {
            "key": key,
            "title": title[:most],
            "sorting": str(column.get("sort") or "desc"),
            "precision": precision if number is None else number,
            "hidden": _is_on(column.get("hidden")),
        }

    def _compute(self, kept: list[dict[str, Any]], rules: Mapping[str, Any]) -> None:
        """Give columns that CodaLab computed, as the mean of a row's ranks in others, Codabench's computation."""
        sources = {column["key"]: column["index"] for column in kept if column["key"] not in rules}
        for column in kept:
            if column["key"] not in rules:
                continue
            rule = mapping_of(rules[column["key"]])
            names = rule.get("fields", "")
            if not isinstance(names, list):
                names = re.split(r"\s*,\s*", str(names).strip())
            known = [sources[name] for name in names if name in sources]
            if str(rule.get("operation")) != "Avg" or not known:
                self.imported.lost.append(
                    f"column {column['key']!r}: how it is computed is not known; scores must fill it"
                )
                continue
            column |= {"computation": AVERAGE_RANK, "computation_indexes": known, "sorting": "asc"}
            self.imported.changed.append(
                f"column {column['key']!r}: the mean of ranks is computed by Codabench, too, since 1.29 "
                f"(computation: {AVERAGE_RANK}); an older site refuses it"
            )

    def _submission_rule(self, phases: Sequence[OldPhase]) -> str:
        if any(_is_on(phase.get("force_best_submission_to_leaderboard")) for phase in phases):
            return "Force_Best"
        if _is_on(self.old.get("force_submission_to_leaderboard")):
            return "Force_Last"
        return "Add"


def _labels(leaderboard: Mapping[Any, Any]) -> dict[str, str]:
    """Return the labels of the boards by their small letters, which CodaLab compared, in their order."""
    labels: dict[str, str] = {}
    for board in sorted(mapping_of(leaderboard.get("leaderboards")).values(), key=_rank):
        label = str(mapping_of(board).get("label", "Results"))
        labels.setdefault(label.lower(), label)
    return labels or {"results": "Results"}


def _names(phases: Sequence[OldPhase]) -> str:
    return ", ".join(repr(str(phase.get("label"))) for phase in phases)


def _are_tracks(before: OldPhase, phase: OldPhase) -> bool:
    """Return whether two phases that start together were open together on CodaLab."""
    start = moment(phase.get("start_date"))
    if start is None or start != moment(before.get("start_date")):
        return False
    parent = phase.get("parent_phasenumber")
    return _is_on(before.get("phase_never_ends")) or bool(parent and parent == before.get("parent_phasenumber"))


def _rank(entry: Any) -> float:
    return _number(mapping_of(entry).get("rank"))


def _is_on(value: Any) -> bool:
    """Return whether a setting is meant to be on; a text such as 'no' is off, however the servers read it."""
    meant = as_boolean(value)
    return bool(value) if meant is None else meant


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return number if math.isfinite(number) else 0.0


def moment(value: Any) -> datetime | None:
    """Return a date of the old format in UTC: without a zone it is UTC, a date alone its midnight; else None."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, date) and not FIRST_YEAR <= value.year <= LAST_YEAR:
        return None
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if isinstance(value, date):
        return datetime.combine(value, time(0), tzinfo=UTC)
    return None


def html_as_markdown(html: str, title: str) -> str:
    """Return an HTML page that Codabench's Markdown leaves alone.

    Blank lines would end an HTML block, and indented lines would then become code; a dollar sign could start a formula.
    An empty page, which Codabench refuses, becomes its title.
    """
    parts = re.split(r"(<pre\b.*?</pre>)", html.replace("$", "&#36;"), flags=re.DOTALL | re.IGNORECASE)
    for at in range(0, len(parts), 2):
        parts[at] = "\n".join(line.strip() for line in parts[at].splitlines() if line.strip())
    return "\n".join(part for part in parts if part).strip() or f"# {title}"

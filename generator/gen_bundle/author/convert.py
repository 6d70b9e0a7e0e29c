"""The journey from a CodaLab 1.5 bundle to a Codabench one: unpack → convert → write → check."""

import math
import re
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import yaml

from gen_bundle.check import Finding, check_path
from gen_bundle.codabench.competition import AVERAGE_RANK, PHASE_FILES, TASK_FILES
from gen_bundle.codabench.dates import utc
from gen_bundle.codabench.reading import YAML_NAME, as_boolean, as_integer, no_yaml_hint
from gen_bundle.declaration.dates import FIRST_YEAR, LAST_YEAR
from gen_bundle.declaration.source import mapping_of
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import beside
from gen_bundle.ground.yaml_document import UnreadableYamlError, is_endless, read_yaml
from gen_bundle.ground.zips.unpacking import BUNDLE, ArchiveError, unpack
from gen_bundle.ground.zips.writing import Members, folder_members, write_zip, zipped
from scoring_kit.base.submissions import is_junk

NOT_PYTHON_3 = "program-not-python-3"
MAPPINGS = ("html", "phases", "leaderboard")


@dataclass(frozen=True)
class Converted:
    """What became of a bundle.

    Attributes:
        lost: what could not be carried over, a line each.
        changed: what is written differently, a line each.
        faults: what Codabench would refuse in the new bundle, and what would keep it from working.
    """

    lost: list[str]
    changed: list[str]
    faults: list[Finding]


def convert(old: Path, new: Path, *, force: bool = False) -> Converted:
    """Write the bundle `old` (zip or folder) in Codabench's format to the zip `new`, which is then checked.

    Raises:
        UserError: `old` is not a bundle of the older format, `new` exists, or nothing can be written there.
    """
    try:
        if new.is_dir():
            raise UserError(f"--out {new}: is a folder. Expected the path of a zip file.")
        if new.exists() and not force:
            raise UserError(f"--out {new}: exists already. Choose another path, or pass --force.")
        with tempfile.TemporaryDirectory(prefix="gen-bundle-") as work:
            folder = _opened(old, Path(work))
            members = folder_members(folder)
            conversion = Conversion(_document(folder, members), members)
            converted = conversion.document()
            del members[YAML_NAME]
            for page in (*converted["pages"], {"title": "Terms", "file": converted["terms"]}):
                members[page["file"]] = _page(members, page["file"], page["title"])
            if any(name.startswith("assets/") for name in members):
                conversion.lost.append("assets/: Codabench publishes no files by themselves; link them from elsewhere")
            conversion.changed += _unwrap_all(members, converted["tasks"], Path(work))
            faults = _written(new, members, converted)
            if "docker_image" not in converted and any(fault.id == NOT_PYTHON_3 for fault in faults):
                converted["docker_image"] = PYTHON_2_IMAGE
                conversion.lost.remove(NO_IMAGE)
                conversion.changed.append(
                    f"docker image: none was named, and a program is in Python 2; {PYTHON_2_IMAGE} is CodaLab's old one"
                )
                faults = _written(new, members, converted)
        return Converted(conversion.lost, conversion.changed, faults)
    except OSError as error:
        raise UserError(
            f"{error.filename or new}: {error.strerror}. Expected: a readable bundle, and a writable folder with "
            f"free space for --out {new}."
        ) from error


def _unwrap_all(members: dict[str, Any], tasks: Sequence[Mapping[str, Any]], work: Path) -> Iterator[str]:
    """Take off the folder around each program and each task's data, where CodaLab did; yields what was changed."""
    for use in sorted({task[role] for task in tasks for role in TASK_FILES if role in task}):
        if _unwrapped(members, use, work):
            yield (
                f"{use}: the folder in it was taken off, as CodaLab did. Codabench does not, so participants must "
                "zip files, not the folder around them"
            )


def _written(new: Path, members: Members, document: dict[str, Any]) -> list[Finding]:
    """Write the new bundle; returns what Codabench would refuse in it, and what would keep it from working."""
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, default_style=None, width=100)
    with beside(new) as unfinished:
        write_zip(unfinished, {**members, YAML_NAME: text.encode()})
        unfinished.replace(new)
    return [finding for finding in check_path(new).findings if finding.severity == "error"]


def _unwrapped(members: dict[str, Any], use: str, work: Path) -> bool:
    """Whether a program or data that lies in a single folder, with `metadata` there, was moved to the top.

    Source: `_find_only_folder_with_metadata` of CodaLab's worker, which did so with all that it unpacked.
    """
    if use not in members:  # a folder: its files are members
        names = [name.removeprefix(f"{use}/") for name in members if name.startswith(f"{use}/")]
        top = _only_folder(names)
        if top:
            for name in names:
                members[f"{use}/{name.removeprefix(f'{top}/')}"] = members.pop(f"{use}/{name}")
        return bool(top)
    packed = members[use]
    folder = Path(tempfile.mkdtemp(dir=work))
    try:
        unpack(packed, folder, BUNDLE)
    except (ArchiveError, OSError):
        return False  # the check names it
    inside = folder_members(folder)
    top = _only_folder(inside)
    if top:
        members[use] = zipped({name.removeprefix(f"{top}/"): inside[name] for name in inside})
    return bool(top)


def _only_folder(files: Collection[str]) -> str | None:
    """The one folder at the top, beside what systems leave there, if it holds `metadata`."""
    tops = {name.partition("/")[0] for name in files if not is_junk(name)}
    if len(tops) != 1:
        return None
    (top,) = tops
    if {f"{top}/metadata", f"{top}/metadata.yaml"}.isdisjoint(files):
        return None
    return top


def _opened(old: Path, work: Path) -> Path:
    if old.is_dir():
        return old
    try:
        unpack(old, work, BUNDLE)
    except (ArchiveError, OSError) as error:
        raise UserError(f"{old}: {error}. Expected the zip or folder of a CodaLab 1.5 bundle.") from error
    return work


def _document(folder: Path, members: Members) -> dict[str, Any]:
    name = YAML_NAME
    try:
        document = read_yaml((folder / name).read_bytes()).value
    except OSError as error:
        raise UserError(f"{name}: not found at the root of the bundle.{no_yaml_hint(members)}") from error
    except UnreadableYamlError as error:
        place = f":{error.line}" if error.line else ""
        raise UserError(f"{name}{place} {error}") from error
    if is_endless(document):
        raise UserError(f"{name}: its aliases (&, *) repeat each other to enormous size. Write them out.")
    if not isinstance(document, dict):
        raise UserError(f"{name}: is not a mapping. Expected title, html, phases, leaderboard.")
    if str(document.get("version", "1")) not in ("1", "1.5"):
        raise UserError(f"{name}: has version {document['version']}; only CodaLab 1.5 bundles are converted.")
    problems = []
    for key in ("title", *MAPPINGS):
        if not document.get(key):
            problems.append(f"{name}: {key} is missing. A CodaLab 1.5 bundle has it.")
    for key in MAPPINGS:
        if not isinstance(document.get(key, {}), dict):
            problems.append(f"{name}: {key} is not a mapping, as it is in a CodaLab 1.5 bundle.")
    if problems:
        raise UserError(*problems)
    return document


def _page(members: Members, name: str, title: str) -> bytes:
    """A page's text; only files of the bundle itself are ever read."""
    path = members.get(name)
    if not isinstance(path, Path):
        raise UserError(f"competition.yaml: html: the page {title!r} ({name}) is not in the bundle. Add the file.")
    return html_as_markdown(path.read_text(encoding="utf-8", errors="replace"), title).encode()


COPIED = ("title", "description", "image", "reward")
PHASE_LIMITS = ("max_submissions", "max_submissions_per_day", "execution_time_limit")
# What a phase allows a day that says nothing: practically no limit on CodaLab, and 5 on Codabench.
OLD_DAY_LIMIT = 999
# Keys without a counterpart that change nothing a participant would notice.
SILENT_TOP = {"html", "phases", "leaderboard", "end_date", "has_registration", "competition_docker_image"}
SILENT_TOP |= {"force_submission_to_leaderboard", "enable_detailed_results", "enable_forum", "published", "version"}
KNOWN_PHASE = {*PHASE_LIMITS, *PHASE_FILES, *TASK_FILES}
KNOWN_PHASE |= {"phasenumber", "label", "description", "start_date", "color", "auto_migration", "is_scoring_only"}
KNOWN_PHASE |= {"force_best_submission_to_leaderboard", "phase_never_ends"}
MAX_COLUMN = 36
NO_IMAGE = "docker image: none was named; Codabench will use its legacy Python 3.7 image"
PYTHON_2_IMAGE = "codalab/codalab-legacy:py2"


class Conversion:
    """Builds the new document of the parsed `old` one; collects what could not be carried over, and what is changed."""

    def __init__(self, old: Mapping[str, Any], files: Collection[str]) -> None:
        self.old = old
        self.phases: list[Mapping[str, Any]] = list(map(mapping_of, mapping_of(old.get("phases")).values()))
        self.phases.sort(key=lambda phase: _number(phase.get("phasenumber")))
        self.files = files
        self.lost: list[str] = []
        self.changed: list[str] = []

    def document(self) -> dict[str, Any]:
        """competition.yaml for Codabench; `lost` is complete afterwards."""
        old, phases = self.old, self._open_phases()
        new: dict[str, Any] = {"version": 2}
        new |= {key: str(old[key]) for key in COPIED if old.get(key) is not None}
        new["registration_auto_approve"] = not _is_on(old.get("has_registration"))
        if old.get("competition_docker_image"):
            new["docker_image"] = str(old["competition_docker_image"])
        else:
            self.lost.append(NO_IMAGE)
        new["enable_detailed_results"] = _is_on(old.get("enable_detailed_results"))
        if "enable_forum" in old:
            new["forum_enabled"] = _is_on(old["enable_forum"])
        html = mapping_of(old.get("html"))
        new["terms"] = str(html.get("terms", "terms.md"))
        new["pages"] = []
        for name, file in html.items():
            if name != "terms":
                title = str(name).replace("_", " ").capitalize()
                new["pages"].append({"title": title, "file": str(file)})
        new["tasks"] = list(map(self._task, range(len(phases)), phases))
        new["phases"] = list(map(self._phase, range(len(phases)), phases))
        new["leaderboards"] = [self._leaderboard(phases)]
        for key in old:
            if key not in SILENT_TOP and key not in COPIED:
                self.lost.append(f"{key}: has no counterpart")
        return new

    def _open_phases(self) -> list[Mapping[str, Any]]:
        """The phases that take submissions; all where none does."""
        if any(phase.get("is_parallel_parent") or phase.get("parent_phasenumber") for phase in self.phases):
            self.lost.append("parallel phases: Codabench's phases follow each other; make them tasks of one phase")
        taking, closed = [], []
        for phase in self.phases:
            if as_integer(phase.get("max_submissions")) != 0:
                taking.append(phase)
            else:
                closed.append(
                    f"phase {phase.get('label')!r}: submissions are closed in it (max_submissions: 0), which is no "
                    "limit on Codabench; left out, so that there is no phase at that time"
                )
        if not taking:
            self.lost.append("max_submissions: 0 in every phase, which lets nobody submit on CodaLab, is no limit here")
            return self.phases
        self.changed += closed
        return taking

    def _task(self, index: int, phase: Mapping[str, Any]) -> dict[str, Any]:
        """A phase's task, called as Codabench calls it where it reads the old bundle itself."""
        label = phase.get("label", f"Phase {index + 1}")
        return {"index": index, "name": f"{label} Task"} | self._named(phase, TASK_FILES)

    def _named(self, phase: Mapping[str, Any], keys: Collection[str]) -> dict[str, Any]:
        """Files that lie in the bundle; keys of datasets on the old server lead nowhere on the new one."""
        found = {}
        for key in keys:
            name = phase.get(key)
            if not name:
                continue
            there = self._there(str(name))
            if there is None:
                self.lost.append(f"{key} of phase {phase.get('label')!r}: {name!r} is not in the bundle; add the file")
            else:
                found[key] = there
                if there != str(name):
                    self.changed.append(f"{key} of phase {phase.get('label')!r}: {there!r} is taken for {name!r}")
        return found

    def _there(self, name: str) -> str | None:
        """A file or folder of the bundle; in place of a zip that is missing the folder that it was to be made of."""
        plain = name.strip().removeprefix("./").rstrip("/")
        for path in (plain, plain.removesuffix(".zip"), f"{plain}.zip"):
            if path and any(file == path or file.startswith(f"{path}/") for file in self.files):
                return path
        return None

    def _phase(self, index: int, phase: Mapping[str, Any]) -> dict[str, Any]:
        new: dict[str, Any] = {"index": index, "name": str(phase.get("label", f"Phase {index + 1}"))}
        if phase.get("description"):
            new["description"] = str(phase["description"])
        start = moment(phase.get("start_date"))
        if start is None:
            self.lost.append(f"start_date of phase {phase.get('label')!r}: not a readable date; set it")
        else:
            new["start"] = utc(start)
        end = self._end(phase)
        if end is not None:
            new["end"] = utc(end)
        new |= self._limits(phase)
        if _is_on(phase.get("auto_migration")) and index > 0:
            new["auto_migrate_to_this_phase"] = True
        new |= self._named(phase, PHASE_FILES)
        for key in phase:
            if key not in KNOWN_PHASE:
                self.lost.append(f"{key} of phase {phase.get('label')!r}: has no counterpart")
        return new | {"tasks": [index]}

    def _limits(self, phase: Mapping[str, Any]) -> dict[str, int]:
        limits = {}
        for key in PHASE_LIMITS:
            number = as_integer(phase.get(key))
            if number is not None:
                limits[key] = number
        if "max_submissions_per_day" not in limits:
            limits["max_submissions_per_day"] = OLD_DAY_LIMIT
            self.changed.append(
                f"max_submissions_per_day of phase {phase.get('label')!r}: none was given, which is {OLD_DAY_LIMIT} on "
                "CodaLab and 5 on Codabench; written as it was on CodaLab"
            )
        return limits

    def _end(self, phase: Mapping[str, Any]) -> datetime | None:
        """A phase lasted until the next one started; on Codabench it must end before that."""
        after = self.phases[self.phases.index(phase) + 1 :]
        if after:
            following = moment(after[0].get("start_date"))
            return following - timedelta(seconds=1) if following else None
        return moment(self.old.get("end_date"))

    def _leaderboard(self, phases: list[Mapping[str, Any]]) -> dict[str, Any]:
        old = mapping_of(self.old.get("leaderboard"))
        boards = sorted(mapping_of(old.get("leaderboards")).values(), key=_rank)
        title = "Results"
        if boards:
            title = str(mapping_of(boards[0]).get("label", title))
        kept: list[dict[str, Any]] = []
        rules: dict[str, Any] = {}
        for key, one in sorted(mapping_of(old.get("columns")).items(), key=lambda item: _rank(item[1])):
            column = mapping_of(one)
            label = str(mapping_of(column.get("leaderboard")).get("label", title))
            if label.lower() != title.lower():
                self.lost.append(f"column {key!r}: belongs to the board {label!r}; Codabench shows one board")
                continue
            shown = str(column.get("label", key))
            if len(shown) > MAX_COLUMN:
                self.lost.append(f"column {str(key)!r}: its title is cut to {MAX_COLUMN} characters")
            kept.append(
                {
                    "index": len(kept),
                    "key": str(key),
                    "title": shown[:MAX_COLUMN],
                    "sorting": str(column.get("sort", "desc")),
                    "precision": int(_number(column.get("numeric_format", 2))),
                    "hidden": _is_on(column.get("hidden")),
                }
            )
            if "computed" in column:
                rules[str(key)] = column["computed"]
        self._compute(kept, rules)
        if old.get("column_groups"):
            self.lost.append("column_groups: Codabench has none")
        return {
            "title": title[:64],
            "key": "results",
            "submission_rule": self._submission_rule(phases),
            "primary_index": 0,
            "columns": kept,
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
                names = map(str.strip, str(names).split(","))
            known = [sources[name] for name in names if name in sources]
            if str(rule.get("operation")) != "Avg" or not known:
                self.lost.append(f"column {column['key']!r}: how it is computed is not known; scores must fill it")
                continue
            column |= {"computation": AVERAGE_RANK, "computation_indexes": known, "sorting": "asc"}
            self.changed.append(
                f"column {column['key']!r}: the mean of ranks is computed by Codabench, too, since 1.29 "
                f"(computation: {AVERAGE_RANK}); an older site refuses it"
            )

    def _submission_rule(self, phases: list[Mapping[str, Any]]) -> str:
        if any(_is_on(phase.get("force_best_submission_to_leaderboard")) for phase in phases):
            return "Force_Best"
        if _is_on(self.old.get("force_submission_to_leaderboard")):
            return "Force_Last"
        return "Add"


def _rank(entry: Any) -> float:
    return _number(mapping_of(entry).get("rank"))


def _is_on(value: Any) -> bool:
    """Whether a setting is meant to be on; a text such as 'no' is off, however the servers read it."""
    meant = as_boolean(value)
    return bool(value) if meant is None else meant


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return number if math.isfinite(number) else 0.0


def moment(value: Any) -> datetime | None:
    """A date of the old format in UTC: without a zone it is UTC, a date alone its midnight; else None."""
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
    """An HTML page that Codabench's Markdown leaves alone.

    Blank lines would end an HTML block, and indented lines would then become code; a dollar sign could start a formula.
    An empty page, which Codabench refuses, becomes its title.
    """
    parts = re.split(r"(<pre\b.*?</pre>)", html.replace("$", "&#36;"), flags=re.DOTALL | re.IGNORECASE)
    for at in range(0, len(parts), 2):
        parts[at] = "\n".join(filter(None, map(str.strip, parts[at].splitlines())))
    return "\n".join(filter(None, parts)).strip() or f"# {title}"

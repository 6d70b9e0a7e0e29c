"""The journey from a bundle to a project: open → write its files where an organiser finds them → bundle.yaml → read it.

The files keep their bytes. A zip that can be unpacked becomes a folder, which the build zips again; any other file
stays as it is.
"""

import keyword
import re
import secrets
import shutil
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from gen_bundle.author.importing.old_format import in_new_format
from gen_bundle.author.importing.opening import ABSENT, NO_PAGE, Imported, open_any
from gen_bundle.author.new.project import SCHEMA, placeholder_logo, write_schema
from gen_bundle.build.foreign import DIGEST, ORIGINAL, project_digest
from gen_bundle.build.platforms.codabench import BundleDumper
from gen_bundle.check.bundle import Bundle, page_files
from gen_bundle.check.registry import RuleEffect
from gen_bundle.check.report import Finding
from gen_bundle.check.run import findings_of
from gen_bundle.codabench import settings as platform
from gen_bundle.codabench.competition import (
    DEFAULT_A_DAY,
    DEFAULT_IN_ALL,
    DEFAULT_LIMIT_S,
    MEASURED,
    TIE_BREAK,
    Column,
    DataUse,
    Phase,
    Task,
)
from gen_bundle.codabench.dates import Instant
from gen_bundle.codabench.reading import YAML_NAME, YamlItem, as_boolean, as_integer, as_text, named_indexes
from gen_bundle.declaration.read import FILE, read_foreign
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.yaml_document import Path as YamlPath
from gen_bundle.ground.yaml_document import dotted
from gen_bundle.ground.zips.tree import Node, OnServer, Unpacked, file_of, sha256_of, write_files
from gen_bundle.look.difference.changes import Difference
from gen_bundle.look.difference.report import as_lines, differences

PROGRAMS = {"scoring": "scoring_program", "ingestion": "ingestion_program"}
PROGRAM_FOLDERS = {"scoring_program": "programs/score", "ingestion_program": "programs/ingest"}
DATA = {"reference_data": "data", "input_data": "data/input"}
PHASE_DATA = {"public_data": "public", "starting_kit": "kits"}
TAKEN_IDS = {"input", "public", "baselines", "other"}
"""Folders of data/ that are no phase's, here or in other projects."""
LONGEST_ID = 36


def import_bundle(source: Path, folder: Path) -> Imported:
    """Make a project of a bundle, zip or folder, in either format.

    Args:
        source: the bundle.
        folder: is made whole, or not at all; an empty one may be there.

    Raises:
        UserError: it is no bundle, or is broken, the folder is not empty, or cannot be written.
    """
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise UserError(f"--out {folder}: exists already. Expected a new folder, or an empty one.")
    imported = Imported()
    work = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp")
    with ExitStack() as held:
        bundle = open_any(source, datetime.now(UTC), held, imported)
        try:
            bundle = _as_codabench_takes_it(bundle, held, imported)
            work.mkdir(parents=True)
            declaration = _Project(bundle, work, imported).declaration()
            made_of = f"Made of {source.resolve().name!a} by gen-bundle import."
            (work / FILE).write_text(declaration_text(declaration, made_of), encoding="utf-8")
            (work / ORIGINAL).mkdir()
            (work / ORIGINAL / YAML_NAME).write_bytes(imported.original)
            write_schema(work)
            try:
                read_foreign(work)
            except UserError as error:  # what is absent is said already
                imported.faults += [message for message in error.messages if ": nothing is at " not in message]
            (work / ORIGINAL / DIGEST).write_text(project_digest(work), encoding="utf-8")
            if folder.exists():
                folder.rmdir()
            work.rename(folder)
        except OSError as error:
            raise UserError(
                f"{error.filename or source}: {error.strerror or error}. Expected a bundle that can be read, and a "
                f"writable folder with free space for --out {folder}."
            ) from error
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return imported


def _as_codabench_takes_it(bundle: Bundle, held: ExitStack, imported: Imported) -> Bundle:
    """Return the bundle in the new format; `imported` gets what Codabench refuses in it."""
    if bundle.format == "v2":
        imported.faults += [finding.message for finding in refused(bundle)]
        for finding in findings_of(bundle, None, "server-export"):
            imported.lost.append(f"{finding.what}. {finding.consequence} {finding.repair}")
        return bundle
    imported.changed.append("the bundle is in CodaLab's format, and is converted")
    new = in_new_format(bundle, held, imported)
    imported.converted += by_weight(differences(bundle, new))
    imported.faults += [f"{one.what}. {one.consequence} {one.repair}" for one in refused(new)]
    return new


def by_weight(found: Sequence[Difference]) -> list[str]:
    """Return the differences a line each: what participants meet first, the titles of pages last, in one line."""
    titles, others = [], []
    for one in found:
        if (one.part, one.what) == ("pages", "title"):
            titles.append(f"{one.old} → {one.new}")
        else:
            others.append(one)
    lines = as_lines(others)
    lines.sort(key=lambda line: line.startswith(("competition", "pages")))
    if titles:
        lines.append(f"pages: titles: {', '.join(titles)}")
    return lines


def refused(bundle: Bundle) -> list[Finding]:
    """Return what Codabench refuses, or reads as another thing than stands there."""
    return findings_of(bundle, RuleEffect.REFUSED, "yaml-key-repeated")


class _Project:
    """A project in the making.

    Attributes:
        placed: where programs went, by their content, and data, by the file or folder of the bundle.
        texts: where pages went, by the path in competition.yaml.
        used: the places that are taken, without the endings of files and without case.
    """

    def __init__(self, bundle: Bundle, folder: Path, imported: Imported) -> None:
        self.bundle = bundle
        self.competition = bundle.competition
        self.folder = folder
        self.imported = imported
        self.placed: dict[Any, str] = {}
        self.texts: dict[str, str] = {}
        self.used: set[str] = set()
        self.roles = {use.role for use in self.competition.uses()}
        self.phases: dict[YamlPath, str] = {}
        used = set(TAKEN_IDS)
        for phase in self.competition.phases:
            self.phases[phase.at] = _id(phase.id, phase.name, "phase", used)
        self.tasks: dict[YamlPath, str] = {}
        self.by_index: dict[Hashable, str] = {}
        used = set()
        for task in self.competition.tasks:
            self.tasks[task.at] = _id(*self._named(task), "task", used)
            if isinstance(task.index, Hashable):
                self.by_index.setdefault(task.index, self.tasks[task.at])

    def _named(self, task: Task) -> tuple[Any, str]:
        """Return what the id of a task is made of: the only task of one phase is called like that."""
        having = [phase for phase in self.competition.phases if task in phase.tasks]
        if len(having) == 1 and having[0].tasks == (task,):
            return self.phases[having[0].at], ""
        return task.id, task.name

    def declaration(self) -> dict[str, Any]:
        """Return what bundle.yaml says; all files are written."""
        top = self.bundle.yaml
        image = top.get("image")
        logo = f"logo{PurePosixPath(image).suffix}" if isinstance(image, str) else "logo.png"
        self._write(self.bundle.find(image), logo, "image", placeholder_logo("logo", self.competition.title))
        pages = []
        for page in page_files(self.bundle):
            if page.at != ("terms",):
                title = as_text(self.bundle.value((*page.at[:-1], "title"))) or ""
                pages.append({"title": title, "file": self._text(page.path, dotted(page.at))})
        terms = "pages/terms.md"
        if "terms" in top:
            terms = self._text(top["terms"], "terms")
        else:
            self._write(None, terms, "terms")
        declared: dict[str, Any] = {
            "title": as_text(top.get("title")) or "",
            "description": as_text(top.get("description")) or "",
            "logo": logo,
            **self._settings(),
            "raw": True,
            "pages": pages,
            "terms": terms,
            "programs": {},
        }
        tasks = [self._task(one) for one in self.competition.tasks]
        declared["programs"] = _shared_programs(tasks)
        declared["tasks"] = tasks
        declared["phases"] = [self._phase(one) for one in self.competition.phases]
        solutions = list(self._solutions())
        if solutions:
            declared["solutions"] = solutions
        self._name_what_is_ignored()
        return declared | {"leaderboard": self._leaderboard()}

    def _settings(self) -> dict[str, Any]:
        """The competition's own settings; all written out whose defaults in bundle.yaml are others."""
        top = self.bundle.yaml
        registration = _read(as_boolean, top.get("registration_auto_approve"))
        if registration is None or isinstance(registration, bool):
            registration = "auto" if registration else "approve"
        given: dict[str, Any] = {
            "docker_image": self.competition.image,
            "registration": registration,
            "submission_rule": self.competition.submission_rule,
            **_unusual(top, (*platform.OPTIONAL, *platform.SETTINGS)),
        }
        if isinstance(top.get("fact_sheet"), Mapping):
            given["fact_sheet"] = {str(key): value for key, value in top["fact_sheet"].items()}
        return given

    def _name_what_is_ignored(self) -> None:
        """Note the keys that the platform ignores, and the dates beside the phases, which only a preview shows."""
        bundle = self.bundle
        self._name_further([YamlItem((), 0, bundle.yaml)], platform.TOP_KEYS - {"milestones"}, "")
        self._name_further(bundle.entries("leaderboards")[:1], platform.BOARD | {TIE_BREAK}, "")
        for name, keys in platform.LISTS.items():
            self._name_further(bundle.entries(name), keys, name)
        self._name_further(bundle.entries("leaderboards", 0, "columns"), platform.COLUMN | {MEASURED}, "columns")

    def _name_further(self, entries: Sequence[YamlItem], read: Set[str], what: str) -> None:
        """Name the further keys of mappings; what several have alike is one line."""
        alike: dict[tuple[str, ...], list[YamlPath]] = {}
        for entry in entries:
            further = tuple(str(key) for key in entry.value if key not in read)
            alike.setdefault(further, []).append(entry.at)
        alike.pop((), None)
        for keys, having in alike.items():
            named = ", ".join(dotted((*having[0], key)) for key in keys)
            if len(having) > 1:
                named = f"{', '.join(keys)} in {len(having)} {what}"
            self.imported.lost.append(f"{named}: Codabench ignores it, too")

    # Texts

    def _text(self, path: Any, at: str) -> str:
        """The place of a page, which is written the first time that it is named."""
        name = PurePosixPath(str(path))
        if str(path) not in self.texts:
            place = _unused(f"pages/{_plain(name.stem) or 'page'}", self.used, "-") + name.suffix
            self._write(self.bundle.find(path), place, at)
            self.texts[str(path)] = place
        return self.texts[str(path)]

    def _write(self, found: Node | OnServer | None, place: str, at: str, instead: bytes = NO_PAGE) -> None:
        """Write a file of the bundle; where there is none, one that asks for it."""
        if isinstance(found, Node) and not found.is_folder:
            write_files(found, self.folder / place)
            return
        self.imported.absent.append(f"{at}: names no file of the bundle; a placeholder is in {place}")
        write_files(file_of(instead), self.folder / place)

    # Tasks and phases

    def _task(self, task: Task) -> dict[str, Any]:
        entry: dict[str, Any] = {"id": self.tasks[task.at], "name": task.name}
        given = self.bundle.mapping(task.at)
        if "key" in given:
            return entry | {"key": str(given["key"])}
        if given.get("description") is not None:
            entry["description"] = as_text(given["description"])
        programs = self._places(task.files, PROGRAM_FOLDERS, "", self.tasks[task.at])
        entry["programs"] = {name: programs.get(role) for name, role in PROGRAMS.items()}
        entry |= self._places(task.files, DATA, f"/{self._of_phase(task)}")
        return entry | _unusual(given, [platform.TASK_FLAG])

    def _of_phase(self, task: Task) -> str:
        """Return where below data/ a task's files go: in the folder of the first phase that has it."""
        for phase in self.competition.phases:
            if phase.tasks == (task,):
                return self.phases[phase.at]
            if task in phase.tasks:
                return f"{self.phases[phase.at]}/{self.tasks[task.at]}"
        return f"other/{self.tasks[task.at]}"

    def _phase(self, phase: Phase) -> dict[str, Any]:
        given = self.bundle.mapping(phase.at)
        entry: dict[str, Any] = {"id": self.phases[phase.at], "name": phase.name}
        if given.get("description") is not None:
            entry["description"] = as_text(given["description"])
        if given.get("start"):
            entry["start"] = self._date(phase.start, phase.start_at)
        if given.get("end"):
            entry["end"] = self._date(phase.end, phase.end_at)
        entry |= {
            "tasks": self._task_ids(given.get("tasks")),
            "max_submissions_per_day": _read(as_integer, given.get("max_submissions_per_day", DEFAULT_A_DAY)) or 0,
            "max_submissions": _read(as_integer, given.get("max_submissions", DEFAULT_IN_ALL)) or 0,
            "execution_time_limit": _read(as_integer, given.get("execution_time_limit")) or DEFAULT_LIMIT_S,
        }
        entry |= _unusual(given, (platform.MIGRATE, *platform.HIDING))
        entry |= self._places(phase.files, PHASE_DATA, f"/{entry['id']}")
        if given.get("gold") == "public":
            entry["gold"] = "public"
        return entry

    def _task_ids(self, indexes: Any) -> list[str]:
        """The tasks that a list names; what names none stays as it is."""
        return list(dict.fromkeys(self.by_index.get(index, str(index)) for index in named_indexes(indexes)))

    def _date(self, instant: Instant, at: YamlPath) -> str:
        """A date as Codabench reads it; as it is written where it is left to the day of the upload, or is none."""
        value = self.bundle.value(at)
        if instant.moment is None or instant.incomplete:
            return str(value)
        stored = f"{instant.moment:%Y-%m-%d %H:%M:%S} UTC"
        if instant.lost_time or instant.lost_zone or instant.other_reading or instant.odd:
            self.imported.changed.append(f"{dotted(at)}: {value} is {stored} to Codabench")
        return stored

    def _solutions(self) -> Iterator[dict[str, Any]]:
        for entry in self.bundle.entries("solutions"):
            if "key" in entry.value:
                self.imported.lost.append(f"{dotted(entry.at)}: a solution that is on the server, by its key")
        for solution in self.competition.solutions:
            item = self.bundle.mapping(solution.at[:-1])
            name = as_text(item.get("name"))
            file = _plain(name or PurePosixPath(str(solution.path)).stem) or "solution"
            told: dict[str, Any] = {
                "path": self._place(solution, f"solutions/{file}"),
                "tasks": self._task_ids(list(solution.tasks)),
            }
            if name is not None:
                told["name"] = name
            if as_text(item.get("description")) is not None:
                told["description"] = as_text(item["description"])
            yield told

    # Programs and data

    def _places(
        self, files: Mapping[str, DataUse], folders: Mapping[str, str], below: str, instead: str = ""
    ) -> dict[str, str | None]:
        """Return where the files of these roles went below folders; None: none, though the bundle has some elsewhere.

        A key that is left out means what lies in a usual place, which may be another task's or phase's.
        """
        found: dict[str, str | None] = {}
        for role, folder in folders.items():
            if role in files:
                found[role] = self._place(files[role], folder + below, instead)
            elif role in self.roles:
                found[role] = None
        return found

    def _place(self, use: DataUse, place: str, instead: str = "") -> str:
        """Return where a program or data goes; it is written the first time it is named, and a key on the server stays.

        Where the place is taken, `instead` is added to its name, or a number.
        """
        path, found = str(use.path), self.bundle.find(use.path)
        unpacked = self.bundle.unpacked(use)
        if unpacked is None or not isinstance(found, Node):
            return path  # of a data set on the server
        content: Any = id(found)
        if use.role in PROGRAMS.values():  # the same program in several zips is one
            content = tuple((name, sha256_of(node)) for name, node in unpacked.tree.files()) or content
        if content not in self.placed:
            if instead and place.lower() in self.used:
                place = f"{place}-{instead}"
            place = _unused(place, self.used, "-")
            self.placed[content] = self._written(use, found, unpacked, place)
        return self.placed[content]

    def _written(self, use: DataUse, found: Node, unpacked: Unpacked, place: str) -> str:
        """Write a program or data to its place, a folder where it can be unpacked; returns that."""
        if unpacked.form == "no zip" or unpacked.fault:
            place += PurePosixPath(str(use.path)).suffix
            write_files(found, self.folder / place)
        elif list(unpacked.tree.children or {}) == [ABSENT]:
            (said,) = (unpacked.tree.children or {}).values()
            path = said.read(said.size).decode("utf-8", "replace")
            self.imported.absent.append(f"{dotted(use.at)}: {path or 'nothing'}; put its files into {place}/")
        else:
            write_files(unpacked.tree, self.folder / place)
        return place

    # The leaderboard

    def _leaderboard(self) -> dict[str, Any]:
        boards = self.bundle.entries("leaderboards")
        for other in boards[1:]:
            self.imported.lost.append(f"{dotted(other.at)}: Codabench uses the first leaderboard alone")
        board = boards[0].value if boards else {}
        declared: dict[str, Any] = {"title": self.competition.board_title, "key": as_text(board.get("key")) or ""}
        declared |= _unusual(board, platform.BOARD_SETTINGS)
        if self.competition.tie_break is not None:
            declared |= {"ties": "equal", "tie_break": list(self.competition.tie_break)}
        declared["columns"] = [self._column(place, one) for place, one in enumerate(self.competition.columns)]
        return declared

    def _column(self, place: int, column: Column) -> dict[str, Any]:
        entry: dict[str, Any] = {"key": column.key, "title": column.title}
        given = self.bundle.mapping(column.at)
        index = _read(as_integer, given.get("index", place))
        if index != place:
            entry["index"] = index
        precision = _read(as_integer, given.get("precision", 2))
        entry |= {"sort": given.get("sorting", "desc"), "precision": 2 if precision is None else precision}
        entry |= _unusual(given, [platform.COLUMN_FLAG])
        if column.computation is not None:
            entry["computation"] = column.computation
            keys = {one.index: one.key for one in self.competition.columns}
            of = [keys[index] for index in column.inputs if index in keys]
            if len(of) < len(column.inputs):
                self.imported.lost.append(f"{dotted(column.at)}: is computed of columns that are not there")
            if of:
                entry["of"] = of
        if column.measured:
            entry["measured"] = "seconds"
        return entry


def _read(reader: Callable[[Any], Any], value: Any) -> Any:
    """A value as the platform reads it; as it stands where it can be none, so that bundle.yaml is refused, too."""
    read = reader(value)
    return value if read is None else read


def _unusual(given: Mapping[Any, Any], fields: Iterable[platform.PlatformField]) -> dict[str, Any]:
    """Return the fields of a mapping that are not as they are by default, or cannot be read, by our names."""
    found = {}
    for field in fields:
        value = field.read(given)
        if value is None:
            value = given.get(field.key)  # as it stands, so that bundle.yaml is refused, too
        if value not in (None, field.default):
            found[field.name] = value
    return found


def _shared_programs(tasks: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The programs that are the same in all tasks, which are taken out of them."""
    own = [task for task in tasks if "programs" in task]
    shared = {}
    for name in PROGRAMS:
        places = {task["programs"][name] for task in own}
        for task in own:
            if len(places) == 1 or task["programs"][name] is None:
                del task["programs"][name]
        if len(places) == 1 and None not in places:
            shared[name] = places.pop()
    for task in own:
        if not task["programs"]:
            del task["programs"]
    return shared


def _id(given: Any, name: str, what: str, used: set[str]) -> str:
    """An identifier that is not in use: our own where there is one, else made of the name."""
    plain = _plain(name).replace("-", "_")
    if isinstance(given, str) and given.isidentifier():
        plain = given
    first = plain[:LONGEST_ID].strip("_") or what
    if not first[0].isalpha() or keyword.iskeyword(first):
        first = f"{what}_{first}"[:LONGEST_ID]
    # with room for an underscore and three digits
    return _unused(first, used, "_", LONGEST_ID - 4)


def _unused(name: str, used: set[str], between: str, most: int | None = None) -> str:
    """The name, or where it is in use without case so much of it and a number; it is in use from now on."""
    free, number = name, 1
    while free.lower() in used:
        number += 1
        free = f"{name[:most]}{between}{number}"
    used.add(free.lower())
    return free


def _plain(name: str) -> str:
    """A name for files: small letters, digits and hyphens of ASCII."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST_ID]


# bundle.yaml


class _ProjectDumper(BundleDumper):
    """As in competition.yaml, but short mappings on one line, long texts as they are, and nothing by reference."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text_in_lines(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    if "\n" in text:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")
    return BundleDumper.yaml_representers[str](dumper, text)


def _short_on_one_line(dumper: yaml.SafeDumper, mapping: Mapping[str, Any]) -> yaml.Node:
    plain = not any(isinstance(value, Mapping) or "\n" in str(value) for value in mapping.values())
    is_short = plain and len(str(mapping)) <= ONE_LINE
    return dumper.represent_mapping("tag:yaml.org,2002:map", mapping.items(), flow_style=is_short)


def _names_on_one_line(dumper: yaml.SafeDumper, items: Sequence[Any]) -> yaml.Node:
    is_short = all(isinstance(item, str) for item in items) and len(str(items)) <= ONE_LINE
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=is_short)


_ProjectDumper.add_representer(str, _text_in_lines)
_ProjectDumper.add_representer(list, _names_on_one_line)
_ProjectDumper.add_representer(dict, _short_on_one_line)
ONE_LINE = 120
"""Characters of a mapping that is written on one line."""
UNFOLDED = 1_000_000
"""Characters: no text is broken into lines."""


def declaration_text(declaration: dict[str, Any], remark: str) -> str:
    """Return the text of bundle.yaml, with a line that says where it comes from."""
    head = f"# yaml-language-server: $schema={SCHEMA}\n# {remark}\n"
    body = yaml.dump(declaration, Dumper=_ProjectDumper, sort_keys=False, allow_unicode=True, width=UNFOLDED)
    return head + str(body)

"""The bundle as the rules see it: its files, its competition.yaml, and the competition that follows from them."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path as FilePath
from typing import Any, NamedTuple, TypeVar

from gen_bundle.codabench.competition import DataUse
from gen_bundle.codabench.reading import YAML_NAME, CompetitionYaml, no_yaml
from gen_bundle.codabench.runnable import PROGRAM_JSON
from gen_bundle.codabench.settings import Stage, check_top
from gen_bundle.codabench.versions import NEWEST, PlatformVersion
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import beside
from gen_bundle.ground.yaml_document import MAX_BYTES, Path, UnreadableYamlError, read_yaml
from gen_bundle.ground.zips.tree import (
    Archive,
    Node,
    OnServer,
    Unpacked,
    folder_tree,
    open_archive,
    unpack,
)
from gen_bundle.ground.zips.writing import folder_members, write_zip, zipped

T = TypeVar("T")
MAX_PROGRAM_JSON = 64 * 1024 * 1024


@dataclass(frozen=True)
class Elsewhere:
    """Gold that participants must not see and that is not in the bundle, such as that of tasks in other bundles.

    Attributes:
        secrets: where in the files it is, as the scoring package names it (see `scoring_kit.organiser`).
        files: the files by name.
    """

    secrets: Sequence[Mapping[str, Any]]
    files: Mapping[str, bytes]


@dataclass(frozen=True)
class DryRun:
    """The scoring programs as a dry run shows them.

    Attributes:
        scored: the keys of each scores file that was taken.
        logs: lines and bytes that the scoring program printed, for each run.
    """

    scored: Sequence[frozenset[str]] = ()
    logs: Sequence[tuple[int, int]] = ()

    @property
    def written(self) -> frozenset[str]:
        """The keys that some run wrote."""
        return frozenset[str]().union(*self.scored)


@dataclass(kw_only=True)
class Bundle(CompetitionYaml):
    """Everything a rule may look at.

    Attributes:
        archive: the files, and what is odd about their zip.
        is_folder: whether it is unpacked.
        unreadable: why competition.yaml cannot be read; None if it can.
        known_keys: keys of datasets, tasks, solutions and queues that are known to exist on the server.
        held: what is open for as long as the bundle is looked at.
        elsewhere: gold that is not in the bundle.
        dry_run: what a dry run shows of the scoring programs; empty without one.
        answers: what functions marked `once_a_bundle` found.
    """

    archive: Archive
    is_folder: bool
    unreadable: UnreadableYamlError | None = None
    known_keys: frozenset[str] = frozenset()
    elsewhere: Sequence[Elsewhere] = ()
    dry_run: DryRun = DryRun()
    held: ExitStack = field(default_factory=ExitStack)
    opened_data: dict[int, Unpacked] = field(default_factory=dict)
    answers: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def tree(self) -> Node:
        """The files as they lie on the platform's disk."""
        return self.archive.tree

    def find(self, path: Any) -> Node | OnServer | None:
        """Return what a path of competition.yaml leads to; None when it leads nowhere or is not a text.

        In a folder, X.zip that is not there is the folder X, of which it will be packed.
        """
        if not isinstance(path, str):
            return None
        return self.tree.find(path) or self.to_be_packed(path)

    def to_be_packed(self, path: str) -> Node | None:
        """Return the folder X of an unpacked bundle, where competition.yaml names X.zip, and that is not there."""
        if not self.is_folder or not path.endswith(".zip") or self.tree.find(path) is not None:
            return None
        found = self.tree.find(path.removesuffix(".zip"))
        if isinstance(found, Node) and found.is_folder and found is not self.tree:
            return found
        return None

    def mappings(self, key: str) -> list[tuple[Any, Mapping[Any, Any]]]:
        """Return the mappings under a key of competition.yaml by their own keys; anything else is left out."""
        return [(name, one) for name, one in self.mapping((key,)).items() if isinstance(one, Mapping)]

    def hint(self, path: str) -> str:
        """Return how a message on a path that leads nowhere ends: with the file of nearly the same name, if any."""
        near = self.tree.nearest(path)
        return f"; there is {near!r}" if near else ""

    def unpacked(self, use: DataUse | None) -> Unpacked | None:
        """Return the unpacked program or data of a use; None without one, and when its path leads nowhere."""
        found = self.find(use.path) if use else None
        if found is None:
            return None
        if isinstance(found, OnServer):
            return unpack(found, self.held)
        if id(found) not in self.opened_data:
            self.opened_data[id(found)] = unpack(found, self.held)
        return self.opened_data[id(found)]

    def program_json(self, use: DataUse | None) -> dict[str, Any]:
        """Return what program.json of one of our programs holds; empty of any other program."""
        unpacked = self.unpacked(use)
        return read_program_json(unpacked.tree.find(PROGRAM_JSON)) if unpacked else {}

    def text(self, path: Any, limit: int = 32 * 1024 * 1024) -> str | None:
        """Return the text of a file as the platform reads it; None when it cannot be read as UTF-8."""
        found = self.find(path)
        if not isinstance(found, Node) or found.open is None:
            return None
        errors = "strict" if found.size <= limit else "ignore"  # the end of a part may split a character
        try:
            return found.read(limit).decode("utf-8", errors)
        except UnicodeDecodeError:
            return None


def read_program_json(file: Node | OnServer | None) -> dict[str, Any]:
    """Return the object in a file; empty where the file holds anything else."""
    if not isinstance(file, Node):
        return {}
    try:
        value = json.loads(file.read(MAX_PROGRAM_JSON))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


class PageFile(NamedTuple):
    """A file that is read as a page or as the terms.

    Attributes:
        at: where competition.yaml names it.
        path: its path as given, of whatever type.
        found: what the path leads to.
        stage, order: when the platform reads it.
    """

    at: Path
    path: Any
    found: Node | OnServer | None
    stage: Stage
    order: tuple[int, ...]


def page_files(bundle: Bundle) -> Iterator[PageFile]:
    """Yield every file that is read as a page or as the terms."""

    def page_file(at: Path, order: tuple[int, ...], stage: Stage = Stage.PAGES) -> PageFile:
        path = bundle.value(at)
        return PageFile(at, path, bundle.find(path), stage, order)

    if bundle.format == "v2":
        for page in bundle.entries("pages"):
            if "file" in page.value:
                yield page_file((*page.at, "file"), (page.position, 1))
        if "terms" in bundle.yaml:
            yield page_file(("terms",), (1,), Stage.TERMS)
    else:
        for number, title in enumerate(bundle.mapping(("html",))):
            yield page_file(("html", title), (number, 1))


def once_a_bundle(find: Callable[[Bundle], Iterable[T]]) -> Callable[[Bundle], list[T]]:
    """Find once for each bundle what several rules need and what takes long to find."""

    @wraps(find)
    def found(bundle: Bundle) -> list[T]:
        if find.__qualname__ not in bundle.answers:
            bundle.answers[find.__qualname__] = list(find(bundle))
        answer: list[T] = bundle.answers[find.__qualname__]
        return answer

    return found


def open_bundle(
    path: FilePath,
    now: datetime,
    held: ExitStack,
    version: PlatformVersion = NEWEST,
) -> Bundle:
    """Open a bundle, whatever is wrong with it; it can be read until `held` is closed.

    Raises:
        OSError: the path cannot be read.
    """
    is_folder = path.is_dir()
    archive = Archive(tree=folder_tree(path)) if is_folder else open_archive(held.enter_context(path.open("rb")), held)
    bundle = Bundle(archive=archive, is_folder=is_folder, now=now, platform=version, held=held)
    found = bundle.tree.find(YAML_NAME)
    if isinstance(found, Node) and found.open is not None:
        try:
            bundle.document = read_yaml(found.read(MAX_BYTES + 1))
        except UnreadableYamlError as error:
            bundle.unreadable = error
    return bundle


def open_readable_bundle(path: FilePath, now: datetime, held: ExitStack, version: PlatformVersion = NEWEST) -> Bundle:
    """Open a bundle whose competition.yaml can be read.

    Raises:
        UserError: the path or its competition.yaml cannot be read.
    """
    try:
        bundle = open_bundle(path, now, held, version)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error
    if bundle.unreadable is not None:
        raise UserError(f"{bundle.unreadable.place(YAML_NAME)}: {bundle.unreadable}") from bundle.unreadable
    if bundle.document is None:
        raise UserError(no_yaml(path, bundle.tree.names()))
    check_top(bundle)
    return bundle


def pack(folder: FilePath, out: FilePath) -> None:
    """Zip an unpacked bundle as its competition.yaml means it: where that names X.zip and X/ is there, X.zip is made.

    Raises:
        UserError: there is no readable competition.yaml, `out` exists, or a file cannot be read or written.
    """
    if out.exists():
        raise UserError(f"--pack {out}: exists already. Choose another path, or remove the file.")
    members = folder_members(folder)
    with ExitStack() as held:
        bundle = open_readable_bundle(folder, datetime.now(UTC), held)
        plain = []
        named: list[DataUse | PageFile] = [*bundle.competition.uses(), *page_files(bundle)]
        for one in named:
            if isinstance(one.path, str):
                plain.append(one.path.removeprefix("./").rstrip("/"))
        for path in plain:
            if not bundle.to_be_packed(path):
                continue
            top = path.removesuffix(".zip")
            members[path] = zipped(folder_members(folder / top))
            if not any(f"{other}/".startswith(f"{top}/") for other in plain):  # nothing else of the folder is named
                members = {name: what for name, what in members.items() if not name.startswith(f"{top}/")}
    try:
        with beside(out) as unfinished:
            write_zip(unfinished, members)
            unfinished.replace(out)
    except OSError as error:
        raise UserError(f"--pack {out}: {error.strerror}. Expected a writable folder with free space.") from error

"""The bundle as the rules see it: its files, its competition.yaml, and the competition that follows from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, wraps
from typing import Any, Literal, TypeVar

from gen_bundle.check.leaks.secrets import Secrets
from gen_bundle.codabench.competition import Competition, DataUse, read_v2
from gen_bundle.codabench.keys import OLD_TOP_KEYS, TOP_KEYS
from gen_bundle.codabench.old_competition import read_v1
from gen_bundle.codabench.yaml_document import Document, Path, UnreadableYamlError, is_endless
from gen_bundle.zips.packed import Package, unpack
from gen_bundle.zips.reading import Archive
from gen_bundle.zips.tree import Node, OnServer, Tree

T = TypeVar("T")
YAML_NAME = "competition.yaml"
NEW_KEYS = ("pages", "tasks", "leaderboards", "terms")
READ_KEYS = sorted(TOP_KEYS | OLD_TOP_KEYS)


@dataclass(frozen=True)
class Entry:
    """An item of a list of mappings in competition.yaml."""

    at: Path
    position: int
    value: Mapping[Any, Any]

    def get(self, key: str) -> Any:
        """The value of a key, or None."""
        return self.value.get(key)


@dataclass
class Bundle:
    """Everything a rule may look at.

    Attributes:
        archive: the zip's facts; None for an unpacked folder.
        unreadable: why competition.yaml cannot be read, if it cannot.
        now: the moment against which dates are judged.
        known_keys: keys of datasets, tasks, solutions and queues that exist on the server, which nobody here can see.
        held: what is open for as long as the bundle is looked at.
        scored: for each dry run, the keys that the scoring program wrote; None without a dry run.
        answers: what functions that are asked `once_a_bundle` found.
    """

    tree: Tree
    now: datetime
    archive: Archive | None = None
    document: Document | None = None
    unreadable: UnreadableYamlError | None = None
    known_keys: frozenset[str] = frozenset()
    secrets: Secrets | None = None
    scored: list[frozenset[str]] | None = None
    tick: Callable[[int], None] = lambda _: None
    held: ExitStack = field(default_factory=ExitStack)
    packages: dict[int, Package] = field(default_factory=dict)
    answers: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def yaml(self) -> Mapping[Any, Any]:
        """The top of competition.yaml; empty when it is no mapping."""
        value = self.document.value if self.document else None
        return value if isinstance(value, Mapping) else {}

    @property
    def version(self) -> str:
        """The version as the platform compares it."""
        return str(self.yaml.get("version", "1"))

    @property
    def format(self) -> Literal["v2", "v1"]:
        """The format that the bundle is written in, also where its version says another one."""
        new = "html" not in self.yaml and any(key in self.yaml for key in NEW_KEYS)
        return "v2" if self.version == "2" or new else "v1"

    @cached_property
    def competition(self) -> Competition:
        """The competition that the platform would create, read leniently."""
        return read_v2(self) if self.format == "v2" else read_v1(self)

    def entries(self, *at: Any) -> list[Entry]:
        """The mappings in the list at a path of competition.yaml; anything else is left out."""
        value: Any = self.yaml
        for key in at:
            if isinstance(value, Mapping):
                value = value.get(key)
            elif isinstance(value, list) and isinstance(key, int) and key < len(value):
                value = value[key]
            else:
                return []
        if not isinstance(value, list):
            return []
        return [Entry((*at, index), index, item) for index, item in enumerate(value) if isinstance(item, Mapping)]

    def package(self, use: DataUse) -> Package | None:
        """The unpacked program or data of a use; None when its path leads nowhere."""
        found = self.tree.find(use.path) if isinstance(use.path, str) else None
        if found is None:
            return None
        if isinstance(found, OnServer):
            return unpack(found, self.tick, self.held)
        if id(found) not in self.packages:
            self.packages[id(found)] = unpack(found, self.tick, self.held)
        return self.packages[id(found)]

    def text(self, name: str, limit: int = 32 * 1024 * 1024) -> str | None:
        """A text file of the bundle as the platform reads it; None when it cannot be read as UTF-8."""
        found = self.tree.find(name)
        if not isinstance(found, Node) or found.open is None:
            return None
        try:
            return found.read(limit).decode("utf-8", "strict" if found.size <= limit else "ignore")
        except UnicodeDecodeError:
            return None

    @cached_property
    def huge(self) -> list[str]:
        """The top-level keys that are read and whose values become enormous once their aliases are written out."""
        return [key for key in READ_KEYS if is_endless(self.yaml.get(key))]


def once_a_bundle(find: Callable[[Bundle], Iterable[T]]) -> Callable[[Bundle], list[T]]:
    """Let several rules ask for what takes long to find: it is found once, and kept with the bundle."""

    @wraps(find)
    def found(bundle: Bundle) -> list[T]:
        if find.__qualname__ not in bundle.answers:
            bundle.answers[find.__qualname__] = list(find(bundle))
        answer: list[T] = bundle.answers[find.__qualname__]
        return answer

    return found

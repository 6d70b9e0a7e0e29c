"""What a rule is: a small function with its metadata, kept in one registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal

from gen_bundle.codabench.stages import Stage
from gen_bundle.codabench.versions import SOURCE
from gen_bundle.codabench.yaml_document import Path

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle

Severity = Literal["error", "warning", "note"]
Reads = Literal["archive", "v2", "v1", "both"]

UNPACKER = f"{SOURCE}, src/apps/competitions/unpackers"
UPLOAD = f"{SOURCE}, src/apps/competitions/tasks.py (unpack_competition)"
SERIALIZERS = f"{SOURCE}, src/apps/api/serializers"
MODELS = f"{SOURCE}, the models' fields"
WORKER = f"{SOURCE}, compute_worker/compute_worker.py"
SCORES = f"{SOURCE}, scores and leaderboards (src/apps/api/views, src/apps/leaderboards)"
FRONTEND = f"{SOURCE}, src/static (how pages are shown)"
ZIPFILE = "Python's zipfile, with which Codabench unpacks"
HOUSE = "good practice; no rule of the platform"


class Effect(Enum):
    """What a finding does to the competition."""

    REFUSED = "the upload is refused"
    BROKEN = "the upload is accepted, but the competition cannot work"
    TRAP = "the upload is accepted, but something is not as it was meant"
    NOTE = "worth knowing; does no harm"

    @property
    def severity(self) -> Severity:
        """How loudly it is reported."""
        if self in (Effect.REFUSED, Effect.BROKEN):
            return "error"
        return "warning" if self is Effect.TRAP else "note"


@dataclass(frozen=True)
class Problem:
    """One place where a rule is broken.

    `at` is the path in competition.yaml (keys and list positions); a problem in another file names `file` instead.
    `order` sorts problems of one stage as the platform would meet them.
    """

    what: str
    at: Path = ()
    file: str | None = None
    line: int | None = None
    column: int | None = None
    order: tuple[int, ...] = ()
    stage: Stage | None = None


Check = Callable[["Bundle"], Iterable[Problem]]


@dataclass(frozen=True)
class Rule:
    """A rule's metadata and the function that finds where it is broken."""

    id: str
    effect: Effect
    stage: Stage
    reads: Reads
    topic: str
    title: str
    consequence: str
    repair: str
    source: str
    check: Check


REGISTRY: dict[str, Rule] = {}


def rule(
    rule_id: str,
    effect: Effect,
    stage: Stage = Stage.LATER,
    *,
    title: str,
    consequence: str,
    repair: str,
    source: str,
    reads: Reads = "v2",
) -> Callable[[Check], Check]:
    """Register a function as the rule `rule_id`; its module names the topic."""

    def register(check: Check) -> Check:
        if rule_id in REGISTRY:
            raise ValueError(f"two rules are called {rule_id}")
        topic = check.__module__.rpartition(".")[2]
        REGISTRY[rule_id] = Rule(rule_id, effect, stage, reads, topic, title, consequence, repair, source, check)
        return check

    return register


def applying(reads: Iterable[Reads]) -> Iterator[Rule]:
    """The rules that read one of these kinds of input."""
    wanted = set(reads)
    return (found for found in REGISTRY.values() if found.reads in wanted)

"""What a rule is: an id, its effect, its text, and the function that finds where it is broken."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

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
HOUSE = "good practice; not a rule of the platform"


class RuleEffect(Enum):
    """What a broken rule does to the competition."""

    REFUSED = "the upload is refused; the competition is not created"
    BROKEN = "the upload is accepted, but the competition cannot work"
    TRAP = "the upload is accepted, but something is not as intended"
    NOTE = "worth knowing; does no harm"

    @property
    def severity(self) -> Severity:
        if self in (RuleEffect.REFUSED, RuleEffect.BROKEN):
            return "error"
        return "warning" if self is RuleEffect.TRAP else "note"


@dataclass(frozen=True)
class Problem:
    """One place where a rule is broken.

    `at` is the path in competition.yaml (keys and list positions); a problem in another file gives `file` instead.
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
    effect: RuleEffect
    stage: Stage
    reads: Reads
    topic: str
    title: str
    consequence: str
    repair: str
    source: str
    check: Check


REGISTRY: dict[str, Rule] = {}


class Extra(TypedDict, total=False):
    """Where a rule differs from its topic."""

    source: str
    reads: Reads
    stage: Stage


@dataclass(frozen=True)
class Topic:
    """A subject, with a section in docs/checks.md; its source, input and stage are those of its rules by default.

    Each method registers the function that it decorates as a rule with that effect. The text of a rule is
    "consequence → repair"; it is the function's docstring unless it is passed.
    """

    title: str
    source: str
    reads: Reads = "v2"
    stage: Stage = Stage.LATER  # where the platform refuses; all other effects come later

    def refused(self, rule_id: str, title: str, text: str = "", **extra: Unpack[Extra]) -> Callable[[Check], Check]:
        return self._rule(RuleEffect.REFUSED, rule_id, title, text, {"stage": self.stage, **extra})

    def broken(self, rule_id: str, title: str, text: str = "", **extra: Unpack[Extra]) -> Callable[[Check], Check]:
        return self._rule(RuleEffect.BROKEN, rule_id, title, text, extra)

    def trap(self, rule_id: str, title: str, text: str = "", **extra: Unpack[Extra]) -> Callable[[Check], Check]:
        return self._rule(RuleEffect.TRAP, rule_id, title, text, extra)

    def note(self, rule_id: str, title: str, text: str = "", **extra: Unpack[Extra]) -> Callable[[Check], Check]:
        return self._rule(RuleEffect.NOTE, rule_id, title, text, extra)

    def _rule(self, effect: RuleEffect, rule_id: str, title: str, text: str, extra: Extra) -> Callable[[Check], Check]:
        if rule_id in REGISTRY:
            raise ValueError(f"two rules are called {rule_id}")
        stage, reads = extra.get("stage", Stage.LATER), extra.get("reads", self.reads)
        source = extra.get("source", self.source)

        def register(check: Check) -> Check:
            consequence, _, repair = (text or " ".join((check.__doc__ or "").split())).partition(" → ")
            REGISTRY[rule_id] = Rule(
                rule_id, effect, stage, reads, self.title, title, consequence, repair, source, check
            )
            return check

        return register

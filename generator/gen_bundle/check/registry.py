"""Rules: an id, its effect, its text, and the function that finds where it is broken."""

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict, Unpack

from gen_bundle.codabench.settings import Stage
from gen_bundle.codabench.versions import SOURCE
from gen_bundle.ground.yaml_document import Path

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
    """The effect of a broken rule on the competition."""

    REFUSED = "the upload is refused; the competition is not created"
    BROKEN = "the upload is accepted, but the competition cannot work"
    TRAP = "the upload is accepted, but something is not as intended"
    SUSPECTED = "the upload is accepted; whether something is wrong, the organisers alone can tell"
    NOTE = "worth knowing; does no harm"

    @property
    def severity(self) -> Severity:
        if self in (RuleEffect.REFUSED, RuleEffect.BROKEN):
            return "error"
        return "note" if self is RuleEffect.NOTE else "warning"


class Problem(NamedTuple):
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


class Differs(TypedDict, total=False):
    """Where a rule differs from its topic."""

    source: str
    reads: Reads
    stage: Stage


class Topic(NamedTuple):
    """A subject, with a section on the page of rules.

    Each method registers the function that it decorates as a rule with that effect, under the function's own name:
    `_zip_bomb` is the rule zip-bomb. The text of a rule is "consequence → repair", with " Example: …" behind it where
    the repair is hard to picture; it is the function's docstring unless it is passed.

    Attributes:
        source: where it is known from.
        reads: what a bundle must have: a zip or folder at all, competition.yaml in one of the formats, or in any.
        stage: where the platform refuses; all other effects come later.
    """

    title: str
    source: str
    reads: Reads = "v2"
    stage: Stage = Stage.LATER

    def refused(self, title: str, text: str = "", **differs: Unpack[Differs]) -> Callable[[Check], Check]:
        return self._registering(RuleEffect.REFUSED, title, text, differs)

    def broken(self, title: str, text: str = "", **differs: Unpack[Differs]) -> Callable[[Check], Check]:
        return self._registering(RuleEffect.BROKEN, title, text, differs)

    def trap(self, title: str, text: str = "", **differs: Unpack[Differs]) -> Callable[[Check], Check]:
        return self._registering(RuleEffect.TRAP, title, text, differs)

    def suspected(self, title: str, text: str = "", **differs: Unpack[Differs]) -> Callable[[Check], Check]:
        return self._registering(RuleEffect.SUSPECTED, title, text, differs)

    def note(self, title: str, text: str = "", **differs: Unpack[Differs]) -> Callable[[Check], Check]:
        return self._registering(RuleEffect.NOTE, title, text, differs)

    def _registering(self, effect: RuleEffect, title: str, text: str, differs: Differs) -> Callable[[Check], Check]:
        topic = self._replace(**differs)

        def register(check: Check) -> Check:
            rule_id = check.__name__.strip("_").replace("_", "-")
            if rule_id in REGISTRY:
                raise ValueError(f"two rules are called {rule_id}")
            said, _, example = (text or " ".join((check.__doc__ or "").split())).partition(" Example: ")
            consequence, _, repair = said.partition(" → ")
            REGISTRY[rule_id] = Rule(rule_id, effect, topic, title, consequence, repair, example, check)
            return check

        return register


class Rule(NamedTuple):
    """A rule: its text, and the function that finds where it is broken."""

    id: str
    effect: RuleEffect
    topic: Topic
    title: str
    consequence: str
    repair: str
    example: str
    check: Check


REGISTRY: dict[str, Rule] = {}

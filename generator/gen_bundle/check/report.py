"""The result of a check: findings, and the verdict that follows from them."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from gen_bundle.check.registry import Effect, Severity
from gen_bundle.codabench.versions import NEWEST

OVER = "competition-over"  # dates in the past
LEAK = "leak"  # reference data where participants can read them
Later = Literal["ok", "trap", "broken"]


@dataclass(frozen=True)
class Finding:
    """One finding; `line` and `column` count from 1, `first` marks what the platform would report."""

    id: str
    severity: Severity
    file: str
    line: int | None
    column: int | None
    what: str
    consequence: str
    repair: str
    source: str
    first: bool
    effect: Effect

    @property
    def grave(self) -> bool:
        """Whether it keeps the bundle from being used: refused, broken, or gold that participants see."""
        return self.severity == "error" or self.id == LEAK

    def as_dict(self) -> dict[str, Any]:
        """The finding as `--json` prints it."""
        fields = asdict(self)
        del fields["effect"]
        return fields


@dataclass(frozen=True)
class Report:
    """All findings on one path, the platform's order first, and the verdict of a version of the platform."""

    path: str
    findings: list[Finding]
    platform_version: str = NEWEST.value

    @property
    def accepted(self) -> bool:
        """Whether Codabench would create the competition."""
        return not any(finding.effect is Effect.REFUSED for finding in self.findings)

    @property
    def later(self) -> Later | None:
        """What happens after an accepted upload; None when it is refused."""
        if not self.accepted:
            return None
        effects = {finding.effect for finding in self.findings}
        if Effect.BROKEN in effects:
            return "broken"
        return "trap" if Effect.TRAP in effects else "ok"

    @property
    def leaks(self) -> bool:
        """Whether participants would see gold."""
        return any(finding.id == LEAK for finding in self.findings)

    def as_json(self) -> str:
        """One line of `--json`."""
        verdict = {
            "path": self.path,
            "accepted": self.accepted,
            "later": self.later,
            "platform_version": self.platform_version,
        }
        return json.dumps(verdict | {"findings": [finding.as_dict() for finding in self.findings]})

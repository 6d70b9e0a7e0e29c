"""The result of a check: findings, the verdict that follows from them, and both as text, SARIF and annotations."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from gen_bundle.check.registry import REGISTRY, RuleEffect, Severity
from gen_bundle.codabench.versions import NEWEST
from gen_bundle.ground.plain_text import place_in

OVER = "competition-over"  # dates in the past
UNPUBLISHED = "docker-image-unpublished"  # an image of the organisers' own machine
LACKING = "library-missing"  # what neither image nor program has
UNFINISHED = "unfinished"  # what was written as an example, or to be replaced
SYNTHETIC = "synthetic-gold"  # reference data that come with the tool
LEAK = "leak"  # reference data where participants can read them
UNGUARDED = "secret-not-there"  # a secret by a name that nothing has, so that it is not searched for
Later = Literal["ok", "trap", "broken"]
VERDICTS = {
    "ok": "nothing found that would keep it from working",
    "trap": "not all of it would work as intended",
    "broken": "it cannot work",
    None: "the platform would not create the competition",
}
MOST_LINES = 20  # of a rule
SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


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
    effect: RuleEffect

    @property
    def place(self) -> str:
        """file:line:column, as far as they are known."""
        return place_in(self.file, self.line, self.column)

    @property
    def message(self) -> str:
        """All of it in one line, for annotations."""
        return f"{self.place}: {self.what}. {self.consequence} {self.repair}"

    @property
    def grave(self) -> bool:
        """Whether it keeps the bundle from being used: refused, broken, or gold that participants see or may see."""
        return self.severity == "error" or self.id in (LEAK, UNGUARDED)

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as `--json` prints it."""
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
        return RuleEffect.REFUSED not in self._effects

    @property
    def later(self) -> Later | None:
        """Return what happens after an accepted upload; None when it is refused."""
        if not self.accepted:
            return None
        if RuleEffect.BROKEN in self._effects:
            return "broken"
        return "trap" if RuleEffect.TRAP in self._effects else "ok"

    @property
    def _effects(self) -> set[RuleEffect]:
        return {finding.effect for finding in self.findings}

    @property
    def leaks(self) -> bool:
        """Whether participants would see gold."""
        return any(finding.id == LEAK for finding in self.findings)

    @property
    def good(self) -> bool:
        """Whether it would be accepted and work, and shows no gold; traps do not count."""
        return self.later in ("ok", "trap") and not self.leaks

    def as_json(self) -> str:
        """Return one line of `--json`."""
        verdict = {
            "path": self.path,
            "accepted": self.accepted,
            "later": self.later,
            "platform_version": self.platform_version,
        }
        return json.dumps(verdict | {"findings": [finding.as_dict() for finding in self.findings]})


def text(report: Report) -> Iterator[str]:
    """Yield the verdict and all findings, line by line; the text of each rule is given once."""
    verdict = "accepted" if report.accepted else "refused"
    warned = "DO NOT UPLOAD IT: participants would see gold; " if report.leaks else ""
    yield f"{report.path}: {warned}{verdict} by Codabench {report.platform_version}: {VERDICTS[report.later]}"
    by_rule: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_rule.setdefault(finding.id, []).append(finding)
    for rule_id, findings in by_rule.items():
        yield f"  {findings[0].severity} {rule_id}"
        for finding in findings[:MOST_LINES]:
            first = "  (what the platform reports first)" if finding.first else ""
            yield f"    {finding.place}: {finding.what}{first}"
        if len(findings) > MOST_LINES:
            yield f"    … and {len(findings) - MOST_LINES} more (--json lists all)"
        yield f"    what happens: {findings[0].consequence}"
        yield f"    what to do:   {findings[0].repair}"


def github(report: Report) -> Iterator[str]:
    """Workflow commands that GitHub shows beside the lines."""
    commands = {"error": "error", "warning": "warning", "note": "notice"}
    for finding in report.findings:
        file, *place = _annotated(report, finding)
        fields = [f"file={_escaped(file, value=True)}"]
        for name, number in zip(("line", "col"), place, strict=True):
            if number is not None:
                fields.append(f"{name}={number}")
        fields.append(f"title={_escaped(finding.id, value=True)}")
        yield f"::{commands[finding.severity]} {','.join(fields)}::{_escaped(finding.message)}"


def _annotated(report: Report, finding: Finding) -> tuple[str, int | None, int | None]:
    """Return what to annotate: inside a folder the file itself, with line and column; otherwise the zip."""
    path = Path(report.path)
    if not path.is_dir():
        return report.path, None, None
    return str(path / finding.file), finding.line, finding.column


def _escaped(message: str, *, value: bool = False) -> str:
    message = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return message.replace(":", "%3A").replace(",", "%2C") if value else message


def sarif(reports: Iterable[Report], version: str) -> str:
    """Return all reports as one SARIF 2.1.0 log."""
    found = [(report, finding) for report in reports for finding in report.findings]
    used = sorted({finding.id for _, finding in found})
    rules: list[dict[str, Any]] = []
    for rule_id in used:
        rule = REGISTRY[rule_id]
        rules.append(
            {
                "id": rule.id,
                "shortDescription": {"text": rule.title},
                "fullDescription": {"text": rule.consequence},
                "help": {"text": f"{rule.repair} Source: {rule.topic.source}"},
                "defaultConfiguration": {"level": rule.effect.severity},
            }
        )
    results: list[dict[str, Any]] = []
    for report, finding in found:
        file, line, column = _annotated(report, finding)
        physical: dict[str, Any] = {"artifactLocation": {"uri": Path(file).as_posix()}}
        if line is not None:
            physical["region"] = {"startLine": line}
            if column is not None:
                physical["region"]["startColumn"] = column
        results.append(
            {
                "ruleId": finding.id,
                "ruleIndex": used.index(finding.id),
                "level": finding.severity,
                "message": {"text": finding.message},
                "locations": [{"physicalLocation": physical}],
            }
        )
    driver = {"name": "gen-bundle check", "version": version, "rules": rules}
    log = {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, indent=2)

"""A report as text for people, as SARIF, and as GitHub annotations."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from gen_bundle.check.registry import REGISTRY
from gen_bundle.check.report import Finding, Report

MOST_LINES = 20  # of a rule
SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LATER = {
    "ok": "it will work",
    "trap": "it will work, but not as intended",
    "broken": "it cannot work",
    None: "the platform would not create the competition",
}


def place(finding: Finding) -> str:
    """file:line:column, as far as they are known."""
    return ":".join(str(part) for part in (finding.file, finding.line, finding.column) if part is not None)


def text(report: Report) -> Iterator[str]:
    """The verdict and all findings, line by line; the text of each rule is given once."""
    verdict = "accepted" if report.accepted else "refused"
    warned = "DO NOT UPLOAD IT: participants would see gold; " if report.leaks else ""
    yield f"{report.path}: {warned}{verdict} by Codabench {report.platform_version}: {LATER[report.later]}"
    by_rule: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_rule.setdefault(finding.id, []).append(finding)
    for rule_id, findings in by_rule.items():
        yield f"  {findings[0].severity} {rule_id}"
        for finding in findings[:MOST_LINES]:
            first = "  (what the platform reports first)" if finding.first else ""
            yield f"    {place(finding)}: {finding.what}{first}"
        if len(findings) > MOST_LINES:
            yield f"    … and {len(findings) - MOST_LINES} more (--json lists all)"
        yield f"    what happens: {findings[0].consequence}"
        yield f"    what to do:   {findings[0].repair}"


def github(report: Report) -> Iterator[str]:
    """Workflow commands that GitHub shows beside the lines."""
    commands = {"error": "error", "warning": "warning", "note": "notice"}
    for finding in report.findings:
        location = _location(report, finding)
        fields = [f"file={_escaped(location, value=True)}"]
        if location != report.path and finding.line is not None:
            fields += [f"line={finding.line}"] + ([f"col={finding.column}"] if finding.column is not None else [])
        fields.append(f"title={_escaped(finding.id, value=True)}")
        message = f"{place(finding)}: {finding.what}. {finding.consequence} {finding.repair}"
        yield f"::{commands[finding.severity]} {','.join(fields)}::{_escaped(message)}"


def _location(report: Report, finding: Finding) -> str:
    """The file to annotate: inside a folder the file itself, otherwise the zip."""
    path = Path(report.path)
    return str(path / finding.file) if path.is_dir() else report.path


def _escaped(message: str, *, value: bool = False) -> str:
    message = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return message.replace(":", "%3A").replace(",", "%2C") if value else message


def sarif(reports: Iterable[Report], version: str) -> str:
    """All reports as one SARIF 2.1.0 log."""
    found = [(report, finding) for report in reports for finding in report.findings]
    used = sorted({finding.id for _, finding in found})
    driver = {"name": "gen-bundle check", "version": version, "rules": [_sarif_rule(name) for name in used]}
    results = [_sarif_result(report, finding, used.index(finding.id)) for report, finding in found]
    log = {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, indent=2)


def _sarif_rule(name: str) -> dict[str, Any]:
    rule = REGISTRY[name]
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.consequence},
        "help": {"text": f"{rule.repair} Source: {rule.source}"},
        "defaultConfiguration": {"level": rule.effect.severity},
    }


def _sarif_result(report: Report, finding: Finding, number: int) -> dict[str, Any]:
    location = _location(report, finding)
    physical: dict[str, Any] = {"artifactLocation": {"uri": Path(location).as_posix()}}
    if location != report.path and finding.line is not None:
        region = {"startLine": finding.line}
        physical["region"] = region | ({"startColumn": finding.column} if finding.column is not None else {})
    return {
        "ruleId": finding.id,
        "ruleIndex": number,
        "level": finding.severity,
        "message": {"text": f"{place(finding)}: {finding.what}. {finding.consequence} {finding.repair}"},
        "locations": [{"physicalLocation": physical}],
    }

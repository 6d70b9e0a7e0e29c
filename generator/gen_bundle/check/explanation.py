"""Why a server refused a bundle: the rule that quotes its message."""

import re
from collections.abc import Iterator

from gen_bundle.check.registry import REGISTRY, Effect, Rule
from gen_bundle.check.report import Report
from gen_bundle.check.run import load_rules

_QUOTED = re.compile(r"`([^`]+)`")
ANY_FAILURE = "Here is the error log:"
SHORTEST = 12  # letters that a rule must quote of a message, so that a word such as `title` explains nothing


def explain_refusal(message: str, report: Report) -> str | None:
    """A rule's words on the message with which an upload failed; None where no rule knows it.

    What the check predicted comes first, since it knows the bundle; else the rule that quotes most of the message.
    """
    for finding in report.findings:
        if finding.first:
            return f"{finding.id}: {finding.what} ({finding.file}). {finding.repair}".rstrip()
    load_rules()
    cause = message.partition(ANY_FAILURE)[2] or message
    lengths = {rule.id: _quoted(rule, cause) for rule in REGISTRY.values() if rule.effect is Effect.REFUSED}
    closest = max(lengths, key=lengths.__getitem__)
    if not lengths[closest]:
        return None
    rule = REGISTRY[closest]
    return f"{rule.id}: {rule.title}. {rule.repair}".rstrip()


def _quoted(rule: Rule, message: str) -> int:
    """How many letters of the message the rule quotes; 0 where it does not quote it."""
    return max((length for template, length in _templates(rule) if template.search(message)), default=0)


def _templates(rule: Rule) -> Iterator[tuple[re.Pattern[str], int]]:
    for quoted in _QUOTED.findall(" ".join(rule.consequence.split())):
        parts = [part.strip() for part in quoted.split("…")]
        length = sum(map(len, parts))
        if length >= SHORTEST:
            yield re.compile(r".*?".join(map(re.escape, parts)), re.DOTALL), length

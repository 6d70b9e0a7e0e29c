"""Rules in words: `--explain`, and what a server's refusal means."""

import re
from itertools import chain

from gen_bundle.check.registry import REGISTRY, RuleEffect
from gen_bundle.check.report import Report
from gen_bundle.check.run import load_rules
from gen_bundle.ground.errors import UserError

QUOTED = re.compile(r"`([^`]+)`")
ANY_FAILURE = "Here is the error log:"
SHORTEST = 12  # letters that a rule must quote of a message, so that a word such as `title` explains nothing


def explain(rule_id: str) -> str:
    """Return everything about one rule; without an id the rules by their topics.

    Raises:
        UserError: there is no such rule.
    """
    load_rules()
    if not rule_id:
        width = len(max(REGISTRY, key=len))
        topics: dict[str, list[str]] = {}
        for rule in REGISTRY.values():
            listed = f"  {rule.id:{width}} {rule.effect.name.lower():7} {rule.title}"
            topics.setdefault(rule.topic.title, [rule.topic.title]).append(listed)
        return "\n".join(chain.from_iterable(topics.values()))
    if rule_id not in REGISTRY:
        from difflib import get_close_matches

        near = " or ".join(get_close_matches(rule_id, REGISTRY, n=3))
        hint = f" Did you mean {near}?" if near else ""
        raise UserError(f"no rule is called {rule_id!r}.{hint}")
    rule = REGISTRY[rule_id]
    said = [
        f"{rule.id} ({rule.effect.severity}; {rule.effect.name.lower()}): {rule.title}",
        f"  what happens: {rule.consequence}",
        f"  what to do:   {rule.repair}",
    ]
    if rule.example:
        said.append(f"  example:      {rule.example}")
    return "\n".join([*said, f"  source:       {rule.topic.source}"])


def explain_refusal(message: str, report: Report) -> str | None:
    """Return a rule's words on the message with which an upload failed; None where no rule knows it.

    What the check predicted comes first, since it knows the bundle; else the rule that quotes most of the message.
    """
    for finding in report.findings:
        if finding.first:
            return f"{finding.id}: {finding.what} ({finding.file}). {finding.repair}".rstrip()
    load_rules()
    cause = message.partition(ANY_FAILURE)[2] or message
    closest, most = None, SHORTEST - 1
    for rule in REGISTRY.values():
        if rule.effect is not RuleEffect.REFUSED:
            continue
        for quoted in QUOTED.findall(rule.consequence):
            parts = [part.strip() for part in quoted.split("…")]
            length = len("".join(parts))
            if length > most and re.search(".*?".join([re.escape(part) for part in parts]), cause, re.DOTALL):
                closest, most = rule, length
    if closest is None:
        return None
    return f"{closest.id}: {closest.title}. {closest.repair}".rstrip()

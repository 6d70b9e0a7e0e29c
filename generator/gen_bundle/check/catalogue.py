"""All rules for reading: `--explain`, and docs/checks.md (`python -m gen_bundle.check.catalogue > docs/checks.md`)."""

from __future__ import annotations

from collections.abc import Iterator

from gen_bundle.check.registry import REGISTRY, Effect, Rule
from gen_bundle.check.run import TOPICS, load_rules
from gen_bundle.errors import UserError

EFFECT_WORDS = {
    Effect.REFUSED: "refused",
    Effect.BROKEN: "broken",
    Effect.TRAP: "trap",
    Effect.NOTE: "note",
}
PREFACE = """\
# What `gen-bundle check` knows

This page is generated from the rules: `python -m gen_bundle.check.catalogue > docs/checks.md`.

Each rule says what becomes of a competition:

| effect | severity | meaning |
|---|---|---|
| refused | error | the upload is refused; the competition is not created |
| broken | error | the upload is accepted, and the competition cannot work |
| trap | warning | the upload is accepted, and something is not as it was meant |
| note | note | worth knowing; does no harm |

The platform stops at the first fault; the check reports all of them and marks the one that the platform reports first.
"""


def explain(rule_id: str) -> str:
    """Everything about one rule.

    Raises:
        UserError: there is no such rule.
    """
    load_rules()
    if rule_id not in REGISTRY:
        from difflib import get_close_matches

        near = get_close_matches(rule_id, REGISTRY, n=3)
        raise UserError(f"no rule is called {rule_id!r}." + (f" Did you mean {' or '.join(near)}?" if near else ""))
    rule = REGISTRY[rule_id]
    return "\n".join(
        (
            f"{rule.id} ({rule.effect.severity}; {EFFECT_WORDS[rule.effect]}): {rule.title}",
            f"  what happens: {rule.consequence}",
            f"  what to do:   {rule.repair}",
            f"  source:       {rule.source}",
        )
    )


def catalogue() -> str:
    """The text of docs/checks.md."""
    load_rules()
    return "\n".join(_parts()) + "\n"


def _parts() -> Iterator[str]:
    yield PREFACE
    for topic, title in TOPICS.items():
        rules = [rule for rule in REGISTRY.values() if rule.topic == topic]
        yield f"## {title}\n"
        for rule in sorted(rules, key=lambda rule: (list(Effect).index(rule.effect), rule.id)):
            yield from _entry(rule)


def _entry(rule: Rule) -> Iterator[str]:
    yield f"### {rule.id}\n"
    yield f"{EFFECT_WORDS[rule.effect]} · {rule.effect.severity}. {rule.title[0].upper()}{rule.title[1:]}.\n"
    yield f"- What happens: {rule.consequence}"
    yield f"- What to do: {rule.repair}"
    yield f"- Source: {rule.source}\n"


if __name__ == "__main__":
    print(catalogue(), end="")

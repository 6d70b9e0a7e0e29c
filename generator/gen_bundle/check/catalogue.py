"""All rules as text: `--explain`, and docs/checks.md (`python -m gen_bundle.check.catalogue > docs/checks.md`)."""

from collections.abc import Iterator

from gen_bundle.check.registry import REGISTRY, Effect, Rule
from gen_bundle.check.run import load_rules
from gen_bundle.errors import UserError

PREFACE = """\
# What `gen-bundle check` knows

This page is generated from the rules: `python -m gen_bundle.check.catalogue > docs/checks.md`.

Each rule has an effect on the competition:

| effect | severity | meaning |
|---|---|---|
"""
AFTER_EFFECTS = """
The platform stops at the first fault; the check reports all of them and marks the one that the platform reports first.
"""
INDEX = """\
| rule | effect | what it finds |
|---|---|---|"""


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
            f"{rule.id} ({rule.effect.severity}; {rule.effect.name.lower()}): {rule.title}",
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
    effects = list(Effect)
    yield PREFACE + "\n".join(f"| {one.name.lower()} | {one.severity} | {one.value} |" for one in effects)
    yield AFTER_EFFECTS
    by_topic: dict[str, list[Rule]] = {}
    for rule in REGISTRY.values():
        by_topic.setdefault(rule.topic, []).append(rule)
    for rules in by_topic.values():
        rules.sort(key=lambda rule: (effects.index(rule.effect), rule.id))
    yield INDEX
    for topic, rules in by_topic.items():
        yield f"| **{topic}** | | |"
        yield from (f"| [{rule.id}](#{rule.id}) | {rule.effect.name.lower()} | {_cell(rule.title)} |" for rule in rules)
    for topic, rules in by_topic.items():
        yield f"\n## {topic}\n"
        for rule in rules:
            yield from _entry(rule)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _entry(rule: Rule) -> Iterator[str]:
    yield f"### {rule.id}\n"
    yield f"{rule.effect.name.lower()} · {rule.effect.severity}. {rule.title[0].upper()}{rule.title[1:]}.\n"
    yield f"- What happens: {rule.consequence}"
    yield f"- What to do: {rule.repair}"
    yield f"- Source: {rule.source}\n"


if __name__ == "__main__":
    print(catalogue(), end="")

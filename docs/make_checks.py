"""The page of the site about the rules of the check; `gen-bundle check --explain` says the same."""

from gen_bundle.check.registry import REGISTRY, Rule, RuleEffect
from gen_bundle.check.run import load_rules

PREFACE = """\
# What `gen-bundle check` knows

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


def page() -> str:
    """The whole page."""
    load_rules()
    effects = list(RuleEffect)
    topics: dict[str, list[Rule]] = {rule.topic.title: [] for rule in REGISTRY.values()}
    for rule in sorted(REGISTRY.values(), key=lambda rule: (effects.index(rule.effect), rule.id)):
        topics[rule.topic.title].append(rule)
    meanings = "\n".join(f"| {one.name.lower()} | {one.severity} | {one.value} |" for one in effects)
    text = [PREFACE + meanings, AFTER_EFFECTS, INDEX]
    for topic, rules in topics.items():
        text.append(f"| **{topic}** | | |")
        for rule in rules:
            title = rule.title.replace("|", "\\|")
            text.append(f"| [{rule.id}](#{rule.id}) | {rule.effect.name.lower()} | {title} |")
    for topic, rules in topics.items():
        text.append(f"\n## {topic}\n")
        for rule in rules:
            title = rule.title[0].upper() + rule.title[1:]
            text.append(f"### {rule.id}\n\n{rule.effect.name.lower()} · {rule.effect.severity}. {title}.\n")
            text += [f"- What happens: {rule.consequence}", f"- What to do: {rule.repair}"]
            if rule.example:
                text.append(f"- Example: {rule.example}")
            text.append(f"- Source: {rule.topic.source}\n")
    return "\n".join(text) + "\n"

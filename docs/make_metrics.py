"""Write docs/metrics.md from the table of metrics: `python docs/make_metrics.py`."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import yaml

from gen_bundle.declaration.model import BETTER
from gen_bundle.declaration.scoring.metrics import MetricOption, MetricRow, metrics

PAGE = Path(__file__).with_name("metrics.md")
EXAMPLES: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
"""`preface`; `samples` by name, each with its fields and files; of `metrics` sample, metric and score."""


def page() -> str:
    """The whole page."""
    return "\n".join(_parts()) + "\n"


def _parts() -> Iterator[str]:
    yield EXAMPLES["preface"]
    yield "| metric | fields of type | better | worst by default | computed by |"
    yield "|---|---|---|---|---|"
    for metric in metrics().values():
        better = BETTER[metric.sort]
        yield f"| [`{metric.name}`](#{metric.name}) | {_types(metric)} | {better} | {metric.worst:g} | {_by(metric)} |"
    yield "| `metrics.py:name` | any | `sort` says | `worst` says | your `name(gold, predicted, **options)` |\n"
    for metric in metrics().values():
        yield from _entry(metric)


def _by(metric: MetricRow) -> str:
    if metric.libraries:
        return ", ".join(metric.libraries)
    return f"the kit, as {metric.equals}" if metric.equals else "the kit"


def _types(metric: MetricRow) -> str:
    if metric.is_ranking:
        return "many rows: item, score"
    weighted = {True: "; weighs keys", "macro": "; weighs keys with average: macro"}.get(metric.weighted, "")
    return ", ".join(metric.types) + ("; rows of many" if metric.many == "any" else "") + weighted


def _entry(metric: MetricRow) -> Iterator[str]:
    joint = " *Joint.*" if metric.joint else ""
    yield f"## {metric.name}\n"
    yield f"{metric.title}: {metric.definition}{joint} {metric.edges}".rstrip() + "\n"
    yield from _example(metric.name)
    if metric.options:
        yield "| option | values | default |"
        yield "|---|---|---|"
        for name, option in metric.options.items():
            yield f"| `{name}` | {_values(option)} | {_default(option)} |"
        yield ""


def _example(name: str) -> Iterator[str]:
    """The smallest declaration with a metric, and its score of some files."""
    example = EXAMPLES["metrics"][name]
    sample = EXAMPLES["samples"][example["sample"]]
    yield "```yaml"
    for key in ("rows", "key"):
        if key in sample:
            yield f"{key}: {sample[key]}"
    yield f"fields: [{', '.join(sample['fields'])}]"
    yield f"metric: {example['metric']}"
    yield "```\n"
    files = {file: [file, *text.splitlines()] for file, text in sample.items() if file.startswith(("gold", "pred"))}
    gold, answers = files.values()
    if "score" in example:
        answers[0] += f", score {example['score']}"
    width = max(map(len, gold)) + 4
    yield "```text"
    for left, right in zip_longest(gold, answers, fillvalue=""):
        yield f"{left:{width}}{right}".rstrip()
    yield "```\n"


def _values(option: MetricOption) -> str:
    if option.type in VALUES:
        return ", ".join(filter(None, [", ".join(option.choices), VALUES[option.type]]))
    if option.choices:
        return ", ".join(option.choices)
    if option.type == "integer" and option.max:
        return f"0 to {option.max:g}"
    if option.type == "number":
        return "a number from 0" + (f" to {option.max:g}" if option.max else "")
    return f"a {option.type}"


VALUES = {
    "labels": "a list of labels",
    "unit": "{separator: text}",
    "threshold": "0 to 1, {above: 0 to 1}",
    "field": "a field",
    "column": "a gold column",
}
"""By type, what an option may be besides its choices."""


def _default(option: MetricOption) -> str:
    if option.required:
        return "must be given"
    said = "none" if option.default is None else str(option.default)
    if isinstance(option.default, bool):
        said = said.lower()
    return "; ".join([said, *(f"{value} for {kind}" for kind, value in option.defaults.items())])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

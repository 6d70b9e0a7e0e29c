"""All metrics for reading: docs/metrics.md is what `python -m gen_bundle.declaration.declared.catalogue` prints."""

from collections.abc import Iterator

from gen_bundle.declaration.declared.metrics import MetricOption, MetricRow, metrics

PREFACE = """\
# Metrics of declared competitions

This page is generated: `python -m gen_bundle.declaration.declared.catalogue > docs/metrics.md`. What a
declaration looks like: [declared.md](declared.md).

A column names its metric, `metric: accuracy`, or gives options, `metric: {name: f1, average: micro}`. Every metric
takes `field` or `fields`, `where`, `by`, `gold` and, where there are several tables, `table`. A metric over several
fields is the mean over them, unless it is *joint*: then it takes them together.

Where a metric is undefined for a submission (a correlation of equal numbers), the column's `worst` counts and the
participant is warned. Where the gold leaves it undefined for every submission, the build refuses the gold. A key
without an answer (`missing: empty`) has no label, the empty set, the empty text, or no rows.

Where the gold, or a group of `by`, has nothing to find (no label, span, row or `positive`), every answer has 0, a right
one too, in F1, precision and recall of labels and spans, and in micro set metrics; the build warns. Macro set metrics,
`jaccard` and `exact_match` take two empty sets as equal.
"""


def catalogue() -> str:
    """The text of docs/metrics.md."""
    return "\n".join(_parts()) + "\n"


def _parts() -> Iterator[str]:
    yield PREFACE
    yield "| metric | fields of type | better | worst by default | computed by |"
    yield "|---|---|---|---|---|"
    for metric in metrics().values():
        better = "higher" if metric.sort == "desc" else "lower"
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
    return ", ".join(metric.types) + ("; rows of many" if metric.many == "any" else "")


def _entry(metric: MetricRow) -> Iterator[str]:
    joint = " *Joint.*" if metric.joint else ""
    yield f"## {metric.name}\n"
    yield f"{metric.title}: {metric.definition}{joint} {metric.edges}".rstrip() + "\n"
    if metric.options:
        yield "| option | values | default |"
        yield "|---|---|---|"
        for name, option in metric.options.items():
            yield f"| `{name}` | {_values(option)} | {_default(option)} |"
        yield ""


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
    print(catalogue(), end="")

"""All metrics for reading: docs/metrics.md is what `python -m gen_bundle.declaration.declared.catalogue` prints."""

from collections.abc import Iterator

from gen_bundle.declaration.declared.metrics import Metric, Option, metrics

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
EDGES = {
    "kappa": "With `weights` the field needs `values`; their order counts. No label is a further class. The build "
    "refuses gold, or a group of `by`, with a single label: a right answer has no kappa there, any other has 0.",
    "mcc": "No label is a further class.",
    "f1": "`labels: present` averages over labels in gold or answers, `gold` over those of the scored gold rows.",
    "jaccard": "Two empty sets: 1. `average: macro` is over all labels that may be answered, and one that neither gold "
    "nor answers have counts 1: declare none that cannot occur. (`f1` leaves such labels out by default.)",
    "fbeta": "As `f1`; `beta: 2` weighs recall more, `beta: 0.5` precision.",
    "points": "`matrix: {gold label: {answer's label: points}}`; a pair that is not named has 0 points, no "
    "label has none.",
    "exact_match": "Texts without blanks at their ends, any of several references (`rows: many`: one text); sets, "
    "spans and rows as sets. `normalise: squad` drops case, punctuation and English articles of texts, `case: ignore` "
    "case alone.",
    "ccc": "The build refuses gold whose values are all equal.",
    "mape": "The build refuses a gold value of 0.",
    "rmsle": "The field needs `min: 0`.",
    "pinball": "`quantile: 0.9`: what is too low weighs nine times as much as what is too high.",
    "span_iou": "Positions of each type by themselves; spans without a type are a type of their own.",
    "token_f1": "`case: ignore` drops case alone, where `normalise` is none.",
    "edit_distance": "One gold text for each key. `average: macro` is the mean over keys, `micro` the sum of all "
    "edits. `unit: word` splits at blanks, `unit: {separator: '@@'}` there.",
    "lcs_f1": "One gold text for each key. `average: macro` is the mean over keys, where two empty texts count 1 and "
    "one empty text 0; `micro` sums over all keys. `unit` as in `edit_distance`.",
    "roc_auc": "The field is a probability; `gold` names the column of labels, `positive` the one that it is of.",
    "average_precision": "As `roc_auc`.",
    "log_loss": "As `roc_auc`.",
    "brier": "As `roc_auc`.",
    "set_f1": "Distinct elements; micro: counts over all keys, 0/0 = 0; macro: mean over keys, both sides empty = 1. "
    "`match: characters` compares the positions that spans cover, with their types. `match: overlap` takes a span as "
    "right, or found, where it shares a position with one of its type; F1 is the harmonic mean of both shares.",
    "ter": "Case counts unless `lowercase` is true.",
    "rouge": "The tokenizer keeps Latin letters and digits alone; a build warns where most gold texts have none.",
    "wer": "One gold text for each key. Spaces separate words, and so does a run of two or more blanks of any kind; a "
    "single tab or line end is a part of a word.",
    "cer": "One gold text for each key. Blanks at the ends do not count, those between words do.",
    "ndcg": "Ties are broken as trec_eval does, the later name first; without `score` the order of the rows counts. "
    "`gain: exponential` is 2^relevance - 1.",
    "bertscore": "`model`, `revision`, `rescale` default to `options.bertscore`.",
}


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


def _by(metric: Metric) -> str:
    if metric.libraries:
        return ", ".join(metric.libraries)
    return f"the kit, as {metric.equals}" if metric.equals else "the kit"


def _types(metric: Metric) -> str:
    many = "many rows: item, score" if metric.is_ranking else "rows of many" if metric.many == "any" else ""
    return "; ".join(filter(None, [", ".join(metric.types), many]))


def _entry(metric: Metric) -> Iterator[str]:
    joint = " *Joint.*" if metric.joint else ""
    yield f"## {metric.name}\n"
    yield f"{metric.title}: {metric.definition}{joint} {EDGES.get(metric.name, '')}".rstrip() + "\n"
    if metric.options:
        yield "| option | values | default |"
        yield "|---|---|---|"
        for name, option in metric.options.items():
            yield f"| `{name}` | {_values(option)} | {_default(option)} |"
        yield ""


def _values(option: Option) -> str:
    if option.type == "unit":
        return f"{', '.join(option.choices)}, {{separator: text}}"
    if option.type == "number":
        return "a number from 0" + (f" to {option.max:g}" if option.max else "")
    return (
        ", ".join(option.choices)
        if option.choices
        else {"field": "a field", "column": "a gold column"}.get(option.type, f"a {option.type}")
    )


def _default(option: Option) -> str:
    if option.required:
        return "must be given"
    if option.default is None:
        return "none"
    return str(option.default).lower() if isinstance(option.default, bool) else str(option.default)


if __name__ == "__main__":
    print(catalogue(), end="")

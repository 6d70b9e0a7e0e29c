"""What is not wrong in a declaration, but worth knowing: scores that are bounded, fields that nothing reads."""

from collections.abc import Iterator, Mapping
from typing import Any

from gen_bundle.declaration.declared.metrics import Metric, metrics


def bound(metric: Metric, worst: Any) -> str:
    """What a page says of a metric that has values beyond a column's `worst`; empty where it has none."""
    if not isinstance(worst, int | float) or not _passes(metric, worst):
        return ""
    return f"No {'less' if metric.sort == 'desc' else 'more'} than {worst:g}."


def remarks(options: Mapping[str, Any]) -> Iterator[str]:
    """The remarks on a declared competition, from its options."""
    for task, columns in options["metrics"].items():
        for key, column in columns.items():
            known = metrics().get(column["metric"]) if column["file"] is None else None
            worst = column["worst"]
            meant_as_best = (
                worst >= 1 if column["better"] == "higher" else worst <= 0
            )  # of which there is another remark
            if known is not None and _passes(known, worst) and not meant_as_best:
                yield (
                    f"tasks.{task}.columns.{key}.worst: {known.name} can be {_worse(known)} than {worst:g}, and every "
                    f"such score is written as {worst:g}. To have {worst:g} only where it is undefined, leave `worst` "
                    f"out and say `undefined: {worst:g}` in the metric."
                )
    for table in options["tables"]:
        yield from _unread(table, options["metrics"])


def _unread(table: Mapping[str, Any], tasks: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The answers in a table that no metric reads; own functions read them all."""
    own = [column for columns in tasks.values() for column in columns.values() if column["table"] == table["id"]]
    read = {*table["key"], *(name for column in own for name in column["fields"])}
    unread = [field["name"] for field in table["fields"] if field["name"] not in read]
    if not unread or any(column["file"] for column in own):
        return
    of_several = "" if table["id"] == "table" else f".tables.{table['id']}"
    names = ", ".join(unread)
    yield f"submission{of_several}.fields: no metric reads {names}, so that answers there do not count."


def _passes(metric: Metric, worst: float) -> bool:
    """Whether the metric has values that are worse than `worst`."""
    return worst > metric.worst if metric.sort == "desc" else worst < metric.worst


def _worse(metric: Metric) -> str:
    return "lower" if metric.sort == "desc" else "higher"

"""What is not wrong in a declaration, but worth knowing: scores that are bounded, fields that nothing reads."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gen_bundle.declaration.declared.metrics import MetricRow, default_worst, metrics


def bound(metric: MetricRow, default: float, worst: Any) -> str:
    """What a page says of a metric that has values beyond a column's `worst`; empty where it has none."""
    if not isinstance(worst, int | float) or not _is_better(metric.sort == "desc", worst, default):
        return ""
    return f"No {'less' if metric.sort == 'desc' else 'more'} than {worst:g}."


def remarks(options: Mapping[str, Any]) -> Iterator[str]:
    """The remarks on a declared competition, from its options."""
    types = {}
    for table in options["tables"]:
        types.update({(table["id"], field["name"]): field["type"] for field in table["fields"]})
    for task, columns in options["metrics"].items():
        for key, column in columns.items():
            if column["file"] is None:
                of_fields = [types[column["table"], name] for name in column["fields"]]
                yield from _bounded(f"tasks.{task}.columns.{key}", column, of_fields)
    for table in options["tables"]:
        yield from _unread(table, options["metrics"])


def _bounded(place: str, column: Mapping[str, Any], types: Sequence[str]) -> Iterator[str]:
    """A metric of which some values are written as the column's worst."""
    known, worst = metrics()[column["metric"]], column["worst"]
    descending = column["better"] == "higher"
    meant_as_best = worst >= 1 if descending else worst <= 0  # of which there is another remark
    if meant_as_best or not _is_better(descending, worst, default_worst(known, types)):
        return
    worse = "lower" if descending else "higher"
    yield (
        f"{place}.worst: {known.name} can be {worse} than {worst:g}, and every such score is written as {worst:g}. To "
        f"have {worst:g} only where it is undefined, leave `worst` out and say `undefined: {worst:g}` in the metric."
    )


def _is_better(descending: bool, one: float, other: float) -> bool:
    return one > other if descending else one < other


def _unread(table: Mapping[str, Any], tasks: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The answers in a table that no metric reads; own functions read them all."""
    read = set(table["key"])
    for columns in tasks.values():
        for column in columns.values():
            if table["id"] in (column["tables"] or [column["table"]]):
                if column["file"]:
                    return
                read.update(column["fields"])
    unread = [field["name"] for field in table["fields"] if field["name"] not in read]
    if not unread:
        return
    of_several = "" if table["id"] == "table" else f".tables.{table['id']}"
    names = ", ".join(unread)
    yield f"submission{of_several}.fields: no metric reads {names}, so that answers there do not count."

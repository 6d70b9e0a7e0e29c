"""What a column's score is: metric, table, fields, rows and groups, as bundle.yaml declares it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from declared.metrics import Definition, definitions


@dataclass(frozen=True)
class Plan:
    """One column's metric.

    Attributes:
        key: the column's key.
        metric: name of the metric, or of an own function.
        table: id of the table that it reads.
        fields: the submission's fields, in order.
        gold: the gold's column for each of them.
        where: gold column → the texts that count, or `min` and `max` of a number; only such keys are scored.
        by: gold columns; the metric in each of their groups, then the mean.
        options: the metric's own, every one of them given.
        worst: of the column; the value where an own function fails.
        undefined: the value in place of an undefined one; `worst` where the declaration gives none.
        better: which way is better.
        file: where an own function is; None for a metric of the table.
    """

    key: str
    metric: str
    table: str
    fields: tuple[str, ...]
    gold: tuple[str, ...]
    where: Mapping[str, Any]
    by: tuple[str, ...]
    options: Mapping[str, Any]
    worst: float
    undefined: float
    better: Literal["higher", "lower"]
    file: Path | None = None

    @classmethod
    def from_dict(cls, key: str, data: Mapping[str, Any]) -> "Plan":
        lists = {name: tuple(data[name]) for name in ("fields", "gold", "by")}
        file, undefined = data.get("file"), data.get("undefined")
        given = {"file": Path(file) if file else None, "undefined": data["worst"] if undefined is None else undefined}
        return cls(key=key, **{**data, **lists, **given})

    @property
    def definition(self) -> Definition | None:
        """The metric's row of the table; None for an own function."""
        return None if self.file else definitions()[self.metric]

    @property
    def grouping(self) -> list[str]:
        """The gold columns that choose or group keys."""
        return [*self.where, *self.by]


def plans(options: Mapping[str, Any]) -> dict[str, list[Plan]]:
    """The plans of every task's columns that a scorer fills, in their order."""
    return {
        task: [Plan.from_dict(key, data) for key, data in columns.items()]
        for task, columns in options["metrics"].items()
    }

"""What scoring reads of program.json and of the gold; no score depends on anything else.

The signature takes from here which gold its digest is of, and `diff` and `update` which changes ask for reruns.
"""

from typing import Any, Dict, FrozenSet, Iterable, List, Mapping, Optional, Set

FOR_THE_CHECK = ("needs", "secrets", "synthetic")
"""Keys of program.json that only the check of a bundle reads."""
NOT_SCORING: Dict[str, FrozenSet[str]] = {
    "": frozenset(
        [
            *("competition", "title", "task_names", "details", "details_min_items", "scores_hidden", "baselines"),
            *("tie_break", "phase"),
            *FOR_THE_CHECK,
        ]
    ),
    "columns": frozenset(["title", "meaning", "precision", "hidden", "computation", "of"]),
    "options.tables": frozenset(["unit", "cluster", "public"]),
}
"""The keys that scoring does not read: of the whole, of a column, of a table; it reads all others."""


def grouping(metric: Mapping[str, Any]) -> List[str]:
    """Return the gold columns by which a metric chooses, groups, averages and weighs keys."""
    found: List[str] = []
    for key in ("where", "by", "mean_by", "weight"):
        named = metric.get(key) or ()
        found += [named] if isinstance(named, str) else named
    if not metric["file"] and metric["options"].get("scale"):  # the options of an own function are its own
        found.append(metric["options"]["scale"])
    return found


def columns_read(key: Iterable[str], metrics: Iterable[Mapping[str, Any]]) -> Optional[Set[str]]:
    """Return the gold columns on which the scores of metrics depend, those of the table's key included.

    None: one of them is an own function, which may read any column, and the rows in their order.
    """
    found = set(key)
    for metric in metrics:
        if metric["file"]:
            return None
        found.update([*metric["gold"], *grouping(metric)])
    return found

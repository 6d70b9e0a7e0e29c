"""Label Studio's own JSON: tasks with their data and annotations (its documentation: "Label Studio JSON format").

A result names its question (`from_name`), its type, and its value: `choices`, `labels` with `start` and `end`,
`rating`, `number` or `text`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gen_bundle.ground.tables.annotations import Answer, Item, spans_in_order, table_of
from gen_bundle.ground.tables.table import FileTable

OF_ONE_VALUE = ("rating", "number")
LABELS = ("labels", "hypertextlabels", "paragraphlabels", "timeserieslabels")


def is_export(first: Mapping[str, Any]) -> bool:
    """Return whether records are tasks of Label Studio."""
    return isinstance(first.get("data"), dict) and isinstance(first.get("annotations"), list)


def read_records(name: str, suffix: str, values: Sequence[Any], numbers: Sequence[int]) -> FileTable:
    """Return a row for each task: its id and data, and a column for each question."""
    of_many = _questions_of_many(values)
    left = Left()
    items: list[Item] = []
    for number, task in zip(numbers, values, strict=True):
        item = Item(number, {"id": task.get("id", number)})
        for key, value in task.get("data", {}).items():
            item.given["data_id" if key == "id" else key] = value
        texts = [value for value in item.given.values() if isinstance(value, str)]
        for one in _that_count(task):
            item.answers.append(_answer(one.get("result") or (), of_many, texts, left))
        if item.answers or not list(_annotations(task)):
            items.append(item)
        else:
            left.cancelled += 1
    return table_of(name, suffix, "Label Studio", items, left.notes(name))


def _that_count(task: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a task's annotations but those of annotators who skipped it; those marked as ground truth alone."""
    done = [one for one in _annotations(task) if not one.get("was_cancelled")]
    true = [one for one in done if one.get("ground_truth")]
    return sorted(true or done, key=_annotator)


@dataclass
class Left:
    """Things read otherwise than they stand: tasks that were skipped, types of results, and spans in UTF-16."""

    cancelled: int = 0
    types: set[str] = field(default_factory=set)
    shifted: int = 0

    def notes(self, name: str) -> list[str]:
        found = []
        if self.cancelled:
            found.append(f"{name}: {self.cancelled} tasks that annotators skipped (was_cancelled) are left out")
        if self.types:
            found.append(f"{name}: results of type {', '.join(sorted(self.types))} are left out")
        if self.shifted:
            found.append(f"{name}: {self.shifted} spans are counted in UTF-16 there, and in characters here")
        return found


def _annotations(task: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for one in task.get("annotations") or ():
        if isinstance(one, dict):
            yield one


def _annotator(annotation: Mapping[str, Any]) -> str:
    by = annotation.get("completed_by")
    if isinstance(by, dict):
        by = by.get("id")
    return str(by).zfill(12)


def _questions_of_many(tasks: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the questions of choices to which some annotator gave several."""
    found = set()
    for task in tasks:
        for annotation in _annotations(task):
            for result in annotation.get("result") or ():
                choices = result.get("value", {}).get("choices")
                if isinstance(choices, list) and len(choices) > 1:
                    found.add(str(result.get("from_name")))
    return found


def _answer(results: Sequence[Any], of_many: set[str], texts: Sequence[str], left: Left) -> Answer:
    """Return the answers by question."""
    found: dict[str, Any] = {}
    for result in results:
        kind, value, name = result.get("type", ""), result.get("value", {}), str(result.get("from_name", "answer"))
        if kind in LABELS:
            span, is_shifted = _span(value, kind, texts)
            found[name] = spans_in_order([*found.get(name, ()), span])
            left.shifted += is_shifted
        elif kind == "choices":
            choices = list(value.get("choices", ()))
            found[name] = choices if name in of_many else next(iter(choices), None)
        elif kind in OF_ONE_VALUE:
            found[name] = value.get(kind)
        elif kind == "textarea":
            said = value.get("text", "")
            found[name] = said if isinstance(said, str) else " ".join(said)
        else:
            left.types.add(kind)
    return found


def _span(value: Mapping[str, Any], kind: str, texts: Sequence[str]) -> tuple[list[Any], bool]:
    """Return a span in characters, and whether it was counted in UTF-16, as browsers do."""
    places = value.get("globalOffsets") or value
    start, end, said = places.get("start"), places.get("end"), value.get("text")
    label = [str(one) for one in value.get(kind, value.get("labels", ()))[:1]]
    if not isinstance(start, int) or not isinstance(end, int) or not isinstance(said, str):
        return [start, end, *label], False
    if any(text[start:end] == said for text in texts):
        return [start, end, *label], False
    for text in texts:
        units = text.encode("utf-16-le")
        before = units[: 2 * start].decode("utf-16-le", "replace")
        within = units[2 * start : 2 * end].decode("utf-16-le", "replace")
        if within == said:
            return [len(before), len(before) + len(within), *label], True
    return [start, end, *label], False

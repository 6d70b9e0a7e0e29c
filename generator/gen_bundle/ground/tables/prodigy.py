"""Prodigy's JSON lines, as `db-out` writes them (its documentation: Annotation interfaces).

A record has `answer` (accept, reject, ignore), `_input_hash`, `_task_hash` and `_view_id`, and what was annotated:
`spans` with `start`, `end` and `label`, the chosen ids in `accept`, one `label` to be accepted or rejected, a text.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gen_bundle.ground.tables.annotations import Answer, Item, one_or_labels, spans_in_order, table_of
from gen_bundle.ground.tables.table import FileTable

INTERNAL = ("answer", "accept", "options", "config", "tokens", "spans", "relations", "label", "_input_hash", "meta")


def is_export(first: Mapping[str, Any]) -> bool:
    """Return whether records are those of Prodigy."""
    return "_input_hash" in first and "answer" in first


def read_records(name: str, suffix: str, values: Sequence[Any], numbers: Sequence[int]) -> FileTable:
    """Return a row for each example that was accepted, whatever several annotators said of it.

    Where the question is whether one label holds, accept and reject are the answers.
    """
    asks_one_label = all("label" in record and "spans" not in record for record in values)
    wanted = ("accept", "reject") if asks_one_label else ("accept",)
    taken = [(number, record) for number, record in zip(numbers, values, strict=True) if record.get("answer") in wanted]
    notes = []
    if len(values) > len(taken):
        left_out = f"{len(values) - len(taken)} examples whose answer is not {' or '.join(wanted)}"
        notes.append(f"{name}: {left_out} are left out")
    items = _of_labels(taken) if asks_one_label else _of_examples(taken)
    return table_of(name, suffix, "Prodigy", list(items.values()), notes)


def _of_labels(taken: Sequence[tuple[int, Any]]) -> dict[str, Item]:
    """Return an item for each example and label that is to be accepted or rejected."""
    labels = {str(record["label"]) for _, record in taken}
    items: dict[str, Item] = {}
    for number, record in taken:
        item = items.setdefault(f"{record['_input_hash']} {record['label']}", Item(number, _given(record)))
        if len(labels) > 1:
            item.given["label_asked"] = record["label"]
        item.answers.append({"holds": "yes" if record["answer"] == "accept" else "no"})
    return items


def _of_examples(taken: Sequence[tuple[int, Any]]) -> dict[str, Item]:
    single = one_or_labels([record.get("accept") or () for _, record in taken])
    items: dict[str, Item] = {}
    for number, record in taken:
        item = items.setdefault(str(record["_input_hash"]), Item(number, _given(record)))
        item.answers.append(_answer(record, single=single))
    return items


def _given(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is the organiser's own of a record, with its `meta`."""
    found = {key: value for key, value in record.items() if key not in INTERNAL and not key.startswith("_")}
    meta = record.get("meta")
    return {**found, **meta, **found} if isinstance(meta, dict) else found


def _answer(record: Mapping[str, Any], *, single: bool) -> Answer:
    if "accept" in record:
        chosen = [str(one) for one in record["accept"] or ()]
        if single:
            return {"label": chosen[0] if chosen else None}
        return {"labels": chosen}
    spans = [[span["start"], span["end"], str(span.get("label", ""))] for span in record.get("spans") or ()]
    return {"spans": spans_in_order(spans)}

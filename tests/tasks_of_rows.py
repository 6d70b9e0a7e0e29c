"""Tables of rows: every type of field, shape of a table and form of a file."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.task_tables import SHARE, Data, Draw, Files, Rows, Table, cell, cells, sentence

TONES = ["negative", "neutral", "positive"]
FEARS = ["fear of the unknown", "love of one's own country", "hope for the best", "none"]
GRADES = ["1", "2", "3", "4"]
TOPICS = ["food", "staff", "the price of the room", "noise"]


@dataclass
class Kind:
    """A type of field as a task may have it.

    Attributes:
        keys: what bundle.yaml says of the field.
        usual: the answer that most items have, from an item's text.
        other: any other.
        metrics: that are built in.
        many: whether a key may have several rows of it.
    """

    keys: dict[str, Any]
    usual: Callable[[Draw, str], Any]
    other: Callable[[Draw, str], Any]
    metrics: Sequence[Any]
    many: bool = False


def _tags(draw: Draw, text: str) -> list[str]:
    tags = ["O"] * len(text.split())
    at = draw.randrange(len(tags) - 1)
    tags[at : at + 2] = ["B-PER", draw.choice(["I-PER", "B-LOC"])]
    return tags


def _spans(draw: Draw, text: str) -> list[list[Any]]:
    start = draw.randrange(len(text) - 2)
    return [[start, draw.randrange(start + 1, len(text)), draw.choice(["PER", "LOC"])]]


def _one_of(values: Sequence[str]) -> Callable[[Draw, str], str]:
    return lambda draw, _: draw.choice(values)


def _always(value: Any) -> Callable[[Draw, str], Any]:
    return lambda _draw, _text: value


LABEL_METRICS = ["accuracy", "f1", "balanced_accuracy", "mcc", "kappa", {"name": "f1", "average": "weighted"}]
SET_METRICS = ["set_f1", "set_recall", {"name": "set_f1", "average": "macro"}]
KINDS = {
    "label": Kind({"values": TONES}, _always("neutral"), _one_of(TONES), LABEL_METRICS, many=True),
    "open label": Kind({}, _always("yes"), _one_of(["yes", "no", "maybe"]), LABEL_METRICS),
    "long label": Kind({"values": FEARS}, _always("none"), _one_of(FEARS), LABEL_METRICS, many=True),
    "ordinal": Kind({"values": GRADES}, _always("1"), _one_of(GRADES), ["accuracy", "mae", "spearman", "ccc"]),
    "string": Kind(
        {}, _always("c1"), lambda draw, _: f"c{draw.randrange(5)}", ["ari", "nmi", "exact_match"], many=True
    ),
    "labels": Kind(
        {"values": TOPICS},
        _always([]),
        lambda draw, _: sorted(draw.sample(TOPICS, draw.randint(1, 3))),
        [*SET_METRICS, "jaccard", "exact_match", {"name": "f1", "average": "micro"}],
    ),
    "long labels": Kind(
        {"values": FEARS, "separator": ";"}, _always([]), lambda draw, _: sorted(draw.sample(FEARS, 2)), SET_METRICS
    ),
    "number": Kind(
        {}, _always(0.0), lambda draw, _: round(draw.uniform(0, 9), 2), ["rmse", "mae", "pearson", "r2"], many=True
    ),
    "numbers": Kind(
        {"length": 3},
        _always([0.0, 0.0, 0.0]),
        lambda draw, _: [draw.randint(0, 9) / 2 for _ in "abc"],
        ["exact_match"],
    ),
    "text": Kind({}, lambda _, text: text, sentence, ["chrf", "rouge", "token_f1", "wer", "exact_match", "lcs_f1"]),
    "texts": Kind(
        {}, lambda _, text: [text], lambda draw, _: [sentence(draw), sentence(draw)], ["exact_match"], many=True
    ),
    "tags": Kind({}, lambda _, text: ["O"] * len(text.split()), _tags, ["span_f1", "span_recall", "exact_match"]),
    "spans": Kind({}, _always([]), _spans, [*SET_METRICS, "span_iou", {"name": "set_f1", "match": "overlap"}]),
    "offsets": Kind(
        {},
        _always([]),
        lambda draw, text: sorted(draw.sample(range(len(text)), 3)),
        ["set_f1", "span_iou", "exact_match"],
    ),
    "probabilities": Kind(
        {"values": TONES}, _always("neutral"), _one_of(TONES), ["accuracy", "log_loss", "brier", "f1"]
    ),
    "ranking": Kind({}, _always(0), _always(1), ["ndcg", "ap", "rr", {"name": "recall_at", "cutoff": 99}], many=True),
}
FORMS = ("csv", "tsv", "jsonl", "json", "none", "doc", "line", "txt")
"""Of a table: by its suffix; without a header; a file for each document; rows without ids; lines alone."""


def row_table(draw: Draw, kind_name: str, name: str, reader: str, traits: list[str], phases: Sequence[str]) -> Table:
    """A table whose answers are of one kind; `reader` says whether a metric, an own function or nothing reads them."""
    kind, balance = KINDS[kind_name], draw.choice(list(SHARE))
    size = draw.choice([12, 20, 40, 80, 150, 300])
    is_many = kind_name == "ranking" or (kind.many and draw.random() < 0.35)
    form = draw.choice(FORMS[:6] if is_many or reader == "none" or kind_name == "probabilities" else FORMS)
    traits += [kind_name, reader, balance, form, str(size), "many" if is_many else "one"]
    of_phases = {phase: rows_of_kind(draw, kind_name, size, balance, is_many, phase[0]) for phase in phases}
    fields, columns = _declared(draw, kind, kind_name, name, reader, is_many)
    key: Any = ["doc", "id"] if form == "doc" else "id"
    key_fields = [{"field": one, "type": "string"} for one in (key if form == "doc" else ["id"])]
    declared: dict[str, Any] = {"key": key, "fields": [*key_fields, *fields]}
    if is_many:
        declared["rows"] = "many"
    elif kind_name in ("label", "labels", "text", "spans", "offsets") and reader != "none" and draw.random() < 0.5:
        declared["missing"] = "empty"
    if form in ("line", "txt"):
        declared |= {"key": "line", "fields": fields}
        declared.pop("missing", None)
    reference: dict[str, Any] = {"public": ["id", "text"] if form == "line" else ["text"]}
    if form == "txt":
        reference = {}
    elif not is_many and reader == "metric" and draw.random() < 0.3:
        columns.append({**columns[0], "key": f"{name}_by", "metric": _grouped(columns[0]["metric"])})
    suffix = {"none": "csv", "doc": draw.choice(["csv", "jsonl"]), "line": draw.choice(["csv", "jsonl"])}.get(
        form, form
    )
    types = {one["field"]: one for one in declared["fields"]}
    pattern = f"{{doc}}.{name}.{suffix}" if form == "doc" else f"{{}}{name}.{suffix}"
    data = {phase: Data() for phase in phases}
    (some, *_), _ = of_phases[phases[0]]
    for place, of in ((declared, "answers"), (reference, "gold")):
        place["file"] = pattern.replace("{}", f"{of}-")
        names = [*types] if of == "answers" else [*dict.fromkeys(["id", *types, "relevance", "lang", "text"])]
        if of == "gold":
            names = [one for one in names if one in some and not (kind_name == "ranking" and one == "score")]
        if form == "txt":
            names = list(types)
        if form == "none":
            place["header"] = "none"
            if of == "gold":
                place["columns"] = names
        for phase, (rows, _) in of_phases.items():
            written = _answers(rows, kind_name) if of == "answers" else rows
            target = data[phase].answers if of == "answers" else data[phase].gold
            target |= _files(place["file"], suffix, names, written, types, has_header=form != "none")
    for phase, (_, inputs) in of_phases.items():
        data[phase].inputs[f"{name}-inputs.csv"] = cells(["id", "text"], inputs, ",", {}, has_header=True).encode()
    return Table(declared, reference, columns, data)


def _grouped(metric: Any) -> dict[str, Any]:
    data = metric if isinstance(metric, dict) else {"name": metric}
    return {**data, "where": {"lang": "en"}}


def rows_of_kind(draw: Draw, kind_name: str, size: int, balance: str, is_many: bool, letter: str) -> tuple[Rows, Rows]:
    """The gold's rows, and the items of which participants get the texts."""
    kind, rows = KINDS[kind_name], Rows()
    inputs: Rows = []
    numbers = draw.sample(range(10_000), size)
    for place, number in enumerate(numbers):
        item = {
            "id": f"{letter}{number:04}",
            "doc": f"d{place % 4}",
            "lang": draw.choice(["en", "de"]) if place > 1 else ["en", "de"][place],
            "text": sentence(draw),
        }
        inputs.append(item)
        copies = draw.randint(1, 3) if is_many else 1
        for copy in range(copies):
            # two of each at least, so that no metric is undefined
            is_usual = place % 6 > 1 if place < 12 else draw.random() < SHARE[balance]
            answer = (kind.usual if is_usual else kind.other)(draw, item["text"])
            row = {**item, "answer": answer, "note": draw.choice(TONES)}
            if kind_name == "ranking":
                row |= {"item": f"i{copy}-{number}", "relevance": 1 if copy == 0 else answer, "score": 0.5}
                del row["answer"]
            if is_many:
                row["lang"] = item["lang"]
            rows.append(row)
    return rows, inputs


def _declared(
    draw: Draw, kind: Kind, kind_name: str, name: str, reader: str, is_many: bool
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The fields that are answered, and the columns."""
    own = {"key": f"{name}_own", "metric": {"name": "metrics.py:equal", "table": name}, "sort": "desc", "worst": 0}
    if kind_name == "ranking":
        fields = [{"field": "item", "type": "string"}, {"field": "score", "type": "number"}]
        metric = draw.choice(list(kind.metrics))
        data = metric if isinstance(metric, dict) else {"name": metric}
        return fields, [{"key": f"{name}_metric", "metric": {**data, "table": name}}]
    type_name = kind_name.split()[-1]
    answer = {"field": "answer", "type": type_name, **kind.keys}
    if type_name == "probabilities":
        answer["columns"] = [f"p_{value}" for value in TONES]
    if reader == "own":
        return [answer], [own]
    if reader == "none":  # the answer of another field counts, and this one is asked for all the same
        note = {"field": "note", "type": "label", "values": TONES}
        metric = "exact_match" if is_many else "accuracy"
        return [answer, note], [{"key": f"{name}_note", "metric": {"name": metric, "field": "note", "table": name}}]
    metric = draw.choice(["exact_match"] if is_many else list(kind.metrics))
    data = {**(metric if isinstance(metric, dict) else {"name": metric}), "field": "answer", "table": name}
    if type_name == "probabilities":
        data["gold"] = "answer"
    return [answer], [{"key": f"{name}_metric", "metric": data}]


def _answers(rows: Rows, kind_name: str) -> Rows:
    """The gold as a submission."""
    made = []
    for row in rows:
        answer = dict(row)
        if kind_name == "probabilities":
            answer["answer"] = {value: float(value == row["answer"]) for value in TONES}
        if kind_name == "ranking":
            answer["score"] = float(row["relevance"]) + 0.5
        made.append(answer)
    return made


def _files(
    name: str,
    suffix: str,
    names: Sequence[str],
    rows: Rows,
    types: Mapping[str, Mapping[str, Any]],
    *,
    has_header: bool,
) -> Files:
    """Name → content of the files of a table, one for each document where its name says so."""
    if "{doc}" in name:
        of_documents: Files = {}
        columns = [one for one in names if one != "doc"]
        for document in dict.fromkeys(row["doc"] for row in rows):
            own = [row for row in rows if row["doc"] == document]
            of_documents |= _files(name.replace("{doc}", document), suffix, columns, own, types, has_header=has_header)
        return of_documents
    if suffix in ("jsonl", "json"):
        records = [json.dumps({one: row[one] for one in names if one in row}) for row in rows]
        text = "[" + ",\n".join(records) + "]" if suffix == "json" else "\n".join(records)
        return {name: f"{text}\n".encode()}
    if suffix == "txt":
        (only,) = names
        return {name: "".join(f"{cell(row[only], types[only])}\n" for row in rows).encode()}
    return {name: cells(names, rows, {"tsv": "\t"}.get(suffix, ","), types, has_header=has_header).encode()}

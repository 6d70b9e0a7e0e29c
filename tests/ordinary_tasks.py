"""Competitions as organisers have them, drawn by a number: every type of field, shape of a table and form of a file.

A task is what stands in its folder, and what must hold of it: the gold given back is the best submission.
"""

import csv
import io
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.generator.after.report.declared_task import declared_task

Rows = list[dict[str, Any]]
Draw = random.Random
WORDS = ["river", "stone", "cloud", "paper", "green", "quick", "night", "sugar", "metal", "north", "winter", "harbour"]
TONES = ["negative", "neutral", "positive"]
FEARS = ["fear of the unknown", "love of one's own country", "hope for the best", "none"]
GRADES = ["1", "2", "3", "4"]
TOPICS = ["food", "staff", "the price of the room", "noise"]
SHARE = {"balanced": 0.5, "usual": 0.8, "rare": 0.93, "empty": 0.6}
"""How often the usual answer is given."""
OWN = '''
def equal(gold, predicted, **options):
    """Return the share of keys with the gold's own answers."""
    return sum(map(same, gold, predicted)) / len(gold)


def same(gold, predicted):
    if isinstance(gold, list):
        return sorted(map(repr, map(answer, gold))) == sorted(map(repr, map(answer, predicted)))
    return all(gold[name] == most(gold[name], value) for name, value in answer(predicted).items() if name in gold)


def answer(row):
    return {name: value for name, value in row.items() if name in %r}


def most(label, value):
    return %r[value.index(max(value))] if isinstance(label, str) and isinstance(value, tuple) else value
'''


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


def _sentence(draw: Draw, _: str = "") -> str:
    return " ".join(draw.choices(WORDS, k=draw.randint(5, 12)))


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
    "text": Kind({}, lambda _, text: text, _sentence, ["chrf", "rouge", "token_f1", "wer", "exact_match", "lcs_f1"]),
    "texts": Kind(
        {}, lambda _, text: [text], lambda draw, _: [_sentence(draw), _sentence(draw)], ["exact_match"], many=True
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


@dataclass
class Table:
    """A table of a task: what bundle.yaml says of it, its gold and the same as answers."""

    declared: dict[str, Any]
    reference: dict[str, Any]
    columns: list[dict[str, Any]]
    gold: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)


@dataclass
class Task:
    """A task in its folder; `answers` are the best there is, and `gold` are the names of its files."""

    folder: Path
    answers: Mapping[str, str]
    gold: Sequence[str]
    traits: Sequence[str]


def ordinary_task(number: int, folder: Path) -> Task:
    """Write the task of a number into a new folder; equal numbers are equal tasks."""
    draw = random.Random(f"ordinary {number}")
    # the kinds in turn, so that some hundred tasks have each of them with each reader
    kinds = [list(KINDS)[number % len(KINDS)]]
    if draw.random() < 0.2:
        kinds.append(draw.choice(list(KINDS)))
    tables = []
    traits: list[str] = []
    for place, kind in enumerate(kinds):
        name = "ab"[place] if len(kinds) > 1 else "table"
        reader = ("metric", "own", "none")[(number // len(KINDS) + place) % 3]
        tables.append(_table(draw, kind, name, reader, traits))
    columns = [column for table in tables for column in table.columns]
    if len(tables) > 1:
        named = {"ab"[place]: {**one.declared, "reference": one.reference} for place, one in enumerate(tables)}
        declared_task(folder, {"tables": named}, columns)
    else:
        declared_task(folder, tables[0].declared, columns, reference=tables[0].reference)
    answers: dict[str, str] = {}
    fields = []
    for table in tables:
        answers |= table.answers
        fields += [one["field"] for one in table.declared["fields"]]
        for name, text in {**_below("data/test", table.gold), **_below("data/public/test", table.inputs)}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8", newline="")
    (folder / "metrics.py").write_text(OWN % (fields, TONES), encoding="utf-8")
    return Task(folder, answers, [name for table in tables for name in table.gold], traits)


def _below(folder: str, files: Mapping[str, str]) -> dict[str, str]:
    return {f"{folder}/{name}": text for name, text in files.items()}


def _table(draw: Draw, kind_name: str, name: str, reader: str, traits: list[str]) -> Table:
    """A table whose answers are of one kind; `reader` says whether a metric, an own function or nothing reads them."""
    kind, balance = KINDS[kind_name], draw.choice(list(SHARE))
    size = draw.choice([12, 20, 40, 80, 150, 300])
    is_many = kind_name == "ranking" or (kind.many and draw.random() < 0.35)
    form = draw.choice(FORMS[:6] if is_many or reader == "none" or kind_name == "probabilities" else FORMS)
    traits += [kind_name, reader, balance, form, str(size), "many" if is_many else "one"]
    rows, inputs = _rows(draw, kind, kind_name, size, balance, is_many)
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
    elif not is_many and len({row["lang"] for row in rows}) > 1 and reader == "metric" and draw.random() < 0.3:
        columns.append({**columns[0], "key": f"{name}_by", "metric": _grouped(columns[0]["metric"])})
    suffix = {"none": "csv", "doc": draw.choice(["csv", "jsonl"]), "line": draw.choice(["csv", "jsonl"])}.get(
        form, form
    )
    types = {one["field"]: one for one in declared["fields"]}
    made = Table(declared, reference, columns)
    pattern = f"{{doc}}.{name}.{suffix}" if form == "doc" else f"{{}}{name}.{suffix}"
    for place, of in ((declared, "answers"), (reference, "gold")):
        place["file"] = pattern.replace("{}", f"{of}-")
        names = [*types] if of == "answers" else [*dict.fromkeys(["id", *types, "relevance", "lang", "text"])]
        if of == "gold":
            names = [one for one in names if one in rows[0] and not (kind_name == "ranking" and one == "score")]
        if form == "txt":
            names = list(types)
        if form == "none":
            place["header"] = "none"
            if of == "gold":
                place["columns"] = names
        written = _answers(rows, kind_name) if of == "answers" else rows
        target = made.answers if of == "answers" else made.gold
        target |= _files(place["file"], suffix, names, written, types, has_header=form != "none")
    made.inputs[f"{name}-inputs.csv"] = _cells(["id", "text"], inputs, ",", {}, has_header=True)
    return made


def _grouped(metric: Any) -> dict[str, Any]:
    data = metric if isinstance(metric, dict) else {"name": metric}
    return {**data, "where": {"lang": "en"}}


def _rows(draw: Draw, kind: Kind, kind_name: str, size: int, balance: str, is_many: bool) -> tuple[Rows, Rows]:
    """The gold's rows, and the items of which participants get the texts."""
    rows: Rows = []
    inputs: Rows = []
    numbers = draw.sample(range(10_000), size)
    for place, number in enumerate(numbers):
        item = {
            "id": f"x{number:04}",
            "doc": f"d{place % 4}",
            "lang": draw.choice(["en", "de"]),
            "text": _sentence(draw),
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
) -> dict[str, str]:
    """Name → text of the files of a table, one for each document where its name says so."""
    if "{doc}" in name:
        of_documents: dict[str, str] = {}
        columns = [one for one in names if one != "doc"]
        for document in dict.fromkeys(row["doc"] for row in rows):
            own = [row for row in rows if row["doc"] == document]
            of_documents |= _files(name.replace("{doc}", document), suffix, columns, own, types, has_header=has_header)
        return of_documents
    if suffix in ("jsonl", "json"):
        records = [json.dumps({one: row[one] for one in names if one in row}) for row in rows]
        return {name: "[" + ",\n".join(records) + "]\n" if suffix == "json" else "\n".join(records) + "\n"}
    if suffix == "txt":
        (only,) = names
        return {name: "".join(f"{_cell(row[only], types[only])}\n" for row in rows)}
    return {name: _cells(names, rows, {"tsv": "\t"}.get(suffix, ","), types, has_header=has_header)}


def _cells(
    names: Sequence[str], rows: Rows, delimiter: str, types: Mapping[str, Mapping[str, Any]], *, has_header: bool
) -> str:
    """A table of cells; probabilities are spread over their columns."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    is_spread = isinstance(rows[0].get("answer"), dict)
    titles: list[str] = []
    for name in names:
        titles += types[name]["columns"] if name == "answer" and is_spread else [name]
    if has_header:
        writer.writerow(titles)
    for row in rows:
        cells: list[str] = []
        for name in names:
            value = row[name]
            cells += (
                [str(one) for one in value.values()] if isinstance(value, dict) else [_cell(value, types.get(name, {}))]
            )
        writer.writerow(cells)
    return buffer.getvalue()


def _cell(value: Any, declared: Mapping[str, Any]) -> str:
    kind = declared.get("type", "string")
    if kind == "labels":
        return str(declared.get("separator", "|")).join(value)
    if kind in ("tags", "numbers"):
        return " ".join(map(str, value))
    return json.dumps(value) if kind in ("texts", "spans", "offsets") else str(value)

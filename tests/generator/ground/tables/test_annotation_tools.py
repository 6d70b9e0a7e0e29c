"""What annotation tools export, as their documentation has it: each item once, none lost, nothing of the tool's own."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.tables.reading import read_table
from gen_bundle.ground.tables.table import FileTable

TEXTS = ("Ada met Grace in Paris.", "Nothing happened 😀 near Łódź.", "東京 is large.", "No names here.")
PLACES: Sequence[list[tuple[int, int, str]]] = (
    [(0, 3, "PER"), (8, 13, "PER"), (17, 22, "LOC")],
    [(24, 28, "LOC")],
    [(0, 2, "LOC")],
    [],
)
SPANS = [[list(span) for span in spans] for spans in PLACES]


def read(folder: Path, name: str, text: str) -> FileTable:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_table(path)


def lines(records: Sequence[Any]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def columns(table: FileTable) -> dict[str, list[Any]]:
    return {name: list(values) for name, values in table.columns.items()}


# Label Studio


def result(kind: str, value: Mapping[str, Any], name: str = "label") -> dict[str, Any]:
    return {"id": "x1", "from_name": name, "to_name": "text", "type": kind, "origin": "manual", "value": value}


def task(at: int, *annotations: Sequence[Any], **more: Any) -> dict[str, Any]:
    done = []
    for annotator, results in enumerate(annotations, 1):
        one = {"id": 100 * at + annotator, "completed_by": {"id": annotator, "email": "a@example.org"}}
        done.append({**one, "result": results, "was_cancelled": False, "ground_truth": False, "lead_time": 3.5})
    own = {"id": at + 7, "data": {"text": TEXTS[at]}, "annotations": done, "predictions": [], "meta": {}, "project": 1}
    return {**own, "created_at": "2026-11-01T10:00:00Z", "inner_id": at, "total_annotations": len(done), **more}


def spans_of(at: int) -> list[Any]:
    found = []
    for start, end, label in PLACES[at]:
        value = {"start": start, "end": end, "text": TEXTS[at][start:end], "labels": [label]}
        found.append(result("labels", value))
    return found


def test_spans_of_label_studio(tmp_path: Path) -> None:
    tasks = [task(0, spans_of(0)), task(1, spans_of(1)), task(2, spans_of(2)), task(3, [])]
    table = read(tmp_path, "project.json", json.dumps(tasks))
    assert columns(table) == {"id": [7, 8, 9, 10], "text": list(TEXTS), "label": SPANS}
    assert any("1 items have no annotation, or an empty one (numbers 3)" in note for note in table.notes)


def test_spans_counted_in_utf_16_are_counted_in_characters(tmp_path: Path) -> None:
    value = {"start": 25, "end": 29, "text": "Łódź", "labels": ["LOC"]}
    table = read(tmp_path, "project.json", json.dumps([task(0, spans_of(0)), task(1, [result("labels", value)])]))
    assert table.columns["label"] == SPANS[:2]
    assert any("UTF-16" in note for note in table.notes)


def test_choices_of_label_studio_are_labels_or_sets(tmp_path: Path) -> None:
    def chosen(*choices: str) -> list[Any]:
        return [result("choices", {"choices": list(choices)}, "sentiment"), result("rating", {"rating": 4}, "stars")]

    one = read(tmp_path, "one.json", json.dumps([task(0, chosen("pos")), task(1, chosen("neg"))]))
    assert columns(one) == {"id": [7, 8], "text": list(TEXTS[:2]), "sentiment": ["pos", "neg"], "stars": [4, 4]}
    many = read(tmp_path, "many.json", json.dumps([task(0, chosen("pos", "new")), task(1, chosen("neg"))]))
    assert many.columns["sentiment"] == [["pos", "new"], ["neg"]]


def test_annotators_of_label_studio_have_a_column_each(tmp_path: Path) -> None:
    def chosen(choice: str) -> list[Any]:
        return [result("choices", {"choices": [choice]}, "sentiment")]

    tasks = [task(0, chosen("pos"), chosen("neg")), task(1, chosen("neg"), chosen("neg"))]
    table = read(tmp_path, "project.json", json.dumps(tasks))
    assert table.columns["annotator_1"] == ["pos", "neg"]
    assert table.columns["annotator_2"] == ["neg", "neg"]
    tasks[1]["annotations"].pop()
    table = read(tmp_path, "project.json", json.dumps(tasks))
    assert table.columns["sentiment"] == ["pos", "neg"]
    assert any("the first of each counts" in note for note in table.notes)
    tasks[0]["annotations"][1]["ground_truth"] = True
    assert read(tmp_path, "project.json", json.dumps(tasks)).columns["sentiment"] == ["neg", "neg"]


def test_skipped_tasks_of_label_studio_are_left_out_and_said(tmp_path: Path) -> None:
    tasks = [task(0, spans_of(0)), task(1, spans_of(1))]
    tasks[1]["annotations"][0]["was_cancelled"] = True
    table = read(tmp_path, "project.json", json.dumps(tasks))
    assert table.columns["id"] == [7]
    assert any("1 tasks that annotators skipped" in note for note in table.notes)


# Prodigy


def example(at: int, **more: Any) -> dict[str, Any]:
    tokens = [{"text": word, "id": place, "ws": True} for place, word in enumerate(TEXTS[at].split())]
    own = {"text": TEXTS[at], "_input_hash": 1000 + at, "_task_hash": -at, "_view_id": "x", "_timestamp": 1700000000}
    return {**own, "tokens": tokens, "_annotator_id": "db-a", "_session_id": "db-a", "answer": "accept", **more}


def spans_with_tokens(at: int) -> list[dict[str, Any]]:
    names = ("start", "end", "label")
    return [{**dict(zip(names, span, strict=True)), "token_start": 0, "token_end": 0} for span in PLACES[at]]


def test_spans_of_prodigy(tmp_path: Path) -> None:
    records = [example(at, spans=spans_with_tokens(at)) for at in range(3)]
    records += [
        example(3),
        {**example(3, _input_hash=5), "answer": "reject"},
        example(2, _input_hash=6, answer="ignore"),
    ]
    table = read(tmp_path, "ner.jsonl", lines(records))
    assert columns(table) == {"id": ["1", "2", "3", "4"], "text": list(TEXTS), "spans": SPANS}
    assert any("2 examples whose answer is not accept are left out" in note for note in table.notes)


@pytest.mark.parametrize(
    ("chosen", "name", "values"),
    [
        ([["pos"], ["neg"], []], "label", ["pos", "neg", None]),
        ([["pos", "new"], ["neg"], []], "labels", [["pos", "new"], ["neg"], []]),
    ],
)
def test_choices_of_prodigy(chosen: list[list[str]], name: str, values: list[Any], tmp_path: Path) -> None:
    options = [{"id": one, "text": one.upper()} for one in ("pos", "neg", "new")]
    records = [example(at, options=options, accept=one, meta={"source": "web"}) for at, one in enumerate(chosen)]
    table = read(tmp_path, "choice.jsonl", lines(records))
    assert list(table.columns) == ["id", "text", "source", name]
    assert table.columns[name] == values


def test_one_label_of_prodigy_holds_or_not(tmp_path: Path) -> None:
    records = [example(at, label="SPAM", answer=answer) for at, answer in enumerate(("accept", "reject", "ignore"))]
    table = read(tmp_path, "textcat.jsonl", lines(records))
    assert columns(table) == {"id": ["1", "2"], "text": list(TEXTS[:2]), "holds": ["yes", "no"]}


def test_annotators_of_prodigy_have_a_column_each(tmp_path: Path) -> None:
    records = []
    for annotator, label in (("a", "pos"), ("b", "neg")):
        records += [example(at, accept=[label], _annotator_id=annotator) for at in range(2)]
    table = read(tmp_path, "choice.jsonl", lines(records))
    assert columns(table) == {
        "id": ["1", "2"],
        "text": list(TEXTS[:2]),
        "annotator_1": ["pos", "pos"],
        "annotator_2": ["neg", "neg"],
    }


# Doccano, INCEpTION


def test_spans_of_doccano_in_both_forms(tmp_path: Path) -> None:
    old = [{"id": at, "text": TEXTS[at], "label": SPANS[at], "Comments": []} for at in range(4)]
    new = []
    for at in range(4):
        entities = []
        for place, (start, end, label) in enumerate(PLACES[at]):
            entities.append({"id": place, "label": label, "start_offset": start, "end_offset": end})
        new.append({"id": at, "text": TEXTS[at], "entities": entities, "relations": [], "Comments": []})
    for records in (old, new):
        table = read(tmp_path, "admin.jsonl", lines(records))
        assert columns(table) == {"id": [0, 1, 2, 3], "text": list(TEXTS), "spans": SPANS}


def test_labels_of_doccano_are_one_or_a_set(tmp_path: Path) -> None:
    one = [{"id": at, "text": TEXTS[at], "label": ["x"], "Comments": []} for at in range(2)]
    assert read(tmp_path, "one.jsonl", lines(one)).columns["label"] == ["x", "x"]
    one[0]["label"] = ["x", "y"]
    assert read(tmp_path, "many.jsonl", lines(one)).columns["labels"] == [["x", "y"], ["x"]]


WEBANNO = """#FORMAT=WebAnno TSV 3.3
#T_SP=de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS|coarseValue
#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value


#Text=Ada Lovelace met Grace Hopper .
1-1\t0-3\tAda\t_\t*[1]\tPER[1]\t
1-2\t4-12\tLovelace\t_\t*[1]\tPER[1]\t
1-3\t13-16\tmet\t_\t_\t_\t
1-4\t17-22\tGrace\t_\t*[2]\tPER[2]\t
1-5\t23-29\tHopper\t_\t*[2]|*[3]\tPER[2]|LOC[3]\t
1-6\t30-31\t.\t_\t_\t_\t

#Text=Nobody
2-1\t32-38\tNobody\t_\t_\t_\t

#Text=Paris Berlin
3-1\t39-44\tParis\t_\t*\tLOC\t
3-2\t45-51\tBerlin\t_\t*\tLOC\t
"""


def test_webanno_of_inception_is_sentences_with_tags(tmp_path: Path) -> None:
    table = read(tmp_path, "annotator.tsv", WEBANNO)
    assert table.columns["tokens"][1:] == (["Nobody"], ["Paris", "Berlin"])
    assert table.columns["tags"] == (["B-PER", "I-PER", "O", "B-PER", "I-PER", "O"], ["O"], ["B-LOC", "B-LOC"])
    assert [note.partition(": ")[2] for note in table.notes] == [
        "WebAnno TSV; NamedEntity value is read as tags in IOB2, and the sentences were numbered",
        "1 tokens have several values of NamedEntity value; the first of each counts",
    ]


def test_webanno_without_a_label_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no span has a label"):
        read(tmp_path, "annotator.tsv", WEBANNO.replace("PER", "*").replace("LOC", "*"))


@pytest.mark.parametrize(
    "records",
    [
        [{"id": 1, "data": {"text": "a b"}, "annotations": [{"result": [{"type": "labels", "value": 3}]}]}],
        [{"id": 1, "data": {"text": "a b"}, "annotations": [{"result": 7}]}],
        [{"text": "a", "_input_hash": 1, "answer": "accept", "spans": [{"label": "X"}]}],
        [{"text": "a", "_input_hash": 1, "answer": "accept", "spans": 5}, {"text": "b"}],
        [{"text": "a", "label": 5, "Comments": []}, {"text": "b", "entities": 3}],
    ],
)
def test_what_only_looks_like_an_export_is_read_as_other_records(records: list[Any], tmp_path: Path) -> None:
    table = read(tmp_path, "some.jsonl", lines(records))
    assert len(table) == len(records)

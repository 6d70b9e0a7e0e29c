"""Empty gold, defaults, and what counts as the same spelling: of labels, ids and groups."""

from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import f1_score

from declared import organiser
from gen_bundle.declaration.scoring.metrics import metrics as all_metrics
from scoring_kit.errors import OrganiserError, SubmissionError
from tests.scoring_programs.declared.declaring import csv_of, gold_faults, jsonl_of, one_table, request_of, score
from tests.scoring_programs.declared.resampled import score_and_resample

LABEL: dict[str, Any] = {"field": "label", "type": "label", "values": ["a", "b"]}
SKIP = {"file": "gold.csv", "empty": "skip"}
ROWS = [["1", "a"], ["2", ""], ["3", "b"], ["4", "b"]]


def test_a_key_without_gold_is_left_out_of_the_metrics_that_read_it(tmp_path: Path) -> None:
    fields = [LABEL, {"field": "x", "type": "number"}]
    metrics = {
        "acc": {"name": "accuracy", "field": "label"},
        "mae": {"name": "mae", "field": "x"},
        "both": {"name": "exact_match", "fields": ["label", "x"]},
        "mean": {"name": "exact_match", "fields": ["label"], "by": "lang"},
    }
    options = one_table(fields, metrics, reference=SKIP)
    gold = "id,label,x,lang\n1,a,1,en\n2,,2,de\n3,b,,en\n4,b,4,fr\n"
    sent = "id,label,x\n1,a,2\n2,a,2\n3,a,9\n4,b,4\n"
    found = score_and_resample(options, gold, sent, tmp_path)
    assert {key: found.value(key) for key in metrics} == pytest.approx(
        {"acc": 2 / 3, "mae": 1 / 3, "both": 0.5, "mean": 0.75}
    )
    with pytest.raises(SubmissionError, match='no row for 1 of 4 keys: "2"'):
        score(options, gold, sent.replace("2,a,2\n", ""), tmp_path / "less")


def test_over_several_fields_each_leaves_out_its_own(tmp_path: Path) -> None:
    fields = [LABEL, {**LABEL, "field": "other"}]
    options = one_table(fields, {"f1": {"name": "f1", "fields": ["label", "other"]}}, reference=SKIP)
    gold = [["1", "a", ""], ["2", "", "b"], ["3", "b", "b"], ["4", "b", "a"]]
    sent = [["1", "a", "a"], ["2", "b", "b"], ["3", "a", "a"], ["4", "b", "a"]]
    expected = []
    for at in (1, 2):
        pairs = [(row[at], answer[at]) for row, answer in zip(gold, sent, strict=True) if row[at]]
        expected.append(f1_score(*zip(*pairs, strict=True), average="macro"))
    found = score(options, csv_of("id,label,other", gold), csv_of("id,label,other", sent), tmp_path)
    assert found.value("f1") == pytest.approx(sum(expected) / 2)


@pytest.mark.parametrize("missing", ["skip", None])
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("string", ["a", "", "b", "c"]),
        ("label", ["a", "", "b", "b"]),
        ("labels", ["a", "", "b", "b"]),
        ("number", ["1", "", "3", "4"]),
        ("numbers", ["1 2", "", "3 4", "5"]),
        ("tags", ["O", "", "B-x", "O O"]),
        ("spans", ["[]", "", "[[0, 1]]", "[]"]),
        ("offsets", ["[]", "", "[1]", "[]"]),
    ],
)
def test_which_cells_are_empty(kind: str, values: list[str], missing: str | None, tmp_path: Path) -> None:
    reference = {"file": "gold.csv", **({"empty": missing} if missing else {})}
    options = one_table([{"field": "x", "type": kind}], {"m": "exact_match"}, reference=reference)
    gold = csv_of("id,x", [[str(at), value] for at, value in enumerate(values)])
    answer = {
        "label": "a",
        "labels": "a",
        "number": "9",
        "numbers": "9",
        "tags": "O",
        "spans": "[[5, 6]]",
        "offsets": "[9]",
    }
    sent = [[str(at), answer.get(kind, "z") if at == 1 else value] for at, value in enumerate(values)]
    files = csv_of("id,x", sent)
    if kind in ("string", "labels", "offsets") and not missing:  # an empty one is a value
        assert score(options, gold, files, tmp_path).value("m") == 0.75
    elif missing:
        assert score(options, gold, files, tmp_path).value("m") == 1
    elif kind != "tags":
        with pytest.raises(OrganiserError, match=r"gold\.csv:3: x is empty"):
            score(options, gold, files, tmp_path)


@pytest.mark.parametrize("skips", [True, False])
@pytest.mark.parametrize(
    ("kind", "empty", "answer"),
    [("text", " ", "z"), ("texts", [], ["z"]), ("labels", [], ["z"]), ("labels", "", ["z"])],
)
def test_texts_and_sets_that_are_empty_are_no_gold_where_gold_is_skipped(
    kind: str, empty: Any, answer: Any, skips: bool, tmp_path: Path
) -> None:
    field = {"field": "x", "type": kind, **({"values": ["z"]} if kind == "labels" else {})}
    reference = {**(SKIP if skips else {}), "file": "gold.jsonl"}
    options = one_table([field], {"m": "exact_match"}, file="p.jsonl", reference=reference)
    rows = [{"id": "1", "x": empty}, {"id": "2", "x": answer}, *([{"id": "3"}] if skips else [])]
    gold, sent = jsonl_of(rows), jsonl_of({"id": row["id"], "x": answer} for row in rows)
    if empty == "" and not skips:
        with pytest.raises(OrganiserError, match="not a list"):
            score(options, {"gold.jsonl": gold}, {"p.jsonl": sent}, tmp_path)
        return
    assert score(options, {"gold.jsonl": gold}, {"p.jsonl": sent}, tmp_path).value("m") == (1 if skips else 0.5)


@pytest.mark.parametrize(("end", "keys"), [("", 3), ("\n", 3), ("\n\n", 4), ("\n \n\n", 5)])
def test_blank_lines_at_the_end_of_gold_with_gaps_count(end: str, keys: int, tmp_path: Path) -> None:
    gold = {**SKIP, "file": "gold.txt"}
    options = one_table(
        [{"field": "x", "type": "text"}], {"m": "exact_match"}, file="p.txt", key="line", reference=gold
    )
    sent = "".join(f"{text}\n" for text in ["a", "z", "c", "z", "z"][:keys])
    found = score(options, {"gold.txt": f"a\n\nb{end}"}, {"p.txt": sent}, tmp_path)
    assert found.value("m") == 0.5


@pytest.mark.parametrize("kind", ["string", "label"])
def test_items_of_a_ranking_are_spelt_as_their_field_says(kind: str, tmp_path: Path) -> None:
    item = {"field": "item", "type": kind, "case": "ignore", "aliases": {"the first": "d1"}}
    if kind == "label":
        item["values"] = ["d1", "D2", "d3"]
    metrics = {name: name for name in ("ap", "rr", "ndcg", "r_precision")}
    options = one_table([item], metrics, rows="many")
    gold = csv_of("id,item,relevance", [["q", "D1", 1], ["q", "d2", 1], ["q", "d3", 0]])
    for number, sent in enumerate((["d1", "D2"], ["D1", "d2"], ["The First", "D2"])):
        answers = csv_of("id,item", [["q", one] for one in sent])
        found = score(options, gold, answers, tmp_path / str(number))
        assert [found.value(name) for name in metrics] == [1, 1, 1, 1]
    with pytest.raises(SubmissionError, match="again"):
        score(options, gold, "id,item\nq,d1\nq,D1\n", tmp_path / "twice")
    again = gold + "q,d1,0\n"
    assert "D1" not in (fault := gold_faults(options, again, tmp_path / "gold")[0])
    assert "an item of a query is there twice" in fault


SPELLINGS: dict[str, tuple[dict[str, Any], str, str]] = {
    "string": ({}, "Paris", "pARIS"),
    "label": ({"values": ["Yes", "No"]}, "yes", "YES"),
    "label without values": ({}, "yes", "YES"),
    "ordinal": ({"values": ["Low", "High"]}, "LOW", "low"),
    "labels": ({"values": ["Yes", "No"]}, "yes|NO", "No|yES"),
    "labels without values": ({}, "yes|NO", "No|yES"),
    "labels over columns": ({"columns": ["a", "b"], "positive": "Yes", "negative": "No"}, "yes,NO", "YES,no"),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_case_does_not_count_on_either_side_in_any_metric(name: str, tmp_path: Path) -> None:
    keys, gold, sent = SPELLINGS[name]
    kind = name.split()[0]
    fitting = [
        metric
        for metric, row in all_metrics().items()
        if kind in row.types
        and row.module not in ("numbers", "clusters")
        and metric not in ("kappa", "mcc", "points", "fbeta")
    ]
    header = "a,b" if "columns" in keys else "x"
    options = one_table(
        [{"field": "x", "type": kind, "case": "ignore", **keys}], dict(zip(fitting, fitting, strict=True))
    )
    found = score(options, f"id,{header}\n1,{gold}\n", f"id,{header}\n1,{sent}\n", tmp_path)
    assert fitting
    assert [found.value(key) for key in fitting] == [1] * len(fitting)


SPELT = {**LABEL, "values": ["Yes", "No"], "case": "ignore", "aliases": {"ja": "Yes"}}


@pytest.mark.parametrize(
    ("where", "value"),
    [({"label": "YES"}, 0.5), ({"label": ["ja", "no"]}, 2 / 3), ({"label": "no"}, 1), ({"lang": "EN"}, 0)],
)
def test_groups_know_a_fields_spelling_and_leave_other_columns_as_they_are(
    where: dict[str, Any], value: float, tmp_path: Path
) -> None:
    options = one_table([SPELT], {"acc": {"name": "accuracy", "where": where}})
    gold = "id,label,lang\n1,yes,en\n2,JA,EN\n3,nO,en\n"
    found = score(options, gold, "id,label\n1,yes\n2,no\n3,NO\n", tmp_path)
    assert found.value("acc") == pytest.approx(value)


def test_a_range_of_an_ordinal_goes_by_its_numbers_or_places(tmp_path: Path) -> None:
    for values, low, expected in ((["1", "2", "5"], 2, 0.5), (["low", "mid", "high"], 1, 0.5)):
        options = one_table(
            [{"field": "x", "type": "ordinal", "values": values}],
            {"m": {"name": "exact_match", "where": {"x": {"min": low}}}},
        )
        gold = csv_of("id,x", [[str(at), value] for at, value in enumerate(values)])
        sent = csv_of("id,x", [[str(at), values[-1]] for at in range(3)])
        assert score(options, gold, sent, tmp_path).value("m") == expected


def test_ids_without_case_are_one_key(tmp_path: Path) -> None:
    options = one_table([{"field": "id", "case": "ignore"}, LABEL], {"acc": "accuracy"})
    gold = "id,label\nDoc-A,a\nDoc-B,b\n"
    assert score(options, gold, "id,label\ndoc-a,a\nDOC-B,a\n", tmp_path).value("acc") == 0.5
    with pytest.raises(SubmissionError, match='a second row for "DOC-A", after'):
        score(options, gold, "id,label\ndoc-a,a\nDOC-A,a\n", tmp_path / "two")
    with pytest.raises(OrganiserError, match=r"gold\.csv:3: a second row"):
        score(options, "id,label\nx,a\nX,b\n", "", tmp_path / "gold")


DEFAULTS: list[tuple[dict[str, Any], Any, list[Any], list[Any]]] = [
    ({"type": "string"}, "z", ["z", "b"], ["b"]),
    ({"type": "label", "values": ["a", "b"]}, "a", ["a", "b"], ["b"]),
    ({"type": "ordinal", "values": [1, 2]}, 2, ["2", "1"], ["1"]),
    ({"type": "labels", "values": ["a", "b"]}, ["a"], ["a", "b"], ["b"]),
    ({"type": "number"}, 0.5, ["0.5", "1"], ["1"]),
    ({"type": "numbers"}, [1, 2], ["1 2", "3"], ["3"]),
    ({"type": "text"}, "none", ["none", "b"], ["b"]),
    ({"type": "tags"}, "O", ["O O O", "B-x"], ["B-x"]),
    ({"type": "spans"}, [[0, 2]], ["[[0, 2]]", "[]"], ["[]"]),
    ({"type": "offsets"}, [3], ["[3]", "[4]"], ["[4]"]),
]


@pytest.mark.parametrize(("field", "default", "gold", "sent"), DEFAULTS, ids=lambda one: str(one)[:20])
def test_a_default_stands_for_a_missing_row(
    field: dict[str, Any], default: Any, gold: list[Any], sent: list[Any], tmp_path: Path
) -> None:
    options = one_table([{"field": "x", **field, "default": default}], {"m": "exact_match"}, missing="empty")
    truth = csv_of("id,x", [[str(at), value] for at, value in enumerate(gold)])
    found = score(options, truth, csv_of("id,x", [["1", sent[0]]]), tmp_path)
    assert found.value("m") == 1
    assert found.warnings == ['predictions.csv: no row for 1 of 2 keys: "0"; they count as their defaults.']


@pytest.mark.parametrize("kind", ["number", "tags", "label"])
def test_a_default_stands_for_an_empty_cell_and_an_absent_column(kind: str, tmp_path: Path) -> None:
    default, gold = {"number": (0, "0"), "tags": ("O", "O"), "label": ("a", "a")}[kind]
    field = {"field": "x", "type": kind, "default": default, "required": False}
    options = one_table([field, {"field": "y", "type": "string"}], {"m": {"name": "exact_match", "fields": ["x"]}})
    truth = f"id,x,y\n1,{gold},k\n2,{gold},k\n"
    for text in ("id,x,y\n1,,k\n2,,k\n", "id,y\n1,k\n2,k\n"):
        assert score(options, truth, text, tmp_path).value("m") == 1


def test_an_own_function_gets_none_where_gold_is_empty(tmp_path: Path) -> None:
    code = "def share(gold, predicted):\n    return sum(row['label'] is None for row in gold) / len(gold)\n"
    options = one_table([LABEL], {"s": "metrics.py:share"}, reference=SKIP, folder=tmp_path, code=code)
    sent = csv_of("id,label", [[row[0], "a"] for row in ROWS])
    assert score(options, csv_of("id,label", ROWS), sent, tmp_path).value("s") == 0.25
    organiser.check_reference(request_of(options, reference=tmp_path / "ref"))

"""What bundle.yaml says of tables and metrics: defaults, and every mistake at its place."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.build.package.resolve import Resolved, resolve
from gen_bundle.build.render.submission_text import format_text
from gen_bundle.declaration.model import DeclaredSubmission
from gen_bundle.declaration.scoring.metrics import metrics
from gen_bundle.declaration.source import parse_value
from gen_bundle.image.request import request_for
from tests.generator.competition import small_competition
from tests.generator.declaration.scoring.settling import FIELDS, column, declaration, faults, settled, sound, table


def titles(data: dict[str, Any]) -> list[str]:
    sound(data)
    return [one["title"] for one in data["tasks"][0]["columns"]]


def competition(data: dict[str, Any], parent: Path) -> Resolved:
    """A competition that is scored as a sound declaration says."""
    scoring = sound(data)
    small = resolve(small_competition(parent))
    task = small.declaration.tasks[0].model_copy(update={"id": "t"})
    declared = small.declaration.model_copy(update={"tasks": [task]})
    return replace(small, declaration=declared, scoring=scoring, options=data.get("options", {}))


def test_a_column_takes_everything_from_its_metric() -> None:
    data = declaration([column({"name": "mse", "field": "x"}, key="e"), column({"name": "bleu", "field": "text"})])
    sound(data)
    mse, bleu = data["tasks"][0]["columns"]
    assert (mse["sort"], mse["worst"], mse["title"], mse["precision"]) == ("asc", 1e9, "MSE", 4)
    assert (bleu["sort"], bleu["worst"], bleu["title"], bleu["precision"]) == ("desc", 0, "BLEU", 2)
    assert mse["meaning"] == "MSE of x. Mean squared error."


def test_what_a_column_says_itself_stays() -> None:
    data = declaration([column({"name": "rmse", "field": "x"}, title="Error", worst=50, precision=1, meaning="It.")])
    sound(data)
    assert {**data["tasks"][0]["columns"][0]} == {
        **column({"name": "rmse", "field": "x"}),
        "title": "Error",
        "worst": 50,
        "precision": 1,
        "meaning": "It. No more than 50.",
        "sort": "asc",
    }


def test_titles_of_columns_differ() -> None:
    f1: dict[str, Any] = {"name": "f1", "field": "label"}
    columns = [
        {"key": "a", "metric": f1},
        {"key": "b", "metric": {**f1, "average": "micro"}},
        {"key": "c", "metric": {**f1, "field": "tags"}},
        {"key": "d", "metric": {**f1, "where": {"lang": "swa"}}},
        {"key": "e", "metric": {**f1, "where": {"lang": ["a very long language name", "another very long one"]}}},
    ]
    expected = ["Macro F1, label", "Micro F1", "Macro F1, tags", "Macro F1, lang swa", "e"]
    assert titles(declaration(columns)) == expected


@pytest.mark.parametrize(
    ("name", "field", "further", "title"),
    [
        ("set_f1", "spans", {"match": "characters"}, "Set F1, characters"),
        ("bleu", "text", {"lowercase": True}, "BLEU, lowercase"),
        ("chrf", "text", {"word_order": 2}, "chrF, word_order 2"),
        ("accuracy", "label", {"gold": "strict"}, "Accuracy, strict"),
        ("mae", "x", {"by": ["lang", "year"]}, "MAE, by lang and year"),
        ("f1", "label", {"where": {"lang": "swa"}}, "Macro F1, lang swa"),
        ("exact_match", "text", {"case": "ignore"}, "Exact match, without case"),
        ("lcs_f1", "text", {"unit": {"separator": " @@"}}, "LCS F1, separator ' @@'"),
        ("set_f1", "spans", {"match": "overlap"}, "Set F1, overlap"),
        ("f1", "label", {"labels": ["a", 1]}, "Macro F1, a and 1"),
    ],
)
def test_titles_of_columns_differ_in_whatever_sets_them_apart(
    name: str, field: str, further: dict[str, Any], title: str
) -> None:
    plain = {"name": name, "field": field}
    data = declaration([{"key": "a", "metric": {**plain, **further}}, {"key": "b", "metric": plain}])
    sound(data)
    first, second = data["tasks"][0]["columns"]
    assert (first["title"], second["title"]) == (title, title.partition(",")[0])
    assert title.rpartition(", ")[2].removeprefix("by ") in first["meaning"]


def test_a_computed_column_follows_its_parts() -> None:
    columns = [
        column({"name": "mae", "field": "x"}, key="a"),
        column({"name": "mse", "field": "x"}, key="b"),
        {"key": "m", "computation": "avg", "of": ["a", "b"]},
    ]
    data = declaration(columns)
    sound(data)
    assert data["tasks"][0]["columns"][2] == {
        **columns[2],
        "sort": "asc",
        "title": "Mean",
        "meaning": "Mean of MAE and MSE.",
        "precision": 4,
    }


C = "tasks.0.columns.0."
M = f"{C}metric"
X: dict[str, Any] = {"name": "mae", "field": "x"}
F1: dict[str, Any] = {"name": "f1", "field": "label"}
MISTAKES = """
pearsn → metric: no metric 'pearsn'. Did you mean 'pearson'? One of your own is written metrics.py:name.
accuracy → metric: field is missing. Expected one of label, x, tags, text, spans, as in {name: accuracy, field: label}.
{name: f1, field: lable} → metric.field: no field 'lable'. Did you mean 'label'?
{name: f1, field: label, avrage: micro} → metric.avrage: f1 has no option 'avrage'. Did you mean 'average'?
{name: f1, field: label, average: mirco}
  → metric.average: expected one of macro, micro, weighted, binary, samples (found 'mirco').
{name: f1, field: x}
  → metric: f1 compares labels; 'x' is a number. Expected `threshold: 0.5`, which makes it one, or a metric of \
numbers such as mae.
{name: f1, field: label, average: binary}
  → metric: positive is missing. Expected the label that average: binary is about.
{name: f1, field: label, average: binary, positive: c} → metric.positive: no label 'c'. Expected one of a, b, 1.
{name: f1, field: label, average: samples}
  → metric.average: samples is for fields of type labels; 'label' is of type label.
{name: f1, field: tags, labels: declared}
  → metric.labels: the field 'tags' declares no values. Expected values, or labels: gold.
{name: set_f1, field: tags, match: characters} → metric.match: characters is for fields of type spans, with rows: one.
{name: rr}
  → metric: rr scores several rows per key. Expected a table with `rows: many`, keyed by query.
  → metric: no field 'item'. Expected the field of the ranked items (item: …).
{name: precision_at, cutoff: null}
  → metric: cutoff is missing. precision_at needs it.
  → metric: precision_at scores several rows per key. Expected a table with `rows: many`, keyed by query.
  → metric: no field 'item'. Expected the field of the ranked items (item: …).
{name: pearson, field: x, by: 3} → metric.by: expected a gold column or a list of them (found 3).
{name: pearson, field: x, where: swa}
  → metric.where: expected a mapping of gold columns and values, such as {language: swa}.
{name: pearson, field: x, where: {n: {mn: 1}}} → metric.where.n: expected {min: number} or {max: number}, or both.
{name: bleu, field: text, lowercase: 'yes'} → metric.lowercase: expected true or false (found 'yes').
[f1] → metric: expected the name of a metric, or a mapping with a name, such as {name: f1}.
{name: fbeta, field: label} → metric: beta is missing. fbeta needs it.
{name: fbeta, field: label, beta: -1} → metric.beta: expected a number from 0 (found -1).
{name: fbeta, field: label, beta: much} → metric.beta: expected a number from 0 (found 'much').
{name: pinball, field: x, quantile: 90} → metric.quantile: expected a number from 0 to 1 (found 90).
{name: points, field: label, matrix: {a: 1}}
  → metric.matrix: expected points for each gold label and answer, such as {pro: {pro: 1, con: -0.5}} (found {'a': 1}).
{name: points, field: label, matrix: {a: {a: 1, z: 1}}} → metric.matrix: no label 'z'. Expected one of a, b, 1.
{name: edit_distance, field: text, unit: {sep: ' '}} → metric.unit: expected {separator: text} (found {'sep': ' '}).
{name: edit_distance, field: text, unit: token} → metric.unit: expected one of character, word (found 'token').
{name: token_f1, field: text, case: keep} → metric.case: expected ignore (found 'keep').
{name: set_f1, field: tags, match: overlap} → metric.match: overlap is for fields of type spans, with rows: one.
{name: f1, field: label, labels: [a, z]} → metric.labels: no label 'z'. Expected one of a, b, 1.
{name: f1, field: label, labels: [a, a]} → metric.labels: expected a list of different labels (found ['a', 'a']).
{name: f1, field: label, labels: [a], average: binary, positive: a}
  → metric.labels: a list of labels is for averages over labels; average: binary is about `positive`.
{name: recall, field: label, zero_division: 2} → metric.zero_division: expected a whole number up to 1 (found 2).
{name: rmsle, field: x} → metric: rmsle takes numbers from 0; 'x' may be negative. Expected min: 0.
{name: span_iou, field: text} → metric: span_iou takes fields of type spans or offsets; 'text' is of type text.
{name: f1, field: label, threshold: 0.5} → metric.threshold: is for fields of type number.
{name: f1, field: x, threshold: 2}
  → metric.threshold: expected a number from 0 to 1, which counts as positive, or {above: number} (found 2).
  → metric: f1 compares labels; 'x' is a number. Expected `threshold: 0.5`, which makes it one, or a metric of \
numbers such as mae.
{name: f1, field: x, threshold: {over: 0.5}}
  → metric.threshold: expected a number from 0 to 1, which counts as positive, or {above: number} (found {'over': 0.5}).
  → metric: f1 compares labels; 'x' is a number. Expected `threshold: 0.5`, which makes it one, or a metric of \
numbers such as mae.
{name: accuracy, field: label, positive: a} → metric.positive: is for fields of type number.
{name: roc_auc, field: x, average: macro} → metric.average: is for fields of type probabilities.
{name: mase, field: x} → metric: scale is missing. mase needs it.
{name: set_f1, field: tags, weight: w} → metric.weight: set_f1 weighs keys with average: macro alone.
{name: ari, field: label} → metric: ari takes any names of clusters; 'label' has `values`. Expected none.
{name: rmsel, field: x}
  → metric.name: no metric 'rmsel'. Did you mean 'rmse'? One of your own is written metrics.py:name.
{name: chrf, field: text, word_order: -1} → metric.word_order: expected a whole number (found -1).
"""


@pytest.mark.parametrize(("metric", "expected"), table(MISTAKES))
def test_a_mistake_in_a_metric_is_named_at_its_place(metric: str, expected: list[str]) -> None:
    assert faults(declaration([column(parse_value(metric))])) == [f"{C}{fault}" for fault in expected]


def test_a_metric_that_weighs_no_keys_leads_to_those_that_do() -> None:
    (fault,) = faults(declaration([column({**X, "name": "pearson", "weight": "w"})]))
    assert fault.startswith(f"{M}.weight: pearson weighs no keys. These do: accuracy, balanced_accuracy, ")


FILES = """
{file: p.xlsx} → submission.file: 'p.xlsx': expected a file name that ends with .csv, .tsv, .jsonl, .json, .txt.
{file: ../p.csv} → submission.file: '../p.csv': expected a path below the folder, with `/` between its parts.
{key: null} → submission.key: is missing. Expected the field, or fields, by which rows are matched.
{rows: more} → submission.rows: should be 'one' or 'many' (found 'more').
{keys: id} → submission.keys: unknown key. Did you mean 'key'?
{missing: empty}
  → tasks.0.columns.0.metric: missing: empty would leave 'x' without a value that mae can score. Expected missing: \
reject, or a `default` of the field.
{file: p.txt} → submission.fields: a .txt file holds one field, the line. Expected one field that is not the key.
{fields: [{field: x, type: nmber}]} → submission.fields.0.type: unknown value 'nmber'. Did you mean 'number'?
{fields: [{field: x, type: number, values: [1]}]}
  → submission.fields.0.values: is for fields of type label, ordinal, labels, probabilities, tags or array; 'x' is of \
type number.
{fields: [{field: x, type: number, required: false}]}
  → tasks.0.columns.0.metric: 'x' may be left out (required: false), which mae cannot score. Expected required: true, \
or a `default` of the field.
{file: ../p.xlsx}
  → submission.file: '../p.xlsx': expected a path below the folder, with `/` between its parts.
  → submission.file: '../p.xlsx': expected a file name that ends with .csv, .tsv, .jsonl, .json, .txt.
{file: sub/p.csv}
{header: none}
{header: line} → submission.header: should be 'none' (found 'line').
{delimiter: ;;} → submission.delimiter: expected one character, such as ';', or blanks (found ';;').
{delimiter: '"'} → submission.delimiter: expected one character, such as ';', or blanks (found '"').
{skip: -1} → submission.skip: should be greater than or equal to 0 (found -1).
{skip: 2, file: p.jsonl}
{skip: 2, file: p.json} → submission.skip: is for files of lines; 'p.json' is read as a whole.
{header: none, file: p.jsonl} → submission.header: is for tables of cells (.csv, .tsv); 'p.jsonl' has none.
{file: p.txt, delimiter: '|'}
{header: none, key: other} → submission.key: no field 'other', which has a place in the file's rows.
{reference: {header: none, columns: [lang, id, x]}}
{reference: {header: none}}
{reference: {header: none, columns: [x]}} → reference.columns: the key id is missing. Expected a place for it.
{reference: {header: none, columns: [id, x, x]}} → reference.columns: names a column twice. Expected each once.
{reference: {columns: [id, x]}}
  → reference.columns: is for files without a header line. Expected header: none beside it.
{file: p} → submission.file: 'p': expected a file name that ends with .csv, .tsv, .jsonl, .json, .txt.
{file: p, format: xls}
  → submission.format: should be 'csv', 'tsv', 'jsonl', 'json', 'txt', 'npy', 'npz', 'png', 'nii' or 'nii.gz' (found \
'xls').
  → submission.file: 'p': expected a file name that ends with .csv, .tsv, .jsonl, .json, .txt.
{file: '{id}.csv', key: [id, line]}
  → reference.file: line in the key is a row's number in its file. Expected, as in submissions, a name with {id}.
{key: [id, line], reference: {file: '{id}.csv'}}
  → reference.file: line in the key is a row's number in its file. Expected, as in submissions, a name without a \
placeholder.
{file: '{doc}.csv'} → submission.file: {doc} is no field of the key. Expected one of id.
{file: '{id}-{x}.csv'} → submission.file: '{id}-{x}.csv': expected one placeholder, as in {doc}.csv.
{file: a*.csv} → submission.file: 'a*.csv': expected a * at the beginning alone, as in *.csv.
{at: rows} → submission.at: is the place of the records in a .json file; 'p.csv' is none.
{key: line, rows: many}
  → submission.rows: key: line asks for one row for each row of the gold. Expected rows: one.
  → tasks.0.columns.0.metric: mae compares one row for each key. Expected a table with rows: one.
{reference: {fields: {y: {column: z}}}}
  → reference.fields.y: no field 'y'. Expected one of id, label, x, tags, text, spans.
{reference: {fields: {x: {colum: z}}}} → reference.fields.x.colum: unknown key. Did you mean 'column'?
{reference: {fields: [x]}} → reference.fields: should be a valid dictionary (found ['x']).
{reference: {format: npy}} → reference.format: unknown value 'npy'. Expected one of csv, tsv, jsonl, json, txt.
{list: ''}
  → submission.list: is the place of rows in a JSON record; 'p.csv' is none.
  → submission.list: is for rows: many: each record holds the rows of its key.
"""


@pytest.mark.parametrize(("keys", "expected"), table(FILES))
def test_a_mistake_in_a_file_is_named_at_its_place(keys: str, expected: list[str]) -> None:
    submission = parse_value(keys)
    reference = submission.pop("reference", {})
    data = declaration([column(X)], **submission)
    data["reference"] |= reference
    assert faults(data) == expected


def test_a_name_that_no_file_system_takes_is_cut() -> None:
    (fault,) = faults(declaration([column(X)], file=f"{'a' * 252}.csv"))
    assert fault.startswith(f"submission.file: {'a' * 40}…: is too long. Expected at most 255 bytes")


OF_FIELDS = """
{type: ordinal} → type: values is missing. Expected the labels, in their order, the lowest first.
{type: probabilities} → type: values is missing. Expected the labels, that have a probability.
{type: probabilities, values: [a, b], columns: [p]}
  → columns: names 1 columns for 2 values. Expected one each, in their order.
  → tasks.0.columns.0.metric: exact_match takes fields of type string or label or labels or ordinal or number or \
numbers or text or texts or tags or spans or offsets; 'x' is of type probabilities.
{type: labels, columns: [p, p]} → columns: names a column twice. Expected each once.
{type: number, length: 3} → length: is for fields of type numbers; 'x' is of type number.
{type: numbers, length: 0} → length: should be greater than or equal to 1 (found 0).
{type: number, case: ignore} → case: is for fields of type string, label, ordinal or labels; 'x' is of type number.
{type: label, values: [a, A], case: ignore} → values: names a label twice, but for its case. Expected each label once.
{type: label, values: [okay, 'no'], aliases: {ok: oky}}
  → aliases: 'ok' stands for 'oky', which is none of the values. Did you mean 'okay'?
{type: label, aliases: {ok: []}} → aliases: expected a mapping of spellings to values, such as {ok: OK}.
{type: label, values: [a, b], default: c} → default: x has an unknown label. Expected one of a, b.
{type: number, min: 0, default: -1} → default: x is out of range. Expected a finite number from 0, such as 0.25.
{type: tags, default: [O, O]} → default: x has 2 tags. Expected one tag, which counts for every token: O.
{type: label, file: x.csv} → file: is for fields of type file or array.
{type: label, normalize: true} → normalize: unknown key. Did you mean 'normalise'?
"""


@pytest.mark.parametrize(("keys", "expected"), table(OF_FIELDS))
def test_a_mistake_in_a_field_is_named_at_its_place(keys: str, expected: list[str]) -> None:
    found = faults(declaration([column("exact_match")], fields=[{"field": "id"}, {"field": "x", **parse_value(keys)}]))
    assert [fault.removeprefix("submission.fields.1.") for fault in found] == expected


def test_a_misspelt_type_of_a_file_is_one_mistake() -> None:
    data: dict[str, Any] = {
        "submission": {"file": "{case}.npy", "key": "case", "fields": [{"field": "mask", "type": "arrays"}]},
        "reference": {"file": "{case}_gt.npy", "keys": "keys.csv"},
        "tasks": [{"id": "t", "columns": [{"key": "dice", "metric": "dice"}]}],
    }
    assert faults(data) == ["submission.fields.0.type: unknown value 'arrays'. Did you mean 'array'?"]


@pytest.mark.parametrize(
    ("key", "advice"),
    [("idd", "Did you mean 'id'?"), (["idd"], "Did you mean 'id'?"), ("ID", "Expected one of id, x.")],
)
def test_a_misspelt_key_is_named_once_and_not_as_a_mistake_of_the_metrics(key: Any, advice: str) -> None:
    columns = [column("mae", key="a"), column("mse", key="b")]
    fields = [{"field": "id", "type": "string"}, {"field": "x", "type": "number"}]
    name = key if isinstance(key, str) else key[0]
    assert faults(declaration(columns, key=key, fields=fields)) == [f"submission.key: no field {name!r}. {advice}"]


@pytest.mark.parametrize(
    ("key", "metric", "said"),
    [
        ("number", "f1", "no field 'number'. Expected one of id, label, x, tags, text, spans."),
        ("spans", "pearsn", "'spans' is of type spans. Expected a key of type string."),
    ],
)
def test_metrics_are_not_judged_by_a_wrong_key(key: str, metric: str, said: str) -> None:
    data = declaration([column("accuracy"), column(metric, key="d")], key=key)
    assert faults(data) == [f"submission.key: {said}"]


@pytest.mark.parametrize(
    ("metric", "public", "named"),
    [
        ({"name": "accuracy", "field": "label"}, ["text", "label"], ["label"]),
        ({"name": "accuracy", "field": "label", "gold": "truth"}, ["label", "truth"], ["truth"]),
        ({"name": "metrics.py:mine"}, ["more", "x", "label"], ["x", "label"]),
        ({"name": "metrics.py:mine", "fields": ["label", "x"]}, ["x"], ["x"]),
        ({"name": "metrics.py:mine", "field": "label"}, ["x"], []),
        ({"name": "ndcg", "item": "text", "score": "x", "relevance": "r"}, ["text", "r"], ["r"]),
    ],
)
def test_what_answers_are_compared_with_is_never_public(
    metric: dict[str, Any], public: list[str], named: list[str], tmp_path: Path
) -> None:
    (tmp_path / "metrics.py").write_text("")
    rows = {"rows": "many"} if metric["name"] == "ndcg" else {}
    data = declaration([column(metric, sort="desc", worst=0)], **rows)
    found = faults({**data, "reference": {"file": "gold.csv", "public": public}}, tmp_path)
    assert [fault.split()[:5] for fault in found] == [
        ["reference.public:", "answers", "are", "compared", "with"] for _ in named
    ]
    assert [fault.split()[5] for fault in found] == named


def test_an_own_function_gives_direction_and_worst_value(tmp_path: Path) -> None:
    missing = "tasks.0.columns.0: no sort and no worst. A metric of your own needs both."
    assert faults(declaration([column({"name": "metrics.py:mine"})]), tmp_path) == [
        f"{M}.name: no file 'metrics.py' beside bundle.yaml.",
        missing,
    ]
    (tmp_path / "metrics.py").write_text("")
    assert faults(declaration([column("metrics.py:mine")]), tmp_path) == [missing]


def test_probabilities_lie_between_0_and_1() -> None:
    data = declaration([column({"name": "brier", "field": "x", "gold": "label"})])
    scoring = sound(data)
    (x,) = (field for field in scoring.as_options()["tables"][0]["fields"] if field["name"] == "x")
    assert (x["min"], x["max"]) == (0, 1)
    submission = DeclaredSubmission.model_validate(data["submission"])
    assert "| `x` | a number from 0 to 1 | yes |" in format_text([submission])  # what participants read of it


def test_another_model_has_another_revision() -> None:
    data = declaration([column({"name": "bertscore", "field": "text", "model": "org/mine"})])
    scoring = sound(data)
    options = scoring.metrics["t"]["c"].options
    assert (options["model"], options["revision"], options["part"]) == ("org/mine", None, "f1")


def test_the_image_holds_the_model_of_a_declared_bertscore(tmp_path: Path) -> None:
    data = declaration([column({"name": "bertscore", "field": "text"})])
    request = request_for(competition(data, tmp_path), "me/mine:1")
    assert request.packages == "models"
    assert request.models == {"microsoft/deberta-xlarge-mnli": "5b07a9086c1dbb79981ff7b05b4d1ad83b3af51c"}


def test_options_of_all_models_hold_for_bertscore(tmp_path: Path) -> None:
    data = {**declaration([column({"name": "bertscore", "field": "text"})]), "options": {"device": "cuda"}}
    declared = competition(data, tmp_path)
    assert declared.scoring.metrics["t"]["c"].options["device"] == "cuda"
    assert request_for(declared, "me/mine:1").variant == "cuda"


def test_a_column_with_another_model_keeps_neither_layer_nor_baseline() -> None:
    metric = {"name": "bertscore", "field": "text", "model": "org/mine"}
    engine = {"model": "org/all", "num_layers": 3, "baseline": "b.tsv"}
    data = {**declaration([column(metric)]), "options": {"bertscore": engine}}
    scoring = sound(data)
    assert not {"num_layers", "baseline"} & set(scoring.metrics["t"]["c"].options)


OF_BERTSCORE = """
{modl: x} → options.bertscore.modl: unknown option. Did you mean 'model'?
{num_layers: 0} → options.bertscore.num_layers: expected a whole number from 1 (found 0).
{rescale: 'no'} → options.bertscore.rescale: expected true or false (found 'no').
{model: ./mine, rescale: false}
  → tasks.0.columns.0.metric: bert-score knows no layer for the folder ./mine. Expected options.bertscore.num_layers.
{model: ./mine, num_layers: 2}
  → tasks.0.columns.0.metric: bert-score knows no baseline for the folder ./mine. Expected options.bertscore.baseline, \
or rescale: false.
"""


@pytest.mark.parametrize(("engine", "expected"), table(OF_BERTSCORE))
def test_mistakes_in_the_engine_of_bertscore(engine: str, expected: list[str]) -> None:
    options = {"bertscore": parse_value(engine)}
    assert faults({**declaration([column({"name": "bertscore", "field": "text"})]), "options": options}) == expected


def test_options_that_are_numbers_and_tables() -> None:
    columns = [
        column({"name": "fbeta", "field": "label", "beta": 0.5}, key="f"),
        column({"name": "pinball", "field": "x", "quantile": 0.9}, key="q"),
        column({"name": "points", "field": "label", "matrix": {"a": {"a": 1, "b": 0.5}, 1: {1: 1}}}, key="p"),
    ]
    data = declaration(columns)
    scoring = sound(data)
    assert titles(data) == ["Macro F0.5", "Pinball loss of quantile 0.9", "Points"]
    assert scoring.metrics["t"]["p"].options == {"matrix": {"a": {"a": 1, "b": 0.5}, "1": {"1": 1}}}


def test_every_metric_has_a_definition_and_a_scorer() -> None:
    import declared.metrics as scorers

    for name, metric in metrics().items():
        assert metric.definition.endswith("."), name
        module = importlib.import_module(f"declared.metrics.{scorers.definitions()[name].module}")
        assert callable(getattr(module, name)), name


TABLE: dict[str, Any] = {"file": "p.csv", "key": "id", "fields": [{"field": "id"}, {"field": "x", "type": "label"}]}


def test_nothing_that_yaml_can_say_ends_in_a_traceback() -> None:
    shapes = ["null", "3", "[]", "{}", "text", "[[1]]", "{a: {b: [c]}}"]
    for shape in shapes:
        value = parse_value(shape)
        for key in ("submission", "reference", "tasks", "options"):
            faults({**declaration([column("accuracy")]), key: value})
        for key in ("file", "key", "rows", "missing", "quoting", "fields", "tables", "at", "list", "skip", "check"):
            faults({**declaration([column("accuracy")]), "submission": {**TABLE, key: value}})
            faults({**declaration([column("accuracy")]), "reference": {"file": "gold.json", key: value}})
        for key in ("values", "columns", "aliases", "min", "at", "column", "file", "default", "case"):
            for kind in ("label", "labels", "number", "array"):
                fields = [{"field": "id"}, {"field": "x", "type": kind, "min": 0, "max": 1, key: value}]
                faults(declaration([column("exact_match")], fields=fields))
            faults({**declaration([column(X)]), "reference": {"file": "gold.csv", "fields": {"x": {key: value}}}})
        for key in ("name", "field", "fields", "gold", "where", "by", "table", "average", "positive"):
            faults(declaration([column({"name": "f1", "field": "label", key: value})]))
        faults(declaration([column("accuracy")], fields=[{"field": value}, *FIELDS]))
        faults(declaration([column("accuracy")], fields=[{"field": "x", "type": value}, *FIELDS]))
        faults(declaration([column("accuracy")], tables={"one": value, "two": {"file": "p.csv", "fields": FIELDS}}))
        faults(declaration([column("accuracy", key=value), {"computation": "avg", "of": [value, "c"]}]))
        for key in ("sort", "worst", "title", "precision", "expression"):
            faults(declaration([column("accuracy", **{key: value}), {"key": "m", "computation": "avg", "of": ["c"]}]))


RANKED: list[dict[str, Any]] = [
    {"field": "id", "type": "string"},
    {"field": "item", "type": "string"},
    {"field": "place", "type": "number"},
]


@pytest.mark.parametrize(
    ("metric", "fields", "expected"),
    [
        ({"rank": "place"}, RANKED, []),
        ({"rank": "places"}, RANKED, [f"{M}.rank: no field 'places'. Did you mean 'place'?"]),
        (
            {"rank": "place"},
            [*RANKED, {"field": "score", "type": "number"}],
            [f"{M}.rank: cannot be given together with the field 'score'. Expected one of the two."],
        ),
        ({"ties": "any"}, RANKED, [f"{M}.ties: expected one of trec, order (found 'any')."]),
        ({"items": "some"}, RANKED, [f"{M}.items: expected all (found 'some')."]),
        ({"cutoff": 0}, RANKED, [f"{M}.cutoff: expected a whole number of at least 1 (found 0)."]),
    ],
)
def test_ranks_of_items(metric: dict[str, Any], fields: list[dict[str, Any]], expected: list[str]) -> None:
    assert faults(declaration([column({"name": "ap", **metric})], fields=fields, rows="many")) == expected


OF_COLUMNS = """
{metric: {name: mae, field: x}, sort: desc}
  → sort: desc contradicts mae, where lower is better. Expected asc, or no sort.
{metric: {name: pearson, field: x, undefined: 0}}
{metric: {name: pearson, field: x, undefined: -1}}
{metric: {name: pearson, field: x, undefined: -2}}
  → metric.undefined: -2 is beyond the column's worst, -1, which is written instead. Expected a value that is no \
worse, or another worst.
{metric: {name: pearson, field: x, undefined: -0.5}, worst: 0}
  → metric.undefined: -0.5 is beyond the column's worst, 0, which is written instead. Expected a value that is no \
worse, or another worst.
{metric: {name: mae, field: x, undefined: 5}}
{metric: {name: mae, field: x, undefined: 5}, worst: 4}
  → metric.undefined: 5 is beyond the column's worst, 4, which is written instead. Expected a value that is no \
worse, or another worst.
{metric: {name: mae, field: x, undefined: high}} → metric.undefined: expected a number (found 'high').
{metric: {name: mae, field: x, undefined: true}} → metric.undefined: expected a number (found True).
{expression: c / 2, sort: desc, worst: 0}
{expression: c +, sort: desc, worst: 0}
  → expression: at character 4: found the end. Expected a number, a column's key, ( or one of min, max, mean, hmean, \
gmean, sqrt, abs.
{expression: C / 2, sort: desc, worst: 0}
  → expression: at character 1: no metric or expression 'C'. Expected one of c, final.
{expression: final * 2, sort: desc, worst: 0}
  → expression: is made of itself, through final. Expected no circle.
{expression: [c], sort: desc, worst: 0} → expression: should be a valid string (found ['c']).
{expression: c}
  → : sort is missing. An expression needs it, such as sort: desc.
  → : worst is missing. An expression needs it, such as worst: 0.
{expression: c, sort: desc, worst: 0, metric: mae}
  → metric: cannot be given together with expression. Expected one of the two.
{expression: c, sort: desc, worst: 0, computation: avg, of: [c]}
  → computation: cannot be given together with expression. Expected one of the two.
  → of: cannot be given together with expression. Expected one of the two.
"""


@pytest.mark.parametrize(("keys", "expected"), table(OF_COLUMNS))
def test_a_mistake_in_a_column_is_named_at_its_place(keys: str, expected: list[str]) -> None:
    found = faults(declaration([column(X), {"key": "final", **parse_value(keys)}]))
    assert [fault.removeprefix("tasks.0.columns.1").removeprefix(".") for fault in found] == expected


def made(text: str, key: str = "final") -> dict[str, Any]:
    return {"key": key, "expression": text, "sort": "desc", "worst": 0}


def test_expressions_stand_after_their_parts_and_take_nothing_else() -> None:
    data = declaration([made("half + 1"), made("c / 2", key="half"), column(X)])
    scoring = sound(data)
    first = data["tasks"][0]["columns"][0]
    assert (first["title"], first["precision"], first["meaning"]) == ("final", 4, "half + 1, of the unrounded scores.")
    assert scoring.expressions["t"] == {
        "half": {"text": "c / 2", "worst": 0, "better": "higher"},
        "final": {"text": "half + 1", "worst": 0, "better": "higher"},
    }
    assert list(scoring.metrics["t"]) == ["c"]


def test_a_circle_and_an_average_are_no_parts_of_an_expression() -> None:
    mean = {"key": "m", "computation": "avg", "of": ["c"]}
    found = faults(declaration([column(X), mean, made("m + 1"), made("b", key="a"), made("a + c", key="b")]))
    assert found == [
        "tasks.0.columns.2.expression: at character 1: no metric or expression 'm'. Expected one of c, final, a, b.",
        "tasks.0.columns.3.expression: is made of itself, through a, b. Expected no circle.",
        "tasks.0.columns.4.expression: is made of itself, through a, b. Expected no circle.",
    ]


@pytest.mark.parametrize(("layout", "fits"), [("joint", True), ("tasks", False), ("separate", False)])
def test_columns_of_another_task_are_there_in_layout_joint_alone(layout: str, fits: bool) -> None:
    data = {**declaration([column(X)]), "layout": layout}
    data["tasks"].append({"id": "u", "columns": [column(F1, key="d"), made("c + d")]})
    found = faults(data)
    what = "at character 1: 'c' is a column of another task, which is scored by itself in layout"
    assert found == (
        []
        if fits
        else [f"tasks.1.columns.1.expression: {what} {layout}. Expected columns of this task, or layout joint."]
    )


def test_own_functions_over_tables_and_checks(tmp_path: Path) -> None:
    (tmp_path / "metrics.py").write_text("")
    one = {"file": "a.csv", "key": "id", "fields": FIELDS[:2], "reference": {"file": "a.csv"}, "check": "metrics.py:a"}
    two = {**one, "file": "b.csv", "check": "other.py:b"}
    metric = {"name": "metrics.py:f", "tables": ["one", "tow"], "where": {"l": "en"}}
    columns = [column(metric, sort="desc", worst=0)]
    data: dict[str, Any] = {
        "submission": {"tables": {"one": one, "two": two}},
        "tasks": [{"id": "t", "columns": columns}],
    }
    scoring, found = settled(data, tmp_path)
    assert found == [
        f"{M}.tables: no table 'tow'. Did you mean 'two'?",
        f"{M}.where: cannot be given together with tables: a row is of one table.",
        "submission.tables.two.check: no file 'other.py' beside bundle.yaml.",
    ]
    assert scoring.checks == {"one": {"file": "metrics.py", "function": "a"}}

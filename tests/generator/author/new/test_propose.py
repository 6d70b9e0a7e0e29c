"""What is proposed for gold of many shapes: key, answers, types, what stays secret, and metrics."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from gen_bundle.author.new.columns import GoldColumn
from gen_bundle.author.new.declare import CHOICES, answer_columns, board_of, fields, kinds_of
from gen_bundle.ground.errors import UserError
from tests.generator.author.new.making import csv_text, proposed, sentiment

LABELS = ["negative", "neutral", "positive"]


def jsonl(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def column_of(values: Sequence[object]) -> str:
    return csv_text("id,answer", [[f"r{i}", value] for i, value in enumerate(values)])


@pytest.mark.parametrize(
    ("values", "kind", "labels"),
    [
        (["pos", "neg", "neg", "pos"], "label", ("neg", "pos")),
        ([1, 2, 3, 3, 2, 1, 10], "label", ("1", "2", "3", "10")),
        (["0.5", "0.25", "1", "0"], "number", ()),
        ([101, 202, 303, 404], "number", ()),
        (["a|b", "b", "", "a|c", "c"], "labels", ("a", "b", "c")),
        (["a;b", "b", "a", "b;a"], "labels", ("a", "b")),
        (["[[0, 4]]", "[]", "[[2, 3], [5, 9]]"], "spans", ()),
        (['[[0, 4, "PER"]]', '[[1, 2, "LOC"]]'], "spans", ("LOC", "PER")),
        (["O B-x I-x", "O O", "B-y"], "tags", ("x", "y")),
        (["a long text", "another long text", "more"], "text", ()),
        (['["one", "two"]', '["three"]', '["four", "five"]'], "texts", ()),
        (["Paris", "Rome", "Oslo"], "text", ()),
    ],
)
def test_the_type_of_a_column(values: list[object], kind: str, labels: tuple[str, ...], tmp_path: Path) -> None:
    (column,) = proposed(tmp_path, "gold.csv", column_of(values)).answers
    assert (column.type, column.values) == (kind, labels)


@pytest.mark.parametrize(("last", "grades"), [(1, False), (2, True), (3, False)])
def test_numbers_without_a_gap_are_grades_from_three_on(last: int, grades: bool, tmp_path: Path) -> None:
    (column,) = proposed(tmp_path, "gold.csv", column_of([0, 1, last, 1, 0, last, 1])).answers
    assert (column.type, column.grades) == ("label", grades)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([True, False, True], "label"),
        ([1, 2, 1, 2], "label"),
        ([0.5, 1, 2], "number"),
        ([["a"], [], ["a", "b"], ["b"]], "labels"),
        ([["O", "B-x"], ["O"]], "tags"),
        ([[[0, 1]], []], "spans"),
        ([["one text", "two texts"], ["three"]], "texts"),
    ],
)
def test_the_type_of_a_json_value(values: list[object], kind: str, tmp_path: Path) -> None:
    text = jsonl([{"id": i, "answer": value} for i, value in enumerate(values)])
    (column,) = proposed(tmp_path, "gold.jsonl", text).answers
    assert column.type == kind


@pytest.mark.parametrize(
    ("column", "kind", "ranks"),
    [
        (GoldColumn("a", "label", ("no", "yes")), "label", "f1"),
        (GoldColumn("a", "label", ("0", "1")), "label", "f1"),
        (GoldColumn("a", "label", ("1", "2", "3"), grades=True), "grades", "kappa"),
        (GoldColumn("a", "ordinal", ("1", "2", "3")), "ordinal", "kappa"),
        (GoldColumn("a", "offsets"), "offsets", "set_f1"),
        (GoldColumn("a", "labels", ("x",)), "labels", "f1"),
        (GoldColumn("a", "number"), "number", "rmse"),
        (GoldColumn("a", "numbers", columns=("b", "c")), "numbers", "rmse"),
        (GoldColumn("a", "probability", ("0", "1")), "probability", "roc_auc"),
        (GoldColumn("a", "spans"), "spans", "set_f1"),
        (GoldColumn("a", "tags"), "tags", "span_f1"),
        (GoldColumn("a", "text", words=2), "short text", "exact_match"),
        (GoldColumn("a", "text", words=12), "text", "chrf"),
        (GoldColumn("a", "texts", words=12), "text", "chrf"),
    ],
)
def test_the_metrics_of_an_answer(column: GoldColumn, kind: str, ranks: str) -> None:
    assert kinds_of(column)[-1] == kind
    own = answer_columns([column])[-len(CHOICES[kind]) :]
    assert [one["key"] for one in own] == [key for key, _ in CHOICES[kind]]
    assert own[0]["metric"]["name"] == ranks


def test_two_answers_have_columns_of_their_own(tmp_path: Path) -> None:
    rows = [[f"t{i}", LABELS[i % 3], i / 10] for i in range(9)]
    proposal = proposed(tmp_path, "gold.csv", csv_text("id,sentiment label,intensity", rows))
    found = board_of(proposal)
    assert [column["key"] for column in found] == [
        "sentiment_label_macro_f1",
        "sentiment_label_accuracy",
        "intensity_rmse",
        "intensity_mae",
        "intensity_pearson",
    ]
    assert found[0]["metric"] == {"name": "f1", "field": "sentiment label", "average": "macro"}
    assert fields(proposal)[-1] | {"meaning": ""} == {
        "field": "intensity",
        "type": "number",
        "required": True,
        "meaning": "",
        "min": 0,
        "max": 1,
    }


def test_answers_that_differ_only_in_signs_have_different_keys() -> None:
    pair = [GoldColumn(name, "label", ("a", "b")) for name in ("größe", "gr e", "gr-e", "x" * 80)]
    keys = [column["key"] for column in answer_columns(pair)]
    assert len(set(keys)) == len(keys)
    assert all(key.isidentifier() and len(key) <= 36 for key in keys)


def test_answers_of_one_kind_are_ranked_by_their_mean(tmp_path: Path) -> None:
    rows = [[f"t{i}", f"Tweet {i}", LABELS[i % 3], LABELS[i // 2 % 3], LABELS[i // 3 % 3]] for i in range(12)]
    proposal = proposed(tmp_path, "gold.csv", csv_text("ID,Tweet,anger,joy,fear", rows))
    first, second, third, *_ = board_of(proposal)
    assert first == {
        "key": "mean_macro_f1",
        "metric": {"name": "f1", "fields": ["anger", "joy", "fear"], "average": "macro"},
    }
    assert second == {"key": "mean_accuracy", "metric": {"name": "accuracy", "fields": ["anger", "joy", "fear"]}}
    assert third == {"key": "anger_macro_f1", "metric": {"name": "f1", "field": "anger", "average": "macro"}}


@pytest.mark.parametrize(
    ("header", "row", "key", "answer"),
    [
        ("text,doc_id,label", "A text {i},doc-{i},{ab}", "doc_id", "label"),
        ("version,text,label", "v1,a text {i},{ab}", "text", "label"),  # one value in front
        ("sheet_id,text,kind", "s1,a text {i},{ab}", "text", "kind"),  # and called like an id
        ("id,text,label,uuid", "{i},a text,{ab},c{i}", "id", "label"),
        ("id,text,kind,timestamp", "{i},a text,{ab},17000000{i:02}", "id", "kind"),
        ("id,text,kind,source", "{i},a text,{ab},web", "id", "kind"),
        ("id,text,timestamp", "{i},a text,17000000{i:02}", "id", None),
        ("id,text,code,source", "{i},a text,c{i},web", "id", None),
        ("text,timestamp", "a text {i},17000000{i:02}", "text", None),
        ("version,hash,kind", "v1,17000000{i:02},{ab}", None, None),
        ("id,share", "{i},{i}", "id", "share"),  # there is nothing else
    ],
)
def test_a_constant_and_a_code_of_each_row_are_never_guessed(
    header: str, row: str, key: str | None, answer: str | None, tmp_path: Path
) -> None:
    rows = [row.format(i=i, ab="ab"[i % 2]).split(",") for i in range(20)]
    text = csv_text(header, rows)
    if key is None or answer is None:
        with pytest.raises(UserError, match="--answer" if key else "no column identifies its rows"):
            proposed(tmp_path, "gold.csv", text)
        return
    found = proposed(tmp_path, "gold.csv", text)
    assert (found.key, [column.name for column in found.answers]) == ((key,), [answer])


class TestKey:
    def test_a_document_and_a_sentence(self, tmp_path: Path) -> None:
        rows = [[f"d{i // 3}", i % 3, "A text", LABELS[i % 3]] for i in range(9)]
        proposal = proposed(tmp_path, "gold.csv", csv_text("document,sentence_id,text,label", rows))
        assert (proposal.key, proposal.many) == (("document", "sentence_id"), False)

    def test_many_rows(self, tmp_path: Path) -> None:
        rows = [[f"d{i // 4}", i % 4 * 9, i % 4 * 9 + 5, "AB"[i % 2], f"mention{i}"] for i in range(12)]
        proposal = proposed(tmp_path, "gold.csv", csv_text("doc_id,start,end,type,text", rows))
        assert (proposal.key, proposal.many, proposal.kind) == (("doc_id",), True, "extraction")
        assert board_of(proposal)[0]["metric"] == {"name": "set_f1"}
        assert [(column.name, column.type) for column in proposal.answers] == [
            ("start", "number"),
            ("end", "number"),
            ("type", "label"),
        ]

    def test_an_id_that_is_there_twice_is_named_with_both_lines(self, tmp_path: Path) -> None:
        rows = [[f"t{min(i, 8)}", LABELS[i % 3]] for i in range(10)]
        with pytest.raises(UserError, match=r"gold\.csv:11: id 't8' is used already, in gold\.csv:10\. .*--rows many"):
            proposed(tmp_path, "gold.csv", csv_text("id,label", rows))
        assert proposed(tmp_path, "gold.csv", csv_text("id,label", rows), rows="many").many


class TestWhatIsGiven:
    def test_only_what_looks_like_an_input_is_given(self, tmp_path: Path) -> None:
        rows = [[f"t{i}", f"A text {i}", "swa", LABELS[i % 3], f"seems so {i}", i % 2, LABELS[i % 2]] for i in range(9)]
        names = "id,text,language,label,annotator comment,difficult,second opinion"
        proposal = proposed(tmp_path, "gold.csv", csv_text(names, rows))
        assert [column.name for column in proposal.answers] == ["label"]
        assert proposal.public == ("text", "language")
        assert [column.name for column in proposal.groups] == ["language"]
        assert proposal.secret == ("annotator comment", "difficult", "second opinion")

    def test_what_is_named_is_given(self, tmp_path: Path) -> None:
        rows = [[f"t{i}", i % 2, LABELS[i % 3]] for i in range(9)]
        proposal = proposed(tmp_path, "gold.csv", csv_text("id,difficult,label", rows), public=["difficult"])
        assert proposal.public == ("difficult",)

    def test_a_column_that_tells_the_number_of_rows_is_refused(self, tmp_path: Path) -> None:
        rows = [[f"d{i // 4}", i, "AB"[i % 2], f"Text of {i // 4}"] for i in range(12)]
        text = csv_text("doc_id,start,type,text", rows)
        assert proposed(tmp_path, "gold.csv", text).public == ("text",)
        with pytest.raises(UserError, match=r"--public start: .* show how many"):
            proposed(tmp_path, "gold.csv", text, public=["start"], answers=[("type", None)])


class TestAnswers:
    @pytest.mark.parametrize(
        ("kind", "form"),
        [
            ("number", "a finite number, such as 0.25"),
            ("spans", "a JSON list of [start, end] or [start, end, type] with 0 ≤ start < end"),
            ("tags", "a list of O, B-x or I-x (in a cell separated by spaces)"),
            ("texts", "a JSON list of texts"),
        ],
    )
    def test_a_type_that_does_not_fit_is_refused_with_its_form(self, kind: str, form: str, tmp_path: Path) -> None:
        with pytest.raises(UserError) as error:
            proposed(tmp_path, "gold.csv", sentiment(14), answers=[("text", kind)])
        others = ", ".join(f"gold.csv:{line}" for line in range(3, 13))
        assert error.value.messages == (
            f"gold.csv:2: text does not hold a value of type {kind}. Expected {form}; or another type "
            f"or column for --answer. The same in {others} and 3 more.",
        )

    def test_gaps_in_the_gold_are_all_named(self, tmp_path: Path) -> None:
        with pytest.raises(UserError) as error:
            proposed(tmp_path, "gold.csv", "id,label\na,x\nb,\nc,x\nd,\n")
        assert [message.split(".  ")[0][:11] for message in error.value.messages] == ["gold.csv:3:", "gold.csv:5:"]


class TestOtherForms:
    """A column that means a type in another form is read as it is meant, and that is said."""

    @pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
    @pytest.mark.parametrize("name", ["spans", "entities"])
    def test_spans_as_objects(self, name: str, suffix: str, tmp_path: Path) -> None:
        spans: list[list[object]] = [[], [{"start": 0, "end": 6, "label": "PER"}, {"start": 10, "end": 16}]]
        rows = [{"id": f"d{i}", "text": "Angela in Berlin", name: one} for i, one in enumerate(spans)]
        text = jsonl(rows)
        if suffix == ".csv":
            text = csv_text(f"id,text,{name}", [[row["id"], row["text"], json.dumps(row[name])] for row in rows])
        proposal = proposed(tmp_path, f"gold{suffix}", text)
        assert [(column.name, column.type) for column in proposal.answers] == [(name, "spans")]
        meant = proposal.gold.columns[name][1]
        assert (meant if suffix == ".jsonl" else json.loads(meant)) == [[0, 6, "PER"], [10, 16]]
        assert f"gold{suffix}: {name} is read as spans" in proposal.gold.notes

    def test_lists_of_python(self, tmp_path: Path) -> None:
        rows = [["d0", "Angela", "[{'start': 0, 'end': 6}]"], ["d1", "No one", "[]"]]
        proposal = proposed(tmp_path, "gold.csv", csv_text("id,text,spans", rows))
        assert proposal.gold.columns["spans"] == ["[[0, 6]]", "[]"]
        assert proposal.gold.notes == (
            "gold.csv: spans is read as lists of JSON",
            "gold.csv: spans is read as spans",
        )


class TestNothingElseIsProposed:
    """A column that cannot be read as it is meant makes no other column, or type, the answer."""

    def test_labels_in_brackets_are_labels(self, tmp_path: Path) -> None:
        (column,) = proposed(tmp_path, "gold.csv", column_of(["[X]", "[Y]", "[X]"])).answers
        assert (column.type, column.values) == ("label", ("[X]", "[Y]"))

    def test_objects_beside_an_answer_stay_secret(self, tmp_path: Path) -> None:
        rows = [{"id": i, "text": f"Text {i}", "metadata": {"at": i}, "positive": i % 2} for i in range(6)]
        proposal = proposed(tmp_path, "gold.jsonl", jsonl(rows))
        assert ([column.name for column in proposal.answers], proposal.secret) == (["positive"], ("metadata.at",))

    @pytest.mark.parametrize("gap", ["NaN", "nan", "inf", "-Infinity", "null", "None", "N/A", "-", "?"])
    @pytest.mark.parametrize("values", [[i / 100 for i in range(100)], [i % 5 for i in range(100)]])
    def test_numbers_with_gaps(self, values: list[float], gap: str, tmp_path: Path) -> None:
        cells = [gap if i in (6, 70) else value for i, value in enumerate(values)]
        with pytest.raises(UserError) as error:
            proposed(tmp_path, "gold.csv", column_of(cells))
        assert [message.split(" Expected")[0] for message in error.value.messages] == [
            f"gold.csv:{line}: answer is {gap!r}, but a number in 98 rows." for line in (8, 72)
        ]
        (column,) = proposed(tmp_path, "gold.csv", column_of(cells), answers=[("answer", "label")]).answers
        assert column.type == "label"

    def test_most_values_say_none(self, tmp_path: Path) -> None:
        (column,) = proposed(tmp_path, "gold.csv", column_of(["none", "1", "none", "2", "none", "1"])).answers
        assert (column.type, column.values) == ("label", ("1", "2", "none"))


class TestRanking:
    ROWS: ClassVar = [[f"q{i // 3}", "what?", f"d{i % 4}", int(i % 3 == 0)] for i in range(12)]

    def test_a_relevance_makes_a_ranking(self, tmp_path: Path) -> None:
        proposal = proposed(tmp_path, "gold.csv", csv_text("qid,query,doc,rel", self.ROWS))
        assert (proposal.kind, proposal.item, proposal.relevance, proposal.public) == (
            "ranking",
            "doc",
            "rel",
            ("query",),
        )
        (first, *_) = board_of(proposal)
        assert first["metric"] == {"name": "ndcg", "cutoff": 10, "item": "doc", "relevance": "rel"}


@pytest.mark.parametrize("kind", ["label", "number", "text", "labels"])
def test_a_type_that_does_not_fit_json_is_refused(kind: str, tmp_path: Path) -> None:
    text = jsonl([{"id": "a", "answer": [["x", 1]]}, {"id": "b", "answer": [["x", 2]]}])
    with pytest.raises(UserError, match=rf"gold\.jsonl:1: answer does not hold a value of type {kind}\. Expected"):
        proposed(tmp_path, "gold.jsonl", text, answers=[("answer", kind)])


TOPICS = csv_text("id,topics", [["a", "x| y"], ["b", "y"], ["c", "x"]])
KINDS = jsonl([{"id": "a", "answer": {"x": 1}}, {"id": "b", "answer": 3}])
GAP = jsonl([{"id": i, "text": f"Text {i}", "score": value} for i, value in enumerate([0.5, "NaN", 0.7])])
QUERIES = csv_text("qid,query,doc,rel", [*TestRanking.ROWS, ["q9", "what?", "d1", 0], ["q9", "what?", "d2", 0]])


@pytest.mark.parametrize(
    ("text", "choices", "message"),
    [
        ("id,label\na,x\n,y\n", {"key": ["id"]}, r"gold\.csv:3: id is blank"),
        (sentiment(), {"key": ["idd"]}, r"--key idd: gold\.csv has no such column\. Did you mean 'id'\?"),
        (sentiment(), {"public": ["label"]}, "--public label: participants answer this column"),
        (sentiment(), {"answers": [("id", None)]}, "--answer id: is a column of the key"),
        (sentiment(), {"answers": [("label=nmber", None)]}, r"=nmber: no type 'nmber'\. Did you mean 'number'\?"),
        (
            sentiment(),
            {"answers": [("label=foo", None)]},
            r"label=foo: no type 'foo'\. Expected one of label,",
        ),
        (TOPICS, {"answers": [("topics", "labels")]}, r"gold\.csv:2: topics .* labels without blanks around them"),
        (KINDS, {"answers": [("answer", None)]}, r"gold\.jsonl:1: answer holds .* kinds.* of one type: label, "),
        (GAP, {}, r"gold\.jsonl:2: score is 'NaN', but a number in 2 rows"),
        (QUERIES, {}, "'q9' has no item with a rel above 0"),
    ],
)
def test_what_is_wrong_is_told(text: str, choices: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        proposed(tmp_path, "gold.jsonl" if text.startswith("{") else "gold.csv", text, **choices)

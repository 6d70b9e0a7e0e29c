"""The signature of a declared competition: own code and weighed labels are parts that `gen-bundle verify` names.

Its digest of the gold is of what scoring reads.
"""

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from declared import reference
from declared.tables import Table
from gen_bundle.after.verify import differing_settings
from scoring_kit.base.scoring_keys import FOR_THE_CHECK, NOT_SCORING
from scoring_kit.program import Program, ScoreColumn
from tests.scoring_programs.declared.declaring import csv_of, read_gold
from tests.scoring_programs.declared.gold_changes import CODE, GOLD_CHANGES, gold_of_change, options_of_change
from tests.scoring_programs.declared.whole import run_declared

VALUES = ["not bad", "a|b", "c/d"]
LABELS = [VALUES[0], VALUES[1], VALUES[2], VALUES[0]]
GOLD = csv_of(
    "id,label,the text,true label,age group",
    [[str(i), label, "so", label, "18, or so"] for i, label in enumerate(LABELS, start=1)],
)
SENT = csv_of("id,label,the text", [[str(i), VALUES[code], "so"] for i, code in enumerate((0, 2, 2, 1), start=1)])


def signature_of(
    folder: Path, metric: Any, values: list[str] = VALUES, divisor: int = 4, costs: str | None = None
) -> dict[str, str]:
    """The parts of the signature of a run with one column, `c`."""
    folder.mkdir()
    (folder / "metrics.py").write_text(CODE.format(divisor))
    beside = [str(folder / "metrics.py")]
    column = {"key": "c", "metric": metric, "title": "C", "sort": "desc", "worst": -1}
    tasks: dict[str, Any] = {"tasks": [{"id": "t", "name": "T", "columns": [column]}]}
    if costs is not None:
        (folder / "costs").write_text(costs)
        tasks["scoring_files"], beside = ["costs"], [*beside, str(folder / "costs")]
    fields: list[Any] = [{"field": "label", "type": "label", "values": values}, {"field": "the text", "type": "text"}]
    outcome = run_declared(folder, fields, {}, GOLD, SENT, overrides=tasks, beside=beside)
    assert outcome.exit_code == 0, outcome.stderr
    return dict(part.split(":", 1) for part in outcome.details["signature"].split("|"))


def test_another_order_of_weighted_labels_is_named(tmp_path: Path) -> None:
    metric = {"name": "kappa", "field": "label", "weights": "quadratic"}
    old, new = (signature_of(tmp_path / str(i), metric, v) for i, v in enumerate((VALUES, VALUES[::-1])))
    (found,) = differing_settings(old, new)
    assert (found.meaning, found.old, found.new) == (
        "the setting c.values",
        "not%20bad/a%7Cb/c%2Fd",
        "c%2Fd/a%7Cb/not%20bad",
    )


@pytest.mark.parametrize(("before", "after"), [({"divisor": 4}, {"divisor": 8}), ({"costs": "1"}, {"costs": "2"})])
def test_other_code_of_an_own_function_or_what_it_reads_is_named(
    tmp_path: Path, before: dict[str, Any], after: dict[str, Any]
) -> None:
    old, new, same = (
        signature_of(tmp_path / str(i), "metrics.py:mine", **given) for i, given in enumerate((before, after, before))
    )
    found = [one.meaning for one in differing_settings(old, new)]
    assert found == ["the code of the scoring program", "the setting c.code"]
    assert same == old


@pytest.mark.parametrize("metric", [{"name": "accuracy"}, {"name": "kappa"}, {"name": "f1", "labels": "declared"}])
def test_the_order_of_labels_that_no_score_depends_on_is_no_part(tmp_path: Path, metric: Any) -> None:
    old, new = (
        signature_of(tmp_path / str(i), {"field": "label", **metric}, v) for i, v in enumerate((VALUES, VALUES[::-1]))
    )
    assert old == new
    assert [name for name in old if name.startswith("c")] == ["competition", "c"]


@pytest.mark.parametrize(
    ("more", "part"),
    [
        ({"name": "f1", "average": "binary", "positive": "a|b"}, "positive=a%7Cb"),
        ({"where": {"label": ["not bad", "c/d"]}}, "where.label=not%20bad/c%2Fd"),
        ({"where": {"age group": ["18, or so"]}}, "where.age%20group=18%2C%20or%20so"),
        ({"by": ["age group"]}, "by=age%20group"),
        ({"gold": "true label"}, "gold=true%20label"),
        ({"name": "bleu", "field": "the text", "tokenize": "13a"}, "the%20text"),
    ],
)
def test_any_text_of_the_declaration_is_a_part_that_can_be_read(tmp_path: Path, more: Any, part: str) -> None:
    metric = {"name": "accuracy", "field": "label"} | more
    described = signature_of(tmp_path / "one", metric)["c"]
    assert described.startswith(f"{metric['name']},")
    assert part in described.split(",")


@pytest.mark.parametrize("name", list(GOLD_CHANGES))
def test_the_gold_s_digest_is_of_what_scoring_reads(name: str, tmp_path: Path) -> None:
    options = options_of_change(name, tmp_path)
    old, new = (
        reference.digest(read_gold(options, files, tmp_path / str(at))) for at, files in enumerate(gold_of_change(name))
    )
    assert (old != new) == GOLD_CHANGES[name][-1]


def test_keys_that_scoring_does_not_read_are_keys() -> None:
    tables, columns = ({field.name for field in fields(kind)} for kind in (Table, ScoreColumn))
    program = {field.name for field in fields(Program)}
    assert NOT_SCORING[""] <= program | {*FOR_THE_CHECK}
    assert NOT_SCORING["columns"] < columns
    assert NOT_SCORING["options.tables"] < tables | {"public"}

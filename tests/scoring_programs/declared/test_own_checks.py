"""What organisers check of submissions themselves: `check: metrics.py:check`, every judged item, several tables."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from declared import own_checks
from declared.organiser import failing, template_files
from declared.plan import plans
from gen_bundle.build.render.starting_kit import validator_bytes
from gen_bundle.ground.resources import resource
from scoring_kit.errors import OrganiserError
from tests.scoring_programs.declared.declaring import (
    columns_of,
    csv_of,
    one_table,
    one_task,
    options_of,
    read_gold,
    refused,
    score,
)
from tests.scoring_programs.framed import write_files

FIELDS = [{"field": "id", "type": "string"}, {"field": "x", "type": "number"}, {"field": "set", "type": "labels"}]
GOLD = "id,x,set\na,1,p\nb,2,q\n"
CHECK = """
def check(rows):
    wrong = [row["id"] for row in rows if row["x"] > 5 and "p" not in row["set"]]
    return [f"{key}: x is above 5 without p" for key in wrong]
"""


def declared(folder: Path, code: str, **keys: Any) -> dict[str, Any]:
    metrics = {"mae": {"name": "mae", "field": "x"}, "f1": {"name": "f1", "field": "set"}}
    return one_table(FIELDS, metrics, folder=folder, code=code, file="p.csv", check="metrics.py:check", **keys)


def test_a_check_refuses_a_submission(tmp_path: Path) -> None:
    options = declared(tmp_path, CHECK)
    messages = refused(options, GOLD, {"p.csv": "id,x,set\nb,7,q\na,9,p|q\n"}, tmp_path)
    assert messages == ["p.csv: b: x is above 5 without p"]
    assert score(options, GOLD, {"p.csv": GOLD}, tmp_path / "right").value("mae") == 0


def test_a_check_is_not_asked_about_what_cannot_be_read(tmp_path: Path) -> None:
    options = declared(tmp_path, "def check(rows):\n    return ['never']\n")
    messages = refused(options, GOLD, {"p.csv": "id,x,set\nb,much,q\na,9,p\n"}, tmp_path)
    assert not any("never" in message for message in messages)


FAILURES = [
    ("    return rows[9]\n", "metrics.py:2 in check: could not check p.csv (IndexError: list index out of range)."),
    ("    return 'wrong'\n", "metrics.py in check: gives str. Expected a list of problems, each a text."),
    ("    return [1]\n", "metrics.py in check: gives list. Expected a list of problems, each a text."),
    ("    raise SystemExit(3)\n", "metrics.py:2 in check: could not check p.csv (SystemExit: 3)."),
    ("    import time; time.sleep(9)\n", "metrics.py in check: took more than 0.2 seconds."),
    (
        "    import numby\n",
        "metrics.py:2 in check: could not check p.csv (ModuleNotFoundError: No module named 'numby'). "
        "Expected the standard library alone",
    ),
]


@pytest.mark.parametrize(("body", "message"), FAILURES)
def test_a_check_that_fails_is_the_organisers_mistake(
    body: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "sleep" in body:
        monkeypatch.setattr(own_checks, "SECONDS", 0.2)
    with pytest.raises(OrganiserError) as raised:
        score(declared(tmp_path, "def check(rows):\n" + body), GOLD, {"p.csv": GOLD}, tmp_path)
    assert str(raised.value).startswith(message)


def test_the_validator_runs_the_check_without_any_package(tmp_path: Path) -> None:
    options = declared(tmp_path, CHECK)
    options["checks"]["table"]["file"] = "files/metrics.py"
    expected = {"keys": [["a"], ["b"]], "values": {"set": ["p", "q"]}, "lengths": {}, "megabytes": 1}
    manifest = {
        "competition": "mine",
        "tasks": ["t"],
        "all_tasks": ["t"],
        "layout": "joint",
        "options": options,
        "expected": {"tables": {"table": expected}},
    }
    kit = resource("scoring_programs")
    checks = {"files/metrics.py": tmp_path / "metrics.py"}
    (tmp_path / "validate.pyz").write_bytes(validator_bytes(kit / "declared", kit / "scoring_kit", manifest, checks))
    said = {}
    for name, answers in (("right", GOLD), ("wrong", "id,x,set\nb,7,q\na,9,p\n")):
        folder = write_files(tmp_path / name, {"p.csv": answers})
        command = [sys.executable, "-I", "-S", str(tmp_path / "validate.pyz"), str(folder)]
        said[name] = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    assert said["right"].startswith("right is valid.")
    assert "p.csv: b: x is above 5 without p" in said["wrong"]


def ranking(**columns: Any) -> dict[str, Any]:
    fields = [{"field": "q", "type": "string"}, {"field": "item"}, {"field": "score", "type": "number"}]
    return one_table(fields, columns, file="p.csv", key="q", rows="many")


def test_the_template_ranks_every_judged_item_in_an_order_of_its_own(tmp_path: Path) -> None:
    options = ranking(ap={"name": "ap", "items": "all"})
    gold = csv_of("q,item,relevance", [["q1", "d2", 1], ["q1", "d1", 0], ["q2", "d3", 1]])
    table = read_gold(options, gold, tmp_path)["table"]
    (text,) = template_files([table], [table.table.answers]).values()
    assert text == "q,item,score\nq1,d1,0\nq1,d2,0\nq2,d3,0\n"
    assert score(options, gold, {"p.csv": text}, tmp_path / "template").value("ap") == 1


def test_every_judged_item_must_be_ranked(tmp_path: Path) -> None:
    options = ranking(ap={"name": "ap", "items": "all"}, rr="rr")
    gold = csv_of("q,item,relevance", [["q1", "d1", 1], ["q1", "d2", 0], ["q2", "d3", 1]])
    full = [["q1", "d1", 3], ["q1", "d2", 1], ["q1", "d9", 2], ["q2", "d3", 1]]
    assert score(options, gold, {"p.csv": csv_of("q,item,score", full)}, tmp_path).value("ap") == 1
    messages = refused(options, gold, {"p.csv": csv_of("q,item,score", full[:1])}, tmp_path / "few")
    assert [message.partition(". ")[0] for message in messages] == [
        'p.csv: "q1" has no row for 1 of 2 items: "d2"',
        'p.csv: "q2" has no row for 1 of 1 items: "d3"',
    ]


OVER_TABLES = """
def agreement(gold, predicted, keys, bonus=0):
    numbers = dict(zip(keys["numbers"], predicted["numbers"]))
    right = [row["label"] == truth["label"] for row, truth in zip(predicted["labels"], gold["labels"])]
    fit = [(numbers[key]["x"] > 0) == (row["label"] == "p") for key, row in zip(keys["labels"], predicted["labels"])]
    return sum(right) + 10 * sum(fit) + bonus
"""


def over_tables(folder: Path, **metric: Any) -> dict[str, Any]:
    (folder / "metrics.py").write_text(OVER_TABLES)
    identity = {"field": "id", "type": "string"}
    tables: dict[str, dict[str, Any]] = {
        "labels": {"file": "l.csv", "key": "id", "fields": [identity, {"field": "label", "type": "label"}]},
        "numbers": {"file": "n.csv", "key": "id", "fields": [identity, {"field": "x", "type": "number"}]},
    }
    for name, table in tables.items():
        table["reference"] = {"file": f"gold_{name}.csv"}
    own = {"name": "metrics.py:agreement", "tables": ["labels", "numbers"], **metric}
    return options_of(one_task({"tables": tables}, columns_of(own=own)), folder)


def test_an_own_function_of_several_tables(tmp_path: Path) -> None:
    options = over_tables(tmp_path, bonus=0.5)
    gold = {"gold_labels.csv": "id,label\na,p\nb,q\nc,p\n", "gold_numbers.csv": "id,x\nc,1\na,1\nb,-1\n"}
    answers = {"l.csv": "id,label\nb,p\na,p\nc,q\n", "n.csv": "id,x\na,3\nb,-1\nc,-2\n"}
    found = score(options, gold, answers, tmp_path)
    assert found.value("own") == 1 + 10 * 2 + 0.5  # a is right; a and c fit
    assert found.results["t"].settings["own"] == "agreement,bonus=0.5,tables=labels+numbers"
    units = found.results["t"].units
    assert units is not None
    per_unit = units()
    assert list(per_unit.names) == ["a", "b", "c"]
    once, drawn = per_unit.statistics["own"].over(np.array([[1.0, 1, 1], [2, 0, 1]]))
    assert (once, drawn) == (21.5, 2 + 10 * 3 + 0.5)
    exchanged = per_unit.statistics["own"].to_exchange().joined(per_unit.statistics["own"])
    assert exchanged.over(np.array([[1.0, 1, 1, 0, 0, 0]]))[0] == 21.5


def test_a_submission_without_one_of_the_tables_does_not_enter(tmp_path: Path) -> None:
    options = over_tables(tmp_path)
    gold = {"gold_labels.csv": "id,label\na,p\n", "gold_numbers.csv": "id,x\na,1\n"}
    assert set(read_gold(options, gold, tmp_path)) == {"labels", "numbers"}
    assert score(options, gold, {"l.csv": "id,label\na,p\n"}, tmp_path).results == {}


def test_a_build_tries_no_function_on_what_a_check_refuses(tmp_path: Path) -> None:
    """The function needs numbers in order, which the check asks for: answers that are made up have none."""
    code = (
        "def check(rows):\n"
        "    return ['x: expected 1, 2, 3 …'] if sorted(row['x'] for row in rows) != [1, 2, 3] else []\n"
        "\n"
        "def mine(gold, predicted, **_):\n"
        "    return 1 / (sorted(row['x'] for row in predicted) == [1, 2, 3])\n"
    )
    x = [{"field": "x", "type": "number"}]
    mine = {"mine": {"name": "metrics.py:mine", "field": "x"}}
    options = one_table(x, mine, folder=tmp_path, code=code, file="p.csv", check="metrics.py:check")
    gold = read_gold(options, "id,x\na,3\nb,1\nc,2\n", tmp_path)
    (plan,) = plans(options)["t"]
    assert list(failing(plan, gold, options["checks"])) == []
    assert len(list(failing(plan, gold, {}))) == 1

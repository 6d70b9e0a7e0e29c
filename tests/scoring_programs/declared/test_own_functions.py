"""Functions of the organisers' own that fail: a build finds them, and a run with one ends like any other."""

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from declared.metrics import own
from declared.organiser import failing, tries
from declared.plan import plans
from gen_bundle.cli import root
from scoring_kit.errors import OrganiserError
from tests.generator.after.report.declared_task import declared_task
from tests.scoring_programs.declared.declaring import (
    by_id,
    columns_of,
    csv_of,
    faults_of,
    one_table,
    one_task,
    read_gold,
    score,
)
from tests.scoring_programs.framed import score as framed
from tests.scoring_programs.framed import write_files
from tests.scoring_programs.packed import Outcome

LABEL = {"field": "label", "type": "label", "values": ["no", "yes"]}
GOLD = csv_of("id,label,lang", [[i, "yes" if i % 3 else "no", "ab"[i % 2]] for i in range(12)])
FAILS = {
    "divides": "return 1 / 0",
    "key": "return gold[0]['no such column']",
    "exits": "import sys; sys.exit(3)",
    "quits": "raise SystemExit",
    "memory": "raise MemoryError",
    "recursion": "def again(): return again()\n        return again()",
    "none": "return None",
    "text": "return 'high'",
    "boolean": "return True",
    "list": "return [0.5]",
    "complex": "return 1j",
    "array": "import numpy; return numpy.zeros(3)",
    "own error": "class Odd(Exception): pass\n        raise Odd('it is odd')",
}
WHEN = {
    "always": "True",
    "on the template": "all(p['label'] == 'no' for p in predicted)",
    "on the other label alone": "all(p['label'] == 'yes' for p in predicted)",
    "on right answers": "all(p['label'] == g['label'] for g, p in zip(gold, predicted))",
    "on wrong answers": "not any(p['label'] == g['label'] for g, p in zip(gold, predicted))",
}


def module(when: str, fails: str) -> str:
    return f"def mine(gold, predicted, **options):\n    if {when}:\n        {fails}\n    return 0.25\n"


def options_of(folder: Path, text: str, **metric: Any) -> dict[str, Any]:
    metrics = {"other": {"name": "accuracy", "field": "label"}, "own": {"name": "metrics.py:mine", **metric}}
    return one_table([LABEL], metrics, folder=folder, code=text, worst=-5)


@pytest.mark.parametrize(
    ("fails", "when"), [*((fails, "always") for fails in FAILS), *(("divides", when) for when in [*WHEN][1:])]
)
def test_a_build_finds_what_fails(fails: str, when: str, tmp_path: Path) -> None:
    options = options_of(tmp_path, module(WHEN[when], FAILS[fails]))
    gold = read_gold(options, GOLD, tmp_path)
    (message,) = failing(plans(options)["t"][1], gold, {})
    assert message.startswith("metrics.py")
    assert "own could not be computed for" in message
    if fails in ("divides", "key", "exits", "quits", "memory"):
        assert message.startswith("metrics.py:3 in mine: ")


def test_a_build_refuses_no_function_that_gives_numbers(tmp_path: Path) -> None:
    text = "def mine(gold, predicted):\n    return float('nan') if len(gold) % 2 else len(predicted)\n"
    options = options_of(tmp_path, text, by=["lang"])
    gold = read_gold(options, GOLD, tmp_path)
    assert list(failing(plans(options)["t"][1], gold, {})) == []


@pytest.mark.parametrize(("answer", "fails"), [*(("right", fails) for fails in FAILS), ("wrong", "divides")])
def test_a_failure_is_the_worst_value_and_a_warning(fails: str, answer: str, tmp_path: Path) -> None:
    options = options_of(tmp_path, module("predicted[0]['label'] == gold[0]['label']", FAILS[fails]))
    sent = GOLD if answer == "right" else GOLD.replace("0,no", "0,yes", 1)
    result = score(options, GOLD, sent, tmp_path).results["t"]
    assert result.metrics["own"].value == (-5 if answer == "right" else 0.25)
    assert list(result.failed) == (["own"] if answer == "right" else [])
    assert result.units is not None
    assert result.units().statistics["own"].over(np.ones((1, 12)))[0] == result.metrics["own"].value


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_what_is_not_finite_is_undefined_and_no_failure(value: str, tmp_path: Path) -> None:
    options = options_of(tmp_path, f"def mine(gold, predicted):\n    return float('{value}')\n")
    result = score(options, GOLD, GOLD, tmp_path).results["t"]
    assert (result.metrics["own"].value, result.failed) == (-5, {})


def test_a_failure_in_one_group_is_the_worst_value_of_that_group(tmp_path: Path) -> None:
    options = options_of(tmp_path, module("gold[0]['lang'] == 'a'", "return 1 / 0"), by=["lang"])
    result = score(options, GOLD, GOLD, tmp_path).results["t"]
    assert result.metrics["own"].value == (0.25 - 5) / 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def mine(gold, predicted:\n    return 1\n", "metrics.py:1: cannot be run (SyntaxError"),
        ("x = 1\nprint 'Hello'\n", "metrics.py:2: cannot be run (SyntaxError"),
        ("import math\nmath.no_such\n", "metrics.py:2: cannot be run (AttributeError"),
        ("import sys\n\nsys.exit(0)\n", "metrics.py:3: cannot be run (SystemExit: 0)"),
        ("def other(gold, predicted):\n    return 1\n", "metrics.py: has no function mine"),
        ("mine = 3\n", "metrics.py: has no function mine"),
    ],
)
def test_a_module_that_cannot_be_run_is_the_organisers_mistake(text: str, expected: str, tmp_path: Path) -> None:
    options = options_of(tmp_path, text)
    with pytest.raises(OrganiserError, match="Expected") as caught:
        score(options, GOLD, GOLD, tmp_path)
    assert caught.value.messages[0].startswith(expected)


def project(folder: Path, text: str, scoring_files: Sequence[str] = (), **phase: Any) -> Path:
    more: dict[str, Any] = {"scoring_files": scoring_files} if scoring_files else {}
    more["phases"] = [{"id": "test", "name": "Test", "start": "2096-01-01 AoE", **phase}]
    more["reference"] = {"file": "gold.csv"}
    columns = columns_of(acc="accuracy", own="metrics.py:mine")
    made = declared_task(folder / "mine", by_id(LABEL, file="p.csv"), columns, **more)
    return write_files(made, {"metrics.py": text, "data/test/gold.csv": GOLD})


@pytest.mark.slow
@pytest.mark.usefixtures("kept_organisers")
def test_a_build_ends_with_the_line_and_status_2(tmp_path: Path) -> None:
    folder = project(tmp_path, module(WHEN["on wrong answers"], "raise ValueError('Odd: 7')"))
    done = CliRunner().invoke(root, [str(folder), "--out", str(tmp_path / "b.zip")])
    assert done.exit_code == 2
    assert "metrics.py:3 in mine: own could not be computed" in done.stderr
    assert "ValueError: Odd: 7" in done.stderr
    assert "bug" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("hidden", "told"), [(False, True), (True, False)])
def test_nobody_learns_from_a_failure_more_than_from_a_score(hidden: bool, told: bool, tmp_path: Path) -> None:
    folder = project(
        tmp_path,
        module("predicted[0]['label'] == 'no'", "raise ValueError('the gold is yes')"),
        hide_score_output=hidden,
    )
    outcomes: list[Outcome] = []
    for place, label in enumerate(("no", "yes")):
        sent = GOLD.replace("0,no", f"0,{label}", 1)
        work = tmp_path / str(place)
        outcomes.append(framed(work, str(folder), {"gold.csv": GOLD}, {"p.csv": sent}, phase="test"))
    failed, scored = outcomes
    assert (failed.exit_code, scored.exit_code) == (0, 0)
    assert failed.scores is not None
    assert scored.scores is not None
    assert (failed.scores["own"], scored.scores["own"]) == (0, 0.25)
    said = [failed.stdout + failed.stderr, failed.page or ""]
    assert ["could not be computed" in text for text in said] == [told, told]
    assert all("the gold is yes" not in text for text in said)
    assert failed.details is not None
    assert failed.details["failed"] == {"own": "metrics.py:3 in mine"}


@pytest.mark.slow
def test_a_ranking_counts_the_worst_value_and_says_why(tmp_path: Path) -> None:
    folder = project(tmp_path, module("predicted[0]['label'] == 'yes'", "raise ValueError('Odd: 7')"))
    for team, label in (("fine", "no"), ("odd", "yes")):
        write_files(tmp_path / "teams" / team, {"p.csv": GOLD.replace("0,no", f"0,{label}", 1)})
    where = ["--submissions", str(tmp_path / "teams"), "--data", str(folder / "data"), "--phase", "test"]
    done = CliRunner().invoke(root, ["rank", str(folder), *where, "--json"])
    assert done.exit_code == 0, done.output
    assert {team["team"]: team["own"] for team in json.loads(done.stdout)["teams"]} == {"fine": 0.25, "odd": 0}
    told = "odd: own could not be computed (metrics.py:3 in mine: ValueError: Odd: 7); its worst value counts"
    assert told in done.output


READS_COSTS = """
from pathlib import Path

COSTS = dict(line.split(",") for line in (Path(__file__).parent / "costs").read_text().split())

def mine(gold, predicted):
    return sum(float(COSTS[row["label"]]) for row in predicted)
"""


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


@pytest.mark.slow
@pytest.mark.usefixtures("kept_organisers")
def test_files_that_functions_read_travel_beside_them_and_to_nobody_else(tmp_path: Path) -> None:
    folder = project(tmp_path, READS_COSTS, ["costs"])
    costs = "yes,1\nno,2\n"
    write_files(folder, {"costs": costs, "data/public/costs.txt": costs})  # public data, too: no leak
    done = CliRunner().invoke(root, [str(folder), "--out", str(tmp_path / "b.zip")])
    assert done.exit_code == 0, done.output
    bundle = members((tmp_path / "b.zip").read_bytes())
    assert members(bundle["scoring_programs/test-joint.zip"])["files/costs"] == b"yes,1\nno,2\n"
    kit = members(bundle["starting_kits/test.zip"])
    names = [*kit, *members(kit["validate.pyz"])]
    assert [name for name in names if "costs" in name or name.startswith("scorer")] == []
    assert b"where the scoring program reads what the organisers keep (costs)" in kit["README.md"]


@pytest.mark.slow
@pytest.mark.usefixtures("kept_organisers")
@pytest.mark.parametrize(
    "place", ["import no_such_package\n" + module("False", "pass"), module("True", "import no_such_package")]
)
def test_a_library_that_is_not_here_leaves_the_trial_out(place: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(root, [str(project(tmp_path, place)), "--out", str(tmp_path / "b.zip")])
    assert done.exit_code == 0, done.output
    assert "The Python package no_such_package is missing on this machine. If that is its right name, " in done.output


@pytest.mark.parametrize(
    ("names", "metric", "fault"),
    [
        (["no.csv"], "metrics.py:mine", "no file 'no.csv' beside bundle.yaml."),
        (["data/costs"], "metrics.py:mine", "expected a file name without a folder (found 'data/costs')."),
        (["costs"], "accuracy", "no metric of your own reads costs. Expected a column with metrics.py:name."),
    ],
)
def test_scoring_files_are_there_and_read(names: list[str], metric: str, fault: str, tmp_path: Path) -> None:
    for name in ("metrics.py", "costs"):
        (tmp_path / name).touch()
    declaration = one_task(by_id(LABEL), columns_of(c=metric), scoring_files=names)
    assert faults_of(declaration, tmp_path) == [f"scoring_files.0: {fault}"]


TYPES = ["string", "label", "labels", "number", "text", "texts", "tags", "spans"]


def as_json(value: Any) -> Any:
    if isinstance(value, frozenset):
        return sorted(value)
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("rows", ["one", "many"])
@pytest.mark.parametrize("missing", ["reject", "empty"])
@pytest.mark.parametrize("kind", TYPES)
def test_what_is_tried_are_values_of_the_fields(kind: str, rows: str, missing: str, tmp_path: Path) -> None:
    """Each answer that is tried would be accepted from a participant: written as JSON and read again."""
    bounds: dict[str, dict[str, Any]] = {
        "number": {"min": 2, "max": 3},
        "label": {"values": ["a", "b"]},
        "labels": {"values": ["a", "b"]},
    }
    field = {"field": "x", "type": kind, **bounds.get(kind, {})}
    cells = {"number": "2.5", "labels": "a|b", "texts": '["x"]', "tags": "O B-x", "spans": "[[0, 2]]", "label": "a"}
    text = csv_of("id,x", [[str(i), cells.get(kind, "some")] for i in range(5)])
    options = one_table([field], {"m": "set_f1" if rows == "many" else "exact_match"}, rows=rows)
    options["tables"][0]["reject_missing"] = missing == "reject"
    gold = read_gold(options, text, tmp_path)["table"]
    declared_field = gold.table.field("x")
    names = []
    for name, answers in tries(gold):
        names.append(name)
        (values,) = answers.columns.values()
        assert len(values) == (len(answers.owners) if rows == "many" else 5)
        if name != "empty answers":
            assert [declared_field.of_json(as_json(value)) for value in values] == values
    wanted = {"right answers", "the template", "the same answer to every key", "wrong answers", "shuffled answers"}
    assert set(names) == wanted | ({"empty answers"} if missing == "empty" else set())


@pytest.mark.parametrize("order", [1, -1])
def test_rows_are_the_same_whatever_other_metrics_read(order: int, tmp_path: Path) -> None:
    """A field has its own type, and a further column is text, also where a metric reads it as a number or a label."""
    code = (
        "def mine(gold, predicted, **_):\n"
        "    row = gold[1]\n"
        "    return float(row == {'id': '2', 'p': 1.0, 'weight': '2', 'grade': '1', 'day': '0.50'})\n"
    )
    metrics: dict[str, Any] = {
        "auc": {"name": "roc_auc", "field": "p", "positive": 1},
        "graded": {"name": "f1", "field": "p", "gold": "grade", "threshold": 0.5, "positive": 1},
        "weighed": {"name": "mse", "field": "p", "weight": "weight", "gold": "day"},
        "mine": {"name": "metrics.py:mine"},
    }
    listed = dict(list(metrics.items())[::order])
    fields = [{"field": "p", "type": "number", "min": 0, "max": 1}]
    options = one_table(fields, listed, folder=tmp_path, code=code, file="p.csv")
    gold = "id,p,weight,grade,day\n1,0,1,0,1\n2,1,2,1,0.50\n"
    assert score(options, gold, {"p.csv": "id,p\n1,0.25\n2,0.5\n"}, tmp_path).value("mine") == 1


def test_a_function_without_packages_needs_none_to_be_called() -> None:
    """Images of code competitions may be Python alone."""
    code = "import sys, declared.tasks, declared.metrics.own; sys.exit('numpy' in sys.modules)"
    folder = Path(own.__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=folder, check=False).returncode == 0

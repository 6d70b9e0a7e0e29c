"""Real shared tasks as declarations, each compared on made-up submissions with the libraries called directly.

The structure, the files and the metrics are those of the real task, the data are made up.
"""

import gzip
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.scoring_programs.declared.declaring import declared_options, score
from tests.scoring_programs.declared.real_tasks.data import data_of
from tests.scoring_programs.declared.real_tasks.making import MAKERS, REAL_TASKS, team
from tests.sweeps import sweep

CASES = [*((manner, seed) for manner in ("mixed", "perfect") for seed in range(2)), ("random", 0), ("constant", 0)]
FEWEST = {"tasks": 79, "without Python": 51, "held": 37, "whole": 24, "gold": 26, "submission": 34}
"""How many tasks there are at least, and of those held to official scripts how many are whole; may only rise."""


def read(name: str, file: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((REAL_TASKS / name / file).read_text(encoding="utf-8"))
    return loaded


@pytest.mark.slow
@pytest.mark.parametrize("name", sweep(MAKERS, ("conll2003", "emoint", "hotpotqa", "kits19", "semeval2018-1-e-c")))
def test_a_real_task_scores_as_the_libraries_do(name: str, tmp_path: Path) -> None:
    options = declared_options((REAL_TASKS / name / "declaration.yaml").read_text(encoding="utf-8"), REAL_TASKS / name)
    task = read(name, "declaration.yaml")["tasks"][0]
    key, sort = task["columns"][0]["key"], task["columns"][0].get("sort")
    is_lower = sort == "asc" or options["metrics"][task["id"]].get(key, {}).get("better") == "lower"
    reached = {}
    for manner, seed in CASES:
        gold, answers, values = MAKERS[name](team(seed, manner))
        result = score(options, gold, answers, tmp_path / f"{manner}{seed}")
        if manner != "constant":
            assert [one for one in result.warnings if "no row for" not in one and "left out" not in one] == []
        found = {key: result.value(key) for key in values}
        assert found == pytest.approx(values, abs=1e-9), f"{manner} {seed}"
        reached[manner, seed] = -found[key] if is_lower else found[key]
    for (manner, seed), value in reached.items():
        assert value <= reached["perfect", seed] + 1e-9, f"{manner} {seed} is better than the gold itself"


def unpacked(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files, those that gzip packed unpacked: what it writes is not the same in every version of Python."""
    return {name: gzip.decompress(content) if name.endswith(".gz") else content for name, content in files.items()}


@pytest.mark.parametrize("name", MAKERS)
def test_a_folder_holds_what_the_maker_makes_and_every_column_is_compared(name: str) -> None:
    """`python -m tests.scoring_programs.declared.real_tasks.data` writes the data anew."""
    folder = REAL_TASKS / name
    made, values = data_of(name)
    files = [path for path in (folder / "data").rglob("*") if path.is_file()]
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    assert unpacked(found) == unpacked(made)
    columns = [column for task in read(name, "declaration.yaml")["tasks"] for column in task["columns"]]
    assert set(values) == {column["key"] for column in columns if "computation" not in column}


def test_the_numbers_do_not_fall() -> None:
    assert {path.parent.name for path in REAL_TASKS.glob("*/about.yaml")} == set(MAKERS)
    official = [read(name, "about.yaml").get("official") for name in MAKERS]
    found = {"tasks": len(MAKERS), "held": sum(one is not None for one in official)}
    found["without Python"] = sum(not (REAL_TASKS / name / "metrics.py").exists() for name in MAKERS)
    for what in ("whole", "gold", "submission"):
        found[what] = sum(one is not None and one[what] is True for one in official)
    assert {what: number for what, number in found.items() if number < FEWEST.get(what, 0)} == {}

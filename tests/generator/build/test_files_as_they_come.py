"""Declared competitions of every kind of file and field, built whole: program, validator, pages, template, leaks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.generator.after.report.declared_task import declared_task
from tests.generator.build.looking import built, members
from tests.generator.build.test_several_tables import outcomes
from tests.sweeps import sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers")]

ID = {"field": "id"}
LABEL = {"field": "label", "type": "label", "values": ["no", "yes"]}
GOLD = [(f"r{i}", "yes" if i % 3 else "no") for i in range(12)]
SENT = [(key, "yes") for key, _ in GOLD]


def cells(rows: list[Any], between: str = ",") -> str:
    return "".join(between.join(map(str, row)) + "\n" for row in rows)


CASES: dict[str, tuple[dict[str, Any], Any, dict[str, str], dict[str, str], float, str]] = {
    "no header": (
        {"submission": {"file": "p.tsv", "header": "none"}, "reference": {"header": "none", "file": "g.tsv"}},
        [LABEL],
        {"g.tsv": cells(GOLD, "\t")},
        {"p.tsv": cells(SENT, "\t")},
        2 / 3,
        "There is no header line: each row holds `id`, `label`, in this order.",
    ),
    "by line": (
        {"submission": {"file": "p.csv", "key": "line"}, "reference": {"file": "g.csv"}},
        [LABEL],
        {"g.csv": cells([("label",), *(row[1:] for row in GOLD)])},
        {"p.csv": cells([("label",), *(row[1:] for row in SENT)])},
        2 / 3,
        "| `label` | one of `no`, `yes` | yes | Your answer. |",
    ),
    "lines in the gold's order": (
        {"submission": {"file": "p.txt"}},
        [LABEL],
        {"g.csv": cells([("id", "label"), *GOLD])},
        {"p.txt": cells([("yes",)] * len(GOLD))},
        2 / 3,
        "Hand in, as one zip with nothing around it:\n\n    p.txt\n",
    ),
    "a file each": (
        {"submission": {"file": "{id}.csv"}, "reference": {"file": "g.csv"}},
        [LABEL],
        {"g.csv": cells([("id", "label"), *GOLD])},
        {f"{key}.csv": cells([("label",), (label,)]) for key, label in SENT},
        2 / 3,
        "There is a file for each `id`, called <code>&#123;id&#125;.csv</code>.",
    ),
    "any name": (
        {"submission": {"file": "*.csv"}, "reference": {"file": "*.csv"}},
        [LABEL],
        {"what it is called.csv": cells([("id", "label"), *GOLD])},
        {"mine.csv": cells([("id", "label"), *SENT])},
        2 / 3,
        "The file may have any name that ends with `.csv`.",
    ),
    "paths": (
        {"submission": {"file": "p.json", "at": "rows"}, "reference": {"file": "g.json"}},
        [{**LABEL, "at": "answer.0"}],
        {"g.json": json.dumps([{"id": key, "answer": [label]} for key, label in GOLD])},
        {"p.json": json.dumps({"rows": [{"id": key, "answer": [label]} for key, label in SENT]})},
        2 / 3,
        "The records are at `rows`.",
    ),
    "spelling and default": (
        {"submission": {"missing": "empty"}},
        [{**LABEL, "case": "ignore", "aliases": {"ja": "yes"}, "default": "yes", "required": False}],
        {"gold.csv": cells([("id", "label"), *GOLD])},
        {"predictions.csv": cells([("id", "label"), ("r0", "NO"), ("r1", "Ja"), ("r3", "")])},
        0.75,
        "| `label` | one of `no`, `yes`; upper and lower case are the same | no; else `yes` | Your answer. |",
    ),
    "rows in lists": (
        {"submission": {"file": "p.jsonl", "rows": "many", "list": "found"}, "metric": "set_f1"},
        [{"field": "kind"}, LABEL],
        {"gold.csv": cells([("id", "kind", "label"), *((key, "k", label) for key, label in GOLD)])},
        {"p.jsonl": "".join(json.dumps({"id": key, "found": {"k": label}}) + "\n" for key, label in SENT)},
        2 / 3,
        "Each record holds the rows of its key in a list at `found`.",
    ),
    "by line of a group": (
        {
            "submission": {"key": ["patient", "line"], "file": "{patient}.psv", "format": "csv", "delimiter": "|"},
            "reference": {"file": "{patient}.csv"},
        },
        [{"field": "patient"}, LABEL],
        {f"p{i}.csv": cells([("label",), *(row[1:] for row in GOLD[i::2])]) for i in range(2)},
        {f"p{i}.psv": cells([("label",), *[("yes",)] * 6]) for i in range(2)},
        2 / 3,
        "| `patient`, in the file's name | a text | yes | What the row is about. |",
    ),
}


def made(folder: Path, case: str) -> Path:
    says, fields, gold, _, _, _ = CASES[case]
    submission = {"file": "predictions.csv", "key": "id", **says.get("submission", {})}
    fields = [*([ID] if submission["key"] == "id" else []), *fields]
    reference = {"file": next(iter(gold)), **says.get("reference", {})}
    columns = [{"key": "score", "metric": says.get("metric", "accuracy")}]
    phases = [{"id": "test", "name": "Test", "start": "2096-01-01 AoE"}]
    competition = declared_task(
        folder / "c", {**submission, "fields": fields}, columns, reference=reference, phases=phases
    )
    (competition / "data/test").mkdir(parents=True)
    for name, text in gold.items():
        (competition / "data/test" / name).write_text(text, encoding="utf-8")
    return competition


@pytest.mark.parametrize("case", sweep(CASES, ["a file each", "rows in lists", "by line of a group"]))
def test_a_competition_of_each_kind_is_built_and_scores(case: str, tmp_path: Path) -> None:
    _, _, gold, sent, value, said = CASES[case]
    competition = made(tmp_path, case)
    bundle = built(competition).path
    found = outcomes([bundle.read_bytes()], "joint", sent, tmp_path / "scored")
    assert found.pop("valid test") is True
    (scores,) = found.values()
    assert scores["score"] == pytest.approx(value)
    assert said in members(members(bundle)["starting_kits/test.zip"])["FORMAT.md"].decode()
    public = competition / "data/public"
    public.mkdir()
    for name, text in gold.items():
        (public / f"more_{name}").write_text(text, encoding="utf-8")
    assert built(competition, force=True).leaks

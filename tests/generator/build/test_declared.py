"""A competition without a line of Python, from bundle.yaml to the board, the kit and the search for its gold."""

from __future__ import annotations

import copy
import csv
import json
import random
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import f1_score

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import competitions
from tests.generator.build.looking import built, command, members, refused
from tests.generator.dry_run.in_process import InProcessEngine
from tests.yaml_text import dumped, loaded

pytestmark = pytest.mark.usefixtures("kept_organisers")

LABELS = ["negative", "neutral", "positive"]
DECLARATION: dict[str, Any] = loaded("""
title: Feelings
logo: logo.png
docker_image: docker.io/example/scoring:1
scoring_program: declared
pages: [{title: Overview, file: overview.md.j2}]
terms: overview.md.j2
phases:
- {id: dev, name: Development, start: 2096-01-01 AoE, end: 2096-02-01 AoE, gold: public}
- {id: test, name: Test, start: 2096-02-02 AoE}
submission:
  file: predictions.csv
  key: id
  fields:
  - {field: id, type: string, required: true, meaning: The text's id.}
  - {field: label, type: label, required: true, meaning: The feeling.}
  - {field: strength, type: number, min: 0, max: 1, required: true, meaning: How strong.}
reference: {file: gold.csv}
tasks:
- id: feelings
  name: Feelings
  columns:
  - {key: macro_f1, metric: {name: f1, field: label}}
  - {key: f1_swa, metric: {name: f1, field: label, where: {language: swa}}}
  - {key: pearson, metric: {name: pearson, field: strength, by: language}}
  - {key: mean, computation: avg, of: [macro_f1, f1_swa]}
""")
Rows = list[dict[str, Any]]


def rows_of(phase: str, number: int) -> Rows:
    rng = random.Random(phase)
    return [
        {
            "id": f"{phase}-{i}",
            "label": rng.choice(LABELS),
            "strength": round(rng.random(), 3),
            "language": ["swa", "yor"][i % 2],
        }
        for i in range(number)
    ]


def answered(rows: Rows) -> Rows:
    """A baseline's answers: a third of the labels right, and strengths that follow the gold's."""
    return [
        {**row, "label": "neutral" if i % 3 else row["label"], "strength": round(0.2 + row["strength"] / 2, 4)}
        for i, row in enumerate(rows)
    ]


def write_csv(path: Path, rows: Rows, *columns: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns or list(rows[0]), extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def competition(tmp_path: Path) -> Path:
    folder = tmp_path / "feelings"
    for phase, number in (("dev", 20), ("test", 30)):
        rows = rows_of(phase, number)
        write_csv(folder / "data" / phase / "gold.csv", rows)
        write_csv(folder / "data/public" / phase / "texts.csv", rows, "id", "language")
    write_csv(folder / "data/baselines/test/some.csv", answered(rows)[::-1], "id", "label", "strength")
    (folder / "overview.md.j2").write_text("# Overview\n\n{{ metrics_table() }}\n\n{{ format_table() }}\n")
    (folder / "logo.png").write_bytes((competitions()["clarity2026"] / "logo.png").read_bytes())
    declare(folder, DECLARATION)
    return folder


def declare(folder: Path, declaration: dict[str, Any]) -> None:
    (folder / "bundle.yaml").write_text(dumped(declaration), encoding="utf-8")


@pytest.fixture
def runs_in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let dry runs score in the test's process."""
    monkeypatch.setattr(import_module("gen_bundle.dry_run.engines.choose"), "ProcessEngine", InProcessEngine)


@pytest.mark.slow
@pytest.mark.usefixtures("forked_python")
def test_from_bundle_yaml_to_the_board(competition: Path, tmp_path: Path) -> None:
    bundle, out = tmp_path / "bundle.zip", tmp_path / "out"
    assert command(competition, "--out", bundle).exit_code == 0
    done = command("dry-run", bundle, "--engine", "process", "--phase", "test", "--out", out)
    assert done.exit_code == 0, done.output
    record = json.loads((out / "dry-run.json").read_text(encoding="utf-8"))
    (row,) = record["board"]
    gold = [one["label"] for one in rows_of("test", 30)]
    answers = ["neutral" if i % 3 else label for i, label in enumerate(gold)]
    expected = f1_score(gold, answers, average="macro")
    swahili = f1_score(gold[::2], answers[::2], average="macro")
    assert float(row["cells"]["macro_f1"]) == pytest.approx(expected, abs=1e-4)
    assert float(row["cells"]["mean"]) == pytest.approx((expected + swahili) / 2, abs=1e-4)
    assert float(row["cells"]["pearson"]) == pytest.approx(1, abs=1e-3)
    details = json.loads((out / "test/joint/some/output/details.json").read_text(encoding="utf-8"))
    assert "f1_swa:f1,label,average=macro,labels=present,where.language=swa" in details["signature"]
    assert "scikit-learn:" not in details["signature"]  # the figures are no library's


def ranked(**rank: object) -> dict[str, Any]:
    """The declaration with an average rank as its first column."""
    (task,) = DECLARATION["tasks"]
    column = {"key": "rank", "computation": "avg_rank", "of": ["macro_f1", "pearson"], **rank}
    return {**DECLARATION, "tasks": [{**task, "columns": [column, *task["columns"]]}]}


@pytest.mark.slow
@pytest.mark.usefixtures("runs_in_process")
def test_an_average_rank_from_bundle_yaml_to_the_board(competition: Path, tmp_path: Path) -> None:
    declare(competition, ranked())
    bundle, right = tmp_path / "bundle.zip", tmp_path / "right.csv"
    write_csv(right, rows_of("test", 30), "id", "label", "strength")
    assert command(competition, "--out", bundle).exit_code == 0
    some = competition / "data/baselines/test/some.csv"
    given = ("--submission", some, "--submission", right, "--engine", "process", "--phase", "test")
    assert command("dry-run", bundle, *given, "--out", tmp_path / "out").exit_code == 0
    record = json.loads((tmp_path / "out/dry-run.json").read_text(encoding="utf-8"))
    assert record["platform_version"] == "1.32"
    shown = [(row["submission"], row["cells"]["rank"]) for row in record["board"]]
    assert shown == [("right", "1.25"), ("some", "1.75")]  # both have a Pearson of 1.0 as the board shows it
    older = command("dry-run", bundle, *given, "--out", tmp_path / "older", "--platform-version", "1.25")
    assert older.exit_code == 2
    assert "leaderboards[0].columns[0].computation" in older.stderr
    assert command("check", bundle).exit_code == 0
    refused = command("check", bundle, "--platform-version", "1.25", "--json")
    said = json.loads(refused.stdout)
    assert (refused.exit_code, said["accepted"], said["platform_version"]) == (1, False, "1.25")
    assert command("preview", bundle, "--out", tmp_path / "preview", "--dry-run", tmp_path / "out").exit_code == 0
    page = (tmp_path / "preview/index.html").read_text(encoding="utf-8")
    assert "Mean rank is the mean of a row's ranks in" in page
    assert "Shown as Codabench 1.32 does" in page


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        (ranked(sort="desc"), "columns.rank.sort: puts the worst rank first. Expected asc"),
        (ranked(hidden=True), "columns.rank.hidden: a hidden average rank is not computed"),
        ({**ranked(), "submission_rule": "best"}, "submission_rule: best looks at stored scores"),
    ],
    ids=["descending", "hidden", "best"],
)
def test_what_an_average_rank_cannot_be(competition: Path, declaration: dict[str, Any], expected: str) -> None:
    declare(competition, declaration)
    assert expected in command(competition, "--out", competition / "bundle.zip").stderr


@pytest.mark.slow
def test_labels_of_all_phases_are_known_in_each(competition: Path) -> None:
    """`values` is not declared: a label that only the development gold has may be answered in the test phase."""
    rows = rows_of("dev", 20)
    rows[0]["label"] = "mixed"
    write_csv(competition / "data/dev/gold.csv", rows)
    answers = [{**row, "label": "mixed"} for row in answered(rows_of("test", 30))]
    write_csv(competition / "data/baselines/test/some.csv", answers, "id", "label", "strength")
    assert built(competition).path.is_file()
    others = [{**one, "label": "other"} for one in answers]
    write_csv(competition / "data/baselines/test/some.csv", others, "id", "label", "strength")
    with pytest.raises(UserError, match="label has an unknown label"):
        built(competition)


@pytest.mark.slow
def test_labels_are_those_of_the_gold_column_that_is_compared(competition: Path) -> None:
    for phase, number in (("dev", 20), ("test", 30)):
        rows = [{**row, "feeling": row.pop("label")} for row in rows_of(phase, number)]
        write_csv(competition / "data" / phase / "gold.csv", rows)
    columns = [{"key": "f1", "metric": {"name": "f1", "field": "label", "gold": "feeling"}}]
    tasks = [{**DECLARATION["tasks"][0], "columns": columns}]
    declare(competition, {**DECLARATION, "tasks": tasks, "reference": {"file": "gold.csv", "public": ["language"]}})
    built(competition)
    answers = [{**one, "label": "other"} for one in answered(rows_of("test", 30))]
    write_csv(competition / "data/baselines/test/some.csv", answers, "id", "label", "strength")
    with pytest.raises(UserError, match=r'unknown label: "other".* Expected: one of negative, neutral, positive'):
        built(competition)


def test_a_gold_file_without_a_header_is_shown_with_its_first_line(competition: Path) -> None:
    gold = competition / "data/dev/gold.csv"
    header, first, *_ = gold.read_text().splitlines()
    gold.write_text(gold.read_text().removeprefix(f"{header}\n"))
    shown = ", ".join(f'"{cell}"' for cell in first.split(","))
    said = f"dev: gold.csv:1: the column id is missing; the first line holds {shown}."
    assert refused(competition)[0].startswith(said)


def test_a_fault_in_gold_is_reported_for_its_own_phase_alone(competition: Path) -> None:
    rows = rows_of("dev", 20)
    write_csv(competition / "data/dev/gold.csv", [{**rows[0], "label": " x", "strength": "none"}, *rows[1:]])
    label, strength = refused(competition)
    assert label.startswith('dev: gold.csv:2: label has blanks around it: " x". Expected: one of negative, neutral, ')
    assert re.search(r"blanks around it \(bundle\.yaml:\d+:\d+\)\.$", label)
    assert strength.startswith('dev: gold.csv:2: strength is not a number: "none". Expected: a finite number')
    assert "leave the cell empty and write `reference: {empty: skip}`." in strength


@pytest.mark.slow
def test_the_bundle_of_a_task_hides_the_gold_of_phases_that_it_does_not_have(competition: Path, tmp_path: Path) -> None:
    second = {"id": "label", "name": "L", "columns": [{"key": "acc", "metric": {"name": "accuracy", "field": "label"}}]}
    phases = [DECLARATION["phases"][0], {**DECLARATION["phases"][1], "tasks": ["label"]}]
    declare(competition, {**DECLARATION, "phases": phases, "tasks": [*DECLARATION["tasks"], second]})
    asked = {"out": tmp_path / "one.zip", "layout": "separate", "task": "feelings"}
    assert not built(competition, **asked).leaks
    write_csv(competition / "data/public/texts.csv", rows_of("test", 30), "id", "label")
    assert any("texts.csv" in message for message in refused(competition, **asked))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({}, "test: with 20 submissions one participant can learn at least 19 of 30 gold values (63%) "),
        ({"gold": "public"}, None),
        ({"max_submissions": 0}, "test: without max_submissions one participant can learn "),
        ({"max_submissions": 2, "score_decimals": 1}, None),  # 1 of 60
    ],
)
def test_a_build_says_what_scores_give_away(change: dict[str, Any], line: str | None, competition: Path) -> None:
    test = {**DECLARATION["phases"][1], **change}
    declare(competition, {**DECLARATION, "phases": [DECLARATION["phases"][0], test]})
    one = built(competition)
    told = [note for note in one.notes if "one participant can learn" in note]
    assert [note[: len(line or "")] for note in told] == ([line] if line else [])


def test_gold_that_leaves_a_metric_undefined_stops_the_build(competition: Path) -> None:
    write_csv(competition / "data/test/gold.csv", [{**row, "strength": 0.5} for row in rows_of("test", 30)])
    assert any("gold.csv (pearson): all gold values are equal" in message for message in refused(competition))


def test_mistakes_of_a_declaration_name_file_line_and_column(competition: Path) -> None:
    text = (competition / "bundle.yaml").read_text(encoding="utf-8")
    text = text.replace("name: pearson", "name: pearsn").replace("key: id\n", "key: id\n  missing: rejct\n")
    (competition / "bundle.yaml").write_text(text, encoding="utf-8")
    lines = text.splitlines()
    metric, kind = (next(i for i, line in enumerate(lines, 1) if word in line) for word in ("pearsn", "rejct"))
    first, second = refused(competition)
    assert first.startswith(f"bundle.yaml:{kind}:")
    assert second.startswith(f"bundle.yaml:{metric}:")
    assert "Did you mean 'pearson'?" in second


def test_keys_of_declared_scoring_are_refused_with_a_package(competition: Path) -> None:
    declare(competition, {**DECLARATION, "scoring_program": "clarity2026"})
    assert any("is read only with scoring_program: declared" in message for message in refused(competition))


@pytest.mark.slow
def test_a_baseline_that_holds_a_column_of_gold_is_refused(competition: Path, tmp_path: Path) -> None:
    """Its labels are wrong, but its strengths are the gold's; the kit would hand them out."""
    strengths = [row["strength"] for row in rows_of("test", 30)]
    rows = [{**row, "strength": one} for row, one in zip(answered(rows_of("test", 30)), strengths, strict=True)]
    write_csv(competition / "data/baselines/test/some.csv", rows[::-1], "id", "label", "strength")
    done = command(competition, "--out", tmp_path / "bundle.zip")
    assert done.exit_code == 2
    assert "baselines/test/some/some.csv shows strength of gold.csv for 30 of 30 items" in done.output
    assert not (tmp_path / "bundle.zip").exists()


@pytest.mark.slow
@pytest.mark.parametrize("public", [["remark"], []])
def test_a_further_column_that_no_metric_reads_is_gold_unless_it_is_public(
    public: list[str], competition: Path, tmp_path: Path
) -> None:
    for phase in ("dev", "test"):
        rows = [{**row, "remark": f"remark {i * 7 % 11}"} for i, row in enumerate(rows_of(phase, 30))]
        write_csv(competition / "data" / phase / "gold.csv", rows)
        write_csv(competition / "data/public" / phase / "texts.csv", rows, "id", "language", "remark")
    declare(competition, {**DECLARATION, "reference": {"file": "gold.csv", "public": ["language", *public]}})
    built = command(competition, "--out", tmp_path / "bundle.zip")
    assert ("public/test/texts.csv shows remark of gold.csv" in built.output) == (not public), built.output
    assert built.exit_code == (0 if public else 2)


@pytest.mark.slow
def test_a_public_column_that_the_gold_has_not_is_said(competition: Path) -> None:
    declare(competition, {**DECLARATION, "reference": {"file": "gold.csv", "public": ["langauge"]}})
    one = built(competition)
    (said,) = [note for note in one.notes if "reference.public" in note]
    assert "names langauge. gold.csv has " in said


@pytest.mark.slow
def test_gold_that_is_public_as_a_whole_is_no_secret(competition: Path) -> None:
    columns = [{"key": "sum", "metric": {"name": "metrics.py:sum"}, "sort": "desc", "worst": 0}]
    (competition / "metrics.py").write_text("def sum(gold, predicted):\n    return len(predicted)\n")
    for phase, number in (("dev", 20), ("test", 30)):
        write_csv(competition / "data" / phase / "gold.csv", rows_of(phase, number), "id", "language")
    tasks = [{**DECLARATION["tasks"][0], "columns": columns}]
    declaration = {**DECLARATION, "tasks": tasks, "reference": {"file": "gold.csv", "public": ["language"]}}
    declare(competition, declaration)
    with pytest.raises(UserError, match=r"data/test: nothing in it is secret.*`gold: public` in the phase"):
        built(competition)
    phases = [{**phase, "gold": "public"} for phase in DECLARATION["phases"]]
    declare(competition, {**declaration, "phases": phases})
    assert not built(competition).leaks


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "fails"),
    [
        ("return ['one label for all'] if len({row['label'] for row in rows}) < 2 else []", "data/baselines/dev/NAME/"),
        ("return rows[99]", "metrics.py:2 in check: could not check"),
        ("return []", None),
    ],
)
def test_a_check_of_the_organisers_own_is_tried_by_the_build(competition: Path, body: str, fails: str | None) -> None:
    """One that asks for more than the template holds needs a valid submission for the kit."""
    (competition / "metrics.py").write_text(f"def check(rows):\n    {body}\n")
    declaration = copy.deepcopy(DECLARATION)
    declaration["submission"]["check"] = "metrics.py:check"
    declare(competition, declaration)
    done = command(competition, "--out", competition.parent / "out.zip")
    if fails is None:
        assert done.exit_code == 0, done.output
    else:
        assert done.exit_code == 2
        assert fails in " ".join(done.output.split())
        assert "a bug in" not in done.output
    if fails == "data/baselines/dev/NAME/":
        rows = answered(rows_of("dev", 20))
        write_csv(competition / "data/baselines/dev/some.csv", rows, "id", "label", "strength")
        built = command(competition, "--out", competition.parent / "out.zip")
        assert built.exit_code == 0, built.output
        said = "dev: the template is no valid submission (predictions.csv: one label"
        assert said in " ".join(built.output.split())
        readme = members(members(competition.parent / "out.zip")["starting_kits/dev.zip"])["README.md"].decode()
        assert "an empty submission, which is refused until it is filled in" in readme

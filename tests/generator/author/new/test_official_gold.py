"""Gold files in the shapes of shared tasks become the right competitions, with two options at most."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gen_bundle.cli import root
from gen_bundle.declaration.model import DeclaredCompetition
from gen_bundle.declaration.read import read_competition
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from tests.generator.author.new.making import bundled
from tests.generator.author.new.official_gold import OFFICIAL, Official
from tests.generator.dry_run.in_process import InProcessEngine
from tests.sweeps import sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers")]


def made_of(official: Official, folder: Path, monkeypatch: pytest.MonkeyPatch) -> DeclaredCompetition:
    """The competition that the command makes of the file, in `folder/mine`."""
    monkeypatch.chdir(folder)
    (folder / official.file).write_text(official.text, encoding="utf-8")
    done = CliRunner().invoke(root, ["new", "mine", "--gold", official.file, *official.options, "--yes"])
    assert done.exit_code == 0, done.output
    return read_competition(folder / "mine")


def gold_as_submission(folder: Path, competition: DeclaredCompetition) -> Path:
    """A file with the gold's own answers, as the competition takes them."""
    assert competition.submission is not None
    name = competition.submission.file
    suffix = Path(name).suffix
    gold = folder / "mine/data/test" / f"gold{suffix}"
    path = folder / name
    columns: list[str] = []
    for one in competition.submission.fields:
        columns += one.columns or [one.field]
    rows = [_answer(row, columns) for row in _rows(gold)]
    with path.open("w", encoding="utf-8", newline="") as file:
        if suffix in (".json", ".jsonl"):
            records = [json.dumps(row) for row in rows]
            file.write("\n".join(records) if suffix == ".jsonl" else f"[{','.join(records)}]")
        else:
            writer = csv.DictWriter(file, columns, **_dialect(suffix, competition.submission.quoting))
            writer.writeheader()
            writer.writerows(rows)
    return path


def _rows(gold: Path) -> list[dict[str, Any]]:
    text = gold.read_text(encoding="utf-8")
    if gold.suffix == ".json":
        return list(json.loads(text))
    if gold.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.DictReader(text.split("\n"), delimiter="\t" if gold.suffix == ".tsv" else ","))


def _dialect(suffix: str, quoting: str | None) -> dict[str, Any]:
    delimiter = "\t" if suffix == ".tsv" else ","
    return {"delimiter": delimiter, "quoting": csv.QUOTE_NONE if quoting == "none" else csv.QUOTE_MINIMAL}


def _answer(row: dict[str, Any], columns: list[str]) -> dict[str, Any]:
    """A row of gold as its answer: a ranking's relevance is the best score, and the first of several texts is one."""
    if "score" in columns and "score" not in row:
        row = {**row, "score": row["relevance"]}
    found = {name: row[name] for name in columns}
    for name, value in found.items():
        if name == "answers":
            found[name] = value[0]
    return found


@pytest.mark.parametrize("name", sweep(OFFICIAL, ("conll2003", "e_c", "squad", "toxic_spans", "trec_qrels")))
def test_gold_of_a_task_becomes_its_competition(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    official = OFFICIAL[name]
    assert sum(option.startswith("--") for option in official.options) <= 2
    competition = made_of(official, tmp_path, monkeypatch)
    (task,) = competition.tasks
    first = task.columns[0]
    assert task.id == official.kind
    assert isinstance(first.metric, str | dict)
    assert (first.metric if isinstance(first.metric, str) else first.metric["name"]) == official.ranks
    assert competition.submission is not None
    assert {one.field: one.type for one in competition.submission.fields} == official.fields
    submission = gold_as_submission(tmp_path, competition)
    bundle = bundled(tmp_path / "mine").path
    (run,) = dry_run(DryRunRequest(bundle, tmp_path / "run", [submission]), InProcessEngine()).runs
    assert run.status == "Finished", run.message
    assert (run.scores or {})[first.key] == 1

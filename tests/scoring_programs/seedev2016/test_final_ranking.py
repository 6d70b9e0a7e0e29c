"""gen-bundle rank seedev2016: the ranking of both tasks, and F1 by event type for the organisers."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from gen_bundle.cli import root
from gen_bundle.ground.resources import resource
from seedev2016 import binary, full, reference
from seedev2016.standoff import read_events
from seedev2016.submission import SeeDevSubmission
from tests.scoring_programs.seedev2016.cases import never

pytestmark = pytest.mark.usefixtures("kept_organisers")

NAME = "seedev2016"
DATA = resource("bundles") / NAME / "data"


@pytest.fixture
def submissions(tmp_path: Path) -> Path:
    """The baselines as two teams, of which the weak one enters the binary task alone."""
    shutil.copytree(DATA / "baselines" / "dev" / "good", tmp_path / "all" / "Good")
    shutil.copytree(DATA / "baselines" / "dev" / "weak" / "binary", tmp_path / "all" / "Weak" / "binary")
    return tmp_path / "all"


def ranked(submissions: Path, *options: str) -> str:
    arguments = [NAME, "--submissions", str(submissions), "--data", str(DATA), "--phase", "dev", *options]
    done = CliRunner().invoke(root, ["rank", *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def gold_events(task: str) -> Counter[str]:
    lines = [line for path in (DATA / "dev" / task).glob("*.a2") for line in path.read_text().splitlines()]
    return Counter(line.split("\t")[1].split()[0] for line in lines if line.startswith("E"))


@pytest.mark.slow
def test_every_alternate_score_of_every_team_is_there(submissions: Path) -> None:
    by_type = json.loads(ranked(submissions, "--json"))["by_type"]
    assert {task: set(teams) for task, teams in by_type.items()} == {"binary": {"Good", "Weak"}, "full": {"Good"}}
    gold = reference.read(DATA / "dev", ["binary", "full"], {})
    for task, module in (("binary", binary), ("full", full)):
        entities = gold.entities[task]
        files = {name: (submissions / "Good" / task / f"{name}.a2").read_text() for name in entities}
        predicted = {name: read_events(text, name, entities[name], task, never, never) for name, text in files.items()}
        metrics = module.score(gold, SeeDevSubmission(frozenset({task}), {task: predicted}), {}).metrics
        told = {f"{m}.{kind}": value for kind, own in by_type[task]["Good"].items() for m, value in own.items()}
        assert told == {name: metric.value for name, metric in metrics.items() if "." in name}


@pytest.mark.parametrize(("task", "teams"), [("binary", ["Good", "Weak"]), ("full", ["Good"])])
def test_the_printed_table_leaves_no_type_out_however_rare(submissions: Path, task: str, teams: list[str]) -> None:
    _, _, section = ranked(submissions, "--format", "markdown").partition(f"## SeeDev-{task}: F1 by event type\n")
    table = section.strip().split("\n\n")[0].splitlines()
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    assert header == ["Event type", "Gold", *teams]
    shown = {row[0]: int(row[1]) for row in rows}
    expected = gold_events(task)
    assert {kind: shown[kind] for kind in expected} == expected
    assert min(expected.values()) < 5


@pytest.mark.slow
def test_a_hidden_team_has_no_column(submissions: Path) -> None:
    for form in ("text", "json"):
        assert "Weak" not in ranked(submissions, "--hide", "Weak", "--format", form)


def test_a_table_of_scores_has_no_event_types(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("team,binary_f1\nA,0.5\nB,0.25\n", encoding="utf-8")
    done = CliRunner().invoke(root, ["rank", NAME, "--scores", str(tmp_path / "scores.csv")])
    assert done.exit_code == 0, done.output
    assert "by event type" not in done.stdout


# "Evaluation results" of SeeDev-binary, BioNLP-ST 2016: team, F1, recall, precision. One name is not in the page; the
# figures of DUTIR are "hidden upon request of the team".
PUBLISHED = """\
| 1 | LitWay | 0.432 | 0.448 | 0.417 |
| 2 | UniMelb | 0.364 | 0.386 | 0.345 |
| 3 | VERSE | 0.342 | 0.458 | 0.273 |
| 4 | (no name) | 0.335 | 0.245 | 0.533 |
| 5 | ULISBOA | 0.306 | 0.256 | 0.379 |
| 6 | LIMSI | 0.255 | 0.318 | 0.212 |
|  | DUTIR |  |  |  |"""


@pytest.mark.parametrize("hidden", ["0.300,0.300,0.300", ",,"])
def test_the_published_table(tmp_path: Path, hidden: str) -> None:
    """With DUTIR's figures, which a table of the organisers would have, and with its empty row."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in PUBLISHED.splitlines()[:-1]]
    table = "".join(",".join(row[1:]) + "\n" for row in reversed(rows))
    scores = f"team,binary_f1,binary_recall,binary_precision\nDUTIR,{hidden}\n{table}"
    (tmp_path / "scores.csv").write_text(scores, encoding="utf-8")
    options = ["--hide-figures", "DUTIR"] if hidden != ",," else []
    arguments = ["rank", NAME, "--scores", str(tmp_path / "scores.csv"), *options, "--format", "markdown"]
    done = CliRunner().invoke(root, arguments)
    assert done.exit_code == 0, done.output
    # With 0.3 it would hold the sixth rank.
    expected = PUBLISHED.replace("| 6 | LIMSI", "| 7 | LIMSI") if options else PUBLISHED
    assert done.stdout.split("\n\n")[1].splitlines()[2:] == expected.splitlines()
    assert "0.300" not in done.stdout

"""The organiser's verbs, called as the press calls them."""

from pathlib import Path
from typing import Any

import pytest

from gen_bundle.build.package.client import ScoringPackage
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import resource
from tests.scoring_programs.clarity2026.gold import DEV, annotated_gold
from tests.scoring_programs.framed import score, write_files
from tests.scoring_programs.read_secrets import read_secrets

pytestmark = [pytest.mark.usefixtures("kept_organisers")]

PACKAGE = ScoringPackage("clarity2026", resource("scoring_programs"))
ASK: dict[str, Any] = {
    "tasks": ["clarity", "evasion"],
    "all_tasks": ["clarity", "evasion"],
    "layout": "joint",
    "options": {},
}
ANNOTATED = annotated_gold({"1": ("Dodging", "General", "Dodging", "Ambivalent"), "2": ("N/A", "", "", "Clear Reply")})


def folder(path: Path, gold: str) -> Path:
    return write_files(path, {"gold.csv": gold})


@pytest.mark.slow
def test_prepare_copies_valid_gold_and_says_what_will_be_skipped(tmp_path: Path) -> None:
    source, out = folder(tmp_path / "source", ANNOTATED), write_files(tmp_path / "out", {})
    answer = PACKAGE.call("prepare", {**ASK, "source": str(source), "out": str(out)})
    assert answer == {"warnings": ["gold.csv: 1 of 2 rows have no valid annotator label and are skipped."]}
    assert (out / "gold.csv").read_text(encoding="utf-8") == ANNOTATED


def test_prepare_refuses_faulty_gold(tmp_path: Path) -> None:
    source, out = folder(tmp_path / "source", DEV + "4,,,,x,\n9,,,,x,\n"), write_files(tmp_path / "out", {})
    with pytest.raises(UserError) as caught:
        PACKAGE.call("prepare", {**ASK, "source": str(source), "out": str(out)})
    assert len(caught.value.messages) == 3


def test_secrets_are_labels_tied_to_ids(tmp_path: Path) -> None:
    request = {**ASK, "reference": str(folder(tmp_path / "ref", ANNOTATED))}
    found = read_secrets(tmp_path / "ref", PACKAGE.call("secrets", request))
    assert {*found.labels} >= {("2", "clarity_label", "clear reply"), ("1", "annotator1", "dodging")}
    assert found.files == ["gold.csv"]


@pytest.mark.parametrize(
    ("layout", "tasks", "header"),
    [
        ("joint", ["clarity", "evasion"], "id,clarity_pred,evasion_pred"),
        ("tasks", ["evasion"], "id,clarity_pred,evasion_pred"),
        ("separate", ["evasion"], "id,evasion_pred"),
    ],
)
def test_the_template_is_valid_and_scores_0(tmp_path: Path, layout: str, tasks: list[str], header: str) -> None:
    out = write_files(tmp_path / "out", {})
    request = {**ASK, "tasks": tasks, "layout": layout, "reference": str(folder(tmp_path / "ref", DEV))}
    PACKAGE.call("template", {**request, "out": str(out)})
    text = (out / "submission.csv").read_text(encoding="utf-8")
    assert text.splitlines()[0] == header
    outcome = score(
        tmp_path / "run", "clarity2026", {"gold.csv": DEV}, {"submission.csv": text}, tasks=tasks, layout=layout
    )
    assert outcome.exit_code == 0
    assert set(outcome.scores.values()) == {0.0}

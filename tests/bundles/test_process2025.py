"""The declaration, synthetic data and baselines of PROCESS, and the whole way through the built zip."""

from functools import partial
from pathlib import Path

import pytest

from gen_bundle.build.package.resolve import resolve
from gen_bundle.build.render.markdown import page_html
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import resource
from tests.bundles.replayed import columns_of, files_of, pages, rows_of
from tests.scoring_programs.framed import score

NAME = "process2025"
FOLDER = resource("bundles") / NAME


rows = partial(rows_of, NAME)


def test_the_columns_are_the_challenges_metrics() -> None:
    assert list(columns_of(NAME).items()) == [
        ("macro_f1", ("desc", 0)),
        ("macro_precision", ("desc", 0)),
        ("macro_recall", ("desc", 0)),
        ("rmse", ("asc", 1000)),
    ]
    assert resolve(FOLDER).declaration.submission_rule == "last"


def test_layout_tasks_gives_up_the_rule_that_would_lose_scores() -> None:
    assert resolve(FOLDER, layout="tasks").declaration.submission_rule == "all"
    with pytest.raises(UserError, match="submission_rule"):
        resolve(FOLDER, layout="tasks", overrides=("submission_rule=last",))


@pytest.mark.parametrize(("phase", "speakers"), [("dev", 37), ("test", 40)])
def test_participants_get_the_speakers_without_class_and_score(phase: str, speakers: int) -> None:
    gold, public = rows(phase, "gold.csv"), rows("public", phase, "speakers.csv")
    assert len(gold) == speakers
    assert [row["Test_ID"] for row in gold] == [row["Test_ID"] for row in public]
    assert not {"Class", "MMSE"} & set(public[0])
    assert {row["Class"] for row in gold} == {"Dementia", "MCI", "HC"}
    assert any(not row["MMSE"] for row in gold)
    assert {row["Record-ID"] for row in rows("public", "dem-info.csv")}.isdisjoint(row["Test_ID"] for row in gold)


@pytest.mark.parametrize("phase", ["dev", "test"])
def test_an_oracle_is_perfect(tmp_path: Path, phase: str) -> None:
    lines = ["Test_ID,Model2_class,Model3_MMSE"]
    lines += [f"{row['Test_ID']},{row['Class']},{row['MMSE'] or 0}" for row in rows(phase, "gold.csv")]
    gold = files_of(FOLDER / "data" / phase)
    outcome = score(tmp_path, NAME, gold, {"PROCESS_submission_Oracle_Nowhere.csv": "\n".join(lines)})
    assert outcome.scores == {"macro_f1": 1.0, "macro_precision": 1.0, "macro_recall": 1.0, "rmse": 0.0}


@pytest.mark.parametrize("layout", ["joint", "tasks", "separate"])
def test_pages(layout: str) -> None:
    rendered = {page: " ".join(text.split()) for page, text in pages(NAME, layout).items()}
    assert rendered["pages/evaluation.md"].count("**Choice:**") == (9 if layout == "separate" else 10)
    assert "not the harmonic mean" in rendered["pages/evaluation.md"]
    assert "PROCESS_submission_&lt;group&gt;_&lt;affiliation&gt;.csv" in page_html(rendered["pages/submission.md"])
    assert "no intellectual property to the organisers" in rendered["terms.md"]
    assert "introduces in it the models" in rendered["terms.md"]

"""SeeDev's scoring program as it runs on the platform: exit codes, what it leaves behind, what it needs."""

from pathlib import Path

import pytest

from gen_bundle.ground.resources import resource
from scoring_kit.results_page.page import label_html
from tests.bundles.replayed import files_of
from tests.scoring_programs.framed import score
from tests.scoring_programs.seedev2016.cases import ENTITIES

NAME = "seedev2016"
GOLD = files_of(resource("bundles") / NAME / "data" / "dev")
ANSWER = files_of(resource("bundles") / NAME / "data" / "baselines" / "dev" / "good")


def test_what_tells_whether_a_single_event_is_right_is_withheld(tmp_path: Path) -> None:
    """However many events the gold has; Is_Localized_In has 21."""
    kind = "Is_Localized_In"
    whole = score(tmp_path / "whole", NAME, GOLD, ANSWER)
    event = f"E1\t{kind} Functional_Molecule:T1 Target_Tissue:T3\n"
    one = {**dict.fromkeys(ANSWER, ""), "binary/Synthetic-binary-dev-1.a2": event}
    outcome = score(tmp_path / "one", NAME, GOLD, one)
    assert outcome.exit_code == 0, outcome.stderr
    for key in ("matches", "similarity", "substitutions", "insertions", f"f1.{kind}", f"precision.{kind}"):
        assert whole.details["tasks"]["binary"][key]["value"] is not None
        assert outcome.details["tasks"]["binary"][key]["value"] is None
    assert whole.page is not None
    assert outcome.page is not None
    row = label_html(kind)
    shown, told = (page.split("Events by type")[1].split("</figure>")[0] for page in (whole.page, outcome.page))
    assert row in shown
    assert row not in told


def test_details_do_not_tell_which_rare_types_the_gold_has(tmp_path: Path) -> None:
    linked = "".join(f"E{i}\tIs_Linked_To Agent1:T{i} Agent2:T{i + 1}\n" for i in range(1, 10))
    given = {"binary/d.txt": "x" * 30, "binary/d.a1": "".join(f"T{i}\tProtein {i} {i + 1}\tx\n" for i in range(1, 12))}
    rare = "E20\tBinds_To Functional_Molecule:T1 Molecule:T2\n"
    names = []
    for name, gold in (("without", linked), ("with", linked + rare)):
        reference = {**given, "binary/d.a2": gold}
        outcome = score(tmp_path / name, NAME, reference, {"binary/d.a2": linked}, tasks=["binary"])
        metrics = outcome.details["tasks"]["binary"]
        assert metrics["binary_recall"]["value"] == 9 / len(gold.splitlines())
        assert metrics["recall.Binds_To"] == {"value": None, "rows": None}
        names.append(list(metrics))
    assert names[0] == names[1]


EXCHANGED = [
    # a gold event of a small document, the same with its arguments in each other's place or role
    ("binary", "Regulates_Expression Agent:T2 DNA:T1", "Regulates_Expression Agent:T1 DNA:T2"),
    ("binary", "Binds_To Functional_Molecule:T2 Molecule:T1", "Binds_To Functional_Molecule:T1 Molecule:T2"),
    ("binary", "Exists_In_Genotype Element:T4 Genotype:T6", "Exists_In_Genotype Molecule:T4 Genotype:T6"),
    (
        "binary",
        "Is_Localized_In Process:T9 Target_Tissue:T4",
        "Is_Localized_In Functional_Molecule:T9 Target_Tissue:T4",
    ),
    ("full", "Localization Functional_Molecule:T2 Target_Tissue:T4", "Localization Process:T2 Target_Tissue:T4"),
]


@pytest.mark.parametrize(("task", "gold", "predicted"), EXCHANGED)
def test_an_event_whose_arguments_do_not_fit_their_roles_is_a_wrong_one(
    tmp_path: Path, task: str, gold: str, predicted: str
) -> None:
    a1 = "".join(f"{key}\t{kind} 0 1\tx\n" for key, kind in ENTITIES.items())
    reference = {f"{task}/D.txt": b"x", f"{task}/D.a1": a1.encode(), f"{task}/D.a2": f"E1\t{gold}\n".encode()}
    answer = {f"{task}/D.a2": f"E1\t{gold}\nE2\t{predicted}\n".encode()}
    outcome = score(tmp_path / "beside", NAME, reference, answer, tasks=[task])
    assert outcome.exit_code == 0, outcome.stderr
    assert (outcome.scores[f"{task}_recall"], outcome.scores[f"{task}_precision"]) == (1.0, 0.5)
    assert [text.split(":")[0] for text in outcome.details["warnings"]] == [f"{task}/D.a2"]
    alone = score(tmp_path / "alone", NAME, reference, {f"{task}/D.a2": f"E2\t{predicted}\n".encode()}, tasks=[task])
    assert (alone.scores[f"{task}_recall"], alone.scores[f"{task}_precision"]) == (0.0, 0.0)

"""ARE's scoring program as it runs on the platform: exit codes, what it leaves behind, what it needs."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from gen_bundle.ground.resources import resource
from tests.bundles.replayed import files_of
from tests.scoring_programs.are2007.cases import chain, document, pair
from tests.scoring_programs.framed import score

NAME = "are2007"
GOLD = files_of(resource("bundles") / NAME / "data" / "dev")
ANSWER = files_of(resource("bundles") / NAME / "data" / "baselines" / "dev" / "good")


@pytest.mark.parametrize(
    ("task", "answer", "withheld"),
    [
        ("task1", pair("4", "2"), ("scored_1", "scored_half")),
        ("task2", chain("2", "5"), ("response_links", "common_links")),
        ("task3", pair("19 20", "11 13"), ("attempted", "pronouns_found")),
        ("task4", chain("1 2", "29 30"), ("response_links", "common_links")),
    ],
    ids=["task1", "task2", "task3", "task4"],
)
def test_what_tells_whether_a_single_answer_is_right_is_withheld(
    tmp_path: Path, task: str, answer: str, withheld: Sequence[str]
) -> None:
    """However many pronouns or links the gold has."""
    text = f"dev-{task}-news-1"
    whole = score(tmp_path / "whole", NAME, GOLD, ANSWER)
    assert whole.page is not None
    assert f"<span>{text}</span>" in whole.page
    one = {**dict.fromkeys(ANSWER, "<document/>"), f"{task}/{text}-output.xml": document(answer)}
    outcome = score(tmp_path / "one", NAME, GOLD, one)
    assert outcome.exit_code == 0, outcome.stderr
    for key in withheld:
        assert whole.details["tasks"][task][key]["value"] is not None
        assert outcome.details["tasks"][task][key]["value"] is None
    assert outcome.page is not None
    assert f"<span>{text}</span>" not in outcome.page

"""Ranking refuses the gold that a build refuses."""

from pathlib import Path

import pytest

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.ground.errors import UserError
from tests.generator.after.report.declared_task import declared_task, ranked, table

pytestmark = pytest.mark.usefixtures("kept_organisers")


def test_gold_that_leaves_a_column_undefined_is_refused_in_the_words_of_the_build(tmp_path: Path) -> None:
    field = {"field": "text", "type": "text"}
    columns = [{"key": "wer", "metric": {"name": "wer", "field": "text", "by": "g"}}]
    competition = declared_task(
        tmp_path / "c", table("id", field, file="p.csv"), columns, reference={"file": "gold.csv"}
    )
    gold = [{"id": f"k{i}", "text": "a word" if i < 10 else "", "g": "x" if i < 10 else "y"} for i in range(20)]
    done = ranked(competition, {"gold.csv": gold}, {"A": {"p.csv": [{"id": row["id"], "text": "a"} for row in gold]}})
    assert done.exit_code == 2
    with pytest.raises(UserError) as caught:
        build(BuildRequest(str(competition), tmp_path / "bundle.zip"))
    (message,) = caught.value.messages
    assert "no gold text has a word in the group y" in message
    assert message.removeprefix("test: ") in " ".join(done.stderr.split())

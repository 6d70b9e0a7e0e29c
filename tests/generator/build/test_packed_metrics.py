"""All metrics of a kind of answers, packed in a bundle that builds without force: each scores as its oracle says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gen_bundle.check import check_path
from tests.generator.after.report.declared_task import declared_task
from tests.generator.build.looking import built
from tests.generator.build.test_several_tables import outcomes
from tests.scoring_programs.declared.declaring import columns_of
from tests.scoring_programs.declared.oracles import KINDS
from tests.scoring_programs.declared.test_oracles import drawn
from tests.sweeps import sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers", "forked_python")]


@pytest.mark.parametrize("name", sweep(KINDS, ("open_labels", "rankings_by_score")))
def test_all_metrics_of_a_kind_are_packed(name: str, tmp_path: Path) -> None:
    made = drawn(KINDS[name], 2, 40, ["alone"])
    fields = [{"meaning": "A field.", **one} for one in [{"field": "id", "type": "string"}, *made.fields]]
    submission: dict[str, Any] = {"file": "predictions.csv", "key": "id", "fields": fields, "rows": made.rows}
    columns = columns_of(**made.metrics)
    competition = declared_task(tmp_path / "competition", submission, columns, reference=made.reference)
    (competition / "data/test").mkdir(parents=True)
    for file, text in made.gold.items():
        (competition / "data/test" / file).write_text(text, encoding="utf-8", newline="")
    bundle = built(competition)
    assert not bundle.errors
    assert not [finding for finding in check_path(bundle.path).findings if finding.grave]
    found = outcomes([bundle.path.read_bytes()], "joint", made.answers, tmp_path / "run")
    assert found["test/joint"] == pytest.approx({key: value() for key, value in made.expected.items()}, abs=1e-9)

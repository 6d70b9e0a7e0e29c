"""All metrics of a kind of answers, packed in a bundle that builds without force: each scores as its oracle says."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.check import check_path
from scoring_kit import frame
from tests.generator.after.report.declared_task import declared_task
from tests.scoring_programs.declared.declaring import Files, columns_of
from tests.scoring_programs.declared.oracles import KINDS
from tests.scoring_programs.declared.test_oracles import drawn
from tests.sweeps import sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers", "forked_python")]


@pytest.mark.parametrize("name", sweep(KINDS, ("open_labels", "probability", "rankings_by_score", "spans")))
def test_all_metrics_of_a_kind_are_packed(name: str, tmp_path: Path) -> None:
    made = drawn(KINDS[name], 2, 40, ["alone"])
    fields = [{"meaning": "A field.", **one} for one in [{"field": "id", "type": "string"}, *made.fields]]
    submission: dict[str, Any] = {"file": "predictions.csv", "key": "id", "fields": fields, "rows": made.rows}
    columns = columns_of(**made.metrics)
    competition = declared_task(tmp_path / "competition", submission, columns, reference=made.reference)
    (competition / "data/test").mkdir(parents=True)
    for file, text in made.gold.items():
        (competition / "data/test" / file).write_text(text, encoding="utf-8", newline="")
    (bundle,) = build(BuildRequest(str(competition), tmp_path / "bundle.zip"))
    assert not bundle.errors
    assert not [finding for finding in check_path(bundle.path).findings if finding.grave]
    found = scored(bundle.path, made.answers, tmp_path / "run")
    assert found == pytest.approx({key: value() for key, value in made.expected.items()}, abs=1e-9)


def scored(bundle: Path, answers: Files, place: Path) -> dict[str, float]:
    """The scores that a bundle's only program writes of a submission."""
    with zipfile.ZipFile(bundle) as archive:
        (task,) = yaml.safe_load(archive.read("competition.yaml"))["tasks"]
        for part, into in (("scoring_program", "program"), ("reference_data", "input/ref")):
            with zipfile.ZipFile(io.BytesIO(archive.read(task[part]))) as packed:
                packed.extractall(place / into)
    (place / "input/res").mkdir()
    for name, text in answers.items():
        (place / "input/res" / name).write_text(text, encoding="utf-8", newline="")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        assert frame.main(place / "program", [str(place / "input"), str(place / "output")]) == 0, said.getvalue()
    scores: dict[str, float] = json.loads((place / "output/scores.json").read_text(encoding="utf-8"))
    return scores

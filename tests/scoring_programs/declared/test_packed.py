"""The packed program of a declared competition."""

from pathlib import Path

import pytest

from gen_bundle.build.package.programs import program_members
from gen_bundle.build.package.resolve import resolve
from tests.generator.after.report.declared_task import declared_task
from tests.scoring_programs.declared.declaring import by_id, columns_of
from tests.scoring_programs.framed import blocking, write_files
from tests.scoring_programs.packed import run_unit

LABELS = ("accuracy", "balanced_accuracy", "f1", "precision", "recall", "kappa", "mcc")
NUMBERS = ("mse", "rmse", "mae", "r2", "pearson", "spearman", "kendall")


@pytest.mark.slow
def test_a_job_of_labels_and_numbers_needs_neither_scipy_nor_scikit_learn(tmp_path: Path) -> None:
    label, x = {"field": "label", "type": "label", "values": ["a", "b"]}, {"field": "x", "type": "number"}
    metrics = {name: {"name": name, "field": "label"} for name in LABELS}
    metrics |= {name: {"name": name, "field": "x"} for name in NUMBERS}
    keys = {
        "phases": [{"id": "test", "name": "Test", "start": "2096-01-01 AoE", "gold": "public"}],
        "reference": {"file": "gold.csv"},
    }
    competition = resolve(declared_task(tmp_path / "competition", by_id(label, x), columns_of(**metrics), **keys))
    text = "id,label,x\n1,a,1\n2,b,2\n3,a,3\n"
    ref = write_files(tmp_path / "ref", {"gold.csv": text})
    res = write_files(tmp_path / "res", {"predictions.csv": text})
    (tmp_path / "run").mkdir()
    blocked = blocking(tmp_path / "blocked", "scipy", "sklearn", "pandas")
    members = program_members(competition, competition.parts[0])
    outcome = run_unit(tmp_path / "run", members, ref, res, {"PYTHONPATH": str(blocked)})
    assert outcome.exit_code == 0, outcome.stderr
    best = {name: 0.0 if name in ("mse", "rmse", "mae") else 1.0 for name in metrics}
    assert outcome.scores == pytest.approx(best, abs=1e-12)
    assert max(outcome.scores.values()) == 1.0

"""The five bundles are what they are meant to be: they are accepted, and their authors' own work runs."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gen_bundle.author.importing.importing import import_bundle
from gen_bundle.build.building import BuildRequest, build
from gen_bundle.check import check_path
from gen_bundle.check.bundle import pack
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.ground.errors import UserError
from tests.generator.author.importing.bundles import (
    FIVE,
    code_bundle,
    old_bundle,
    r_bundle,
    results_bundle,
    two_datasets_bundle,
)
from tests.generator.dry_run.bundles import write_zip

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def runs_of(bundle: Path, out: Path, *submissions: Path) -> list[tuple[str, dict[str, float] | None]]:
    """The task and scores of each run of the bundle's solutions, or of submissions."""
    results = dry_run(DryRunRequest(bundle, out, submissions, trust=True), "process")
    return [(run.task, run.scores) for run in results.runs]


@pytest.mark.parametrize("name", [name for name in FIVE if name != "old"])
def test_the_platform_accepts_it_and_it_works(name: str, tmp_path: Path) -> None:
    pack(FIVE[name](tmp_path / "bundle"), tmp_path / "bundle.zip")
    found = check_path(tmp_path / "bundle.zip", now=NOW).findings
    assert [finding.what for finding in found if finding.severity != "note"] == []


@pytest.mark.slow
def test_results(tmp_path: Path) -> None:
    runs = runs_of(results_bundle(tmp_path / "bundle"), tmp_path / "out")
    scores = [{key: round(value, 3) for key, value in (scores or {}).items()} for _, scores in runs]
    assert scores == [{"accuracy": 0.867, "macro_f1": 0.864}, {"accuracy": 0.86, "macro_f1": 0.86}]


@pytest.mark.slow
def test_code(tmp_path: Path) -> None:
    pack(code_bundle(tmp_path / "bundle"), tmp_path / "bundle.zip")
    ((_, scores),) = runs_of(tmp_path / "bundle.zip", tmp_path / "out")
    assert scores is not None
    assert scores["accuracy"] == 0.9
    assert 0 < scores["duration"] < 60


@pytest.mark.slow
def test_two_datasets(tmp_path: Path) -> None:
    runs = runs_of(two_datasets_bundle(tmp_path / "bundle"), tmp_path / "out")
    assert [(task, sorted(scores or {})) for task, scores in runs] == [
        ("0", ["private_test", "test"]),
        ("1", ["private_test", "test"]),
        ("1", ["private_test", "test"]),
    ]


@pytest.mark.slow
def test_old(tmp_path: Path) -> None:
    imported = import_bundle(old_bundle(tmp_path / "bundle"), tmp_path / "project")
    assert (imported.absent, imported.faults) == ([], [])
    build(BuildRequest(str(tmp_path / "project"), tmp_path / "new.zip"))
    answer = write_zip(tmp_path / "answer.zip", {"rain.predict": "2.5\n" * 30})
    runs = runs_of(tmp_path / "new.zip", tmp_path / "out", answer)
    assert [sorted(scores or {}) for _, scores in runs] == [["mae", "rmse"]] * 2


def test_r(tmp_path: Path) -> None:
    results = dry_run(DryRunRequest(r_bundle(tmp_path / "bundle"), tmp_path / "out", trust=True), "process")
    (run,) = results.runs
    if shutil.which("Rscript"):
        assert (run.status, run.scores) == ("Finished", {"r": pytest.approx(0.8943313884)})
    else:
        assert "'Rscript': no such program on this machine" in run.message
    assert not any("failed early" in note for note in results.notes)


def test_a_folder_that_is_not_packed_yet_is_not_called_missing(tmp_path: Path) -> None:
    folder = code_bundle(tmp_path / "bundle")
    with pytest.raises(UserError, match=f"not packed yet, .* gen-bundle check {folder} --pack bundle.zip"):
        dry_run(DryRunRequest(folder, tmp_path / "out", trust=True), "process")

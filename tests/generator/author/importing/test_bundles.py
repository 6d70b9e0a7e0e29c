"""What was imported runs; what cannot run says why."""

from pathlib import Path

import pytest

from gen_bundle.author.importing.importing import import_bundle
from gen_bundle.build.building import BuildRequest, build
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.ground.errors import UserError
from tests.generator.author.importing.bundles import running_old_bundle
from tests.generator.author.importing.round_trip import written
from tests.generator.check import drafts
from tests.generator.dry_run.bundles import write_files, write_zip
from tests.yaml_text import dumped


@pytest.mark.slow
def test_a_bundle_of_codalab_scores_as_it_did(tmp_path: Path) -> None:
    imported = import_bundle(running_old_bundle(tmp_path), tmp_path / "project")
    assert (imported.absent, imported.faults) == ([], [])
    build(BuildRequest(str(tmp_path / "project"), tmp_path / "new.zip"))
    answer = write_zip(tmp_path / "answer.zip", {"answer.txt": "a\n"})
    results = dry_run(DryRunRequest(tmp_path / "new.zip", tmp_path / "out", [answer], trust=True), "process")
    assert [run.scores for run in results.runs] == [{"f1": 1, "time": 3}] * 2


def test_a_program_that_this_machine_lacks(tmp_path: Path) -> None:
    draft = drafts.new()
    draft.files["scoring/metadata.yaml"] = b"command: Rscript-0.1 /app/program/score.R\n"
    answer = write_zip(tmp_path / "answer.zip", {"answer.txt": "a\n"})
    results = dry_run(DryRunRequest(written(draft, tmp_path), tmp_path / "out", [answer], trust=True), "process")
    (run,) = results.runs
    assert "'Rscript-0.1': no such program on this machine" in run.message
    assert not any("failed early" in note for note in results.notes)


def test_a_folder_that_is_not_packed_yet_is_not_called_missing(tmp_path: Path) -> None:
    draft = drafts.new()
    drafts.put("tasks", 0, "scoring_program", "scoring.zip")(draft)
    files = {name: content.decode("latin-1") for name, content in draft.files.items()}
    folder = write_files(tmp_path / "bundle", {**files, "competition.yaml": dumped(draft.yaml)})
    with pytest.raises(UserError, match=f"not packed yet, .* gen-bundle check {folder} --pack bundle.zip"):
        dry_run(DryRunRequest(folder, tmp_path / "out", trust=True), "process")

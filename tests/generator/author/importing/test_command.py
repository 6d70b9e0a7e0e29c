"""`gen-bundle import`, and the verbs that an organiser uses next; what was imported runs, or says why it cannot."""

import json
import zipfile
from pathlib import Path

import pytest

from gen_bundle.author.importing.importing import import_bundle
from gen_bundle.build.building import BuildRequest, build
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.ground.errors import UserError
from tests.generator.author.importing.bundles import running_old_bundle
from tests.generator.author.importing.round_trip import written
from tests.generator.check import drafts
from tests.generator.check.drafts import packed
from tests.generator.cli.running import gen_bundle
from tests.generator.dry_run.bundles import write_files, write_zip
from tests.yaml_text import dumped

SCORER = """import json, sys
from pathlib import Path
given, out = map(Path, sys.argv[1:])
right = (given / "ref" / "truth.txt").read_text() == (given / "res" / "truth.txt").read_text()
(out / "scores.json").write_text(json.dumps({"points": int(right), "more": 2}))
"""


def test_from_a_bundle_to_a_dry_run_and_a_preview(tmp_path: Path) -> None:
    draft = drafts.new()
    drafts.put("solutions", [{"index": 0, "name": "Gold", "path": "solution.zip", "tasks": [0]}])(draft)
    draft.files["solution.zip"] = packed({"truth.txt": b"a\nb\na\n"})
    draft.files["scoring/score.py"] = SCORER.encode()
    draft.files["scoring/metadata.yaml"] = b"command: python3 score.py $input $output\n"
    written(draft, tmp_path)
    done = gen_bundle("import", "bundle.zip", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        0,
        "bundle-project: imported; build it with gen-bundle ./bundle-project\n",
    )
    assert gen_bundle("./bundle-project", cwd=tmp_path).returncode == 0
    same = gen_bundle("diff", "bundle.zip", "bundle-project.zip", cwd=tmp_path)
    assert (same.returncode, same.stdout) == (0, "The same.\n")
    assert "accepted by Codabench" in gen_bundle("check", "bundle-project.zip", cwd=tmp_path).stdout
    ran = gen_bundle("dry-run", "bundle-project.zip", "--engine", "process", "--trust", "--out", "ran", cwd=tmp_path)
    assert ran.returncode == 0
    (run,) = json.loads((tmp_path / "ran" / "dry-run.json").read_text())["runs"]
    assert run["scores"] == {"points": 1, "more": 2}
    shown = gen_bundle("preview", "bundle-project.zip", "--out", "preview", cwd=tmp_path)
    assert shown.returncode == 0
    assert "A small task" in (tmp_path / "preview" / "index.html").read_text(encoding="utf-8")


def test_a_build_waits_for_what_is_absent(tmp_path: Path) -> None:
    draft = drafts.new()
    del draft.files["ref/truth.txt"]
    done = gen_bundle("import", written(draft, tmp_path), "--out", "project", cwd=tmp_path)
    assert done.returncode == 1
    assert "not in the bundle: tasks[0].reference_data: ref; put its files into data/main/\n" in done.stderr
    refused = gen_bundle("./project", cwd=tmp_path)
    assert refused.returncode == 2
    assert "data/main" in refused.stderr
    (tmp_path / "gold" / "main").mkdir(parents=True)
    (tmp_path / "gold" / "main" / "truth.txt").write_text("a\n")
    assert gen_bundle("./project", "--data", "gold", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("is_folder", [False, True])
def test_the_build_of_a_bundle_names_the_verb(is_folder: bool, tmp_path: Path) -> None:
    path = written(drafts.new(), tmp_path)
    if is_folder:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(tmp_path / "folder")
        path = tmp_path / "folder"
    done = gen_bundle(path)
    assert done.returncode == 2
    assert f"Make a project of it: gen-bundle import {path}" in done.stderr


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

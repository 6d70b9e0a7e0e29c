"""Cases that were run on the worker of 1.32: the twin of that version must end as it did."""

import json
import re
import zipfile
from pathlib import Path
from typing import Literal

import pytest
import yaml

from gen_bundle.codabench.versions import PlatformVersion
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.dry_run.report import Results
from tests.engine import PYTHON_IMAGE
from tests.shared import shared_path

ROLES = ("scoring_program", "ingestion_program", "reference_data", "input_data")
# What the twin does not replay: images, limits that the worker does not enforce, a broken site, human approval.
ELSEWHERE = re.compile(r"image_|limit_|patch_|hitl_|reference_not_zip|__x\d")
# These look at what only containers have, or at the order of what both containers print.
CONTAINERS_ONLY = {"probe", "only_during_scoring"}
# The worker bends names that leave the folder into it; the twin refuses them, as research/platform.md says.
REFUSED_HERE = "submission_zip_links_bits_traversal"
SILENT = "Contact the Organizer(s) for more details."


def cases() -> list[str]:
    return sorted(
        path.stem
        for path in shared_path("corpus/worker/cases").glob("*.zip")
        if not ELSEWHERE.match(path.stem) and path.stem != REFUSED_HERE
    )


def bundle(case: str, folder: Path, *, in_containers: bool) -> tuple[Path, Path]:
    """The case as a bundle, and its submission; for processes its programs take relative paths, and do not sleep."""
    with zipfile.ZipFile(shared_path(f"corpus/worker/cases/{case}.zip")) as opened:
        for name in opened.namelist():
            content = opened.read(name)
            if name.endswith((".py", ".sh")) and not in_containers:
                content = re.sub(rb"time\.sleep\([\d.]+\)", b"None", content.replace(b"/app/", b"../"))
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
    options = json.loads((folder / "case.json").read_text())
    task = {role: role for role in ROLES if (folder / role).is_dir()}
    phase = {"index": 0, "name": "P", "start": "2020-01-01", "tasks": [0]}
    declared = {
        "version": 2,
        "title": case,
        "docker_image": PYTHON_IMAGE,
        "enable_detailed_results": bool(options.get("detailed")),
        "tasks": [{"index": 0, "name": "T", "ingestion_only_during_scoring": bool(options.get("only")), **task}],
        "phases": [{**phase, "execution_time_limit": options.get("limit", 600)}],
        "leaderboards": [{"title": "B", "key": "b", "columns": [{"title": "Accuracy", "key": "acc", "index": 0}]}],
    }
    (folder / "competition.yaml").write_text(yaml.safe_dump(declared))
    return folder, folder / "submission.zip"


def replay(case: str, tmp_path: Path, engine: Literal["docker", "process"]) -> Results:
    folder, submission = bundle(case, tmp_path / "bundle", in_containers=engine == "docker")
    out, version = tmp_path / "out", PlatformVersion.V1_32
    return dry_run(DryRunRequest(folder, out, [submission], version=version, trust=True), engine)


def agrees(case: str, results: Results) -> bool:
    """Status, text and scores are those that the worker sent."""
    outcome = json.loads(shared_path("corpus/worker/outcomes.json").read_text())[case]
    [run] = results.runs
    status, text = outcome["statuses"][-1]
    text = text.replace(SILENT, "See logs for more details.").rpartition("{")[2].rpartition("... ")[2]
    posted = [json.loads(body)["scores"] for body in outcome["scores_posted"]]
    first = run.message.partition(" (")[0].splitlines()[:1]  # of broken JSON the rest is Python's own, by its version
    return (
        run.status == status
        and (status == "Finished" or text.startswith(*first))
        and (run.scores is None or [run.scores] == posted)
        and (bool(posted) or run.scores is None)
    )


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in cases() if case not in CONTAINERS_ONLY])
def test_process_engine_ends_as_the_worker(case: str, tmp_path: Path) -> None:
    results = replay(case, tmp_path, "process")
    assert agrees(case, results), results.runs


def test_a_zip_that_leaves_its_folder_is_refused_here(tmp_path: Path) -> None:
    [run] = replay(REFUSED_HERE, tmp_path, "process").runs
    assert run.status == "Failed"
    assert "'../../escape.txt' leaves the folder with '..'" in run.message


@pytest.mark.slow
@pytest.mark.docker
@pytest.mark.usefixtures("container_engine")
@pytest.mark.parametrize("case", cases())
def test_container_engine_ends_as_the_worker(case: str, tmp_path: Path) -> None:
    results = replay(case, tmp_path, "docker")
    assert agrees(case, results), results.runs


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", ["code_ingestion_vs_submission_same_name", "submission_case_mac_folder", "code_ingestion_no_output"]
)
def test_the_scorer_finds_what_it_found_on_the_worker(case: str, tmp_path: Path) -> None:
    [run] = replay(case, tmp_path, "process").runs
    outcome = json.loads(shared_path("corpus/worker/outcomes.json").read_text())[case]
    printed = (tmp_path / "out" / run.phase / run.task / run.submission / "stdout.txt").read_text()
    assert printed == outcome["logs"]["scoring_stdout"]["text"]

"""Bundles with a recorded run on the real platform: the dry run must end as the platform did."""

import io
import zipfile
from pathlib import Path
from typing import Any, Literal

import pytest

from gen_bundle.codabench.versions import PlatformVersion
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from tests.engine import PYTHON_IMAGE
from tests.generator.dry_run.bundles import write_zip
from tests.shared import recorded_uploads

pytestmark = pytest.mark.slow


def runs_code(row: dict[str, Any]) -> bool:
    """Its ingestion program looks into /app; only containers have that."""
    return "code submissions" in row["about"]


def relative(bundle: bytes) -> bytes:
    """The bundle with programs that find their folders relative to themselves, since processes have no /app."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(bundle)) as old, zipfile.ZipFile(made, "w") as new:
        for member in old.infolist():
            content = old.read(member)
            if member.filename.endswith(".py"):
                content = content.replace(b"/app/", b"../")
            elif member.filename.endswith(".zip"):
                content = relative(content)
            new.writestr(member, content)
    return made.getvalue()


def outcomes(
    bundle: Path, engine: Literal["docker", "process"], tmp_path: Path, row: dict[str, Any]
) -> list[list[str]]:
    files = (
        {"model.py": "def predict(x):\n    return 1\n"}
        if runs_code(row) or "ingestion" in row["id"]
        else {"pred.txt": "1\n0\n1\n"}
    )
    submission = write_zip(tmp_path / "team.zip", files)
    request = DryRunRequest(
        bundle, tmp_path / "out", [submission], image=PYTHON_IMAGE, version=PlatformVersion.V1_25, trust=True
    )
    results = dry_run(request, engine)
    phases = dict.fromkeys(run.phase for run in results.runs)
    # On the platform a submission of several tasks is Finished whatever its tasks did.
    told = []
    for number, phase in enumerate(phases):
        runs = [run for run in results.runs if run.phase == phase]
        failed = runs[0].status == "Failed" and len(runs) == 1
        name = row["run"][number][0]
        told.append([name, f"Failed: {runs[0].message}" if failed else "Finished"])
    return told


def agrees(told: list[list[str]], row: dict[str, Any]) -> bool:
    """Names and statuses are the same, and our message begins with the platform's."""
    return len(told) == len(row["run"]) and all(
        ours[0] == theirs[0] and (ours[1] == theirs[1] if theirs[1] == "Finished" else ours[1].startswith(theirs[1]))
        for ours, theirs in zip(told, row["run"], strict=True)
    )


ROWS = [row for row in recorded_uploads() if row.get("later_basis") == "run" and row["format"] == "v2"]


@pytest.mark.parametrize("row", [row for row in ROWS if not runs_code(row)], ids=lambda row: row["id"])
def test_process_engine_ends_as_the_platform(row: dict[str, Any], tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.zip"
    bundle.write_bytes(relative(row["path"].read_bytes()))
    told = outcomes(bundle, "process", tmp_path, row)
    assert agrees(told, row), told


@pytest.mark.docker
@pytest.mark.usefixtures("container_engine")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_container_engine_ends_as_the_platform(row: dict[str, Any], tmp_path: Path) -> None:
    told = outcomes(row["path"], "docker", tmp_path, row)
    assert agrees(told, row), told

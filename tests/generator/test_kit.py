"""`python -m gen_bundle.kit` lets anything in an environment import the kit."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from gen_bundle import kit

CHECKED = """
from scoring_kit.submission_files import ReferenceModule
from scoring_kit.submission_files import SubmissionModule
from scoring_kit.results import Metric, TaskResult
import reference, submission
own_reference: ReferenceModule = reference
own_submission: SubmissionModule = submission
result: TaskResult = TaskResult({"a": Metric("no number", 1)})
"""
SUBMISSION = """
from scoring_kit.errors import Problems
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles

class Answers:
    entered = frozenset({"t"})

def read(files: SubmissionFiles, manifest: Manifest, problems: Problems) -> Answers:
    return Answers()
"""
REFERENCE = "def read(folder: str) -> int:\n    return 1\n"


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """The Python of an empty environment in which the kit is linked."""
    venv.create(tmp_path / "env", with_pip=False)
    (site,) = (tmp_path / "env").glob("lib/python*/site-packages")
    kit.link(site)
    return tmp_path / "env" / "bin" / "python"


def test_the_kit_is_imported_in_a_linked_environment_alone(linked: Path, tmp_path: Path) -> None:
    command = [str(linked), "-c", "import scoring_kit.results; print(scoring_kit.results.Metric(0.5, 3).value)"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (0, "0.5\n"), done.stderr
    next((tmp_path / "env").glob(f"lib/python*/site-packages/{kit.PATH_FILE}")).unlink()
    assert subprocess.run(command, capture_output=True, cwd=tmp_path, check=False).returncode != 0


@pytest.mark.slow
def test_a_package_is_checked_against_the_types_of_the_kit(linked: Path, tmp_path: Path) -> None:
    for name, text in (("checked", CHECKED), ("submission", SUBMISSION), ("reference", REFERENCE)):
        (tmp_path / f"{name}.py").write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(linked), "checked.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    faults = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert len(faults) == 2, done.stdout + done.stderr
    assert 'variable has type "ReferenceModule"' in faults[0]
    assert '"Metric" has incompatible type "str"' in faults[1]


def test_a_folder_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path / "none"))
    assert kit.main() == 2
    assert f"{tmp_path / 'none'}: No such file or directory. Expected a virtual" in capsys.readouterr().err

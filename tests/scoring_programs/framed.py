"""Runs a scoring package through the frame inside the test's own process: as `packed`, without the cost of a start."""

import io
import json
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from gen_bundle.build.package.programs import program_description
from gen_bundle.build.package.resolve import resolve
from gen_bundle.ground.resources import resource
from scoring_kit import frame
from tests.scoring_programs.packed import Outcome, outcome, run_program

Files = Mapping[str, str | bytes]


def score(
    tmp_path: Path,
    name: str,
    gold: Files,
    submission: Files,
    *,
    tasks: Sequence[str] | None = None,
    layout: str = "joint",
    phase: str | None = None,
) -> Outcome:
    """Score the files of a submission against the files of the reference data; without a phase details are full."""
    overrides = ("submission_rule=manual",) if layout == "tasks" else ()
    competition = resolve(resource("bundles") / name, layout=layout, overrides=overrides)
    scored = [task for task in competition.tasks if tasks is None or task.id in tasks]
    of_phase = next((one for one in competition.phases if one.id == phase), None)
    for folder in ("program", "input/ref", "input/res", "output"):
        (tmp_path / folder).mkdir(parents=True)
    description = json.dumps(program_description(competition, scored, of_phase))
    for place, file in competition.program_files.items():
        (tmp_path / "program" / place).parent.mkdir(exist_ok=True)
        shutil.copy(file, tmp_path / "program" / place)
    (tmp_path / "program" / "program.json").write_text(description, encoding="utf-8")
    write_files(tmp_path / "input" / "ref", gold)
    write_files(tmp_path / "input" / "res", submission)
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr):
        code = frame.main(tmp_path / "program", [str(tmp_path / "input"), str(tmp_path / "output")])
    return outcome(code, tmp_path / "output", stdout.getvalue(), stderr.getvalue())


def write_files(folder: Path, files: Files) -> Path:
    """Write files given by name and content; returns the folder, which is there also without files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def zipped(files: Files) -> bytes:
    """A zip of files given by name and content."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def run_without(
    tmp_path: Path, blocked: Sequence[str], name: str, gold: Files, answers: Files, **chosen: Any
) -> Outcome:
    """As `run_program`, on these files, where the modules `blocked` fail to import."""
    for folder, files in (("gold", gold), ("answers", answers)):
        write_files(tmp_path / folder, files)
    (tmp_path / "run").mkdir()
    environment = {"PYTHONPATH": str(blocking(tmp_path / "blocked", *blocked))}
    return run_program(
        tmp_path / "run", name, tmp_path / "gold", tmp_path / "answers", environment=environment, **chosen
    )


def blocking(folder: Path, *names: str) -> Path:
    """A folder for PYTHONPATH in which the modules `names` fail to import."""
    write_files(folder, {f"{name}.py": 'raise ImportError("blocked by the test")\n' for name in names})
    return folder

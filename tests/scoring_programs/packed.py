"""Runs a scoring package as its packed program runs: score.py beside program.json, folders for input and output."""

import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gen_bundle.build.package.programs import program_members
from gen_bundle.build.package.resolve import resolve
from gen_bundle.ground.resources import resource
from gen_bundle.ground.zips.writing import write_zip
from tests.forks import forked, run_script

TAKING_RESULTS = sorted(
    folder.parent.name for folder in resource("bundles").glob("*/bundle.yaml") if not resolve(folder.parent).takes_code
)
"""The bundled competitions whose scoring programs read what participants hand in; code is run by another one first."""


@dataclass(frozen=True)
class Outcome:
    """What a scoring program left: files are None where it wrote none."""

    exit_code: int
    scores: Any
    details: Any
    page: str | None
    stdout: str
    stderr: str


def run_program(
    tmp_path: Path,
    name: str,
    reference: Path,
    submission: Path,
    *,
    tasks: Sequence[str] | None = None,
    layout: str = "joint",
    options: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Outcome:
    """Pack the scoring program of the competition `name`, run it on `reference` and `submission`, read its outputs.

    `tasks` chooses one task's program in the layouts `tasks` and `separate`; `options` overrides options by their
    dotted names without the leading `options.`.
    """
    overrides = tuple(f"options.{key}={json.dumps(value)}" for key, value in (options or {}).items())
    competition = resolve(resource("bundles") / name, layout=layout, overrides=overrides)
    if layout == "separate":
        (task,) = tasks or ()
        competition = competition.only(task)
    part = next(part for part in competition.parts if tasks is None or part.task_ids == list(tasks))
    return run_unit(tmp_path, program_members(competition, part), reference, submission, environment)


def run_unit(
    tmp_path: Path,
    members: Mapping[str, bytes | Path],
    reference: Path,
    submission: Path,
    environment: Mapping[str, str] | None = None,
) -> Outcome:
    """Run a program given by its files, in a process that has the kit already."""
    program, given, output = tmp_path / "program", tmp_path / "input", tmp_path / "output"
    write_zip(tmp_path / "program.zip", members)
    with zipfile.ZipFile(tmp_path / "program.zip") as archive:
        archive.extractall(program)
    given.mkdir()
    (given / "ref").symlink_to(reference, target_is_directory=True)
    (given / "res").symlink_to(submission, target_is_directory=True)
    output.mkdir()
    stdout, stderr = tmp_path / "stdout", tmp_path / "stderr"
    exit_code = run_unpacked(program, [given, output], stdout, stderr, environment or {})
    return outcome(exit_code, output, stdout.read_text(encoding="utf-8"), stderr.read_text(encoding="utf-8"))


def outcome(exit_code: int, output: Path, stdout: str, stderr: str) -> Outcome:
    """What a program left in its folder for output."""

    def text(name: str) -> str | None:
        return (output / name).read_text(encoding="utf-8") if (output / name).exists() else None

    scores, details = (json.loads(text(name) or "null") for name in ("scores.json", "details.json"))
    return Outcome(exit_code, scores, details, text("detailed_results.html"), stdout, stderr)


def run_unpacked(
    program: Path, arguments: Sequence[str | Path], stdout: Path, stderr: Path, environment: Mapping[str, str]
) -> int:
    """Run an unpacked program in a process that has imported the kit, but nothing of the competition.

    That a packed program holds what it imports, the tests of dry runs show; that the kit imports no library, so that
    one that is blocked is met here, too, `test_light_imports`.
    """
    main = partial(run_script, [str(program / "score.py"), *map(str, arguments)], kept=["scoring_kit"])
    return forked(main, stdout, stderr, cwd=program, env={**os.environ, **environment})

"""Runs a scoring package's organiser verbs as a program, so that the press never imports a scorer."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gen_bundle.errors import UserError
from gen_bundle.resources import resource

TRACEBACK = "Traceback (most recent call last)"
FRAMES = 5
PREFACE = "The competition is not set up correctly."


@dataclass(frozen=True)
class ScoringPackage:
    """A scoring package by name, and the import root it lies in (the kit's own root is always searched, too).

    `option_places` tells where options stand in the declaration, by their dotted names, for messages about them.
    """

    name: str
    root: Path
    option_places: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def folder(self) -> Path:
        return self.root / self.name

    @property
    def is_own(self) -> bool:
        """Whether the organiser wrote it: it does not come with the tool, so that its bugs are theirs to mend."""
        return self.root != resource("scoring_programs")

    def call(self, verb: str, request: Mapping[str, Any]) -> Any:
        """Run an organiser verb of the package and return its answer.

        Raises:
            UserError: what the organiser must mend (reference data, options; a bug in a package of their own).
            RuntimeError: a package that comes with the tool failed.
        """
        kit_root = resource("scoring_programs")
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(self.root), str(kit_root)]), PYTHONUTF8="1")
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        if self.is_own:
            environment["SCORING_DEBUG"] = "1"  # whoever builds may see a bug whole
        done = subprocess.run(
            [sys.executable, "-m", f"{self.name}.organiser", verb],
            input=json.dumps(request, default=str),
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=environment,
            check=False,
        )
        if self.is_own and TRACEBACK in done.stderr:
            raise UserError(failure(self.name, f"organiser.py {verb}", done.stderr))
        if done.returncode in (1, 2):
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            raise UserError(*(self._placed(line) for line in lines if not line.startswith(PREFACE)))
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}.organiser {verb} ended with {done.returncode}:\n{done.stderr}")
        return json.loads(done.stdout)

    def _placed(self, message: str) -> str:
        """A message about an option, after the place where the option, or what it would belong to, stands."""
        name = message.split(":")[0]
        while name and name not in self.option_places:
            name = name.rpartition(".")[0]
        return f"{self.option_places[name]}: {message}" if name else message


def failure(package: str, what: str, stderr: str) -> str:
    """A traceback in few lines: what failed with which error, and the frames that lie in the package."""
    frames = re.findall(rf'File ".*/({re.escape(package)}/[^"]+)", line (\d+)(?:, in (\S+))?', stderr)
    places = [f"\n  {file}:{line}" + (f" in {function}" if function else "") for file, line, function in frames]
    return f"{package}/{what}: failed with {stderr.strip().splitlines()[-1]}{''.join(places[-FRAMES:])}"


def find_package(name: str, beside: Path) -> ScoringPackage:
    """The scoring package `name`: a folder beside the bundle.yaml first, then those that come with the tool."""
    for root in (beside, resource("scoring_programs")):
        if (root / name / "submission.py").is_file():
            return ScoringPackage(name, root)
    raise UserError(
        f"scoring_program: no scoring package {name!r} found. Expected a folder {name}/ with submission.py, "
        f"reference.py, organiser.py and one module a task beside bundle.yaml ({beside})."
    )

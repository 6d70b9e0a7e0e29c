"""Small bundles for dry runs. Their programs find their folders relative to themselves, so that every engine runs
them."""

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.dry_run.engines import Engine
from gen_bundle.dry_run.report import Results

COMMAND = "python3 /app/program/score.py"
COLUMN = {"title": "Accuracy", "key": "acc", "index": 0}
GOLD = {"truth.txt": "1 0 1 1"}
GOOD = {"pred.txt": "1 0 1 1"}
HALF = {"pred.txt": "1 0 0 0"}
# Without imports, which would take longer than all else.
ACCURACY = """\
truth = open("../input/ref/truth.txt").read().split()
pred = open("../input/res/pred.txt").read().split()
accuracy = sum(t == p for t, p in zip(truth, pred, strict=True)) / len(truth)
open("../output/scores.json", "w").write(f'{{"acc": {accuracy}}}')
"""


def writes(text: str, name: str = "scores.json") -> str:
    """A scorer that writes just this."""
    return f"open('../output/{name}', 'w', encoding='utf-8').write({text!r})\n"


@dataclass
class Bundle:
    """A bundle of one phase and one task, unless said otherwise.

    Attributes:
        sees: a folder of this machine that its program sees and can write, also where it is kept apart.
    """

    scorer: str = ACCURACY
    program: Mapping[str, str] = field(default_factory=dict)
    metadata: str | None = f"command: {COMMAND}"
    task: Mapping[str, Any] = field(default_factory=dict)
    phase: Mapping[str, Any] = field(default_factory=dict)
    top: Mapping[str, Any] = field(default_factory=dict)
    leaderboard: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[Mapping[str, Any], ...] = (COLUMN,)
    folders: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    sees: Path | None = None

    def write(self, folder: Path) -> Path:
        program = {"score.py": self.scorer, **self.program}
        if self.metadata is not None:
            program["metadata.yaml"] = self.metadata
        if self.sees is not None:
            program["program.json"] = json.dumps({"options": {"cache": str(self.sees)}})
        for name, files in {"program": program, "gold": GOLD, **self.folders}.items():
            write_files(folder / name, files)
        task = {"index": 0, "id": "main", "name": "Main", "scoring_program": "program", "reference_data": "gold"}
        phase = {"index": 0, "id": "test", "name": "Test", "start": "2020-01-01 00:00:00", "tasks": [0]}
        content = {
            "version": 2,
            "title": "Small",
            "docker_image": "local/python:3.11",
            "tasks": [{**task, **self.task}],
            "phases": [{**phase, **self.phase}],
            "leaderboards": [
                {
                    "title": "Results",
                    "key": "main",
                    "submission_rule": "Force_Latest_Multiple",
                    "columns": list(self.columns),
                    **self.leaderboard,
                }
            ],
            **self.top,
        }
        (folder / "competition.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
        return folder


def write_files(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def write_zip(file: Path, files: Mapping[str, str]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(file, "w") as opened:
        for name, text in files.items():
            opened.writestr(name, text)
    return file


def replay_one(
    bundle: Bundle, tmp_path: Path, engine: Engine, files: Mapping[str, str] = GOOD, **wishes: Any
) -> Results:
    """A dry run of one submission, `team`."""
    submission = write_zip(tmp_path / "team.zip", files)
    return dry_run(DryRunRequest(bundle.write(tmp_path / "bundle"), tmp_path / "out", [submission], **wishes), engine)


def printed(tmp_path: Path, log: str = "stdout.txt") -> str:
    """A log of that run."""
    return (tmp_path / "out/test/main/team" / log).read_text()

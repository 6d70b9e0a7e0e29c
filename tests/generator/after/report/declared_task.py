"""A declared competition for tests of the ranking: gold and the teams' answers as rows of CSV files."""

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from gen_bundle.cli import root
from gen_bundle.ground.resources import competitions
from tests.yaml_text import dumped

Rows = Iterable[Mapping[str, object]]
Files = Mapping[str, Rows]


def declared_task(folder: Path, submission: Any, columns: list[dict[str, Any]], **more: Any) -> Path:
    """Write a competition with one task, `t`, and one phase, `test`; returns its folder."""
    declaration = {
        "title": "Declared",
        "logo": "logo.png",
        "docker_image": "docker.io/example/scoring:1",
        "scoring_program": "declared",
        "pages": [{"title": "Overview", "file": "overview.md.j2"}],
        "terms": "overview.md.j2",
        "phases": [{"id": "test", "name": "Test", "start": "2096-01-01 AoE"}],
        "submission": submission,
        "tasks": [{"id": "t", "name": "T", "columns": columns}],
        **more,
    }
    folder.mkdir()
    (folder / "overview.md.j2").write_text("# Overview\n")
    (folder / "logo.png").write_bytes((competitions()["clarity2026"] / "logo.png").read_bytes())
    (folder / "bundle.yaml").write_text(dumped(declaration), encoding="utf-8")
    return folder


def table(key: str, *fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A table of a submission, with the fields that are no key."""
    named = [{"field": key, "type": "string"}, *fields]
    return {"key": key, "fields": [{"required": True, "meaning": "A field."} | field for field in named], **more}


def write(folder: Path, files: Files) -> None:
    """Write rows as CSV files."""
    for name, rows in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        listed = list(rows)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(listed[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(listed)


def ranked(folder: Path, gold: Files, teams: Mapping[str, Files], *options: object) -> Result:
    """Run `gen-bundle rank` over the answers of all teams."""
    write(folder / "data" / "test", gold)
    for team, files in teams.items():
        write(folder / "teams" / team, files)
    arguments = ["rank", folder, "--submissions", folder / "teams", "--data", folder / "data", "--phase", "test"]
    return CliRunner().invoke(root, [*map(str, [*arguments, *options])])


def reported(folder: Path, gold: Files, teams: Mapping[str, Files], resamples: int = 200) -> tuple[dict[str, Any], str]:
    """What report.json says of the task, and the text of report.html."""
    done = ranked(folder, gold, teams, "--report", folder / "report", "--resamples", resamples)
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads((folder / "report" / "report.json").read_text())["tasks"]["t"]
    return found, (folder / "report" / "report.html").read_text(encoding="utf-8")

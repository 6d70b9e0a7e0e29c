"""Bundles that score in a moment, and folders of submissions to them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from gen_bundle.cli import root
from tests.generator.dry_run.bundles import ACCURACY, Bundle, write_zip

OLD_GOLD = {"truth.txt": "1 0 1 1"}
NEW_GOLD = {"truth.txt": "1 0 1 0"}
TEAMS = {
    "ant": "1 0 1 1",  # 1.0, then 0.75
    "bee": "1 0 0 0",  # 0.5, then 0.75
    "cat": "0 1 0 1",  # 0.25, then 0.0
    "dog": "1 1 1 1",  # 0.75, then 0.5
    "eel": "1 0",  # too short: the program fails
}
"""The predictions of each team; the gold has four labels, the last of which is another one in the new gold."""
NOWHERE = Path("nowhere")
OPTIONS = ["--phase", "test", "--engine", "process", "--trust"]


def bundles(folder: Path, **more: Any) -> tuple[Path, Path]:
    """The old bundle and the new one, which differ in one label of the gold."""
    old, new = folder / "old", folder / "new"
    Bundle(folders={"gold": OLD_GOLD}, **more).write(old)
    Bundle(folders={"gold": NEW_GOLD}, **more).write(new)
    return old, new


def submissions(folder: Path, teams: Mapping[str, str] = TEAMS) -> Path:
    """A zip for each team."""
    for team, predictions in teams.items():
        write_zip(folder / "teams" / f"{team}.zip", {"pred.txt": predictions})
    return folder / "teams"


def rescored(*arguments: object) -> Result:
    """`gen-bundle rescore` with these arguments."""
    return CliRunner().invoke(root, ["rescore", *map(str, arguments)])


def content(out: Path) -> dict[str, Any]:
    """The content of rescore.json."""
    found: dict[str, Any] = json.loads((out / "rescore.json").read_text(encoding="utf-8"))
    return found


def outputs(out: Path) -> dict[str, bytes]:
    """The bytes of all outputs."""
    return {name: (out / name).read_bytes() for name in ("rescore.json", "changes.csv", "rescore.html")}


def counting(counter: Path, scorer: str) -> str:
    """A scorer that leaves a line in a file whenever it runs."""
    return f"with open({str(counter)!r}, 'a') as count: count.write('run\\n')\n{scorer}"


def waiting(counter: Path, go: Path) -> str:
    """A scorer that counts, and from its third run on waits until there is the file `go`."""
    wait = (
        f"import os, time\nwhile len(open({str(counter)!r}).readlines()) > 2 and not os.path.exists({str(go)!r}):\n"
        "    time.sleep(0.02)\n"
    )
    return counting(counter, wait + ACCURACY)


def runs_of(counter: Path) -> int:
    """How often such a scorer ran."""
    return len(counter.read_text().splitlines()) if counter.exists() else 0

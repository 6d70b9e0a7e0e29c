"""Does what a page of the documentation says: writes its files, applies its changes, runs its commands."""

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.generator.cli.running import gen_bundle

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
Run = Callable[[list[str], Path], "subprocess.CompletedProcess[str]"]
BLOCK = re.compile(r"^```(\w+)(?: title=\"(\S+)\")?\n(.*?)^```", re.MULTILINE | re.DOTALL)


TABLE_ROW = re.compile(r"^\| (.+) \|$", re.MULTILINE)


def tables(text: str) -> list[list[str]]:
    """The cells of all rows of all tables, without the lines below their headers."""
    rows = [re.split(r"(?<!\\) \| ", row) for row in TABLE_ROW.findall(text)]
    return [row for row in rows if not set("".join(row)) <= set("-:| ")]


def follow(page: Path, folder: Path, run: Run | None = None) -> int:
    """Go through a page's blocks in their order, within a folder.

    A `diff` changes the file of its title, `yaml` with a title adds to it, any other language writes it. `sh` is run
    line by line (by `run`, if one is given), and `text` is part of the last command's output. Other blocks without a
    title are only to be read.

    Returns:
        How many commands were run.
    """
    output, commands = "", 0
    for language, title, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "sh":
            for command in text.splitlines():
                done = (run or run_here)(shlex.split(command), folder)
                assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
                output = re.sub(r" +$", "", done.stdout + done.stderr, flags=re.MULTILINE)
                commands += 1
        elif language == "text":
            assert text in output
        elif title:
            file = folder / title
            before = file.read_text(encoding="utf-8") if file.exists() else ""
            after = _changed(before, text) if language == "diff" else before + text if language == "yaml" else text
            file.write_text(after, encoding="utf-8")
    return commands


def run_here(command: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command of this process's Python and gen-bundle."""
    if command[0] == "gen-bundle":
        return gen_bundle(*command[1:], cwd=folder)
    here = [sys.executable, *command[1:]] if command[0] == "python" else command
    return subprocess.run(here, cwd=folder, capture_output=True, text=True, check=False)


def _changed(text: str, diff: str) -> str:
    """The text with the lines of a diff in place of those that it takes away; these must be there once."""
    lines = diff.splitlines(keepends=True)
    old, new = ("".join(line[1:] for line in lines if line[0] in kinds) for kinds in (" -", " +"))
    assert text.count(old) == 1, f"not there once:\n{old}"
    return text.replace(old, new)

"""The tutorial is true: its files are written, its commands run in their order, and they say what it says."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_tutorial_from_its_beginning_to_its_end(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    said = ""
    blocks = [match.groups() for match in BLOCK.finditer(TUTORIAL)]
    assert [language for language, *_ in blocks] == ["csv", "sh", "text", "sh", "yaml", "sh", "sh", "sh"]
    for language, file, text in blocks:
        if language == "csv":
            assert text == (ROOT / "docs" / file).read_text(encoding="utf-8")
            shutil.copy(ROOT / "docs" / file, tmp_path)
        elif language == "yaml":
            with (tmp_path / file).open("a", encoding="utf-8") as declaration:
                declaration.write(text)
        elif language == "text":
            assert text in said
        else:
            for command in text.splitlines():
                done = subprocess.run(
                    shlex.split(command), cwd=tmp_path, capture_output=True, text=True, env=environment, check=False
                )
                assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
                said = done.stderr
    assert "mcc" in (tmp_path / "dry-run-again" / "dry-run.json").read_text(encoding="utf-8")
    for named in ("dry-run/test/joint/majority/output/detailed_results.html", "preview/index.html"):
        assert named in TUTORIAL
        assert (tmp_path / named).is_file()

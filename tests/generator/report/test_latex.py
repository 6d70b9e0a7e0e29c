"""report.tex compiles as it is."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.generator.report.shared_task import rank, shared_task, submissions

NAMES = ["Ahead", "50 % & #1_$x^2$ {~} \\", "中文队 ☃ é ß ÷ „x“", "<b>Bold | `c`"]


@pytest.mark.slow
def test_the_document_compiles(tmp_path: Path) -> None:
    if shutil.which("latexmk") is None:
        pytest.skip("no latexmk: apt-get install latexmk texlive-latex-recommended")
    competition = shared_task(tmp_path, 40)
    teams = submissions(competition, {name: 0.9 - 0.2 * number for number, name in enumerate(NAMES)})
    folder = tmp_path / "report"
    assert rank(competition, teams, "--report", folder, "--resamples", 200).exit_code == 0
    arguments = ["latexmk", "-pdf", "-halt-on-error", "-interaction=nonstopmode", "report.tex"]
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert (folder / "report.pdf").read_bytes().startswith(b"%PDF")
    log = (folder / "report.log").read_text(errors="replace")
    assert "LaTeX Warning: Reference" not in log
    source = (folder / "report.tex").read_text(encoding="utf-8")
    assert r"\toprule" in source
    assert r"50 \% \& \#1\_\$x\textasciicircum{}2\$" in source

"""Every example of docs/declared.md and docs/metrics.md that shows a score has it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from scoring_kit.errors import SubmissionError
from tests.scoring_programs.declared.declaring import options_of, score

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = re.compile(
    r"(?:```python\n# metrics\.py\n(?P<code>[^`]*)```\n\n)?```yaml\n(?P<yaml>[^`]*)```\n\n"
    r"```text\n(?P<head>gold[^\n]*(?:score|refused:) [^\n]*)\n(?P<rows>[^`]*)```"
)
HEAD = re.compile(r"(?P<gold>gold\.\w+) +(?P<file>predictions\.\w+), (?:score (?P<score>\S+)|refused: (?P<refused>.+))")
EXAMPLES = [
    pytest.param(match, id=f"{page}:{(DOCS / page).read_text(encoding='utf-8')[: match.start()].count(chr(10)) + 1}")
    for page in ("declared.md", "metrics.md")
    for match in EXAMPLE.finditer((DOCS / page).read_text(encoding="utf-8"))
]


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 65


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_has_the_score_that_it_shows(example: re.Match[str], tmp_path: Path) -> None:
    declared: dict[str, Any] = yaml.safe_load(example["yaml"])
    head = HEAD.fullmatch(example["head"])
    assert head is not None
    at = head.start("file")
    rows = example["rows"].splitlines()
    gold = "".join(f"{row[:at].rstrip()}\n" for row in rows if row[:at].strip())
    answers = "".join(f"{row[at:]}\n" for row in rows if row[at:].strip())
    (tmp_path / "metrics.py").write_text(example["code"] or "")
    columns = declared.pop("columns", None) or [{"key": "score", "metric": declared.pop("metric")}]
    fields = declared.pop("fields")
    if "key" not in declared:
        declared["key"] = "id"
        fields = [{"field": "id", "type": "string"}, *fields]
    submission = {"file": head["file"], "fields": fields, **declared}
    tasks = [{"id": "t", "columns": columns}]
    options = options_of({"submission": submission, "reference": {"file": head["gold"]}, "tasks": tasks}, tmp_path)
    for check in options.get("checks", {}).values():
        check["file"] = str(tmp_path / check["file"])
    if head["refused"]:
        with pytest.raises(SubmissionError, match=re.escape(head["refused"])):
            score(options, {head["gold"]: gold}, {head["file"]: answers}, tmp_path)
        return
    found = score(options, {head["gold"]: gold}, {head["file"]: answers}, tmp_path)
    assert round(found.value(columns[0]["key"]), 4) == float(head["score"])

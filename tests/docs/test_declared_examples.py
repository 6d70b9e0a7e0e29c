"""Every example of docs/declared.md, docs/any-file.md and docs/metrics.md that shows a score has it."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gen_bundle.declaration.source import parse_value
from scoring_kit.errors import SubmissionError
from tests.docs.pages import DOCS
from tests.scoring_programs.declared.arrays_as_files import npy
from tests.scoring_programs.declared.declaring import options_of, score

EXAMPLE = re.compile(
    r"(?:```python\n# (?P<file>\w+\.py)\n(?P<code>[^`]*)```\n\n)?```yaml\n(?P<yaml>[^`]*)```\n\n"
    r"```text\n(?P<head>gold[^\n]*(?:score|refused:) [^\n]*)\n(?P<rows>[^`]*)```"
)
HEAD = re.compile(r"(?P<names>\S+(?: {2,}\S+)*), (?:score (?P<score>\S+)|refused: (?P<refused>.+))")
EXAMPLES = [
    pytest.param(match, id=f"{page}:{(DOCS / page).read_text(encoding='utf-8')[: match.start()].count(chr(10)) + 1}")
    for page in ("declared.md", "any-file.md", "metrics.md")
    for match in EXAMPLE.finditer((DOCS / page).read_text(encoding="utf-8"))
]


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 65


def side_by_side(names: str, rows: str) -> dict[str, str]:
    """Name → text of files that are shown side by side; a row that is blank in a file's part is not in it."""
    starts = [match.start() for match in re.finditer(r"\S+", names)]
    files = {}
    for name, start, end in zip(names.split(), starts, [*starts[1:], None], strict=True):
        parts = (row[start:end].rstrip() for row in rows.splitlines())
        files[name] = "".join(f"{part}\n" for part in parts if part)
    return files


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_has_the_score_that_it_shows(example: re.Match[str], tmp_path: Path) -> None:
    declared: dict[str, Any] = parse_value(example["yaml"])
    head = HEAD.fullmatch(example["head"])
    assert head is not None
    files = side_by_side(head["names"], example["rows"])
    (of_gold, *sent) = files
    contents: dict[str, str | bytes] = {}
    for name, text in files.items():
        contents[name] = npy(np.loadtxt(io.StringIO(text))) if name.endswith(".npy") else text
    gold = {of_gold: contents.pop(of_gold)}
    (tmp_path / (example["file"] or "metrics.py")).write_text(example["code"] or "")
    columns = declared.pop("columns", None) or [{"key": "score", "metric": declared.pop("metric")}]
    fields = declared.pop("fields")
    if "key" not in declared:
        declared["key"] = "id"
        fields = [{"field": "id", "type": "string"}, *fields]
    reference = {"file": of_gold, **declared.pop("reference", {})}
    submission = {"file": sent[0], "fields": fields, **declared}
    tasks = [{"id": "t", "columns": columns}]
    options = options_of({"submission": submission, "reference": reference, "tasks": tasks}, tmp_path)
    if head["refused"]:
        with pytest.raises(SubmissionError, match=re.escape(head["refused"])):
            score(options, gold, contents, tmp_path)
        return
    found = score(options, gold, contents, tmp_path)
    assert round(found.value(columns[0]["key"]), 4) == float(head["score"])

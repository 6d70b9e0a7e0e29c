"""Mistakes that organisers make are answered in full: the place, the cause, and what to do."""

import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.generator.cli.running import gen_bundle

pytestmark = pytest.mark.usefixtures("kept_organisers")
MISTAKES = Path(__file__).with_name("mistakes.jsonl")
"""One a line: edits to a project that `new` has written, or words typed beside it, and the answer as patterns."""
CASES: list[dict[str, Any]] = [json.loads(line) for line in MISTAKES.read_text(encoding="utf-8").splitlines()]
ANSWERED_HALF = {
    "public column unknown": "a column that no gold has may be declared public",
    "mean of unknown": "an unknown way to compute a column is not answered with `computation`",
}
"""What is not answered in full yet, and why."""
WORDS = ["good", "bad", "fine", "awful", "the", "a", "movie", "plot", "actor", "was", "very", "not", "great", "boring"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `gold.csv`, the project `p` that `new` makes of it, and its bundle."""
    folder, drawn = tmp_path_factory.mktemp("mistakes"), random.Random(3)
    rows = ["id,lang,text,label,intensity"]
    for i in range(60):
        text, label = " ".join(drawn.choices(WORDS, k=9)), drawn.choice(["neg", "neu", "pos"])
        rows.append(f"d{i:03d},{['en', 'de', 'es'][i % 3]},{text} {i},{label},{drawn.random():.2f}")
    (folder / "gold.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    answers = ["--answer", "label", "--answer", "intensity=number", "--public", "lang", "--public", "text"]
    made = gen_bundle(
        "new", "p", "--gold", "gold.csv", "--key", "id", *answers, "--split", "40:60", "--yes", cwd=folder
    )
    assert made.returncode == 0, made.stderr
    assert gen_bundle("p", cwd=folder).returncode == 0
    return folder


def make(folder: Path, what: str, name: str, old: str, new: str = "", encoding: str = "utf-8") -> None:
    """Make an edit of the table."""
    path = folder / name
    if what == "move":
        path.rename(folder / old)
    elif what == "copy":
        shutil.copyfile(path, folder / old)
    elif what == "remove":
        path.unlink()
    elif what == "content":
        path.write_bytes(old.encode(new or encoding))
    else:
        before = path.read_text(encoding="utf-8")
        if what == "replace":
            after = before.replace(old, new, 1)
        else:
            after = re.sub(old, new, before, count=int(what == "first"))
        assert after != before
        path.write_bytes(after.encode(encoding))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=[case["done"] for case in CASES])
def test_a_mistake_is_answered(case: dict[str, Any], project: Path, tmp_path: Path) -> None:
    shutil.copytree(project, tmp_path, dirs_exist_ok=True)
    for edit in case.get("edits", ()):
        make(tmp_path / "p", *edit)
    said = gen_bundle(*case.get("command", ["p"]), cwd=tmp_path).stderr
    answer = (case["place"], case["cause"], case["repair"])
    lacking = [pattern for pattern in answer if not re.search(pattern, said, re.DOTALL | re.MULTILINE)]
    assert bool(lacking) == (case["done"] in ANSWERED_HALF), said

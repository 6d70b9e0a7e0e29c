"""docs/gold-data.md says what the scoring packages read and which options they have."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from are2007 import reference as are
from clarity2026 import reference as clarity
from clarity2026.submission import CLARITY_LABELS
from clpsych2025 import gold_files
from clpsych2025.reference import REQUIRED
from process2025 import reference as process
from process2025.submission import CLASSES, MMSE_MAX
from seedev2016 import reference as seedev
from tests.docs.pages import DOCS, ROOT, tables

TEXT = (DOCS / "gold-data.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))
COMPETITIONS = sorted(path.parent.name for path in ROOT.glob("bundles/*/bundle.yaml"))


def declared_options(competition: str) -> dict[str, Any]:
    """The options of a competition's bundle.yaml, those within a group as `group.name`."""
    declaration = yaml.safe_load((ROOT / "bundles" / competition / "bundle.yaml").read_text(encoding="utf-8"))
    flat: dict[str, Any] = {}
    for name, value in (declaration.get("options") or {}).items():
        flat |= {f"{name}.{key}": one for key, one in value.items()} if isinstance(value, Mapping) else {name: value}
    return flat


def test_every_competition_has_a_section() -> None:
    assert sorted(SECTIONS) == COMPETITIONS


@pytest.mark.parametrize("competition", COMPETITIONS)
def test_options_and_their_defaults(competition: str) -> None:
    rows = [row for row in tables(SECTIONS[competition]) if len(row) == 4 and row[0] != "Option"]
    written = {row[0].strip("`"): yaml.safe_load(row[1].strip("`")) for row in rows}
    assert written == declared_options(competition)
    assert ("There are no options." in SECTIONS[competition]) == (not written)


def test_the_choices_of_options() -> None:
    values = {row[0].strip("`"): row[2] for row in tables(SECTIONS["clpsych2025"]) if len(row) == 4}
    for name, choices in REQUIRED.items():
        assert re.findall(r"`(\S+)`", values[name]) == list(choices)


def test_the_annotation_file_is_one(tmp_path: Any) -> None:
    (example,) = re.findall(r"```json\n(.*?)```", SECTIONS["clpsych2025"], re.DOTALL)
    file = tmp_path / "t1.json"
    file.write_text(example, encoding="utf-8")
    gold, warnings = gold_files.gold_of([file])
    assert warnings == []
    assert set(gold_files.TIMELINE_KEYS) == set(json.loads(example))
    level = gold["t1"]["timeline_level"]
    assert level["adaptive_spans"]
    assert level["maladaptive_spans"]


def test_the_names_of_columns_and_files() -> None:
    expected = {
        "clarity2026": [
            clarity.FILE, clarity.ID, clarity.CLARITY, clarity.EVASION, *clarity.ANNOTATORS, *CLARITY_LABELS
        ],
        "process2025": [
            *(form.file for form in (process.GOLD, process.RELEASED)),
            *(name for form in (process.GOLD, process.RELEASED) for name in (form.id, form.mmse)),
            process.CLASS, process.PART, process.DEVELOPMENT, *CLASSES, f"0 to {MMSE_MAX:g}",
        ],
        "seedev2016": [f"<document>{suffix}" for suffix in seedev.SUFFIXES],
        "are2007": [f"<text>{suffix}" for suffix in (are.INPUT, are.KEY)],
    }  # fmt: skip
    for competition, names in expected.items():
        assert [name for name in names if name not in SECTIONS[competition]] == []

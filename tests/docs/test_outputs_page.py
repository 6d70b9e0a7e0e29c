"""docs/outputs.md is what the types say."""

import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_is_what_the_types_say() -> None:
    page = (DOCS / "outputs.md").read_text(encoding="utf-8")
    assert page == runpy.run_path(str(DOCS / "make_outputs.py"))["page"](), "write it anew: python docs/make_outputs.py"

"""docs/cli.md is what the commands say."""

import runpy
from pathlib import Path

from gen_bundle.cli import VERBS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_is_what_the_commands_say() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert page == runpy.run_path(str(DOCS / "make_cli.py"))["page"](), "write it anew: python docs/make_cli.py"
    assert all(f"\n## {verb}\n" in page for verb in VERBS)

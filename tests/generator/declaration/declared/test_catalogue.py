"""docs/metrics.md says what the table of metrics says."""

from pathlib import Path

from gen_bundle.declaration.declared.catalogue import catalogue

ROOT = Path(__file__).resolve().parents[4]


def test_the_page_is_current() -> None:
    page = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    assert page == catalogue(), "run `python -m gen_bundle.declaration.declared.catalogue > docs/metrics.md`"

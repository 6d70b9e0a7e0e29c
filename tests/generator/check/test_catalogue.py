"""docs/checks.md and --explain say what the rules say."""

from pathlib import Path

import pytest

from gen_bundle.check.catalogue import catalogue, explain
from gen_bundle.check.registry import REGISTRY
from gen_bundle.errors import UserError

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_is_current() -> None:
    page = (ROOT / "docs/checks.md").read_text(encoding="utf-8")
    assert page == catalogue(), "run `python -m gen_bundle.check.catalogue > docs/checks.md`"


def test_every_rule_is_explained() -> None:
    text = catalogue()
    for rule in REGISTRY.values():
        assert f"### {rule.id}\n" in text
        assert rule.title
        assert rule.consequence.endswith((".", "`", "!"))
        assert rule.repair.endswith(".")
        assert rule.topic.source


def test_explain_says_all_of_one_rule() -> None:
    text = explain("phases-overlap")
    rule = REGISTRY["phases-overlap"]
    assert all(part in text for part in (rule.id, "error", "refused", rule.consequence, rule.repair, rule.topic.source))


def test_an_example_is_explained_and_belongs_to_no_repair() -> None:
    rule = REGISTRY["date-time-dropped"]
    assert "  example:      not `start: 2031-01-31 12:00:00`, but" in explain(rule.id)
    assert f"- Example: {rule.example}\n" in catalogue()
    assert "Example" not in rule.repair
    assert "example:" not in explain("task-unused")


def test_explain_suggests_the_nearest_rule() -> None:
    with pytest.raises(UserError, match="phases-overlap"):
        explain("phase-overlap")

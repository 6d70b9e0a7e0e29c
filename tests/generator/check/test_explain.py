"""--explain, and the site's page of rules, say what the rules say."""

import runpy

import pytest

from gen_bundle.check.explain import explain
from gen_bundle.check.registry import REGISTRY
from gen_bundle.ground.errors import UserError
from tests.docs.pages import DOCS

PAGE = runpy.run_path(str(DOCS / "make_checks.py"))["page"]()


def test_all_rules_are_listed() -> None:
    listed = explain("")
    assert all(f"\n  {rule.id} " in listed for rule in REGISTRY.values())


def test_every_rule_is_explained() -> None:
    for rule in REGISTRY.values():
        assert f"### {rule.id}\n" in PAGE
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
    assert f"- Example: {rule.example}\n" in PAGE
    assert "Example" not in rule.repair
    assert "example:" not in explain("task-unused")


def test_explain_suggests_the_nearest_rule() -> None:
    with pytest.raises(UserError, match="phases-overlap"):
        explain("phase-overlap")

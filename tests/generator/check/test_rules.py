"""Every rule, with a bundle that triggers it and one that just does not."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gen_bundle.check.registry import REGISTRY, Problem, Topic
from gen_bundle.check.run import load_rules
from tests.generator.check.cases import archive, content, structure
from tests.generator.check.drafts import Draft, new, old

load_rules()
CASES = {**archive.CASES, **content.CASES, **structure.CASES}
# A sound bundle of the old format is still of the old format; there is no nearer miss than the new one.
NEW_INSTEAD: dict[str, Callable[..., Draft]] = {"old-format": new}


@pytest.mark.parametrize("rule_id", sorted(REGISTRY))
def test_rule_finds_what_it_is_for_and_no_more(rule_id: str, tmp_path: Path) -> None:
    case = CASES[rule_id]
    found = [finding for finding in case.base(case.trigger).check(tmp_path).findings if finding.id == rule_id]
    assert found
    assert all(finding.severity == REGISTRY[rule_id].effect.severity for finding in found)
    assert all(finding.what and finding.file for finding in found)
    near = NEW_INSTEAD.get(rule_id, case.base)(case.near)
    assert rule_id not in [finding.id for finding in near.check(tmp_path).findings]


def test_every_case_belongs_to_a_rule() -> None:
    assert set(CASES) == set(REGISTRY)


@pytest.mark.parametrize("base", [new, old])
def test_nothing_is_said_of_a_sound_bundle(base: Callable[[], Draft], tmp_path: Path) -> None:
    report = base().check(tmp_path)
    assert report.later == "ok"
    assert {finding.id for finding in report.findings} <= {"old-format"}


def test_a_rule_is_registered_once() -> None:
    with pytest.raises(ValueError, match="two rules are called leak"):

        @Topic("Leaks", source="").note("a leak")
        def _leak(_: object) -> list[Problem]:
            return []

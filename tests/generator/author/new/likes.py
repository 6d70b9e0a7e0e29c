"""Competitions like real tasks, and the scores that the makers of their data say they have."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.author.new.project import Place, new_like
from tests.bundles.replayed import files_of
from tests.scoring_programs.declared.real_tasks.data import SEED
from tests.scoring_programs.declared.real_tasks.making import MAKERS, team


def made_like(name: str, folder: Path) -> Path:
    """The competition like a real task, which says so and has its example as data."""
    competition = new_like(Place("mine", folder), name)
    assert f"# Declared like {name}: " in (competition / "bundle.yaml").read_text(encoding="utf-8")
    assert files_of(competition / "example") == files_of(competition / "data")
    return competition


def assert_scores_of_maker(name: str, found: Mapping[Any, Mapping[str, Any]]) -> None:
    """The one baseline of such a competition has the scores that libraries give its answers."""
    (values,) = found.values()
    expected = MAKERS[name](team(SEED, "random"))[2]
    assert {key: values[key] for key in expected} == pytest.approx(expected, abs=5e-5)  # four decimals are shown

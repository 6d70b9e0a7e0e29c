"""What pyproject.toml asks for is what the lists ask for that the locks are made from."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
BUILDING = {"editables", *(re.split("[<>=]", name)[0] for name in PROJECT["build-system"]["requires"])}


def names(requirements: Iterable[str]) -> set[str]:
    return {re.split("[<>=]", requirement)[0] for requirement in requirements}


def listed(file: str) -> set[str]:
    """The requirements of a list and of those that it includes."""
    lines = (ROOT / "requirements" / file).read_text(encoding="utf-8").splitlines()
    included = [listed(line.removeprefix("-r ")) for line in lines if line.startswith("-r ")]
    return set().union({line for line in lines if line and not line.startswith(("#", "-r "))}, *included)


def test_the_programs_own_dependencies() -> None:
    assert names(PROJECT["project"]["dependencies"]) == names(listed("base.in")) - BUILDING


@pytest.mark.parametrize(
    ("extra", "file", "beside"),
    # torch stays outside the locks: which build is right depends on the machine
    [
        ("score", "metrics.in", set()),
        ("report", "report.in", set()),
        ("cluster", "cluster.in", set()),
        ("models", "models.in", {"torch"}),
        ("models", "models-tf5.in", {"torch"}),
    ],
)
def test_an_extra_brings_what_its_lock_brings(extra: str, file: str, beside: set[str]) -> None:
    assert names(EXTRAS[extra]) == names(listed(file)) | beside

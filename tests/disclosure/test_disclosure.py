"""What N submissions of a phase find out about its gold: docs/disclosure.md says it, and this holds it true."""

import json
from pathlib import Path

import pytest

from tests.disclosure.attacks import ATTACKS
from tests.disclosure.table import MEMORIES, documented, row

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_finds_what_the_document_says(tmp_path: Path, name: str) -> None:
    sizes = json.loads(MEMORIES.read_text(encoding="utf-8"))[name]
    found = row(ATTACKS[name], sizes, tmp_path)
    assert documented()[name] == [found[0].of, *(one.items for one in found)]


def test_every_attack_is_documented() -> None:
    assert list(documented()) == list(ATTACKS)

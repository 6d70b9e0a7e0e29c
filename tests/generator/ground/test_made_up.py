"""Gold that comes with the tool is known wherever a copy of it lies."""

import pytest

from gen_bundle.author.new.recipes import RECIPES
from gen_bundle.ground.made_up import is_made_up
from gen_bundle.ground.resources import MADE_UP, resource


def said(name: str, content: bytes) -> bool:
    return is_made_up(name, len(content), lambda: content)


def test_a_file_that_comes_with_the_tool_by_its_name_and_content() -> None:
    shipped = resource("bundles") / "process2025" / "data"
    gold, given = (shipped / "test" / "gold.csv").read_bytes(), next((shipped / "public").rglob("*.csv"))
    assert said("gold.csv", gold)
    assert not said("gold.csv", gold + b"\n")
    assert not said("gold.csv", gold.replace(b"0", b"1"))
    assert not said("test.csv", gold)
    assert not said(given.name, given.read_bytes())


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_part_of_a_recipe_and_not_one_of_another_answer(recipe: str) -> None:
    (gold,) = (MADE_UP / recipe).glob("gold.*")
    header, *rows = gold.read_bytes().splitlines(keepends=True)
    assert said(gold.name, b"".join([header, *rows]))
    assert said(gold.name, b"".join([header, *rows[10:20]]))
    assert not said(gold.name, header)
    assert not said(gold.name, b"")
    assert not said(gold.name, b"".join([header, *rows[10:20], b"x" + rows[20]]))

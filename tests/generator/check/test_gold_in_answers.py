"""Columns of example submissions: right by skill or by luck, or the gold itself."""

import json
from pathlib import Path

import pytest

from tests.generator.check.drafts import Edit, both, leaks, packed, put, secret, write
from tests.generator.check.test_gold_columns import (
    DRAW,
    ITEMS,
    MOODS,
    Table,
    backwards,
    bundle,
    objects,
    written,
)

STRENGTHS = [f"{DRAW.random():.3f}" for _ in ITEMS]
GOLD: Table = {"id": ITEMS, "label": MOODS, "strength": STRENGTHS}
WRONG_MOODS = [{"joyful": "sad", "neutral": "joyful", "sad": "neutral"}[mood] for mood in MOODS]
ITEMS_ALONE = write("public/items.csv", written({"id": ITEMS}))
OTHER_STRENGTHS = [*STRENGTHS[1:], STRENGTHS[0]]


def first(size: int, table: Table) -> Table:
    return {name: cells[:size] for name, cells in table.items()}


def answer(moods: list[str], strengths: list[str]) -> Table:
    return {"id": ITEMS, "label": moods, "strength": strengths}


def solution(table: Table) -> Edit:
    """A solution whose rows are in another order than the gold's."""
    return both(
        put("solutions", [{"index": 0, "tasks": [0], "path": "sol"}]),
        write("sol/pred.csv", written(table, order=backwards)),
    )


def in_kit(data: bytes, name: str) -> Edit:
    return both(put("phases", 0, "starting_kit", "kit"), write("kit/valid.zip", packed({name: data})))


ORACLES = {
    "numbers": solution(answer(WRONG_MOODS, STRENGTHS)),
    "labels": solution(answer(MOODS, OTHER_STRENGTHS)),
    "in the kit": in_kit(written(answer(WRONG_MOODS, STRENGTHS), order=backwards), "pred.csv"),
    "in JSON": in_kit(json.dumps(objects(answer(WRONG_MOODS, STRENGTHS))[::-1]).encode(), "pred.json"),
    "nearly all items": solution(first(38, answer(WRONG_MOODS, STRENGTHS))),
}


NAMED = secret({"name": "gold.csv", "key": ["id"], "columns": ["label", "strength"]})


@pytest.mark.parametrize("form", ORACLES)
def test_a_column_that_is_the_gold_is_found_beside_a_wrong_one(form: str, tmp_path: Path) -> None:
    (found,) = leaks(bundle(GOLD, ITEMS_ALONE, ORACLES[form], named=NAMED), tmp_path)
    assert f"shows {'label' if form == 'labels' else 'strength'} of gold.csv for" in found


ALIKE = ["neutral"] * 38 + ["sad", "joyful"]
MOSTLY_ALIKE = ["neutral"] * 36 + ["sad", "joyful"] * 2
SOUND = {
    "nearly right labels": (GOLD, answer(["sad" if MOODS[0] != "sad" else "joyful", *MOODS[1:]], OTHER_STRENGTHS)),
    "nearly right numbers": (GOLD, answer(WRONG_MOODS, [*STRENGTHS[:39], "0.5"])),
    "right labels of few items": (first(6, GOLD), first(6, answer(MOODS, OTHER_STRENGTHS))),
    "right where it answers": (GOLD, first(30, answer(MOODS, OTHER_STRENGTHS))),
    "nearly all items alike": ({**GOLD, "label": ALIKE}, answer(ALIKE, OTHER_STRENGTHS)),
    "mostly alike": ({**GOLD, "label": MOSTLY_ALIKE}, answer(MOSTLY_ALIKE, OTHER_STRENGTHS)),
    "labels in the gold's groups": (GOLD, answer(WRONG_MOODS, OTHER_STRENGTHS)),
}


@pytest.mark.parametrize("form", SOUND)
def test_a_column_that_is_only_good_is_not_reported(form: str, tmp_path: Path) -> None:
    gold, handed_in = SOUND[form]
    assert leaks(bundle(gold, ITEMS_ALONE, solution(handed_in), named=NAMED), tmp_path) == []

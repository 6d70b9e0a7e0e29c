"""What a build says of gold in its bundle, the check says of the zip and of the folder as well."""

import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.check import check_path
from gen_bundle.cli import root
from gen_bundle.ground.errors import UserError
from tests.generator.author.new.making import bundled, csv_text, made
from tests.generator.author.new.test_recipes import made as made_by
from tests.sweeps import sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers")]
DRAW = random.Random(3)
ITEMS = [f"k{number:03}" for number in range(120)]
WORDS = ["river", "garden", "train", "market", "harbour"]
TEXTS = [" ".join(DRAW.choice(WORDS) for _ in range(6)) for _ in ITEMS]


def said_of_the_folder(folder: Path) -> list[bool]:
    """Whether `check` of a competition's folder says that participants would see gold, for each of its bundles."""
    told = CliRunner().invoke(root, ["check", str(folder), "--json"])
    reports = [json.loads(line) for line in told.stdout.splitlines()]
    return [any(finding["id"] == "leak" for finding in report["findings"]) for report in reports]


def synthetic(path: Path) -> list[str]:
    return [finding.what for finding in check_path(path).findings if "synthetic" in finding.what]


@pytest.mark.parametrize("recipe", sweep(["ranking", "spans"], ["ranking"]))
def test_the_gold_of_a_recipe_is_made_up_for_its_build_and_for_the_check_of_its_zip(
    recipe: str, tmp_path: Path
) -> None:
    (built,) = build(BuildRequest(str(made_by(recipe, tmp_path)), tmp_path / "bundle.zip"))
    assert "synthetic-gold" in [lack.id for lack in built.draft]
    assert [what.endswith("it comes with gen-bundle") for what in synthetic(built.path)] == [True, True]
    assert not any("synthetic" in note for note in built.notes)  # said once, as what is missing
    with zipfile.ZipFile(built.path) as bundle:
        bundle.extractall(tmp_path / "unpacked")
    with zipfile.ZipFile(tmp_path / "unpacked" / "reference_data" / "test-joint.zip", "w") as reference:
        reference.writestr("gold", "query_id\tquery\titem\tscore\nq\tw\ti\t1\n")
    assert len(synthetic(tmp_path / "unpacked")) == 1
    assert (
        CliRunner().invoke(root, ["import", str(tmp_path / "unpacked"), "--out", str(tmp_path / "again")]).exit_code
        == 0
    )
    (again,) = build(BuildRequest(str(tmp_path / "again"), tmp_path / "again.zip"))
    assert [lack.id for lack in again.draft].count("synthetic-gold") == 1


@pytest.mark.parametrize("layout", ["tasks", "separate"])  # joint, and other competitions: tests/bundles/
def test_a_competition_of_code_is_sound_for_its_build_and_for_the_check_of_its_zip(layout: str, tmp_path: Path) -> None:
    out = tmp_path / ("out" if layout == "separate" else "out.zip")
    for built in build(BuildRequest("helpdesk", out, layout=layout)):
        assert not built.leaks
        assert not check_path(built.path).leaks
        assert synthetic(built.path)


def test_a_leak_is_one_for_all_of_them(tmp_path: Path) -> None:
    labels = random.Random(4).choices(["yes", "no"], k=len(ITEMS))
    folder = made(tmp_path, "gold.csv", csv_text("id,text,label", list(zip(ITEMS, TEXTS, labels, strict=True))))
    assert said_of_the_folder(folder) == [False]
    (folder / "data" / "public" / "notes.txt").write_text(csv_text("id,label", list(zip(ITEMS, labels, strict=True))))
    with pytest.raises(UserError, match=r"notes\.txt shows"):
        build(BuildRequest(str(folder), tmp_path / "bundle.zip"))
    (forced,) = build(BuildRequest(str(folder), tmp_path / "bundle.zip", force=True))
    assert forced.leaks
    assert check_path(forced.path).leaks
    assert said_of_the_folder(folder) == [True]


TOKENS = [[f"d{n // 3}", n % 3, DRAW.choice([",", ".", ";"]), DRAW.choice(["OK", "BAD"])] for n in range(120)]
PANEL = [[n // 10, 2000 + n % 10, f"{DRAW.gauss(0, 3):.12f}"] for n in range(120)]
HOUSES = [[one, DRAW.randint(40, 200), DRAW.choice("abc"), DRAW.randint(1, 6), n * 10] for n, one in enumerate(ITEMS)]
BITS = [[one, text, *DRAW.choices((0, 1), k=30)] for one, text in zip(ITEMS, TEXTS, strict=True)]
LABELS = ",".join(f"e{place}" for place in range(30))
ORDINARY: dict[str, tuple[str, Any, list[str]]] = {
    "a composite key and few rows": ("doc,token,tag", [[*row[:2], row[3]] for row in TOKENS[:12]], ["doc", "token"]),
    "cells of punctuation": ("sentence,position,word,tag", TOKENS, ["sentence", "position"]),
    "a panel with a continuous target": ("country,time,growth", PANEL, ["country", "time"]),
    "many input columns": ("id,area,district,rooms,price", HOUSES, ["id"]),
    "two labels": ("id,text,e0,e1", [row[:4] for row in BITS], ["id"]),
    "many labels": (f"id,text,{LABELS}", BITS, ["id"]),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_table_is_no_leak(name: str, tmp_path: Path) -> None:
    names, rows, key = ORDINARY[name]
    titles = names.split(",")[2 if "labels" in name else -1 :]
    folder = made(tmp_path, "gold.csv", csv_text(names, rows), key=key, answers=[(title, None) for title in titles])
    assert not check_path(bundled(folder).path).leaks

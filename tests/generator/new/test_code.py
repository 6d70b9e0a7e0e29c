"""`gen-bundle new --code`: competitions whose participants hand in code, from gold or a recipe."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gen_bundle.cli.new import command
from gen_bundle.declaration.read import read_competition
from gen_bundle.new.project import Place, new_declared
from gen_bundle.new.propose import propose, taking_code
from gen_bundle.new.recipes import RECIPES, recipe_gold
from gen_bundle.new.split import divide
from gen_bundle.twin.engines.process import ProcessEngine
from tests.generator.new.making import bundled, csv_text, files, scores, sentiment


def new(folder: Path, *arguments: str) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return CliRunner().invoke(command, ["mine", *arguments])


def test_a_recipe_becomes_one_that_takes_code(tmp_path: Path) -> None:
    done = new(tmp_path, "--recipe", "classification", "--code")
    assert done.exit_code == 0, done.output
    competition = read_competition(tmp_path / "mine")
    assert (competition.submission.kind, competition.submission.entry) == ("code", "model.py")
    assert [column.key for column in competition.tasks[0].columns if column.measured] == ["seconds"]
    for data in ("data", "example"):
        assert files(tmp_path / "mine" / data) == {
            "public/sample/input/inputs.csv",
            "public/sample/gold/gold.csv",
            *(
                f"{phase}"
                for name in ("dev", "test")
                for phase in (f"{name}/gold.csv", f"input/{name}/inputs.csv", f"baselines/{name}/majority/model.py")
            ),
        }
    assert (tmp_path / "mine/data/input/dev/inputs.csv").read_text(encoding="utf-8").startswith("id,text\n")


@pytest.mark.slow
@pytest.mark.parametrize("kind", RECIPES)
def test_every_recipe_builds_and_scores_its_code(kind: str, tmp_path: Path) -> None:
    gold, choices = recipe_gold(kind)
    proposal = propose(gold, choices)
    for name, made in (("results", proposal), ("code", taking_code(proposal))):
        new_declared(Place(name, tmp_path), made, divide(made, "40:60"), check=False)
    handed_in = scores(bundled(tmp_path / "results").path, ProcessEngine())
    run = scores(bundled(tmp_path / "code").path, ProcessEngine())
    without_time = {place: {key: value for key, value in one.items() if key != "seconds"} for place, one in run.items()}
    assert without_time == handed_in
    example = scores(bundled(tmp_path / "code", data=tmp_path / "code" / "example").path, ProcessEngine())
    assert set(example) == set(run)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gold.csv", sentiment(30)),
        ("gold.tsv", sentiment(30).replace('"', "").replace(",", "\t").replace("\t day", " day")),
        ("gold.json", json.dumps([{"id": f"t{i}", "text": f'say "{i}"', "label": "ab"[i % 2]} for i in range(20)])),
        (
            "gold.jsonl",
            "".join(json.dumps({"id": i, "text": f"é\u2028{i}", "label": "ab"[i % 2]}) + "\n" for i in range(9)),
        ),
    ],
)
def test_every_format_is_read_and_written(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    done = new(tmp_path, "--gold", name, "--code")
    assert done.exit_code == 0, done.output
    [(place, found)] = scores(bundled(tmp_path / "mine").path, ProcessEngine()).items()
    assert place == ("test", "majority")
    assert 0.3 < found["accuracy"] < 0.6


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from", "clarity2026", "--code"], "--code: not with --from or --package."),
        (["--package", "--code"], "--code: not with --from or --package."),
        (["--gold", "gold.txt", "--code"], "gold.txt has no column that code could read"),
        (["--gold", "tags.csv", "--code"], "no column that the code reads has as many tokens"),
    ],
)
def test_what_cannot_take_code(arguments: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "gold.txt").write_text("one text\nanother text\n", encoding="utf-8")
    tags = [[f"s{i}", "O B-PER I-PER"] for i in range(4)]
    (tmp_path / "tags.csv").write_text(csv_text("id,tags", tags), encoding="utf-8")
    done = new(tmp_path, *arguments)
    assert done.exit_code == 2
    assert said in done.output
    assert not (tmp_path / "mine").exists()

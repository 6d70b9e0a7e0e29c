"""`gen-bundle new --code`: competitions whose participants hand in code, from gold or a recipe."""

import json
import runpy
import shutil
from pathlib import Path

import pytest

from gen_bundle.author.new.data import write_data
from gen_bundle.author.new.project import Place, new_declared
from gen_bundle.author.new.propose import Choices, Proposal, propose, taking_code
from gen_bundle.author.new.recipes import RECIPES, recipe_gold
from gen_bundle.author.new.split import divide
from gen_bundle.declaration.read import read_competition
from tests.generator.author.new.making import bundled, csv_text, files, gold_at, new, scores, sentiment


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


def written(proposal: Proposal, split: str, folder: Path) -> tuple[Path, Path]:
    """The baseline's predictions where they are handed in, and those that its code writes."""
    phases = divide(proposal, split)
    write_data(folder / "results", proposal, phases)
    write_data(folder / "code", taking_code(proposal), phases)
    [handed_in] = folder.glob("results/baselines/test/*/*")
    [program] = folder.glob("code/baselines/test/*/model.py")
    out = folder / "out"
    out.mkdir()
    runpy.run_path(str(program))["predict"](folder / "code/input/test", out)
    return handed_in, out / handed_in.name


def value(path: Path) -> object:
    """What a file of predictions says."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.split("\n") if line]
    return json.loads(text) if path.suffix == ".json" else text


@pytest.mark.parametrize("kind", RECIPES)
def test_the_baselines_code_writes_the_baseline(kind: str, tmp_path: Path) -> None:
    handed_in, predicted = written(propose(*recipe_gold(kind)), "40:60", tmp_path)
    assert value(predicted) == value(handed_in)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gold.csv", sentiment(30)),
        ("gold.tsv", "id\ttext\tlabel\n" + "".join(f'{i}\tsay "{i}"\t{"ab"[i % 2]}\n' for i in range(9))),
        ("gold.json", json.dumps([{"id": f"t{i}", "text": f'say "{i}"', "label": "ab"[i % 2]} for i in range(20)])),
        (
            "gold.jsonl",
            "".join(json.dumps({"id": f"{i}", "text": f"\u2028{i}", "label": "ab"[i % 2]}) + "\n" for i in range(9)),
        ),
        ("tags.csv", csv_text("id,words,tags", [[f"s{i}", "Ada met Noor", "B-P O B-P"] for i in range(9)])),
        (
            "flags.json",
            json.dumps([{"id": f"t{i}", "joy": i % 2 > 0, "fear": i % 3 > 0, "anger": i % 5 > 0} for i in range(20)]),
        ),
    ],
)
def test_every_format_is_read_and_written(name: str, text: str, tmp_path: Path) -> None:
    handed_in, predicted = written(propose(gold_at(tmp_path, name, text), Choices()), "none", tmp_path)
    assert value(predicted) == value(handed_in)


@pytest.mark.slow
@pytest.mark.usefixtures("kept_organisers")
def test_it_builds_and_scores_and_so_does_its_example(tmp_path: Path) -> None:
    gold, choices = recipe_gold("classification")
    proposal = taking_code(propose(gold, choices))
    folder = new_declared(Place("mine", tmp_path), proposal, divide(proposal, "40:60"), check=False)
    fast = tuple(f"tasks.classification.columns.{key}.metric=exact_match" for key in ("macro_f1", "accuracy"))
    for data, overrides in ((None, ()), (folder / "example", fast)):  # a library need not be imported twice
        found = scores(bundled(folder, data=data, overrides=overrides, force=True).path)
        assert set(found) == {("dev", "majority"), ("test", "majority")}
        assert 0.2 < found["test", "majority"]["accuracy"] < 0.5
        shutil.rmtree(tmp_path / "mine.dry-run")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gold", "gold.txt", "--code"], "gold.txt has no column that code could read"),
        (["--gold", "tags.csv", "--code"], "no column that the code reads has as many tokens"),
    ],
)
def test_what_cannot_take_code(arguments: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "gold.txt").write_text("one text\nanother text\n", encoding="utf-8")
    tags = [[f"s{i}", "O B-PER I-PER"] for i in range(4)]
    (tmp_path / "tags.csv").write_text(csv_text("id,tags", tags), encoding="utf-8")
    done = new(tmp_path, *arguments)
    assert done.exit_code == 2
    assert message in done.output
    assert not (tmp_path / "mine").exists()

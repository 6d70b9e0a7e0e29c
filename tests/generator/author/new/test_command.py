"""`gen-bundle new` as people type it: options, what it says, and what it asks on a terminal."""

import json
import shlex
import shutil
from pathlib import Path

import pytest
from PIL import Image

from gen_bundle.author.new.project import SCHEMA
from gen_bundle.declaration.read import read_competition
from gen_bundle.ground.resources import PLACEHOLDER, SCAFFOLD, resource
from tests.generator.author.new.making import csv_text, files, new, sentiment

pytestmark = pytest.mark.usefixtures("kept_organisers")


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    (tmp_path / "gold.csv").write_text(sentiment(30), encoding="utf-8")
    return tmp_path


def test_without_options_it_is_the_recipe_classification_with_its_schema_beside(tmp_path: Path) -> None:
    done = new(tmp_path)
    assert done.exit_code == 0, done.output
    competition = read_competition(tmp_path / "mine")
    assert (competition.scoring_program, competition.tasks[0].id) == ("declared", "classification")
    first = (tmp_path / "mine/bundle.yaml").read_text(encoding="utf-8").splitlines()[0]
    assert first == f"# yaml-language-server: $schema={SCHEMA}"
    assert (tmp_path / "mine" / SCHEMA).read_bytes() == (resource("bundles") / SCHEMA).read_bytes()


@pytest.mark.slow
def test_the_proposals_are_said(gold: Path) -> None:
    done = new(gold, "--gold", "gold.csv", "--split", "20:80")
    assert done.exit_code == 0, done.output
    for said in (
        "key       id",
        "answers   label: label (negative, neutral, positive)",
        "given     text",
        "metrics   macro_f1, accuracy",
        "phases    dev 6, test 24",
        "baseline  majority (label 'negative')",
    ):
        assert said in done.stderr


@pytest.mark.slow
def test_what_stays_secret_is_said(tmp_path: Path) -> None:
    rows = [[f"t{i}", "ab"[i % 2], f"because {i}"] for i in range(6)]
    (tmp_path / "gold.csv").write_text(csv_text("id,label,rationale", rows), encoding="utf-8")
    done = new(tmp_path, "--gold", "gold.csv")
    assert "secret    rationale (--public COLUMN gives one to participants)" in done.stderr
    assert not any(name.startswith("data/public") for name in files(tmp_path / "mine"))


@pytest.mark.slow
def test_enter_takes_the_proposals(gold: Path) -> None:
    done = new(gold, "--gold", "gold.csv", answers="\n" * 6)
    assert done.exit_code == 0, done.output
    shutil.move(gold / "mine", gold / "asked")
    assert new(gold, "--gold", "gold.csv").exit_code == 0
    assert files(gold / "mine") == files(gold / "asked")
    assert (gold / "mine/bundle.yaml").read_bytes() == (gold / "asked/bundle.yaml").read_bytes()


@pytest.mark.slow
def test_answers_on_the_terminal_are_taken(tmp_path: Path) -> None:
    rows = [[f"t{i}", f"Text {i}", i % 5, "ab"[i % 2]] for i in range(30)]
    (tmp_path / "gold.csv").write_text(csv_text("id,text,stars,label", rows), encoding="utf-8")
    said = ["id", "nothing", "stars", "number", "-", "1:4", 'Stars: "how many"?']
    done = new(tmp_path, "--gold", "gold.csv", answers="\n".join(said) + "\n")
    assert done.exit_code == 0, done.output
    assert "no column 'nothing'" in done.stderr
    competition = read_competition(tmp_path / "mine")
    assert competition.title == 'Stars: "how many"?'
    assert [field.type for field in competition.submission.fields] == ["string", "number"]
    assert [phase.id for phase in competition.phases] == ["dev", "test"]
    assert not (tmp_path / "mine/data/public").exists()


@pytest.mark.slow
def test_a_table_without_header_goes_on_by_the_option_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "gold.tsv").write_text("".join(f"{i}\t{'ab'[i % 2]}\n" for i in range(12)), encoding="utf-8")
    done = new(tmp_path, "--gold", "gold.tsv", "--yes", "--title", "Two words")
    assert done.exit_code == 2
    assert not (tmp_path / "mine").exists()
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("To go on, add: ")]
    done = new(tmp_path, "--gold", "gold.tsv", "--yes", *shlex.split(line)[4:])
    assert done.exit_code == 0, done.output
    gold = (tmp_path / "mine/data/test/gold.tsv").read_text(encoding="utf-8").splitlines()
    assert (gold[0], len(gold)) == ("id\tlabel", 13)


@pytest.mark.slow
@pytest.mark.parametrize(("said", "rows"), [("n\n\n", 12), ("n\none\nid,mood\n", 12), ("y\n", 11)])
def test_the_names_of_columns_are_asked_for(said: str, rows: int, tmp_path: Path) -> None:
    (tmp_path / "gold.tsv").write_text("".join(f"{i}\t{'ab'[i % 2]}\n" for i in range(12)), encoding="utf-8")
    done = new(tmp_path, "--gold", "gold.tsv", answers=said + "\n" * 6)
    assert done.exit_code == 0, done.output
    assert "looks like a row and no header" in done.stderr
    assert ("expected 2 names" in done.stderr) == ("one" in said)
    assert f"rows      {rows} in gold.tsv" in done.stderr


@pytest.mark.slow
def test_files_of_phases_and_one_to_train_on(tmp_path: Path) -> None:
    for name, rows in (("dev.csv", 6), ("test.csv", 12)):
        (tmp_path / name).write_text(sentiment(rows), encoding="utf-8")
    (tmp_path / "train.csv").write_text("id,text,label\nx1,A text,positive\n", encoding="utf-8")
    done = new(tmp_path, "--gold", "test=test.csv", "--gold", "dev=dev.csv", "--train", "train.csv")
    assert done.exit_code == 0, done.output
    assert "phases    dev 6, test 12" in done.stderr
    data = tmp_path / "mine/data"
    assert (data / "public/train/train.csv").read_bytes() == (tmp_path / "train.csv").read_bytes()
    assert [len((data / phase / "gold.csv").read_text().splitlines()) for phase in ("dev", "test")] == [7, 13]


@pytest.mark.slow
def test_a_column_means_the_same_in_all_phases(tmp_path: Path) -> None:
    for name, rows in (("dev.csv", 4), ("test.csv", 40)):  # in the first alone, these lists might be texts
        lists = [[f"{name}{i}", json.dumps([f"label {i % 4}", f"label {i % 3}"])] for i in range(rows)]
        (tmp_path / name).write_text(csv_text("id,topics", lists), encoding="utf-8")
    done = new(tmp_path, "--gold", "dev=dev.csv", "--gold", "test=test.csv")
    assert done.exit_code == 0, done.output
    assert "answers   topics: labels (label 0, label 1, label 2, label 3)" in done.stderr


def test_enter_at_a_question_without_a_proposal_says_what_is_expected(tmp_path: Path) -> None:
    rows = [["A text", "ab"[i % 2], i % 3] for i in range(9)]
    (tmp_path / "gold.csv").write_text(csv_text("text,label,other", rows), encoding="utf-8")
    done = new(tmp_path, "--gold", "gold.csv", answers="\n\nnothing\n")
    assert "expected a column: text, label, other." in done.stderr


@pytest.mark.slow
def test_rows_without_an_id_are_numbered_where_that_is_the_answer(tmp_path: Path) -> None:
    rows = [["A text", "ab"[i % 2]] for i in range(9)]
    (tmp_path / "gold.csv").write_text(csv_text("text,label", rows), encoding="utf-8")
    done = new(tmp_path, "--gold", "gold.csv", answers="line\n" + "\n" * 6)
    assert done.exit_code == 0, done.output
    gold = (tmp_path / "mine/data/test/gold.csv").read_text(encoding="utf-8").splitlines()
    assert gold[:2] == ["id,text,label", "1,A text,a"]


@pytest.mark.slow
@pytest.mark.parametrize(("said", "fields"), [("y", ["id", "labels"]), ("n", ["id", "joy", "fear", "awe"])])
def test_columns_of_flags_are_asked_about(said: str, fields: list[str], tmp_path: Path) -> None:
    rows = [[f"t{i}", i % 2, i // 2 % 2, i // 3 % 2] for i in range(12)]
    (tmp_path / "gold.csv").write_text(csv_text("id,joy,fear,awe", rows), encoding="utf-8")
    done = new(tmp_path, "--gold", "gold.csv", answers=f"\n\n{said}\n" + "\n" * 9)
    assert done.exit_code == 0, done.output
    assert "joy, fear, awe: are these one set of labels?" in done.stderr
    submission = read_competition(tmp_path / "mine").submission
    assert submission is not None
    assert [field.field for field in submission.fields] == fields


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gold", "gold.csv", "--recipe", "spans"], "--gold and --recipe: expected one of them"),
        (["--from", "clpsych2025", "--package"], "--from and --package: expected one of them"),
        (["--recipe", "spans", "--key", "id", "--split", "1:2"], "--key: works only with --gold"),
        (["--recipe", "spans", "--tasks", "a1"], "--tasks: works only with --from"),
        (["--like", "mt23", "--recipe", "spans"], "--recipe and --like: expected one of them"),
        (["--like", "mt23", "--code"], "--code: not with --from, --like or --package"),
        (["--package", "--template", "."], "--template: not with --from, --like or --package"),
        (["--gold", "nothing.csv"], "--gold nothing.csv: No such file"),
        (
            ["--gold", "gold.csv", "--answer", "lable"],
            "--answer lable: gold.csv has no such column. Did you mean 'label'?",
        ),
        (["--gold", "gold.csv", "--split", "many"], "--split many: expected a ratio"),
        (
            ["--gold", "gold.csv", "--gold", "gold.csv"],
            "is the gold of which phase? Expected one file, or one for",
        ),
        (["--gold", "dev=gold.csv", "--gold", "dev=gold.csv"], "--gold dev=gold.csv: is the gold of which phase?"),
        (["--gold", "dev=gold.csv", "--gold", "gold.csv"], "--gold gold.csv: is the gold of which phase?"),
        (["--gold", "dev=gold.csv"], "there is no phase test. Expected --gold test=FILE as well"),
        (["--gold", "gold.csv", "--delimiter", "::"], "--delimiter ::: expected one character, or tab"),
        (["--gold", "gold.csv", "--cluster", "doc"], "--cluster doc: gold.csv has no such column"),
        (["--gold", "gold.csv", "--cluster", "label"], "--cluster label: participants answer this column"),
        (["--recipe", "spans", "--columns", "a,b"], "--columns: works only with --gold"),
    ],
)
def test_wrong_use(arguments: list[str], message: str, gold: Path) -> None:
    done = new(gold, *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert {path.name for path in gold.iterdir()} == {"gold.csv"}


def template_with(folder: Path, terms: str, variables: dict[str, object]) -> Path:
    """Write a template with variables of its own, and a page that shows them; returns the page."""
    template = folder / "template"
    shutil.copytree(SCAFFOLD / "declared", template)
    settings = json.loads((template / "cookiecutter.json").read_text(encoding="utf-8"))
    (template / "cookiecutter.json").write_text(json.dumps({**settings, **variables}), encoding="utf-8")
    page = template / "{{cookiecutter.name}}" / "pages" / "terms.md.j2"
    page.write_text(terms, encoding="utf-8")
    return page


@pytest.mark.slow
def test_a_template_of_ones_own(gold: Path) -> None:
    page = template_with(gold, "Terms of {{ cookiecutter.lab }}\n", {"lab": "Lab of {{ cookiecutter.name }}"})
    done = new(gold, "--gold", "gold.csv", "--template", "template")
    assert done.exit_code == 0, done.output
    assert (gold / "mine/pages/terms.md.j2").read_text(encoding="utf-8") == "Terms of Lab of mine\n"
    page.write_text("{{ cookiecutter.nothing }}\n", encoding="utf-8")
    (gold / "mine").rename(gold / "first")
    done = new(gold, "--gold", "gold.csv", "--template", "template")
    assert (done.exit_code, done.exception.__class__) == (2, SystemExit)
    assert "terms.md.j2" in done.stderr
    assert not (gold / "mine").exists()


@pytest.mark.slow
def test_a_template_asks_its_own_questions(gold: Path) -> None:
    own: dict[str, object] = {"prize": True, "track": ["open {{ cookiecutter.name }}", "closed"], "lab": "Ours"}
    shown = "{% if cookiecutter.prize %}Prize. {% endif %}{{ cookiecutter.track }}, {{ cookiecutter.lab }}\n"
    template_with(gold, shown, {**own, "__prompts__": {"prize": "Is there a prize"}})
    done = new(gold, "--gold", "gold.csv", "--template", "template", answers="\n" * 6 + "no\n2\nTheirs\n")
    assert done.exit_code == 0, done.output
    assert "Is there a prize" in done.output
    assert (gold / "mine/pages/terms.md.j2").read_text(encoding="utf-8") == "closed, Theirs\n"
    (gold / "mine").rename(gold / "first")
    assert new(gold, "--gold", "gold.csv", "--template", "template", "--yes", answers="").exit_code == 0
    assert (gold / "mine/pages/terms.md.j2").read_text(encoding="utf-8") == "Prize. open mine, Ours\n"


@pytest.mark.slow
def test_placeholders_can_be_recognised(tmp_path: Path) -> None:
    """A build of a draft looks for these."""
    for arguments in ([], ["--package"]):
        new(tmp_path, *arguments)
        folder = tmp_path / "mine"
        assert read_competition(folder).contact == "organisers@example.org"
        with Image.open(folder / "logo.png") as logo:
            assert logo.info["Comment"] == PLACEHOLDER
        pages = "".join(path.read_text(encoding="utf-8") for path in folder.glob("pages/*.j2"))
        assert "**TODO(organiser):** " in pages
        shutil.rmtree(folder)

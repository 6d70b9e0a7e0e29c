"""The declaration, synthetic data and baselines of CLPsych 2025."""

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clpsych2025 import a2, organiser
from gen_bundle.build.package.phase_data import prepare_phases
from gen_bundle.build.package.programs import program_description
from gen_bundle.build.package.resolve import resolve
from gen_bundle.build.platforms.codabench import competition_document
from gen_bundle.build.render.markdown import page_html
from gen_bundle.build.render.pages import render_pages
from gen_bundle.build.render.starting_kit import starting_kits
from gen_bundle.declaration.model import DeclaredCompetition
from gen_bundle.ground.resources import resource
from gen_bundle.image.models import read_models_file
from scoring_kit.organiser import Request
from tests.bundles.replayed import files_of, pages
from tests.scoring_programs.clpsych2025.cases import WORST
from tests.scoring_programs.framed import score, write_files

NAME = "clpsych2025"
FOLDER = resource("bundles") / NAME
PHASES = ("dev", "test")
DIRECTIONS = {key: ("asc" if worst > 0 else "desc", worst) for key, worst in WORST.items()}
"""Of an error the worst value is the greatest, of all others 0."""


@pytest.fixture(scope="module")
def competition() -> DeclaredCompetition:
    return resolve(FOLDER).declaration


def test_the_columns_are_the_published_metrics(competition: DeclaredCompetition) -> None:
    columns = [column for task in competition.tasks for column in task.columns]
    assert {column.key: (column.sort, column.worst) for column in columns} == DIRECTIONS
    assert columns[0].key == "a1_recall"
    assert [task.id for task in competition.tasks] == ["a1", "a2", "b", "c"]
    ranked = [column.key for column in columns if "(ranked)" in column.meaning]
    assert ranked == ["a1_recall", "a2_mse", "b_mean_consistency", "c_mean_consistency"]


def test_the_test_phase_ends_on_11_march_anywhere_on_earth_with_three_files_a_team(
    competition: DeclaredCompetition,
) -> None:
    phase = competition.phases[-1]
    assert [one.id for one in competition.phases] == list(PHASES)
    assert phase.end is not None
    assert str(phase.end) == "2025-03-12 11:59:59+00:00"
    assert phase.max_submissions == 3
    assert (competition.submission_rule, competition.registration) == ("all", "approve")


@pytest.mark.slow
def test_where_the_organisers_keep_a_model_is_told_to_their_scoring_program_alone(tmp_path: Path) -> None:
    private = tmp_path / "organisers-own"
    (private / "our-nli").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    overrides = (f"options.nli.model={private / 'our-nli'}", f"options.cache={private / 'cache'}")
    chosen = resolve(FOLDER, overrides=overrides)
    kit = starting_kits(chosen, prepare_phases(chosen, tmp_path / "work")[:1])["dev"]
    texts = {name: text.read_bytes() if isinstance(text, Path) else text for name, text in kit.items()}
    with zipfile.ZipFile(io.BytesIO(texts["validate.pyz"])) as validator:
        texts |= {name: validator.read(name) for name in validator.namelist()}
    texts |= render_pages(chosen)
    assert not [name for name, text in texts.items() if private.name.encode() in text]
    assert b"`our-nli`" in texts["pages/evaluation.md"]
    assert json.loads(texts["scorer/joint/program.json"])["options"]["nli"]["model"] == "our-nli"
    assert program_description(chosen, chosen.tasks)["options"]["nli"]["model"] == str(private / "our-nli")


def test_both_models_are_named_with_the_revisions_that_images_lock(competition: DeclaredCompetition) -> None:
    known = read_models_file(resource("docker") / "models.yaml").models
    revisions = {group: competition.options[group]["revision"] for group in ("bertscore", "nli")}
    assert revisions == {
        "bertscore": "5b07a9086c1dbb79981ff7b05b4d1ad83b3af51c",
        "nli": "b3546ea6b0346eb6f8d5d68b13c7dc6d0376b3d7",
    }
    assert revisions == {group: known[competition.options[group]["model"]].revision for group in revisions}


@pytest.mark.parametrize(
    ("overrides", "revision"),
    [
        (["options.nli.model=org/other"], None),
        (["options.nli.model=/a/folder"], None),
        (["options.nli.model=org/other", f"options.nli.revision={'a' * 40}"], "a" * 40),
        ([f"options.nli.revision={'a' * 40}", "options.nli.model=org/other"], "a" * 40),
        (["options.bertscore.model=org/other"], "b3546ea6b0346eb6f8d5d68b13c7dc6d0376b3d7"),
        (["options.nli.revision=null"], None),
    ],
)
def test_another_model_does_not_keep_the_revision(overrides: list[str], revision: str | None) -> None:
    assert resolve(FOLDER, overrides=tuple(overrides)).options["nli"]["revision"] == revision


def timelines(*parts: str) -> Iterator[dict[str, Any]]:
    for path in sorted(FOLDER.joinpath("data", *parts).glob("*.json")):
        timeline = json.loads(path.read_text(encoding="utf-8"))
        assert timeline["timeline_id"] == path.stem
        yield timeline


@pytest.mark.parametrize("phase", PHASES)
def test_there_are_enough_timelines_with_all_that_occurs_in_real_ones(phase: str) -> None:
    found = list(timelines(phase))
    posts = [post for timeline in found for post in timeline["posts"]]
    assert len(found) >= 10
    assert all(5 <= len(timeline["posts"]) <= 10 for timeline in found)
    assert {post["Well-being"] is None for post in posts} == {True, False}
    assert {post["Post Summary"] is None for post in posts} == {True, False}
    assert any(not post["evidence"] for post in posts)
    assert {a2.published_class(post["Well-being"]) for post in posts} == {0, 1, 2, 3}
    assert all(timeline["timeline_summary"] for timeline in found)
    for timeline in found:
        states = [state for post in timeline["posts"] for state in post["evidence"]]
        assert set(states) == {"adaptive-state", "maladaptive-state"}


def test_no_text_is_repeated() -> None:
    texts = [post["post"] for phase in PHASES for timeline in timelines(phase) for post in timeline["posts"]]
    sentences = [sentence for text in texts for sentence in re.split(r"(?<=[.!?])\s+", text) if len(sentence) > 25]
    assert len(set(texts)) == len(texts)
    assert len(set(sentences)) == len(sentences)


@pytest.mark.parametrize("phase", PHASES)
def test_participants_get_the_posts_and_nothing_else(phase: str) -> None:
    for annotated, given in zip(timelines(phase), timelines("public", phase), strict=True):
        assert given == {
            "timeline_id": annotated["timeline_id"],
            "posts": [{"post_id": post["post_id"], "post": post["post"]} for post in annotated["posts"]],
        }


def test_no_summary_of_the_gold_lies_in_what_participants_get() -> None:
    public = "".join(path.read_text(encoding="utf-8") for path in (FOLDER / "data" / "public").rglob("*.json"))
    for phase in PHASES:
        for timeline in timelines(phase):
            for text in [timeline["timeline_summary"], *(post["Post Summary"] for post in timeline["posts"])]:
                assert text is None or text not in public


@pytest.mark.parametrize("phase", PHASES)
def test_the_better_baseline_is_better_and_both_are_valid(phase: str, tmp_path: Path) -> None:
    options, tasks, source = resolve(FOLDER).options, ["a2"], str(FOLDER / "data" / phase)
    gold = write_files(tmp_path / "gold", {})
    asked = Request(tasks=tasks, all_tasks=tasks, layout="separate", options=options, source=source, out=str(gold))
    assert organiser.prepare(asked) == {"warnings": []}, "all evidence is a verbatim part of its post"
    assert "summary_sents" not in (gold / "gold.json").read_text(encoding="utf-8")
    errors: dict[str, float] = {}
    for folder in (FOLDER / "data" / "baselines" / phase).iterdir():
        outcome = score(tmp_path / folder.name, NAME, files_of(gold), files_of(folder), tasks=tasks, layout="tasks")
        assert outcome.details["warnings"] == []
        errors[folder.name] = outcome.scores["a2_mse"]
    assert errors["lexical-rule"] < errors["lead-sentence"]


def test_the_evaluation_page_describes_the_profile_that_is_scored() -> None:
    published, unscaled, as_run = (
        pages(NAME, "joint", *(f"options.{option}" for option in options))["pages/evaluation.md"]
        for options in (
            ["profile=published"],
            ["profile=published", "bertscore.rescale=false"],
            ["profile=as-run"],
        )
    )
    assert published.count("**Choice:**") == 11
    assert "is rescaled with the baseline" in published
    assert "is not rescaled with a baseline" in unscaled
    assert "over *four* labels" in as_run
    assert as_run.count("**Choice:**") == 2  # which columns rank; the program's numbers leave nothing open
    for page in (published, unscaled, as_run):
        assert page_html(page).count('display="block"') == 6
        head = " ".join(page.split("## ")[0].split())
        assert "**Choice:** there is one ranking for each task, by its column marked as ranked" in head
        assert "**Choice:** the leaderboard needs one column to sort by, which is A.1 Recall." in head
        assert "BERTScore (Zhang et al., 2020)" in " ".join(page.split())
        assert "ICLR 2020" in page.split("## Reference")[1]
    assert "*CLPsych 2025: Evaluation and Submission Instructions*" in " ".join(published.split())


def test_a_bundle_of_one_task_says_nothing_of_a_leaderboard_over_several() -> None:
    page = render_pages(resolve(FOLDER, layout="separate").only("a2"))["pages/evaluation.md"].decode()
    assert "marked as ranked" in page
    assert "column to sort by" not in page


def test_the_shared_tasks_further_dates_stand_on_the_timeline_page() -> None:
    page = page_html(pages(NAME)["pages/timeline.md"])
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in page.replace("\xa0", " ").split("<tr>")]
    anywhere_on_earth = {cells[0]: cells[3] for cells in rows if cells}
    for date, what in (
        ("Wed 12", "Results announced"),
        ("Wed 19", "System description papers due"),
        ("Sun 23", "Notification of acceptance"),
        ("Thu 27", "Camera-ready papers due"),
    ):
        assert anywhere_on_earth[f"<strong>{what}</strong>"] == f"{date} Mar 2025, 23:59"


@pytest.mark.slow
def test_the_method_is_asked_and_files_of_the_test_phase_are_hidden(tmp_path: Path) -> None:
    competition = resolve(FOLDER)
    document = competition_document(competition, prepare_phases(competition, tmp_path))
    (question,) = document["fact_sheet"].values()
    assert (question["key"], question["type"], question["is_required"]) == ("method", "text", "true")
    assert [phase["hide_output"] for phase in document["phases"]] == [False, True]


def test_every_page_that_takes_part_in_the_plan_is_there(competition: DeclaredCompetition) -> None:
    titles = [page.title for page in competition.pages]
    assert titles == ["Overview", "Evaluation", "Submission", "Data", "Timeline"]
    assert competition.terms == "pages/terms.md.j2"


def test_the_example_on_the_submission_page_is_no_annotation() -> None:
    page = pages(NAME)["pages/submission.md"]
    example = json.loads(page.split("```json")[1].split("```")[0])
    first = next(iter(example["<timeline_id>"]["post_level"].values()))
    texts = [*first["adaptive_evidence"], *first["maladaptive_evidence"], first["summary"]]
    everything = "".join(path.read_text(encoding="utf-8") for path in (FOLDER / "data").rglob("*.json"))
    assert [text for text in texts if text in everything] == []

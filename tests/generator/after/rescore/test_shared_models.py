"""Runs of a warm worker share models: what one has computed the next need not, and the numbers are a single run's."""

import json
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import zipfile

from gen_bundle.build.package.programs import program_members
from gen_bundle.build.package.resolve import resolve
from gen_bundle.ground.resources import resource
from gen_bundle.ground.zips.writing import write_zip
from scoring_kit.metrics import bertscore, nli
from scoring_kit.metrics.bertscore import BertScoreOptions, BertScorer
from scoring_kit.metrics.nli import NliModel, NliOptions
from scoring_kit.models import device
from tests import tiny_models
from tests.generator.after.rescore.warm import Left, WarmWorker, score_in_a_fork, write_job
from tests.punkt import punkt as punkt
from tests.scoring_programs.clpsych2025.cases import post
from tests.scoring_programs.clpsych2025.model_cases import MARKS, MODELS
from tests.scoring_programs.clpsych2025.model_cases import answers as answers
from tests.scoring_programs.clpsych2025.model_cases import gold_folder as gold_folder

pytestmark = MARKS


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The joint program with tiny models."""
    return _program(tmp_path_factory.mktemp("program"))


def _program(folder: Path, **options: Any) -> Path:
    chosen = {f"{part}.{key}": value for part, own in MODELS.items() for key, value in own.items()} | options
    overrides = tuple(f"options.{key}={json.dumps(value)}" for key, value in chosen.items() if value is not None)
    competition = resolve(resource("bundles") / "clpsych2025", overrides=overrides)
    write_zip(folder / "program.zip", program_members(competition, competition.parts[0]))
    with zipfile.ZipFile(folder / "program.zip") as archive:
        archive.extractall(folder / "program")
    return folder / "program"


def _submissions(answers: Mapping[str, Any]) -> list[dict[str, bytes]]:
    """As they are, with other texts, with a fault, empty, and as they are once more."""
    other = json.loads(json.dumps(answers))
    for timeline in other.values():
        for number, answer in enumerate(timeline["post_level"].values()):
            if number % 2:
                answer.update(post(summary=f"Number {number}. A walk.", adaptive_evidence=[f"a walk {number}"]))
    empty = json.loads(json.dumps(answers))
    for timeline in empty.values():
        timeline["timeline_level"]["summary"] = ""
        timeline["post_level"] = {name: post() for name in timeline["post_level"]}
    contents = [answers, other, {"strange": 1}, empty, answers]
    return [{"TEAM_1.json": json.dumps(content).encode()} for content in contents]


def _assert_equal(warm: Left, alone: Left) -> None:
    """Equal but for the last digits of numbers, in which batches of other texts differ."""
    assert (warm.exit_code, warm.stderr, set(warm.files)) == (alone.exit_code, alone.stderr, set(alone.files))
    if alone.exit_code:
        assert warm == alone
        return
    ours, theirs = (json.loads(left.files["scores.json"]) for left in (warm, alone))
    assert ours == pytest.approx(theirs, abs=1e-6)
    ours, theirs = (json.loads(left.files["details.json"]) for left in (warm, alone))
    assert (ours["signature"], ours["warnings"]) == (theirs["signature"], theirs["warnings"])
    for task, metrics in theirs["tasks"].items():
        for name, metric in metrics.items():
            assert ours["tasks"][task][name] == pytest.approx(metric, abs=1e-6)
    assert warm.files["detailed_results.html"] == alone.files["detailed_results.html"]


@pytest.mark.slow
def test_every_submission_leaves_what_a_single_run_leaves(
    program: Path, gold_folder: Path, answers: dict[str, Any], tmp_path: Path
) -> None:
    submissions = _submissions(answers)
    alone = [
        score_in_a_fork(program, write_job(tmp_path / f"alone {number}", gold_folder, files))
        for number, files in enumerate(submissions)
    ]
    assert [left.exit_code for left in alone] == [0, 0, 1, 0, 0]
    log = tmp_path / "log"
    for order in (range(5), (3, 2, 1, 0, 4)):
        with WarmWorker(program, gold_folder, log=log) as worker:
            for number in order:
                job = write_job(tmp_path / f"{order} {number}", gold_folder, submissions[number])
                _assert_equal(worker.score(job), alone[number])
        assert "the run does it itself" not in log.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_run_ends_well_though_the_models_process_is_killed(
    program: Path, gold_folder: Path, answers: dict[str, Any], tmp_path: Path
) -> None:
    files = _submissions(answers)[0]
    with WarmWorker(program, gold_folder, log=tmp_path / "log") as worker:
        first = worker.score(write_job(tmp_path / "first", gold_folder, files))
        assert first.exit_code == 0
        (models,) = _children(worker.process.pid)
        os.kill(models, signal.SIGKILL)
        _assert_equal(worker.score(write_job(tmp_path / "second", gold_folder, files)), first)
        assert _children(worker.process.pid) != [models]


@pytest.mark.slow
def test_a_model_that_is_missing_is_the_organisers_fault_in_every_run(
    gold_folder: Path, answers: dict[str, Any], tmp_path: Path
) -> None:
    model = tmp_path / "no-model"
    model.mkdir()
    program = _program(tmp_path, **{"bertscore.model": str(model)})
    model.rmdir()
    files = _submissions(answers)[0]
    alone = score_in_a_fork(program, write_job(tmp_path / "alone", gold_folder, files))
    assert alone.exit_code == 2
    with WarmWorker(program, gold_folder, log=tmp_path / "log") as worker:
        for number in range(2):
            assert worker.score(write_job(tmp_path / str(number), gold_folder, files)) == alone


def _children(process: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8").split()]


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts went through the encoder in each batch."""
    counted: list[int] = []
    whole = device.padded

    def counting(sequences: Sequence[Sequence[int]], pad_id: int, device: str) -> Any:
        counted.append(len(sequences))
        return whole(sequences, pad_id, device)

    monkeypatch.setattr(bertscore, "padded", counting)
    monkeypatch.setattr(nli, "padded", counting)
    return counted


def test_texts_that_were_used_lately_are_kept(monkeypatch: pytest.MonkeyPatch, encoded: list[int]) -> None:
    monkeypatch.setattr(bertscore, "MOST_KEPT", 0)
    scorer = BertScorer(BertScoreOptions(tiny_models.DEBERTA_ENCODER, num_layers=2, rescale=False, device="cpu"))
    first = scorer.score(["a walk", "a day"], ["gold"]).f1.tolist()
    for number in range(5):
        scorer.forget()
        assert sum(encoded) == 3 + number
        scorer.score([f"number {number}"], ["gold"])
    assert scorer.score(["a walk", "a day"], ["gold"]).f1.tolist() == [pytest.approx(row, abs=1e-6) for row in first]
    assert sum(encoded) == 3 + 5 + 2  # what no run used for two turns is embedded again


def test_pairs_that_were_used_lately_are_kept(monkeypatch: pytest.MonkeyPatch, encoded: list[int]) -> None:
    monkeypatch.setattr(nli, "MOST_KEPT", 0)
    model = NliModel(NliOptions(tiny_models.DEBERTA_V2_NLI, device="cpu"))
    first = model.probabilities([("a", "b"), ("a", "c")]).tolist()
    for number in range(5):
        model.forget()
        assert sum(encoded) == 2 + number
        model.probabilities([("a", "b"), ("a", f"number {number}")])
    assert model.probabilities([("a", "b"), ("a", "c")]).tolist() == [pytest.approx(row, abs=1e-6) for row in first]
    assert sum(encoded) == 2 + 5 + 1


def test_nothing_is_forgotten_while_there_is_little(encoded: list[int]) -> None:
    scorer = BertScorer(BertScoreOptions(tiny_models.DEBERTA_ENCODER, num_layers=2, rescale=False, device="cpu"))
    for _ in range(3):
        scorer.score(["a walk", "a day"], ["gold"])
        scorer.forget()
    assert sum(encoded) == 3

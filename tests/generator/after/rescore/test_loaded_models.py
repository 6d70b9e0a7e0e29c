"""Models stay loaded: what one submission had computed the next need not, and the numbers are a single run's."""

import json
import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from gen_bundle.after.rescore.scoring_job import ScoringJob, job_for, opened_bundle, score
from gen_bundle.after.rescore.workers import Desk
from gen_bundle.build.building import BuildRequest, build
from gen_bundle.dry_run.engines.process import ProcessEngine
from scoring_kit.metrics import bertscore, nli
from scoring_kit.metrics.bertscore import BertScoreOptions, load_bert_scorer
from scoring_kit.metrics.nli import NliOptions, load_nli_model
from scoring_kit.models import cache, device
from tests import tiny_models
from tests.generator.after.rescore.test_loaded_program import loaded
from tests.generator.dry_run.bundles import write_zip
from tests.generator.dry_run.in_process import ForkedEngine
from tests.punkt import punkt as punkt
from tests.scoring_programs.clpsych2025.cases import post
from tests.scoring_programs.clpsych2025.model_cases import DATA, MARKS, MODELS

pytestmark = MARKS


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> list[ScoringJob]:
    """A baseline as it is, with other texts, with a fault, empty, and as it is once more."""
    work = tmp_path_factory.mktemp("models")
    chosen = {f"{part}.{key}": value for part, own in MODELS.items() for key, value in own.items()}
    overrides = tuple(f"options.{key}={json.dumps(value)}" for key, value in chosen.items() if value is not None)
    build(BuildRequest("clpsych2025", out=work / "bundle.zip", overrides=overrides))
    bundle = opened_bundle(work / "bundle.zip", "dev", work / "opened", ProcessEngine())
    answers = json.loads(next((DATA / "baselines" / "dev" / "lexical-rule").iterdir()).read_text(encoding="utf-8"))
    other, empty = (json.loads(json.dumps(answers)) for _ in range(2))
    for timeline in other.values():
        for number, answer in enumerate(timeline["post_level"].values()):
            if number % 2:
                answer.update(post(summary=f"Number {number}. A walk.", adaptive_evidence=[f"a walk {number}"]))
    for timeline in empty.values():
        timeline["timeline_level"]["summary"] = ""
        timeline["post_level"] = {name: post() for name in timeline["post_level"]}
    sent = [answers, other, {"strange": 1}, empty, answers]
    files = [write_zip(work / f"{n}.zip", {"TEAM_1.json": json.dumps(one)}) for n, one in enumerate(sent)]
    return [job_for(bundle.scorers[0], file, file.stem) for file in files]


@pytest.mark.slow
def test_every_result_is_that_of_a_single_run(jobs: list[ScoringJob], tmp_path: Path) -> None:
    alone = [score(job, ForkedEngine(), tmp_path) for job in jobs]
    with closing(Desk(tmp_path)) as desk:
        for order in (range(5), (3, 2, 1, 0, 4)):
            for number in order:
                ended, expected = desk.score(jobs[number]), alone[number]
                assert (ended.status, ended.exit_code, ended.message) == (
                    expected.status,
                    expected.exit_code,
                    expected.message,
                )
                assert ended.sent == (pytest.approx(expected.sent, abs=1e-6) if expected.sent else None)
        statuses = [result.status for result in alone]
        assert statuses == ["Finished", "Finished", "Failed", "Finished", "Finished"]
        assert len(loaded()) == 1


@pytest.mark.slow
def test_a_model_is_read_once(jobs: list[ScoringJob], tmp_path: Path) -> None:
    with closing(Desk(tmp_path)) as desk:
        desk.score(jobs[0])
        (process,) = loaded()
        before = _seconds(process)
        desk.score(jobs[0])
        again = _seconds(process) - before
    assert again < before / 4


def _seconds(process: int) -> float:
    """Processor time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts went through the encoder in each batch."""
    counted: list[int] = []
    whole = device.padded

    def counting(sequences: Sequence[Sequence[int]], *rest: Any) -> Any:
        counted.append(len(sequences))
        return whole(sequences, *rest)

    monkeypatch.setattr(device, "padded", counting)
    load_bert_scorer.cache_clear()
    load_nli_model.cache_clear()
    return counted


BERT = BertScoreOptions(tiny_models.DEBERTA_ENCODER, num_layers=2, rescale=False, device="cpu")


def test_texts_that_were_used_lately_are_kept(monkeypatch: pytest.MonkeyPatch, encoded: list[int]) -> None:
    monkeypatch.setattr(bertscore, "MOST_KEPT", 0)
    scorer = load_bert_scorer(BERT)
    first = scorer.score(["a walk", "a day"], ["gold"]).f1.tolist()
    for number in range(5):
        cache.forget()
        assert sum(encoded) == 3 + number
        scorer.score([f"number {number}"], ["gold"])
    assert scorer.score(["a walk", "a day"], ["gold"]).f1.tolist() == [pytest.approx(row, abs=1e-6) for row in first]
    assert sum(encoded) == 3 + 5 + 2  # what no run used for two turns is embedded again


def test_pairs_that_were_used_lately_are_kept(monkeypatch: pytest.MonkeyPatch, encoded: list[int]) -> None:
    monkeypatch.setattr(nli, "MOST_KEPT", 0)
    model = load_nli_model(NliOptions(tiny_models.DEBERTA_V2_NLI, device="cpu"))
    first = model.probabilities([("a", "b"), ("a", "c")]).tolist()
    for number in range(5):
        cache.forget()
        assert sum(encoded) == 2 + number
        model.probabilities([("a", "b"), ("a", f"number {number}")])
    assert model.probabilities([("a", "b"), ("a", "c")]).tolist() == [pytest.approx(row, abs=1e-6) for row in first]
    assert sum(encoded) == 2 + 5 + 1


def test_nothing_is_forgotten_while_there_is_little(encoded: list[int]) -> None:
    for _ in range(3):
        load_bert_scorer(BERT).score(["a walk", "a day"], ["gold"])
        cache.forget()
    assert sum(encoded) == 3

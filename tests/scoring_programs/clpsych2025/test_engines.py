"""What the signature says of the models: the engine's own account, or what is known without one."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from clpsych2025.engines import settings, summary_settings
from tests.scoring_programs.clpsych2025.cases import OPTIONS

PLAIN = {"profile": "published", "precision": "fp32"}


def options(engine: str, **fields: Any) -> dict[str, Any]:
    return {**OPTIONS, engine: {**OPTIONS[engine], **fields}}


def test_with_a_model_its_own_account_is_told() -> None:
    account = {"model": "m", "revision": "c0ffee", "num_layers": 4, "baseline": "d1", "precision": "fp32"}
    assert settings(options("bertscore", model="/far/m", revision="main"), "bertscore", account) == {
        **PLAIN,
        "bertscore.model": "m",
        "bertscore.revision": "c0ffee",
        "bertscore.num_layers": "4",
        "bertscore.baseline": "d1",
        "bertscore.rescale": "true",
    }


WITHOUT: dict[str, tuple[str, dict[str, Any], dict[str, str]]] = {
    "what a model would tell is left out": (
        "bertscore",
        {"revision": "main"},
        {"bertscore.model": "m", "bertscore.rescale": "true"},
    ),
    "the layer of the options": (
        "bertscore",
        {"num_layers": 4},
        {"bertscore.model": "m", "bertscore.rescale": "true", "bertscore.num_layers": "4"},
    ),
    "no rescaling, no baseline": (
        "bertscore",
        {"rescale": False},
        {"bertscore.model": "m", "bertscore.rescale": "false", "bertscore.baseline": "null"},
    ),
    "labels": ("nli", {"labels": {"label_0": "entailment"}}, {"nli.model": "n"}),
    "of a folder its last part": ("nli", {"model": "/the/organisers/own/nli"}, {"nli.model": "nli"}),
}


@pytest.mark.parametrize(("engine", "fields", "expected"), WITHOUT.values(), ids=WITHOUT)
def test_without_a_model_only_what_is_known_is_told(
    engine: str, fields: dict[str, Any], expected: dict[str, str]
) -> None:
    assert settings(options(engine, **fields), engine, None) == {**PLAIN, **expected}


def test_a_baseline_is_told_by_its_content(tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.tsv"
    baseline.write_bytes(b"LAYER,P,R,F\n")
    told = settings(options("bertscore", baseline=str(baseline)), "bertscore", None)
    assert told["bertscore.baseline"] == hashlib.sha256(b"LAYER,P,R,F\n").hexdigest()
    assert str(tmp_path) not in str(told)


def test_without_a_summary_no_sentence_splitter_is_told() -> None:
    assert summary_settings(OPTIONS, None) == settings(OPTIONS, "nli", None)

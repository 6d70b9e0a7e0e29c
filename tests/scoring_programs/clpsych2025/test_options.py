"""Options: every mistake at once, each with its name and what is expected."""

from typing import Any

import pytest

from clpsych2025.reference import check_options
from tests.scoring_programs.clpsych2025.cases import OPTIONS


def changed(name: str, value: Any) -> dict[str, Any]:
    group, _, key = name.rpartition(".")
    return {**OPTIONS, group: {**OPTIONS[group], key: value}} if group else {**OPTIONS, name: value}


GOOD: dict[str, list[Any]] = {
    "profile": ["published", "as-run"],
    "bertscore.model": ["a/hub-name", "/a/folder"],
    "bertscore.revision": [None, "0123abcd"],
    "bertscore.num_layers": [None, 1, 40],
    "bertscore.baseline": [None, "file.tsv"],
    "bertscore.rescale": [True, False],
    "nli.labels": [
        None,
        ["contradiction", "neutral", "entailment"],
        {"LABEL_0": "entailment", "LABEL_1": "neutral", "LABEL_2": "contradiction"},
    ],
    "device": ["auto", "cpu", "cuda"],
    "precision": ["fp32", "bf16"],
    "batch_tokens": [None, 1024],
    "cache": [None, "folder"],
    "max_submission_mb": [0.5, 20],
}
BAD: dict[str, list[Any]] = {
    "profile": [None, "official", 1],
    "bertscore.model": [None, "", 3],
    "bertscore.revision": [3, ""],
    "bertscore.num_layers": [0, -1, 1.5, True, "40"],
    "bertscore.baseline": [0.5, ""],
    "bertscore.rescale": [None, "yes", 1],
    "nli.model": [None, ""],
    "nli.labels": ["entailment", ["entailment"], ["a", "b", "c"], {"LABEL_0": "entailment"}, 3],
    "device": ["gpu", None],
    "precision": ["fp16", None],
    "batch_tokens": [0, -5, 1.5, True],
    "cache": [True, ""],
    "max_submission_mb": [0, None, "20", float("inf"), float("nan")],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in GOOD.items() for value in values])
def test_good_values(name: str, value: Any) -> None:
    assert check_options(changed(name, value)) == []


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_bad_values(name: str, value: Any) -> None:
    (message,) = check_options(changed(name, value))
    assert message.startswith(f"options.{name}: not a valid value. Expected: ")


def test_all_mistakes_are_named_at_once() -> None:
    options = {**OPTIONS, "profile": "x", "bertscore": {"modell": "m", "rescale": 1}, "nli": None, "speed": 3}
    assert [message.split(": ")[0] for message in check_options(options)] == [
        "options.profile",
        "options.bertscore.modell",
        "options.bertscore.model",
        "options.bertscore.rescale",
        "options.nli",
        "options.speed",
    ]


def test_as_run_always_rescales() -> None:
    (message,) = check_options({**changed("bertscore.rescale", False), "profile": "as-run"})
    assert "because profile as-run always rescales" in message

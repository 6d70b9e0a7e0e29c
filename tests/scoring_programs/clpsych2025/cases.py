"""Small gold and submissions for the tests of CLPsych 2025."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clpsych2025 import submission as reader
from clpsych2025.reference import ClpsychReference, GoldPost, GoldTimeline, Summary
from clpsych2025.submission import ClpsychSubmission, PostAnswer, TimelineAnswer
from scoring_kit.errors import Problems, SubmissionError
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import read_submission

TASKS = ("a1", "a2", "b", "c")
OPTIONS: dict[str, Any] = {
    "profile": "published",
    "bertscore": {"model": "m", "revision": None, "num_layers": None, "baseline": None, "rescale": True},
    "nli": {"model": "n", "revision": None, "labels": None},
    "device": "cpu",
    "precision": "fp32",
    "batch_tokens": None,
    "cache": None,
    "max_submission_mb": 20,
}
AS_RUN = {**OPTIONS, "profile": "as-run"}
NO_SUMMARY = Summary("", None)
CANARY = "zanzibarine"
WORST = {
    "a1_recall": 0,
    "a1_weighted_recall": 0,
    "a1_recall_adaptive": 0,
    "a1_weighted_recall_adaptive": 0,
    "a1_recall_maladaptive": 0,
    "a1_weighted_recall_maladaptive": 0,
    "a2_mse": 81,
    "a2_mse_serious": 81,
    "a2_mse_impaired": 81,
    "a2_mse_minimal": 81,
    "a2_macro_f1": 0,
    "b_mean_consistency": 0,
    "b_max_contradiction": 1,
    "b_max_entailment": 0,
    "c_mean_consistency": 0,
    "c_max_contradiction": 1,
}


def gold_scores(*timelines: Sequence[int | None]) -> ClpsychReference:
    """Gold of timelines t0, t1 … with posts p0, p1 … that have these well-being scores and nothing else."""
    return ClpsychReference(
        {
            f"t{t}": GoldTimeline(
                NO_SUMMARY,
                {"adaptive": (), "maladaptive": ()},
                {f"p{p}": GoldPost(NO_SUMMARY, score) for p, score in enumerate(scores)},
            )
            for t, scores in enumerate(timelines)
        }
    )


def scores(*timelines: Sequence[float | None]) -> ClpsychSubmission:
    """A submission to `gold_scores` with these predictions and nothing else."""
    nothing: Mapping[str, tuple[str, ...]] = {"adaptive": (), "maladaptive": ()}
    return ClpsychSubmission(
        {
            f"t{t}": TimelineAnswer("", {f"p{p}": PostAnswer(nothing, "", score) for p, score in enumerate(predicted)})
            for t, predicted in enumerate(timelines)
        },
        frozenset(TASKS),
    )


def post(**fields: Any) -> dict[str, Any]:
    """A post's answer in JSON; fields left out are empty."""
    return {"adaptive_evidence": [], "maladaptive_evidence": [], "summary": "", "wellbeing_score": None, **fields}


def answer(posts: Mapping[str, Any], summary: Any = "") -> dict[str, Any]:
    """A timeline's answer in JSON."""
    return {"timeline_level": {"summary": summary}, "post_level": dict(posts)}


def manifest(expected: Mapping[str, Sequence[str]], profile: str = "published", **options: Any) -> Manifest:
    """A manifest that expects these posts of these timelines."""
    timelines = {timeline: list(posts) for timeline, posts in expected.items()}
    chosen = {**OPTIONS, "profile": profile, **options}
    return Manifest("clpsych2025", TASKS, TASKS, "joint", chosen, {"timelines": timelines})


def write_files(folder: Path, content: object) -> Path:
    """A submission's folder that holds `content`: text or bytes as they are, anything else as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    data = content if isinstance(content, (str, bytes)) else json.dumps(content)
    (folder / "Team_1.json").write_bytes(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    return folder


def read(folder: Path, content: object, expected: Manifest) -> tuple[ClpsychSubmission | None, Problems]:
    """Write and read a submission: None with the problems where it is refused."""
    return read_folder(write_files(folder, content), expected)


def read_folder(folder: Path, expected: Manifest) -> tuple[ClpsychSubmission | None, Problems]:
    """Read a submission: None with the problems where it is refused."""
    problems = Problems()
    try:
        return read_submission(reader, folder, expected, problems)[0], problems
    except SubmissionError:
        return None, problems


def gold_json(timelines: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A prepared gold: timeline → {`summary`, `adaptive`, `maladaptive`, `posts`: {id: (summary, score)}}."""
    return {
        name: {
            "timeline_level": {
                "summary": timeline.get("summary"),
                **{
                    f"{state}_spans": [
                        {"text": text, "element": "A", "subcategory": None} for text in timeline.get(state, ())
                    ]
                    for state in ("adaptive", "maladaptive")
                },
            },
            "post_level": {
                key: {"summary": summary, "wellbeing_score": score}
                for key, (summary, score) in timeline["posts"].items()
            },
        }
        for name, timeline in timelines.items()
    }


def write_gold(folder: Path, timelines: Mapping[str, Mapping[str, Any]]) -> Path:
    """A folder that holds a prepared gold."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gold.json").write_text(json.dumps(gold_json(timelines)), encoding="utf-8")
    return folder


def full_gold(posts_of: dict[str, list[str]]) -> dict[str, Any]:
    """Gold for real ids: every class of span and every range of scores occurs; the texts are canaries."""
    return {
        timeline: {
            "summary": f"{CANARY} summary of {timeline}.",
            "adaptive": [f"{CANARY} adaptive"],
            "maladaptive": [f"{CANARY} maladaptive"],
            "posts": {name: (f"{CANARY} summary of {name}.", 1 + index % 10) for index, name in enumerate(posts)},
        }
        for timeline, posts in posts_of.items()
    }

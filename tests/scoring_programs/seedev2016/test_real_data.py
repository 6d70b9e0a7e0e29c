"""The development data of BioNLP-ST 2016, where they are there: gold against itself, and gold with gaps."""

import pytest

from scoring_kit.organiser import Request
from scoring_kit.results import TaskResult
from seedev2016 import binary, full, organiser, reference
from seedev2016.submission import SeeDevSubmission
from tests.shared import shared_path

SCORE = {"binary": binary.score, "full": full.score}
EVENTS = {"binary": 819, "full": 594}


@pytest.fixture(scope="module")
def gold() -> reference.SeeDevReference:
    return reference.read(shared_path("data/seedev2016"), ["binary", "full"], {})


def scored(gold: reference.SeeDevReference, task: str, step: int | None) -> TaskResult:
    """The gold, without every `step`-th event counted over all documents, scored against the gold."""
    numbered = iter(range(1, 10_000))
    kept = {
        document: [event for event in events if step is None or next(numbered) % step]
        for document, events in gold.events[task].items()
    }
    return SCORE[task](gold, SeeDevSubmission(frozenset({task}), {task: kept}), {})


@pytest.mark.parametrize("task", ["binary", "full"])
def test_gold_against_itself_is_perfect(gold: reference.SeeDevReference, task: str) -> None:
    metrics = scored(gold, task, None).metrics
    assert metrics["gold_events"].value == EVENTS[task]
    types = [name.removeprefix("recall.") for name, metric in metrics.items() if "recall." in name and metric.rows]
    alternate = [f"{name}.{kind}" for name in ("f1", "recall", "precision") for kind in types]
    assert len(alternate) >= 3 * 18
    assert {metrics[name].value for name in [*alternate, f"{task}_f1", f"{task}_recall", f"{task}_precision"]} == {1.0}
    if task == "full":
        assert metrics["full_ser"].value == 0.0


@pytest.mark.parametrize("task", ["binary", "full"])
@pytest.mark.parametrize("step", [2, 3, 7, 100])
def test_gold_without_every_kth_event(gold: reference.SeeDevReference, task: str, step: int) -> None:
    """n events, n // k of them dropped: recall = (n - n // k) / n; all that is left is right, so precision is 1."""
    metrics = scored(gold, task, step).metrics
    dropped = EVENTS[task] // step
    assert metrics[f"{task}_recall"].value == (EVENTS[task] - dropped) / EVENTS[task]
    assert metrics[f"{task}_precision"].value == 1.0
    assert metrics["deletions"].value == dropped
    if task == "full":
        assert metrics["full_ser"].value == dropped / EVENTS[task]


def test_the_data_are_what_the_schema_allows_and_quote_their_texts() -> None:
    folder = shared_path("data/seedev2016")
    both = ["binary", "full"]
    request = Request(reference=str(folder), tasks=both, all_tasks=both, layout="joint", options={})
    assert organiser.check_reference(request) == {"warnings": []}

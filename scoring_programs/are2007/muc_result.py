"""From the links of every text to the scores of a task (tasks 2 and 4)."""

from collections.abc import Mapping

from are2007.disclosure import scored_items
from are2007.muc import NO_LINKS, LinkScores
from scoring_kit.results import Bar, BarChart, Metric, TaskResult


def muc_metrics(task: str) -> tuple[str, ...]:
    """The metrics of a task that a column may show."""
    return (f"{task}_f1", f"{task}_recall", f"{task}_precision", "response_links", "common_links")


def muc_result(task: str, texts: Mapping[str, LinkScores]) -> TaskResult:
    """F1, recall and precision over the links of all texts together, and F1 by text."""
    total = sum(texts.values(), start=NO_LINKS)
    items = scored_items(total.key_links, total.response_links)
    metrics = {
        f"{task}_f1": Metric(total.f1, total.key_links + total.response_links, items),
        f"{task}_recall": Metric(total.recall, total.key_links, items),
        f"{task}_precision": Metric(total.precision, total.response_links, items),
        "response_links": Metric(total.response_links, total.key_links, items),
        "common_links": Metric(total.recalled, total.key_links, items),
    }
    bars = [
        Bar(text, scores.f1, scored_items(scores.key_links, scores.response_links)) for text, scores in texts.items()
    ]
    return TaskResult(
        metrics,
        figures=(
            BarChart("F1 by text", bars, "higher", "links of the key or of the answer, whichever are fewer", top=1.0),
        ),
    )

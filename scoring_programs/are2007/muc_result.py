"""From the links of every text to the scores of a task (tasks 2 and 4)."""

from collections.abc import Mapping

from are2007.muc import NO_LINKS, LinkScores
from scoring_kit.results import Bar, BarChart, Metric, TaskResult


def muc_result(task: str, texts: Mapping[str, LinkScores]) -> TaskResult:
    """F1, recall and precision over the links of all texts together, and F1 by text."""
    total = sum(texts.values(), start=NO_LINKS)
    metrics = {
        f"{task}_f1": Metric(total.f1, total.key_links + total.response_links, _items(total)),
        f"{task}_recall": Metric(total.recall, total.key_links, _items(total)),
        f"{task}_precision": Metric(total.precision, total.response_links, _items(total)),
        "response_links": Metric(total.response_links, total.key_links, _items(total)),
        "common_links": Metric(total.recalled, total.key_links, _items(total)),
    }
    bars = [Bar(text, scores.f1, _items(scores)) for text, scores in texts.items()]
    return TaskResult(metrics, figures=(BarChart("F1 by text", bars, "higher", top=1.0),))


def _items(scores: LinkScores) -> int:
    """Scored links behind a figure: of a single link it would tell whether it is right."""
    return min(scores.key_links, scores.response_links) if scores.response_links else scores.key_links

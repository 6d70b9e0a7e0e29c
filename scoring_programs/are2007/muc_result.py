"""From the links of every text to the scores of a task (tasks 2 and 4)."""

from collections.abc import Mapping

from are2007.muc import NO_LINKS, LinkScores
from scoring_kit.metrics.summed import count, quotient, ratio
from scoring_kit.results import Bar, BarChart, Metric, TaskResult, scored_items
from scoring_kit.units import Additive, Array, Units


def muc_metrics(task: str) -> tuple[str, ...]:
    """The metrics of a task that a column may show."""
    return (f"{task}_f1", f"{task}_recall", f"{task}_precision", "response_links", "common_links")


def muc_result(task: str, texts: Mapping[str, LinkScores]) -> TaskResult:
    """F1, recall and precision over the links of all texts together, and F1 by text."""
    overall = sum(texts.values(), start=NO_LINKS)
    items = _items(overall)
    metrics = {
        f"{task}_f1": Metric(overall.f1, overall.key_links + overall.response_links, items),
        f"{task}_recall": Metric(overall.recall, overall.key_links, items),
        f"{task}_precision": Metric(overall.precision, overall.response_links, items),
        "response_links": Metric(overall.response_links, overall.key_links, items),
        "common_links": Metric(overall.recalled, overall.key_links, items),
    }
    bars = [Bar(text, scores.f1, _items(scores)) for text, scores in texts.items()]
    return TaskResult(
        metrics,
        figures=(
            BarChart("F1 by text", bars, "higher", "links of the key or of the answer, whichever are fewer", top=1.0),
        ),
        units=lambda: _units(task, texts),
    )


def _items(scores: LinkScores) -> int:
    return scored_items(scores.key_links, scores.response_links)


def _units(task: str, texts: Mapping[str, LinkScores]) -> Units:
    recalled = [(own.recalled, own.key_links) for own in texts.values()]
    precise = [(own.precise, own.response_links) for own in texts.values()]
    both = [(*one, *other) for one, other in zip(recalled, precise, strict=True)]
    statistics = {
        f"{task}_f1": Additive.of(both, _f1),
        f"{task}_recall": Additive.of(recalled, ratio),
        f"{task}_precision": Additive.of(precise, ratio),
        "response_links": Additive.of(([links] for _, links in precise), count),
        "common_links": Additive.of(([links] for links, _ in recalled), count),
    }
    return Units("document", list(texts), statistics)


def _f1(sums: Array) -> Array:
    """`LinkScores.f1` from recalled, key links, precise and response links."""
    recall, precision = ratio(sums[..., :2]), ratio(sums[..., 2:])
    return quotient(2 * recall * precision, recall + precision)

"""What a phase's gold must hold so that every column has a meaning, and what organisers should know about it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clpsych2025.a2 import CLASSES, published_class
from clpsych2025.answers import SELF_STATES
from clpsych2025.reference import FILE, ClpsychReference, GoldPost

FEW = 5  # details_min_items of bundle.yaml, unless the organisers change it
RANGES = {"serious": "1 to 4", "impaired": "5 to 6", "minimal": "7 to 10"}


def undefined_columns(reference: ClpsychReference, tasks: Sequence[str]) -> list[str]:
    """The columns of profile `published` that this gold leaves without a single value to average."""
    messages = []
    timelines, posts = reference.timelines.values(), _posts(reference)
    if "a1" in tasks:
        messages += [
            f"{FILE}: no timeline has {state} evidence, so a1_recall_{state} is undefined. Expected: at least one span."
            for state in SELF_STATES
            if not any(timeline.spans[state] for timeline in timelines)
        ]
    if "a2" in tasks:
        found = {published_class(post.wellbeing) for post in posts}
        messages += [
            f"{FILE}: no post has a well-being score from {RANGES[name]}, so a2_mse_{name} is undefined. "
            "Expected: at least one in each range."
            for name, label in CLASSES.items()
            if label not in found
        ]
    if "b" in tasks and not any(post.summary.given for post in posts):
        messages.append(f"{FILE}: no post has a summary, so task b is undefined. Expected: at least one.")
    if "c" in tasks and not any(timeline.summary.given for timeline in timelines):
        messages.append(f"{FILE}: no timeline has a summary, so task c is undefined. Expected: at least one.")
    return messages


def weaknesses(reference: ClpsychReference, tasks: Sequence[str], options: Mapping[str, Any]) -> list[str]:
    """What can be scored, but not without a remark."""
    warnings = []
    few = {column: count for column, count in _items_of_columns(reference, tasks).items() if 0 < count < FEW}
    if few:
        warnings.append(
            f"{FILE}: fewer than {FEW} gold items are behind "
            f"{', '.join(f'{column} ({count})' for column, count in few.items())}. The leaderboard shows every column, "
            "so participants can work out single annotations from these."
        )
    if "a2" in tasks:
        warnings.append(
            "task a2: the published rule for missing scores has a weakness: one exact score in a timeline and nulls "
            "for all its other posts give a mean squared error of 0. Read a2_mse beside the number of abstentions, "
            "which details.json and the results page show."
        )
    if "a1" in tasks and options["profile"] == "as-run":
        # Only organisers may read this: the scoring program must not say in a participant's log where there is no gold.
        warnings += [
            f"{FILE}, timeline {name}: has no {state} evidence. Profile as-run cannot score a submission that finds "
            "some there: give such gold a span, or take profile published."
            for name, timeline in reference.timelines.items()
            for state in SELF_STATES
            if not timeline.spans[state]
        ]
    models = {"bertscore": {"a1"}, "nli": {"b", "c"}}
    for group, users in models.items():
        unnamed = options[group]["revision"] is None and not Path(options[group]["model"]).is_absolute()
        if unnamed and users.intersection(tasks):
            warnings.append(
                f"options.{group}.revision is null: name the model's commit, or the scores may change with the model."
            )
    if options["cache"] is not None:
        warnings.append("options.cache is for work on one's own machine; leave it null in a bundle for a platform.")
    return warnings


def _items_of_columns(reference: ClpsychReference, tasks: Sequence[str]) -> dict[str, int]:
    """How many gold items are behind each column: spans (a1), scored posts (a2), posts (b), timelines (c)."""
    timelines, posts = reference.timelines.values(), _posts(reference)
    items: dict[str, int] = {}
    if "a1" in tasks:
        spans = {f"_{state}": sum(len(timeline.spans[state]) for timeline in timelines) for state in SELF_STATES}
        for suffix, count in {"": sum(spans.values()), **spans}.items():
            items |= {f"a1_recall{suffix}": count, f"a1_weighted_recall{suffix}": count}
    if "a2" in tasks:
        classes = [published_class(post.wellbeing) for post in posts if post.wellbeing is not None]
        items |= {"a2_mse": len(classes), "a2_macro_f1": len(classes)}
        items |= {f"a2_mse_{name}": classes.count(label) for name, label in CLASSES.items()}
    if "b" in tasks:
        summaries = sum(post.summary.given for post in posts)
        items |= dict.fromkeys(("b_mean_consistency", "b_max_contradiction", "b_max_entailment"), summaries)
    if "c" in tasks:
        summaries = sum(timeline.summary.given for timeline in timelines)
        items |= dict.fromkeys(("c_mean_consistency", "c_max_contradiction"), summaries)
    return items


def _posts(reference: ClpsychReference) -> list[GoldPost]:
    return [post for timeline in reference.timelines.values() for post in timeline.posts.values()]

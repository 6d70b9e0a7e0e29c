"""The verbs for the organisers of CLPsych 2025 alone: preparing gold, checking it, the template, what is secret."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from clpsych2025 import gold_files
from clpsych2025 import reference as gold
from clpsych2025.a2 import ABSTAINED, CLASSES, published_class
from clpsych2025.reference import ClpsychReference, check_options
from clpsych2025.submission import SELF_STATES
from scoring_kit.errors import OrganiserError
from scoring_kit.organiser import Request, Secrets, Warned, read_reference, serve

TEMPLATE = "TEAM_SubmissionID.json"
PACKED_FILES = "files/"  # where a build puts files that options name, if they exist


def prepare(request: Request) -> Warned:
    """Turn a phase's folder, raw timelines or a prepared gold.json, into reference data.

    Warns of annotations that look wrong but can be scored; raises OrganiserError with every mistake.
    """
    source, out = Path(request["source"]), Path(request["out"])
    warnings = gold_files.prepare(source, out)
    gold.read_gold(out, request["tasks"], request["options"].get("profile", "published"))
    return {"warnings": warnings}


def check_reference(request: Request) -> Warned:
    """Validate prepared gold and the options; warn of what the organisers should know before they publish.

    Raises OrganiserError with every mistake, also a column that the gold leaves undefined under profile `published`.
    """
    tasks, options = request["tasks"], request["options"]
    messages = check_options(options)
    bertscore = options.get("bertscore")
    baseline = bertscore.get("baseline") if isinstance(bertscore, Mapping) else None
    if isinstance(baseline, str) and not baseline.startswith(PACKED_FILES):
        messages.append("options.bertscore.baseline: no such file. Expected: a file, to be copied into the program.")
    profile = options.get("profile", "published")
    try:
        reference = gold.read_gold(Path(request["reference"]), tasks, profile)
    except OrganiserError as error:
        raise OrganiserError(*messages, *error.messages) from error
    items = _items_of_columns(reference, tasks)
    if profile == "published":
        for column, (what, undefined, needed) in UNDEFINED.items():
            if items.get(column) == 0:
                messages.append(f"{gold.FILE}: {what}, so {undefined} is undefined. Expected: at least {needed}.")
    if messages:
        raise OrganiserError(*messages)
    return {"warnings": list(_weaknesses(items, reference, request))}


def template(request: Request) -> dict[str, Any]:
    """Write the empty submission: every timeline and post, nothing answered."""
    given = gold.manifest(read_reference(gold.read, request), request["tasks"])
    nothing: dict[str, Any] = {
        "adaptive_evidence": [],
        "maladaptive_evidence": [],
        "summary": "",
        "wellbeing_score": None,
    }
    answers = {}
    for timeline, posts in given["timelines"].items():
        answers[timeline] = {"timeline_level": {"summary": ""}, "post_level": dict.fromkeys(posts, nothing)}
    (Path(request["out"]) / TEMPLATE).write_text(json.dumps(answers), encoding="utf-8")
    return {}


def secrets(request: Request) -> Secrets:
    """Return the gold that must not leak: annotated spans, summaries, and well-being scores by post."""
    return {"files": [{"name": gold.FILE, "columns": ["summary", "summary_sents", "text", "wellbeing_score"]}]}


FEW = 5  # details_min_items of bundle.yaml, unless the organisers change it
UNDEFINED = {
    "a1_recall_adaptive": ("no timeline has adaptive evidence", "a1_recall_adaptive", "one span"),
    "a1_recall_maladaptive": ("no timeline has maladaptive evidence", "a1_recall_maladaptive", "one span"),
    "a2_mse_serious": ("no post has a well-being score from 1 to 4", "a2_mse_serious", "one in each range"),
    "a2_mse_impaired": ("no post has a well-being score from 5 to 6", "a2_mse_impaired", "one in each range"),
    "a2_mse_minimal": ("no post has a well-being score from 7 to 10", "a2_mse_minimal", "one in each range"),
    "b_mean_consistency": ("no post has a summary", "task b", "one"),
    "c_mean_consistency": ("no timeline has a summary", "task c", "one"),
}
"""Column of profile `published` → what gold that leaves it undefined lacks, what is undefined then, and what to add."""


def _weaknesses(items: Mapping[str, int], reference: ClpsychReference, request: Request) -> Iterator[str]:
    """Yield what can be scored, but not without a remark; `items`: column → how many gold items are behind it."""
    tasks, options = request["tasks"], request["options"]
    few = [f"{column} ({count})" for column, count in items.items() if 0 < count < FEW]
    if few:
        yield (
            f"{gold.FILE}: fewer than {FEW} gold items are behind {', '.join(few)}. The leaderboard shows every "
            "column, so participants can work out single annotations from these."
        )
    if "a2" in tasks:
        yield (
            "task a2: the published rule for missing scores has a weakness: one exact score in a timeline and nulls "
            "for all its other posts give a mean squared error of 0. Read a2_mse beside the number of abstentions, "
            "which details.json and the results page show."
        )
    if "a1" in tasks and options["profile"] == "as-run":
        yield from _without_evidence(reference)
    for group, users in {"bertscore": {"a1"}, "nli": {"b", "c"}}.items():
        is_named = options[group]["revision"] is not None or Path(options[group]["model"]).is_absolute()
        if not is_named and users.intersection(tasks):
            yield f"options.{group}.revision is null: name the model's commit, or the scores may change with the model."
    if options["cache"] is not None:
        yield "options.cache is for work on one's own machine; leave it null in a bundle for a platform."


def _without_evidence(reference: ClpsychReference) -> Iterator[str]:
    """The timelines of which profile as-run cannot score every submission.

    Only organisers may read this: the scoring program must not say in a participant's log where there is no gold.
    """
    for name, timeline in reference.timelines.items():
        for state in SELF_STATES:
            if not timeline.spans[state]:
                yield (
                    f"{gold.FILE}, timeline {name}: has no {state} evidence. Profile as-run cannot score a submission "
                    "that finds some there: give such gold a span, or take profile published."
                )


def _items_of_columns(reference: ClpsychReference, tasks: Sequence[str]) -> dict[str, int]:
    """How many gold items are behind each column: spans (a1), scored posts (a2), posts (b), timelines (c)."""
    spans: Counter[str] = Counter()
    classes: Counter[int] = Counter()
    timelines = posts = 0
    for timeline in reference.timelines.values():
        timelines += timeline.summary.given
        for state in SELF_STATES:
            spans[state] += len(timeline.spans[state])
        for post in timeline.posts.values():
            posts += post.summary.given
            classes[published_class(post.wellbeing)] += 1
    scored = classes.total() - classes[ABSTAINED]
    items = {"a1_recall": spans.total(), "a1_weighted_recall": spans.total()}
    for state in SELF_STATES:
        items |= {f"a1_recall_{state}": spans[state], f"a1_weighted_recall_{state}": spans[state]}
    items |= {"a2_mse": scored, "a2_macro_f1": scored}
    for name, label in CLASSES.items():
        items[f"a2_mse_{name}"] = classes[label]
    items |= dict.fromkeys(("b_mean_consistency", "b_max_contradiction", "b_max_entailment"), posts)
    items |= dict.fromkeys(("c_mean_consistency", "c_max_contradiction"), timelines)
    return {column: count for column, count in items.items() if column.partition("_")[0] in tasks}


if __name__ == "__main__":
    raise SystemExit(serve(globals()))

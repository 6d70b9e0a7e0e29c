"""The gold and the options of CLPsych 2025, read strictly; every mistake at once.

Form of `gold.json`: timeline id → `timeline_level` {`summary`, `summary_sents`, `adaptive_spans`, `maladaptive_spans`}
and `post_level` {post id → `summary`, `summary_sents`, `wellbeing_score`}. The sentence lists may be absent: then the
summaries are split when they are needed.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from clpsych2025.submission import SELF_STATES
from scoring_kit.base.field_types import type_name
from scoring_kit.errors import OrganiserError, Problems
from scoring_kit.json_reading import JsonObject, read_json

FILE = "gold.json"
LARGEST_GOLD_MB = 1_000
LOWEST_SCORE, HIGHEST_SCORE = 1, 10


@dataclass(frozen=True)
class Summary:
    """A gold summary; `sentences` is None where the gold gives only its text."""

    text: str
    sentences: tuple[str, ...] | None

    @property
    def given(self) -> bool:
        """Whether there is a summary to compare with."""
        return bool(self.text.strip()) if self.sentences is None else bool(self.sentences)


NO_SUMMARY = Summary("", None)


@dataclass(frozen=True)
class GoldPost:
    """A post's annotation; `wellbeing` is 1 to 10, or None where the post was not scored."""

    summary: Summary
    wellbeing: int | None


@dataclass(frozen=True)
class GoldTimeline:
    """A timeline's annotation; spans are stripped and never blank, duplicates kept."""

    summary: Summary
    spans: Mapping[str, tuple[str, ...]]
    posts: Mapping[str, GoldPost]


@dataclass(frozen=True)
class ClpsychReference:
    """The gold of one phase, timelines in the order of the file."""

    timelines: Mapping[str, GoldTimeline]


def read(folder: Path, tasks: Sequence[str], options: Mapping[str, Any]) -> ClpsychReference:
    """Read `gold.json` as far as `tasks` need it; raises OrganiserError with every mistake, of the options first.

    Messages name timeline, post and field, never what the gold says.
    """
    messages = check_options(options)
    if messages:
        raise OrganiserError(*messages)
    return read_gold(folder, tasks, options["profile"])


def read_gold(folder: Path, tasks: Sequence[str], profile: str) -> ClpsychReference:
    """Read `gold.json` as far as `tasks` need it under a profile; raises OrganiserError with every mistake."""
    path = folder / FILE
    if not path.is_file():
        raise OrganiserError(f"{FILE}: missing in the reference data. Prepare the phase's timelines with gen-bundle.")
    problems = Problems()
    data = read_json(path, FILE, LARGEST_GOLD_MB, problems)
    problems.stop_organisers_if_any()
    reference = _GoldReader(tasks, profile, problems).timelines(data)
    problems.stop_organisers_if_any()
    return reference


def manifest(reference: ClpsychReference, tasks: Sequence[str]) -> dict[str, Any]:
    """Return what participants may know: which timelines and posts an answer must hold."""
    return {"timelines": {timeline: list(gold.posts) for timeline, gold in reference.timelines.items()}}


class _GoldReader:
    """Reads gold field by field; what a task does not need may be absent."""

    def __init__(self, tasks: Sequence[str], profile: str, problems: Problems) -> None:
        self.tasks = tasks
        self.needs_spans = "a1" in tasks and profile == "published"
        self.needs_scores = "a2" in tasks and profile == "as-run"
        self._wrong = problems.error

    def timelines(self, data: object) -> ClpsychReference:
        timelines = {}
        for name, value in self._all_by_id(data, FILE, "timeline").items():
            timelines[name] = self._timeline(value, f"{FILE}, timeline {name}")
        return ClpsychReference(timelines)

    def _all_by_id(self, value: object, where: str, kind: str) -> Mapping[str, Any]:
        found = self._object(value, where, f"{kind}s by their id")
        if found is not None and not found:
            self._wrong(where, f"holds no {kind}", f"at least one {kind}")
        return found or {}

    def _timeline(self, value: object, where: str) -> GoldTimeline:
        timeline = self._object(value, where, "`timeline_level` and `post_level`")
        if timeline is None:
            return GoldTimeline(NO_SUMMARY, dict.fromkeys(SELF_STATES, ()), {})
        place = f"{where}, timeline_level"
        level = self._object(timeline.get("timeline_level"), place, "the timeline's summary and spans")
        entries = self._all_by_id(timeline.get("post_level"), f"{where}, post_level", "post")
        spans = {state: self._spans(level, f"{state}_spans", place) for state in SELF_STATES}
        summary = self._summary(level, place, needed="c" in self.tasks)
        posts = {}
        for name, post in entries.items():
            posts[name] = self._post(post, f"{where}, post {name}")
        if level is not None and self.needs_spans and not any(spans.values()):
            self._wrong(place, "has no evidence span", "at least one span in every timeline (task a1)")
        if posts and self.needs_scores and all(post.wellbeing is None for post in posts.values()):
            expected = "at least one in every timeline under profile as-run"
            self._wrong(f"{where}, post_level", "has no well-being score", expected)
        return GoldTimeline(summary, spans, posts)

    def _post(self, value: object, where: str) -> GoldPost:
        post = self._object(value, where, "`summary` and `wellbeing_score`")
        if post is None:
            return GoldPost(NO_SUMMARY, None)
        summary = self._summary(post, where, needed="b" in self.tasks)
        score = post.get("wellbeing_score")
        if is_wellbeing(score):
            return GoldPost(summary, int(score))
        place, expected = f"{where}, wellbeing_score", "a whole number from 1 to 10, or null"
        if score is not None:
            self._wrong(place, "not a well-being score", expected)
        elif "wellbeing_score" not in post and "a2" in self.tasks:
            self._wrong(place, "missing", expected)
        return GoldPost(summary, None)

    def _spans(self, level: Mapping[str, Any] | None, key: str, where: str) -> tuple[str, ...]:
        if level is None:
            return ()
        if key not in level and "a1" not in self.tasks:
            return ()
        if not isinstance(level.get(key), list):
            what = "missing"
            if key in level:
                what = f"is {type_name(level[key])}"
            self._wrong(f"{where}, {key}", what, "a list of spans, each with its `text`")
            return ()
        texts = []
        for index, span in enumerate(level[key]):
            text = span.get("text") if isinstance(span, dict) else None
            if not isinstance(text, str):
                self._wrong(f"{where}, {key}[{index}]", "has no text", 'an object with `text`, like {"text": "…"}')
            elif text.strip():
                texts.append(text.strip())
        return tuple(texts)

    def _summary(self, holder: Mapping[str, Any] | None, where: str, *, needed: bool) -> Summary:
        if holder is None:
            return NO_SUMMARY
        text, sentences = holder.get("summary"), holder.get("summary_sents")
        if needed and "summary" not in holder and sentences is None:
            self._wrong(f"{where}, summary", "missing", "a string, or null where there is no summary")
        if text is not None and not isinstance(text, str):
            self._wrong(f"{where}, summary", f"is {type_name(text)}", "a string or null")
            text = None
        if sentences is not None and not _are_strings(sentences):
            self._wrong(f"{where}, summary_sents", "not a list of sentences", "a list of strings, none of them blank")
            sentences = None
        if sentences is not None:
            sentences = tuple(sentence.strip() for sentence in sentences)
        return Summary(text or "", sentences)

    def _object(self, value: object, where: str, holds: str) -> Mapping[str, Any] | None:
        if not isinstance(value, JsonObject):
            what = "missing" if value is None else f"is {type_name(value)}"
            self._wrong(where, what, f"an object with {holds}")
            return None
        for key in value.duplicates:
            self._wrong(where, f"the key {key!r} occurs more than once", "each key once")
        return value


def _are_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value)


def is_wellbeing(value: object) -> TypeGuard[float]:
    """Return whether a value is a gold well-being score: a whole number from 1 to 10."""
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and LOWEST_SCORE <= value <= HIGHEST_SCORE
        and value == int(value)
    )


PROFILES = ("published", "as-run")
DEVICES = ("auto", "cpu", "cuda")
PRECISIONS = ("fp32", "bf16")
LABELS = ("entailment", "neutral", "contradiction")
LABELS_EXPECTED = (
    f"null, {', '.join(LABELS)} in the order of the model's outputs, or a mapping from its labels to these"
)
REQUIRED = {"profile": PROFILES, "device": DEVICES, "precision": PRECISIONS}
MODEL_FIELDS = {
    "bertscore": ("model", "revision", "num_layers", "baseline", "rescale"),
    "nli": ("model", "revision", "labels"),
}
PLAIN_FIELDS = (*REQUIRED, "batch_tokens", "cache", "max_submission_mb")


def check_options(options: Mapping[str, Any]) -> list[str]:
    """Return every mistake in the options, each beginning with `options.<name>: `."""
    problems = Problems()

    def hold(is_valid: bool, name: str, expected: str) -> None:
        if not is_valid:
            problems.error(f"options.{name}", "not a valid value", expected)

    def refuse_others(values: Mapping[str, Any], known: Sequence[str], prefix: str) -> None:
        for name in values:
            if name not in known:
                problems.error(f"options.{prefix}{name}", "no such option", f"one of {', '.join(known)}")

    for name, choices in REQUIRED.items():
        hold(options.get(name) in choices, name, f"one of {', '.join(choices)}")
    hold(_is_positive(options.get("max_submission_mb"), int, float), "max_submission_mb", "a number above 0")
    tokens = options.get("batch_tokens")
    hold(tokens is None or _is_positive(tokens, int), "batch_tokens", "a whole number above 0, or null")
    hold(_is_text_or_null(options.get("cache")), "cache", "a folder, or null for none")
    for group, fields in MODEL_FIELDS.items():
        values = options.get(group)
        if not isinstance(values, Mapping):
            hold(False, group, f"the fields {', '.join(fields)}")
            continue
        refuse_others(values, fields, f"{group}.")
        model = values.get("model")
        hold(isinstance(model, str) and bool(model), f"{group}.model", "a model's name on the hub, or a folder")
        hold(_is_text_or_null(values.get("revision")), f"{group}.revision", "a commit of the model, or null")
        if group == "nli":
            hold(_are_labels(values.get("labels")), "nli.labels", LABELS_EXPECTED)
            continue
        layers, baseline, rescale = values.get("num_layers"), values.get("baseline"), values.get("rescale")
        expected = "a whole number from 1, or null for bert-score's choice"
        hold(layers is None or _is_positive(layers, int), "bertscore.num_layers", expected)
        expected = "a baseline file, or null for bert-score's own"
        hold(_is_text_or_null(baseline), "bertscore.baseline", expected)
        hold(isinstance(rescale, bool), "bertscore.rescale", "true or false")
        if options.get("profile") == "as-run":
            hold(rescale is not False, "bertscore.rescale", "true, because profile as-run always rescales")
    refuse_others(options, (*PLAIN_FIELDS, *MODEL_FIELDS), "")
    return problems.errors


def _is_positive(value: object, *kinds: type) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool) and 0 < value < math.inf  # type: ignore[operator]


def _is_text_or_null(value: object) -> bool:
    return value is None or (isinstance(value, str) and bool(value))


def _are_labels(labels: object) -> bool:
    """Whether they are a list in the order of the model's outputs, or a mapping from the model's own names."""
    if labels is None:
        return True
    meanings = list(labels.values()) if isinstance(labels, Mapping) else labels
    return isinstance(meanings, list) and sorted(str(meaning) for meaning in meanings) == sorted(LABELS)

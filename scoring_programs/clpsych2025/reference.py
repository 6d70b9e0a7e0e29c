"""The gold and the options of CLPsych 2025, read strictly; every mistake at once.

Form of `gold.json`: timeline id → `timeline_level` {`summary`, `summary_sents`, `adaptive_spans`, `maladaptive_spans`}
and `post_level` {post id → `summary`, `summary_sents`, `wellbeing_score`}. The sentence lists may be absent: then the
summaries are split when they are needed.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from clpsych2025.submission import SELF_STATES
from scoring_kit.base.fields import type_name
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
    """Read `gold.json` as far as `tasks` need it.

    Raises:
        OrganiserError: with every mistake, of the options first; messages name timeline, post and field, never what
            the gold says.
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
    if problems.found:
        raise OrganiserError(*problems.errors)
    reader = _GoldReader(frozenset(tasks), profile)
    reference = reader.timelines(data)
    if reader.messages:
        raise OrganiserError(*reader.messages)
    return reference


def manifest(reference: ClpsychReference, tasks: Sequence[str]) -> dict[str, Any]:
    """What participants may know: which timelines and posts an answer must hold."""
    return {"timelines": {timeline: list(gold.posts) for timeline, gold in reference.timelines.items()}}


@dataclass
class _GoldReader:
    """Reads gold field by field; what a task does not need may be absent."""

    tasks: frozenset[str]
    profile: str
    messages: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.needs_spans = "a1" in self.tasks and self.profile == "published"
        self.needs_scores = "a2" in self.tasks and self.profile == "as-run"

    def timelines(self, data: object) -> ClpsychReference:
        found = self._object(data, FILE, "timelines by their id")
        if found is not None and not found:
            self._wrong(FILE, "holds no timeline", "at least one timeline")
        timelines = {}
        for name, value in (found or {}).items():
            timelines[name] = self._timeline(value, f"{FILE}, timeline {name}")
        return ClpsychReference(timelines)

    def _timeline(self, value: object, where: str) -> GoldTimeline:
        timeline = self._object(value, where, "`timeline_level` and `post_level`")
        if timeline is None:
            return GoldTimeline(NO_SUMMARY, dict.fromkeys(SELF_STATES, ()), {})
        place = f"{where}, timeline_level"
        level = self._object(timeline.get("timeline_level"), place, "the timeline's summary and spans")
        posts = self._object(timeline.get("post_level"), f"{where}, post_level", "posts by their id")
        if posts is not None and not posts:
            self._wrong(f"{where}, post_level", "holds no post", "at least one post")
        spans = {state: self._spans(level, f"{state}_spans", place) for state in SELF_STATES}
        gold = GoldTimeline(self._summary(level, place, needed="c" in self.tasks), spans, self._posts(posts, where))
        if level is not None and self.needs_spans and not any(spans.values()):
            self._wrong(place, "has no evidence span", "at least one span in every timeline (task a1)")
        if posts and self.needs_scores and all(post.wellbeing is None for post in gold.posts.values()):
            expected = "at least one in every timeline under profile as-run"
            self._wrong(f"{where}, post_level", "has no well-being score", expected)
        return gold

    def _posts(self, posts: Mapping[str, Any] | None, where: str) -> dict[str, GoldPost]:
        return {name: self._post(post, f"{where}, post {name}") for name, post in (posts or {}).items()}

    def _post(self, value: object, where: str) -> GoldPost:
        post = self._object(value, where, "`summary` and `wellbeing_score`")
        if post is None:
            return GoldPost(NO_SUMMARY, None)
        summary = self._summary(post, where, needed="b" in self.tasks)
        return GoldPost(summary, self._wellbeing(post, where))

    def _wellbeing(self, post: Mapping[str, Any], where: str) -> int | None:
        if "wellbeing_score" not in post:
            if "a2" in self.tasks:
                self._wrong(f"{where}, wellbeing_score", "missing", "a whole number from 1 to 10, or null")
            return None
        score = post["wellbeing_score"]
        if is_wellbeing(score):
            return int(score)
        if score is not None:
            self._wrong(f"{where}, wellbeing_score", "not a well-being score", "a whole number from 1 to 10, or null")
        return None

    def _spans(self, level: Mapping[str, Any] | None, key: str, where: str) -> tuple[str, ...]:
        if level is None:
            return ()
        if key not in level:
            if "a1" in self.tasks:
                self._wrong(f"{where}, {key}", "missing", "a list of spans, each with its `text`")
            return ()
        if not isinstance(level[key], list):
            self._wrong(f"{where}, {key}", f"is {type_name(level[key])}", "a list of spans, each with its `text`")
            return ()
        texts = []
        for index, span in enumerate(level[key]):
            text = span.get("text") if isinstance(span, dict) else None
            if isinstance(text, str):
                texts.append(text.strip())
            else:
                self._wrong(f"{where}, {key}[{index}]", "has no text", 'an object with `text`, like {"text": "…"}')
        return tuple(filter(None, texts))

    def _summary(self, holder: Mapping[str, Any] | None, where: str, *, needed: bool) -> Summary:
        if holder is None:
            return NO_SUMMARY
        text, sentences = holder.get("summary"), holder.get("summary_sents")
        if needed and "summary" not in holder and sentences is None:
            self._wrong(f"{where}, summary", "missing", "a string, or null where there is no summary")
        if text is not None and not isinstance(text, str):
            self._wrong(f"{where}, summary", f"is {type_name(text)}", "a string or null")
            text = None
        if sentences is not None and not _strings(sentences):
            self._wrong(f"{where}, summary_sents", "not a list of sentences", "a list of strings, none of them blank")
            sentences = None
        if sentences is not None:
            sentences = tuple(map(str.strip, sentences))
        return Summary(text or "", sentences)

    def _object(self, value: object, where: str, holds: str) -> Mapping[str, Any] | None:
        if not isinstance(value, JsonObject):
            what = "missing" if value is None else f"is {type_name(value)}"
            self._wrong(where, what, f"an object with {holds}")
            return None
        for key in value.duplicates:
            self._wrong(where, f"the key {key!r} occurs more than once", "each key once")
        return value

    def _wrong(self, where: str, what: str, expected: str) -> None:
        self.messages.append(f"{where}: {what}. Expected: {expected}.")


def is_wellbeing(value: object) -> TypeGuard[float]:
    """Whether a value is a gold well-being score: a whole number from 1 to 10."""
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and LOWEST_SCORE <= value <= HIGHEST_SCORE
        and value == int(value)
    )


def _strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value)


PROFILES = ("published", "as-run")
DEVICES = ("auto", "cpu", "cuda")
PRECISIONS = ("fp32", "bf16")
LABELS = ("entailment", "neutral", "contradiction")
REQUIRED = {"profile": PROFILES, "device": DEVICES, "precision": PRECISIONS}
MODEL_FIELDS = {
    "bertscore": ("model", "revision", "num_layers", "baseline", "rescale"),
    "nli": ("model", "revision", "labels"),
}
PLAIN_FIELDS = (*REQUIRED, "batch_tokens", "cache", "max_submission_mb")


def check_options(options: Mapping[str, Any]) -> list[str]:
    """Every mistake in the options, each beginning with `options.<name>: `."""
    checker = _OptionChecker(options)
    checker.check()
    return checker.messages


@dataclass
class _OptionChecker:
    options: Mapping[str, Any]
    messages: list[str] = field(default_factory=list)

    def check(self) -> None:
        for name, choices in REQUIRED.items():
            if self.options.get(name) not in choices:
                self._wrong(name, f"one of {', '.join(choices)}")
        self._positive("max_submission_mb", whole=False)
        if self.options.get("batch_tokens") is not None:
            self._positive("batch_tokens", whole=True)
        self._text_or_null(self.options, "cache", "cache", "a folder, or null for none")
        for group, fields in MODEL_FIELDS.items():
            values = self.options.get(group)
            if not isinstance(values, Mapping):
                self._wrong(group, f"the fields {', '.join(fields)}")
                continue
            self._unknown(values, fields, f"{group}.")
            self._model(values, group)
        self._unknown(self.options, (*PLAIN_FIELDS, *MODEL_FIELDS), "")

    def _model(self, values: Mapping[str, Any], group: str) -> None:
        if not isinstance(values.get("model"), str) or not values["model"]:
            self._wrong(f"{group}.model", "a model's name on the hub, or a folder")
        self._text_or_null(values, "revision", f"{group}.revision", "a commit of the model, or null")
        if group == "nli":
            self._labels(values.get("labels"))
            return
        layers = values.get("num_layers")
        if layers is not None and (not isinstance(layers, int) or isinstance(layers, bool) or layers < 1):
            self._wrong("bertscore.num_layers", "a whole number from 1, or null for bert-score's choice")
        self._text_or_null(values, "baseline", "bertscore.baseline", "a baseline file, or null for bert-score's own")
        if not isinstance(values.get("rescale"), bool):
            self._wrong("bertscore.rescale", "true or false")
        elif self.options.get("profile") == "as-run" and not values["rescale"]:
            self._wrong("bertscore.rescale", "true, because profile as-run always rescales")

    def _labels(self, labels: object) -> None:
        """A list in the order of the model's outputs, or a mapping from the model's own names."""
        meanings = list(labels.values()) if isinstance(labels, Mapping) else labels
        if labels is not None and (not isinstance(meanings, list) or sorted(map(str, meanings)) != sorted(LABELS)):
            self._wrong(
                "nli.labels",
                f"null, {', '.join(LABELS)} in the order of the model's outputs, or a mapping from its labels to these",
            )

    def _positive(self, name: str, *, whole: bool) -> None:
        value = self.options.get(name)
        kinds = int if whole else (int, float)
        expected = "a whole number above 0, or null" if whole else "a number above 0"
        if not isinstance(value, kinds) or isinstance(value, bool) or not 0 < value < math.inf:
            self._wrong(name, expected)

    def _text_or_null(self, values: Mapping[str, Any], key: str, name: str, expected: str) -> None:
        if values.get(key) is not None and (not isinstance(values[key], str) or not values[key]):
            self._wrong(name, expected)

    def _unknown(self, values: Mapping[str, Any], known: tuple[str, ...], prefix: str) -> None:
        for name in values:
            if name not in known:
                self.messages.append(f"options.{prefix}{name}: no such option. Expected: one of {', '.join(known)}.")

    def _wrong(self, name: str, expected: str) -> None:
        self.messages.append(f"options.{name}: not a valid value. Expected: {expected}.")

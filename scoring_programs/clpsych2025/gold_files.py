"""Gold as people have it, one file a timeline or a prepared gold.json, made into reference data."""

import json
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from clpsych2025.reference import FILE, LARGEST_GOLD_MB, is_wellbeing
from clpsych2025.submission import SELF_STATES
from scoring_kit.base.field_types import type_name
from scoring_kit.errors import OrganiserError, Problems
from scoring_kit.json_reading import JsonObject, read_json


def prepare(source: Path, out: Path) -> list[str]:
    """Write the reference data made of the folder `source` into the folder `out`.

    Returns warnings about annotations that look wrong but can be scored; raises OrganiserError with every mistake.
    """
    paths = sorted(p for p in source.glob("*.json") if not p.name.startswith("."))
    if not paths:
        raise OrganiserError(f"{source}: holds no timeline. Expected: {FILE}, or one JSON file a timeline.")
    if source / FILE in paths:
        if len(paths) > 1:
            raise OrganiserError(f"{source}: holds {FILE} and other JSON files. Expected: one or the other.")
        (out / FILE).write_bytes((source / FILE).read_bytes())
        return []
    prepared, warnings = gold_of(paths)
    (out / FILE).write_text(json.dumps(prepared, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return warnings


TIMELINE_KEYS = ("timeline_id", "timeline_summary", "posts")
POST_KEYS = ("post_id", "Post Summary", "Well-being", "evidence")
STATE_KEYS = ("adaptive-state", "maladaptive-state")
ELEMENT_KEYS = ("highlighted_evidence",)


def gold_of(paths: Sequence[Path]) -> tuple[dict[str, Any], list[str]]:
    """Return the gold of raw timeline files, and warnings; spans are collated over posts in the order of the file.

    Raises OrganiserError: with every mistake, naming file, timeline, post and field.
    """
    problems = Problems()
    reader = _RawReader(problems)
    gold: dict[str, Any] = {}
    for path in paths:
        before = problems.found
        data = read_json(path, path.name, LARGEST_GOLD_MB, problems)
        if problems.found == before:
            reader.timeline(data, path.name, gold)
    problems.stop_organisers_if_any()
    return gold, reader.warnings


def plain(key: str) -> str:
    """Return a key without what people write in different ways."""
    return re.sub("[-_ ]", "", key).lower()


class _RawReader:
    def __init__(self, problems: Problems) -> None:
        self._wrong = problems.error
        self.warnings: list[str] = []

    def timeline(self, data: object, where: str, gold: dict[str, Any]) -> None:
        """Read one file and add its timeline to `gold`."""
        raw = self._object(data, where, "one timeline: timeline_id, timeline_summary and posts", TIMELINE_KEYS)
        if raw is None:
            return
        name = self._id(raw, "timeline_id", where)
        where = f"{where}, timeline {name}"
        if name in gold:
            self._wrong(where, "another file holds the same timeline", "one file a timeline")
        spans: dict[str, list[dict[str, Any]]] = {"adaptive_spans": [], "maladaptive_spans": []}
        posts: dict[str, Any] = {}
        listed = raw.get("posts")
        if not isinstance(listed, list) or not listed:
            self._wrong(f"{where}, posts", "missing, empty or not a list", "a list of posts")
            listed = []
        for index, value in enumerate(listed):
            self._post(value, f"{where}, posts[{index}]", posts, spans)
        gold[name] = {
            "timeline_level": {"summary": self._text(raw, "timeline_summary", where), **spans, "post_ids": list(posts)},
            "post_level": posts,
        }

    def _post(
        self, value: object, where: str, posts: dict[str, Any], spans: Mapping[str, list[dict[str, Any]]]
    ) -> None:
        raw = self._object(value, where, "a post: post_id, post, Post Summary, Well-being and evidence", POST_KEYS)
        if raw is None:
            return
        name = self._id(raw, "post_id", where)
        where = f"{where}, post {name}"
        if name in posts:
            self._wrong(where, "the timeline holds another post of this id", "each post once")
        score, wellbeing = raw.get("Well-being"), None
        if is_wellbeing(score):
            wellbeing = int(score)
        elif score is not None:
            self._wrong(f"{where}, Well-being", "not a well-being score", "a whole number from 1 to 10, or null")
        posts[name] = {"summary": self._text(raw, "Post Summary", where), "wellbeing_score": wellbeing}
        evidence = self._member(raw, "evidence", where, STATE_KEYS)
        for state in SELF_STATES:
            elements = self._member(evidence, f"{state}-state", f"{where}, evidence")
            place = f"{where}, evidence, {state}-state"
            for code, element in elements.items():
                span = self._span(element, code, f"{place}, {code}", raw.get("post"))
                if span is not None:
                    spans[f"{state}_spans"].append(span)

    def _span(self, value: object, code: str, where: str, post: object) -> dict[str, Any] | None:
        if value is None:
            return None
        if not isinstance(value, JsonObject):
            self.warnings.append(f"{where}: is {type_name(value)}, not an element with its evidence; ignored.")
            return None
        self._check_keys(value, ELEMENT_KEYS, where)
        text = self._text(value, "highlighted_evidence", where)
        if text is None or not text.strip():
            return None
        if isinstance(post, str) and text.strip() not in post:
            self.warnings.append(f"{where}: the highlighted evidence is not a verbatim part of the post.")
        return {"text": text, "element": code, "subcategory": value.get("Category")}

    def _id(self, raw: Mapping[str, Any], key: str, where: str) -> str:
        value = raw.get(key)
        if isinstance(value, str) and value.strip():
            return value
        self._wrong(f"{where}, {key}", "missing or not a text", "an id as a string")
        return "?"

    def _text(self, raw: Mapping[str, Any], key: str, where: str) -> str | None:
        value = raw.get(key)
        if value is None or isinstance(value, str):
            return value
        self._wrong(f"{where}, {key}", f"is {type_name(value)}", "a string or null")
        return None

    def _member(
        self, raw: Mapping[str, Any], key: str, where: str, known: Sequence[str] | None = None
    ) -> Mapping[str, Any]:
        """An object within another, empty where it is absent or null: a post may be without annotation."""
        if raw.get(key) is None:
            return {}
        return self._object(raw[key], f"{where}, {key}", "annotations by name", known) or {}

    def _object(
        self, value: object, where: str, holds: str, known: Sequence[str] | None = None
    ) -> Mapping[str, Any] | None:
        """A value that must be an object; of its keys only the `known` ones are looked at, or else all of them."""
        if not isinstance(value, JsonObject):
            self._wrong(where, f"is {type_name(value)}", f"an object with {holds}")
            return None
        self._check_keys(value, known or list(value), where)
        return value

    def _check_keys(self, raw: JsonObject, known: Sequence[str], where: str) -> None:
        """Refuse what would be lost without a word: a repeated key, and a key that is nearly one that is absent."""
        for key in raw.duplicates:
            if key in known:
                self._wrong(where, f"the key {key!r} occurs more than once", "each key once")
        absent = {plain(key): key for key in known if key not in raw}
        for key in raw:
            if key not in known:
                for near in get_close_matches(plain(key), absent, n=1, cutoff=0.85):
                    self._wrong(where, f"unknown key {key!r}", f"{absent[near]!r}")

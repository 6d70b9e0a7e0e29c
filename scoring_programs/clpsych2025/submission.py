"""A submission to CLPsych 2025: one JSON file with an answer for every timeline and post.

Runs on Python 3.9 with the standard library alone, so that participants can run it at home.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Collection, Dict, List, Mapping, Optional, Tuple, Union

from clpsych2025.answers import SELF_STATES, ClpsychSubmission, PostAnswer, TimelineAnswer
from clpsych2025.as_run_fields import AsRunFields
from clpsych2025.published_fields import PublishedFields
from scoring_kit.base.fields import type_name
from scoring_kit.errors import Problems, printable, shown
from scoring_kit.json_reading import JsonObject, read_json
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles

Fields = Union[PublishedFields, AsRunFields]
POST_FIELDS = ("adaptive_evidence", "maladaptive_evidence", "summary", "wellbeing_score")


def read(files: SubmissionFiles, manifest: Manifest, problems: Problems) -> Optional[ClpsychSubmission]:
    """Read the one JSON file of a submission, recording every problem with its timeline, post and field."""
    name = _only_json(files, problems)
    if name is None:
        return None
    team, submission_id = _team_and_id(name, problems)
    place = printable(name).replace('"', "'")  # in messages, only `shown` writes quotation marks
    data = read_json(files.paths[name], place, manifest.options["max_submission_mb"], problems)
    if problems.found:
        return None
    fields: Fields = PublishedFields() if manifest.options["profile"] == "published" else AsRunFields()
    timelines = _AnswerReader(fields, problems).timelines(data, place, manifest.expected["timelines"])
    return ClpsychSubmission(team, submission_id, timelines, entered=frozenset(manifest.tasks))


def _only_json(files: SubmissionFiles, problems: Problems) -> Optional[str]:
    found = [name for name in files.paths if name.lower().endswith(".json")]
    others = [name for name in files.paths if name not in found]
    if found and others:
        more = f", with {len(others) - 1} more" if others[1:] else ""
        problems.warn(shown(others[0]), f"ignored{more}: only the JSON file is read")
    if len(found) == 1:
        return found[0]
    what = f"holds {len(found)} JSON files: {_names(found)}" if found else "holds no JSON file"
    what += f"; found {_names(others)}" if others and not found else ""
    problems.error("submission", what, "exactly one is expected, named TEAM_SubmissionID.json")
    return None


def _names(names: List[str]) -> str:
    return ", ".join(map(shown, names[:5]))


def _team_and_id(name: str, problems: Problems) -> Tuple[str, str]:
    stem = PurePosixPath(name).stem
    parts = stem.split("_")
    if len(parts) == 2 and all(parts):
        return parts[0], parts[1]
    problems.warn(
        shown(name), "not named TEAM_SubmissionID.json with one underscore; the whole name is taken as team and as id"
    )
    return stem, stem


@dataclass
class _AnswerReader:
    """Walks a submission along the expected ids; `fields` decides what is accepted in a field."""

    fields: Fields
    problems: Problems

    def timelines(self, data: object, name: str, expected: Mapping[str, List[str]]) -> Dict[str, TimelineAnswer]:
        answers = self._object(data, name, "one object with an entry for every timeline")
        self._extra(answers, expected, name, "timeline")
        found = {}
        for timeline, posts in expected.items():
            where = f"{name}, timeline {timeline}"
            if answers is not None and self._expected(answers, timeline, where):
                found[timeline] = self._timeline(answers[timeline], where, posts)
        return found

    def _timeline(self, value: object, where: str, posts: List[str]) -> TimelineAnswer:
        timeline = self._object(value, where, "an object with `timeline_level` and `post_level`")
        self._extra(timeline, ("timeline_level", "post_level"), where, "field")
        summary, answers = "", {}
        level = self._member(timeline, "timeline_level", where, "an object with the field `summary`")
        if level is not None:
            self._extra(level, ("summary",), f"{where}, timeline_level", "field")
            summary = self.fields.timeline_summary(level, f"{where}, timeline_level", self.problems)
        entries = self._member(timeline, "post_level", where, "an object with an entry for every post")
        self._extra(entries, posts, where, "post")
        for post in posts:
            place = f"{where}, post {post}"
            if entries is not None and self._expected(entries, post, place):
                answers[post] = self._post(entries[post], place)
        return TimelineAnswer(summary, answers)

    def _post(self, value: object, where: str) -> PostAnswer:
        post = self._object(value, where, f"an object with the fields {', '.join(POST_FIELDS)}")
        if post is None:
            return PostAnswer({}, "", None)
        self._extra(post, POST_FIELDS, where, "field")
        return PostAnswer(
            evidence={
                state: self.fields.evidence(post, f"{state}_evidence", where, self.problems) for state in SELF_STATES
            },
            summary=self.fields.post_summary(post, where, self.problems),
            wellbeing=self.fields.wellbeing(post, where, self.problems),
        )

    def _member(self, holder: Optional[JsonObject], key: str, where: str, expected: str) -> Optional[JsonObject]:
        if holder is None or not self._expected(holder, key, f"{where}, {key}"):
            return None
        return self._object(holder[key], f"{where}, {key}", expected)

    def _object(self, value: object, where: str, expected: str) -> Optional[JsonObject]:
        if not isinstance(value, JsonObject):
            self.problems.error(where, f"is {type_name(value)}", f"{expected} is expected")
            return None
        self.fields.repeated_keys(value, where, self.problems)
        return value

    def _expected(self, holder: JsonObject, key: str, where: str) -> bool:
        if key not in holder:
            self.problems.error(where, "is missing", "an entry for every timeline, level and post is expected")
        return key in holder

    def _extra(self, holder: Optional[JsonObject], expected: Collection[Any], where: str, kind: str) -> None:
        known = set(expected)
        for key in holder or ():
            if key not in known:
                self.problems.warn(where, f"the {kind} {shown(key)} is not expected and is ignored")

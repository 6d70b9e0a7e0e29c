"""A submission to CLPsych 2025: one JSON file with an answer for every timeline and post.

Runs on Python 3.9 with the standard library alone, so that participants can run it at home.
"""

import ast
import math
import re
import warnings
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Collection, Dict, FrozenSet, List, Mapping, Optional, Tuple, Union

from scoring_kit.base.field_types import type_name
from scoring_kit.errors import Problems, printable, shown
from scoring_kit.json_reading import JsonObject, read_json, report_duplicates
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles

SELF_STATES = ("adaptive", "maladaptive")


@dataclass(frozen=True)
class PostAnswer:
    """One post's answer.

    Attributes:
        evidence: spans of each self-state as submitted, neither stripped nor freed of blank ones.
        summary: its text, empty where there is none.
        wellbeing: the predicted score, None where the submission abstains.
    """

    evidence: Mapping[str, Tuple[str, ...]]
    summary: str
    wellbeing: Optional[float]

    @property
    def spans(self) -> List[str]:
        """The spans of both self-states, stripped, blank ones dropped, duplicates kept."""
        return stripped((*self.evidence["adaptive"], *self.evidence["maladaptive"]))


@dataclass(frozen=True)
class TimelineAnswer:
    """One timeline's answer."""

    summary: str
    posts: Mapping[str, PostAnswer]

    def spans(self, state: str) -> List[str]:
        """Return the spans of one self-state over all posts, stripped, blank ones dropped, duplicates kept."""
        return [span for post in self.posts.values() for span in stripped(post.evidence[state])]


@dataclass(frozen=True)
class ClpsychSubmission:
    """A whole submission; every file answers all tasks, an empty answer being scored as such."""

    timelines: Mapping[str, TimelineAnswer]
    entered: FrozenSet[str]


def stripped(spans: Tuple[str, ...]) -> List[str]:
    """Spans without the white space around them; those that become empty are dropped."""
    return [span.strip() for span in spans if span.strip()]


# All that a literal consists of. Its deepest operand is `-1+2j` (both parts may be in brackets), of four pieces; a
# string counts for nothing, because any number of adjacent strings make one.
PIECE = re.compile(
    r"""
    (?P<string> (?i:br?|rb?|u)? (?:
        '''(?:[^\\]|\\.)*?''' | \"\"\"(?:[^\\]|\\.)*?\"\"\" | '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*" ) )
  | (?P<blank> [ \t\f\n]+ | \#[^\n]* | \\\n )
  | (?P<separator> [,:] )
  | (?P<close> [\])}] )
  | (?P<open> [\[({] )
  | (?P<operand> True | False | None | set | \.\.\. | [+-]
      | (?:\d\w*\.? | \.\d)\w* (?: (?<=[eE])[+-]\d\w* )? )
    """,
    re.VERBOSE | re.DOTALL,
)
MOST_PIECES = 4


def python_literal(text: str) -> Any:
    """Return the value of a Python literal; None where the text is not one.

    A text with leading blanks is not one, as up to Python 3.9; later versions of `ast.literal_eval` take them off.
    """
    if not _may_be_literal(text.replace("\r\n", "\n").replace("\r", "\n")):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a backslash in the text does not concern readers of the log
            return ast.literal_eval(ast.parse(text, mode="eval"))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _may_be_literal(text: str) -> bool:
    """Whether a text consists of a literal's pieces, closes what it opens, and holds no chain of operands."""
    pieces, position = [0], 0  # pieces since the last separator, at each depth of brackets
    while position < len(text):
        piece = PIECE.match(text, position)
        if piece is None:
            return False
        position, kind = piece.end(), piece.lastgroup
        if kind == "separator":
            pieces[-1] = 0
        elif kind == "close":
            pieces.pop()
            if not pieces:
                return False
        elif kind in ("open", "operand"):
            pieces[-1] += 1
            if pieces[-1] > MOST_PIECES:
                return False
            if kind == "open":
                pieces.append(0)
    return len(pieces) == 1


# A literal takes some hundred bytes of memory a character; longer ones are refused rather than tried.
LONGEST_LITERAL = 1_000_000
# Beyond this the squared error leaves the range of a float.
LARGEST_SCORE = 1e150


class AsRunFields:
    """Reads single fields as the organisers' program reads them."""

    def repeated_keys(self, value: JsonObject, where: str, problems: Problems) -> None:
        """The last value of a repeated key holds, as in Python's json."""
        for key in value.duplicates:
            problems.warn(where, f"the key {shown(key)} occurs more than once; the last value is used")

    def timeline_summary(self, level: JsonObject, where: str, problems: Problems) -> str:
        """Return the timeline's summary: the key must be there, anything but a string counts as empty."""
        if not _present(level, "summary", where, problems):
            return ""
        if not isinstance(level["summary"], str):
            problems.warn(f"{where}, summary", f"is {type_name(level['summary'])} and counts as empty")
            return ""
        return text_of(level["summary"], f"{where}, summary", problems)

    def post_summary(self, post: JsonObject, where: str, problems: Problems) -> str:
        """Return the post's summary: empty where the key is missing, otherwise a string."""
        return text_of(post.get("summary", ""), f"{where}, summary", problems)

    def evidence(self, post: JsonObject, key: str, where: str, problems: Problems) -> Tuple[str, ...]:
        """Return the spans of one self-state: a list, or a string that is a Python list; another string is none."""
        place, value = f"{where}, {key}", post.get(key, [])
        if isinstance(value, str):
            if len(value) > LONGEST_LITERAL:
                problems.error(place, "is one string of more than a million characters", "a list of strings")
                return ()
            value = python_literal(value)
            if not isinstance(value, list):
                problems.warn(place, "is a string that does not hold a list; it counts as no evidence")
                return ()
        if not isinstance(value, list):
            problems.error(place, f"is {type_name(value)}", "a list of strings is expected, [] for none")
            return ()
        return spans_of(value, place, problems)

    def wellbeing(self, post: JsonObject, where: str, problems: Problems) -> Optional[float]:
        """Return the well-being score: any number, true as 1, digits as their number; anything else abstains."""
        place, value = f"{where}, wellbeing_score", post.get("wellbeing_score")
        if isinstance(value, str):
            return _number_of(value.strip(), place, problems)
        if not isinstance(value, (int, float)):
            if value is not None:
                problems.warn(place, f"is {type_name(value)} and counts as null")
            return None
        if (isinstance(value, float) and not math.isfinite(value)) or abs(value) > LARGEST_SCORE:
            problems.error(place, f"{shown(value)} cannot be scored", "a finite number or null is expected")
            return None
        return float(value)


def _number_of(text: str, where: str, problems: Problems) -> Optional[float]:
    if not text.isnumeric():
        problems.warn(where, f"the string {shown(text)} is not a whole number and counts as null")
        return None
    try:
        number = float(text)
    except ValueError:  # numeric characters without a decimal value, such as ½
        number = math.inf
    if number > LARGEST_SCORE:
        problems.error(where, f"the string {shown(text)} cannot be scored", "a finite number or null is expected")
        return None
    return number


TEXT = "text that can be encoded as UTF-8 is expected: the escapes \\ud800 to \\udfff only in pairs"
SCORE = "a number from 1 to 10, or null"


class PublishedFields:
    """Reads single fields as the CLPsych 2025 "Evaluation and Submission Instructions" define them."""

    def repeated_keys(self, value: JsonObject, where: str, problems: Problems) -> None:
        """Refuse an object with a key that occurs twice."""
        report_duplicates(value, where, problems)

    def timeline_summary(self, holder: JsonObject, where: str, problems: Problems) -> str:
        """Return the summary of a timeline, or of a post; null counts as empty."""
        if not _present(holder, "summary", where, problems) or holder["summary"] is None:
            return ""
        return text_of(holder["summary"], f"{where}, summary", problems)

    post_summary = timeline_summary

    def evidence(self, post: JsonObject, key: str, where: str, problems: Problems) -> Tuple[str, ...]:
        """Return the spans of one self-state; null counts as none."""
        if not _present(post, key, where, problems) or post[key] is None:
            return ()
        place = f"{where}, {key}"
        if not isinstance(post[key], list):
            problems.error(place, f"is {type_name(post[key])}", "a list of strings is expected, [] for none")
            return ()
        return spans_of(post[key], place, problems)

    def wellbeing(self, post: JsonObject, where: str, problems: Problems) -> Optional[float]:
        """Return the well-being score; null abstains."""
        key = "wellbeing_score"
        if not _present(post, key, where, problems) or post[key] is None:
            return None
        score, place = post[key], f"{where}, {key}"
        if isinstance(score, bool) or not isinstance(score, (int, float)):
            problems.error(place, f"is {type_name(score)}", f"{SCORE} is expected")
        elif isinstance(score, float) and not math.isfinite(score):
            problems.error(place, f"is not a finite number ({score})", f"{SCORE} is expected")
        elif not 1 <= score <= 10:
            problems.error(place, f"{shown(score)} is out of range", f"{SCORE} is expected")
        else:
            return float(score)
        return None


def _present(holder: JsonObject, key: str, where: str, problems: Problems) -> bool:
    if key not in holder:
        problems.error(f"{where}, {key}", "the field is missing", "the field, even if it is empty")
    return key in holder


def spans_of(items: List[object], where: str, problems: Problems) -> Tuple[str, ...]:
    """Return the strings of a list; anything else in it is an error."""
    return tuple(text_of(item, f"{where}[{index}]", problems) for index, item in enumerate(items))


def text_of(value: object, where: str, problems: Problems) -> str:
    """Return a string that can be encoded as UTF-8; anything else is an error."""
    if not isinstance(value, str):
        problems.error(where, f"is {type_name(value)}", "a string is expected")
        return ""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        problems.error(where, "contains half of a surrogate pair", TEXT)
        return ""
    return value


Fields = Union[PublishedFields, AsRunFields]
NAMED = re.compile("[^_]+_[^_]+")
POST_FIELDS = ("adaptive_evidence", "maladaptive_evidence", "summary", "wellbeing_score")


def read(files: SubmissionFiles, manifest: Manifest, problems: Problems) -> Optional[ClpsychSubmission]:
    """Read the one JSON file of a submission, recording every problem with its timeline, post and field."""
    name = _only_json(files, problems)
    if name is None:
        return None
    if not NAMED.fullmatch(PurePosixPath(name).stem):
        what = "not named TEAM_SubmissionID.json with one underscore; the whole name is taken as team and as id"
        problems.warn(shown(name), what)
    place = printable(name).replace('"', "'")  # in messages, only `shown` writes quotation marks
    data = read_json(files.paths[name], place, manifest.options["max_submission_mb"], problems)
    if problems.found:
        return None
    fields: Fields = PublishedFields() if manifest.options["profile"] == "published" else AsRunFields()
    timelines = _AnswerReader(fields, problems).timelines(data, place, manifest.expected["timelines"])
    return ClpsychSubmission(timelines, entered=frozenset(manifest.tasks))


def _only_json(files: SubmissionFiles, problems: Problems) -> Optional[str]:
    found, others = [], []
    for name in files.paths:
        if name.lower().endswith(".json"):
            found.append(name)
        else:
            others.append(name)
    if found and others:
        ignored = "ignored"
        if others[1:]:
            ignored += f", with {len(others) - 1} more"
        problems.warn(shown(others[0]), f"{ignored}: only the JSON file is read")
    if len(found) == 1:
        return found[0]
    what = f"holds no JSON file{files.found(5)}"
    if found:
        what = f"holds {len(found)} JSON files: {', '.join([shown(one) for one in found[:5]])}"
    problems.error("submission", what, "exactly one is expected, named TEAM_SubmissionID.json")
    return None


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
        evidence = {}
        for state in SELF_STATES:
            evidence[state] = self.fields.evidence(post, f"{state}_evidence", where, self.problems)
        summary = self.fields.post_summary(post, where, self.problems)
        return PostAnswer(evidence, summary, self.fields.wellbeing(post, where, self.problems))

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

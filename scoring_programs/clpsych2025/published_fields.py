"""The fields of a submission under profile `published`: nothing is guessed, everything else is refused."""

import math
from typing import List, Optional, Tuple

from scoring_kit.base.fields import type_name
from scoring_kit.errors import Problems, shown
from scoring_kit.json_reading import JsonObject, report_duplicates

TEXT = "text that can be encoded as UTF-8 is expected: the escapes \\ud800 to \\udfff only in pairs"
SCORE = "a number from 1 to 10, or null"


class PublishedFields:
    """Reads single fields as the CLPsych 2025 "Evaluation and Submission Instructions" define them."""

    def repeated_keys(self, value: JsonObject, where: str, problems: Problems) -> None:
        """Refuse an object with a key that occurs twice."""
        report_duplicates(value, where, problems)

    def timeline_summary(self, holder: JsonObject, where: str, problems: Problems) -> str:
        """The summary of a timeline, or of a post; null counts as empty."""
        if not _present(holder, "summary", where, problems) or holder["summary"] is None:
            return ""
        return text_of(holder["summary"], f"{where}, summary", problems)

    post_summary = timeline_summary

    def evidence(self, post: JsonObject, key: str, where: str, problems: Problems) -> Tuple[str, ...]:
        """The spans of one self-state; null counts as none."""
        if not _present(post, key, where, problems) or post[key] is None:
            return ()
        place = f"{where}, {key}"
        if not isinstance(post[key], list):
            problems.error(place, f"is {type_name(post[key])}", "a list of strings is expected, [] for none")
            return ()
        return spans_of(post[key], place, problems)

    def wellbeing(self, post: JsonObject, where: str, problems: Problems) -> Optional[float]:
        """The well-being score; null abstains."""
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
    """The strings of a list; anything else in it is an error."""
    return tuple(text_of(item, f"{where}[{index}]", problems) for index, item in enumerate(items))


def text_of(value: object, where: str, problems: Problems) -> str:
    """A string that can be encoded as UTF-8; anything else is an error."""
    if not isinstance(value, str):
        problems.error(where, f"is {type_name(value)}", "a string is expected")
        return ""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        problems.error(where, "contains half of a surrogate pair", TEXT)
        return ""
    return value

"""The fact sheet: questions that participants answer with each submission."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import SERIALIZERS, Check, Problem, Topic
from gen_bundle.codabench.fields import is_json, shown
from gen_bundle.codabench.stages import Stage
from gen_bundle.codabench.versions import SOURCE

SHEET = Topic("The fact sheet", f"{SERIALIZERS}/competitions.py (fact_sheet)", stage=Stage.SAVE_COMPETITION)
KEYS = ("key", "type", "title", "selection", "is_required", "is_on_leaderboard")
TYPES = ("checkbox", "text", "select")
SWITCHES = ("is_required", "is_on_leaderboard")
NO = ("false", "no", "off", "0", "n", "f")
PLACE = 18
Question = Mapping[Any, Any]


def _questions(bundle: Bundle) -> list[tuple[Any, Question]]:
    sheet = bundle.mapping(("fact_sheet",))
    return [(key, question) for key, question in sheet.items() if isinstance(question, Mapping)]


@SHEET.refused("fact-sheet-no-json", "the fact sheet contains something that JSON cannot represent")
def _fact_sheet_no_json(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `fact_sheet: Value must be valid JSON.` or a database error.
    → Quote dates; leave out .nan, .inf, NUL characters and aliases that loop.
    """
    if not is_json(bundle.yaml.get("fact_sheet")):
        yield Problem("fact_sheet contains a value that JSON cannot represent", ("fact_sheet",), order=(PLACE, 0))


@SHEET.refused("fact-sheet-no-mapping", "the fact sheet is not a mapping of questions")
def _fact_sheet_no_mapping(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `fact_sheet: Not valid JSON` or a bare error. → Give a mapping from keys to questions."""
    sheet = bundle.yaml.get("fact_sheet")
    if sheet and not isinstance(sheet, Mapping):
        yield Problem(f"fact_sheet is {shown(sheet)}, and must be a mapping", ("fact_sheet",), order=(PLACE, 1))
    for key, question in bundle.mapping(("fact_sheet",)).items():
        if not isinstance(question, Mapping):
            what = f"the question {shown(key)} is {shown(question)}, and must be a mapping"
            yield Problem(what, ("fact_sheet", key), order=(PLACE, 2))


def _questions_with(fault: Callable[[Any, Question], str | None], place: int, *inner: str) -> Check:
    """The check for a fault that each question may have; `inner` is its key with the fault, if it has one."""

    def check(bundle: Bundle) -> Iterator[Problem]:
        for key, question in _questions(bundle):
            what = fault(key, question)
            if what:
                yield Problem(f"the question {shown(key)} {what}", ("fact_sheet", key, *inner), order=(PLACE, place))

    return check


def _wrong_keys(_: Any, question: Question) -> str | None:
    missing = ", ".join(name for name in KEYS if name not in question)
    extra = ", ".join(str(name) for name in question if name not in KEYS)
    parts = ([f"lacks {missing}"] if missing else []) + ([f"also has {extra}"] if extra else [])
    return " and ".join(parts)


SHEET.refused(
    "fact-sheet-question-keys",
    "a question without exactly the six keys",
    f"The upload ends with `fact_sheet: Missing {{…}} values for …`, even if there are too many keys. "
    f"→ Give each question exactly {', '.join(KEYS)}.",
)(_questions_with(_wrong_keys, 3))


def _other_key(key: Any, question: Question) -> str | None:
    return f"has the inner key {shown(question['key'])}" if "key" in question and question["key"] != key else None


SHEET.refused(
    "fact-sheet-key-differs",
    "a question whose inner key differs from the outer one",
    "The upload ends with `fact_sheet: key:…  does not match JSON key:…`. "
    "→ Write the same key twice, with the same type: 1 and '1' differ.",
)(_questions_with(_other_key, 4, "key"))


def _unknown_type(_: Any, question: Question) -> str | None:
    kind = question.get("type")
    is_known = isinstance(kind, Hashable) and kind in TYPES
    return f"has the type {shown(kind)}" if "type" in question and not is_known else None


SHEET.refused(
    "fact-sheet-type",
    "a question of an unknown type",
    f"The upload ends with `fact_sheet: … is not a valid question type`. → Use one of {', '.join(TYPES)}.",
)(_questions_with(_unknown_type, 5, "type"))


@SHEET.trap(
    "fact-sheet-switch-ignored",
    'a switch of a question that is not the text "true"',
    source=f"{SOURCE}, how the pages read fact sheets",
)
def _fact_sheet_switch_ignored(bundle: Bundle) -> Iterator[Problem]:
    """Only the text "true" counts: the question is not required, or not shown on the leaderboard.
    → Write "true" or "false" in quotes.
    """
    for key, question in _questions(bundle):
        for switch in SWITCHES:
            value = question.get(switch)
            means_no = not value or str(value).strip().lower() in NO
            if value != "true" and not means_no:
                yield Problem(f"{switch} of {shown(key)} is {shown(value)}", ("fact_sheet", key, switch))


def _no_choices(_: Any, question: Question) -> str | None:
    selection = question.get("selection", ["not given"])
    has_choices = isinstance(selection, list) and selection
    return "has no choices" if question.get("type") == "select" and not has_choices else None


SHEET.trap(
    "fact-sheet-select-without-choices",
    "a select question without a list of choices",
    "Participants cannot answer it. → Give `selection` as a list of texts.",
)(_questions_with(_no_choices, 0, "selection"))

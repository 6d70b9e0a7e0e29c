"""The fact sheet: questions that participants answer with each submission."""

from collections.abc import Iterator, Mapping
from typing import Any

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import SERIALIZERS, Problem, Topic
from gen_bundle.codabench.settings import Stage, is_json, shown
from gen_bundle.codabench.versions import SOURCE

SHEET = Topic("The fact sheet", f"{SERIALIZERS}/competitions.py (fact_sheet)", stage=Stage.SAVE_COMPETITION)
KEYS = ("key", "type", "title", "selection", "is_required", "is_on_leaderboard")
TYPES = ("checkbox", "text", "select")
SWITCHES = ("is_required", "is_on_leaderboard")
NO = ("false", "no", "off", "0", "n", "f")
PLACE = 18


@SHEET.refused("the fact sheet contains something that JSON cannot represent")
def _fact_sheet_no_json(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `fact_sheet: Value must be valid JSON.` or a database error.
    → Quote dates; leave out .nan, .inf, NUL characters and aliases that loop.
    """
    if not is_json(bundle.yaml.get("fact_sheet")):
        yield Problem("fact_sheet contains a value that JSON cannot represent", ("fact_sheet",), order=(PLACE, 0))


@SHEET.refused("the fact sheet is not a mapping of questions")
def _fact_sheet_no_mapping(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `fact_sheet: Not valid JSON` or a bare error. → Give a mapping from keys to questions."""
    sheet = bundle.yaml.get("fact_sheet")
    if sheet and not isinstance(sheet, Mapping):
        yield Problem(f"fact_sheet is {shown(sheet)}, and must be a mapping", ("fact_sheet",), order=(PLACE, 1))
    for key, question in bundle.mapping(("fact_sheet",)).items():
        if not isinstance(question, Mapping):
            what = f"the question {shown(key)} is {shown(question)}, and must be a mapping"
            yield Problem(what, ("fact_sheet", key), order=(PLACE, 2))


def _problem(key: Any, what: str, place: int, *inner: str) -> Problem:
    """A fault of a question; `inner` is its key with the fault, if it has one."""
    return Problem(f"the question {shown(key)} {what}", ("fact_sheet", key, *inner), order=(PLACE, place))


@SHEET.refused(
    "a question without exactly the six keys",
    f"The upload ends with `fact_sheet: Missing {{…}} values for …`, even if there are too many keys. "
    f"→ Give each question exactly {', '.join(KEYS)}.",
)
def _fact_sheet_question_keys(bundle: Bundle) -> Iterator[Problem]:
    for key, question in bundle.mappings("fact_sheet"):
        missing = ", ".join(name for name in KEYS if name not in question)
        extra = ", ".join(str(name) for name in question if name not in KEYS)
        faults = []
        if missing:
            faults.append(f"lacks {missing}")
        if extra:
            faults.append(f"also has {extra}")
        if faults:
            yield _problem(key, " and ".join(faults), 3)


@SHEET.refused(
    "a question whose inner key differs from the outer one",
    "The upload ends with `fact_sheet: key:…  does not match JSON key:…`. "
    "→ Write the same key twice, with the same type: 1 and '1' differ.",
)
def _fact_sheet_key_differs(bundle: Bundle) -> Iterator[Problem]:
    for key, question in bundle.mappings("fact_sheet"):
        if "key" in question and question["key"] != key:
            yield _problem(key, f"has the inner key {shown(question['key'])}", 4, "key")


@SHEET.refused(
    "a question of an unknown type",
    f"The upload ends with `fact_sheet: … is not a valid question type`. → Use one of {', '.join(TYPES)}.",
)
def _fact_sheet_type(bundle: Bundle) -> Iterator[Problem]:
    for key, question in bundle.mappings("fact_sheet"):
        if "type" in question and question["type"] not in TYPES:
            yield _problem(key, f"has the type {shown(question['type'])}", 5, "type")


@SHEET.trap('a switch of a question that is not the text "true"', source=f"{SOURCE}, how the pages read fact sheets")
def _fact_sheet_switch_ignored(bundle: Bundle) -> Iterator[Problem]:
    """Only the text "true" counts: the question is not required, or not shown on the leaderboard.
    → Write "true" or "false" in quotes.
    Example: not `is_required: true`, but `is_required: "true"`.
    """
    for key, question in bundle.mappings("fact_sheet"):
        for switch in SWITCHES:
            value = question.get(switch)
            means_no = not value or str(value).strip().lower() in NO
            if value != "true" and not means_no:
                yield Problem(f"{switch} of {shown(key)} is {shown(value)}", ("fact_sheet", key, switch))


@SHEET.trap("a select question without a list of choices")
def _fact_sheet_select_without_choices(bundle: Bundle) -> Iterator[Problem]:
    """Participants cannot answer it. → Give `selection` as a list of texts.
    Example: `selection: ["", "BERT", "other"]`.
    """
    for key, question in bundle.mappings("fact_sheet"):
        selection = question.get("selection", ["not given"])
        if question.get("type") == "select" and not (isinstance(selection, list) and selection):
            yield _problem(key, "has no choices", 0, "selection")

"""The fact sheet: questions that participants answer with each submission."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gen_bundle.check.registry import SERIALIZERS, Effect, Problem, rule
from gen_bundle.codabench.fields import is_json, shown
from gen_bundle.codabench.stages import Stage
from gen_bundle.codabench.versions import SOURCE

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle

SHEET = f"{SERIALIZERS}/competitions.py (fact_sheet)"
KEYS = ("key", "type", "title", "selection", "is_required", "is_on_leaderboard")
TYPES = ("checkbox", "text", "select")
SWITCHES = ("is_required", "is_on_leaderboard")
PLACE = 18


def _questions(bundle: Bundle) -> list[tuple[Any, Mapping[Any, Any]]]:
    sheet = bundle.yaml.get("fact_sheet")
    if not isinstance(sheet, Mapping):
        return []
    return [(key, question) for key, question in sheet.items() if isinstance(question, Mapping)]


@rule(
    "fact-sheet-no-json",
    Effect.REFUSED,
    Stage.SAVE_COMPETITION,
    title="the fact sheet holds something that JSON cannot",
    consequence="The upload ends with `fact_sheet: Value must be valid JSON.` or a database error.",
    repair="Quote dates; leave out .nan, .inf, NUL characters and aliases that loop.",
    source=SHEET,
)
def _fact_sheet_no_json(bundle: Bundle) -> Iterator[Problem]:
    if not is_json(bundle.yaml.get("fact_sheet")):
        yield Problem("fact_sheet holds a value that is no JSON", ("fact_sheet",), order=(PLACE, 0))


@rule(
    "fact-sheet-no-mapping",
    Effect.REFUSED,
    Stage.SAVE_COMPETITION,
    title="the fact sheet is no mapping of questions",
    consequence="The upload ends with `fact_sheet: Not valid JSON` or a bare error.",
    repair="Give a mapping from a key to each question.",
    source=SHEET,
)
def _fact_sheet_no_mapping(bundle: Bundle) -> Iterator[Problem]:
    sheet = bundle.yaml.get("fact_sheet")
    if sheet and not isinstance(sheet, Mapping):
        yield Problem(f"fact_sheet is {shown(sheet)}, and must be a mapping", ("fact_sheet",), order=(PLACE, 1))
    for key, question in sheet.items() if isinstance(sheet, Mapping) else ():
        if not isinstance(question, Mapping):
            what = f"the question {shown(key)} is {shown(question)}, and must be a mapping"
            yield Problem(what, ("fact_sheet", key), order=(PLACE, 2))


@rule(
    "fact-sheet-question-keys",
    Effect.REFUSED,
    Stage.SAVE_COMPETITION,
    title="a question without exactly the six keys",
    consequence="The upload ends with `fact_sheet: Missing {…} values for …`, for keys too many as well.",
    repair=f"Give each question exactly {', '.join(KEYS)}.",
    source=SHEET,
)
def _fact_sheet_question_keys(bundle: Bundle) -> Iterator[Problem]:
    for key, question in _questions(bundle):
        missing = [name for name in KEYS if name not in question]
        extra = [str(name) for name in question if name not in KEYS]
        if missing or extra:
            parts = ([f"lacks {', '.join(missing)}"] if missing else []) + (
                [f"has also {', '.join(extra)}"] if extra else []
            )
            yield Problem(f"the question {shown(key)} {' and '.join(parts)}", ("fact_sheet", key), order=(PLACE, 3))


@rule(
    "fact-sheet-key-differs",
    Effect.REFUSED,
    Stage.SAVE_COMPETITION,
    title="a question whose inner key differs from the outer one",
    consequence="The upload ends with `fact_sheet: key:…  does not match JSON key:…`.",
    repair="Write the same key twice, of the same type: 1 and '1' differ.",
    source=SHEET,
)
def _fact_sheet_key_differs(bundle: Bundle) -> Iterator[Problem]:
    for key, question in _questions(bundle):
        if "key" in question and question["key"] != key:
            what = f"the question {shown(key)} has the inner key {shown(question['key'])}"
            yield Problem(what, ("fact_sheet", key, "key"), order=(PLACE, 4))


@rule(
    "fact-sheet-type",
    Effect.REFUSED,
    Stage.SAVE_COMPETITION,
    title="a question of an unknown type",
    consequence="The upload ends with `fact_sheet: … is not a valid question type`.",
    repair=f"Use one of {', '.join(TYPES)}.",
    source=SHEET,
)
def _fact_sheet_type(bundle: Bundle) -> Iterator[Problem]:
    for key, question in _questions(bundle):
        kind = question.get("type")
        if "type" in question and not (isinstance(kind, Hashable) and kind in TYPES):
            yield Problem(
                f"the question {shown(key)} has the type {shown(kind)}", ("fact_sheet", key, "type"), order=(PLACE, 5)
            )


@rule(
    "fact-sheet-switch-ignored",
    Effect.TRAP,
    title='a switch of a question that is not the text "true"',
    consequence='Only the text "true" counts: the question is not required, or not shown on the leaderboard.',
    repair='Write "true" or "false" in quotes.',
    source=f"{SOURCE}, how the pages read fact sheets",
)
def _fact_sheet_switch_ignored(bundle: Bundle) -> Iterator[Problem]:
    for key, question in _questions(bundle):
        for switch in SWITCHES:
            value = question.get(switch)
            means_no = not value or str(value).strip().lower() in ("false", "no", "off", "0", "n", "f")
            if switch in question and value != "true" and not means_no:
                yield Problem(f"{switch} of {shown(key)} is {shown(value)}", ("fact_sheet", key, switch))


@rule(
    "fact-sheet-select-without-choices",
    Effect.TRAP,
    title="a select question without a list of choices",
    consequence="Participants cannot answer it.",
    repair="Give `selection` as a list of texts.",
    source=SHEET,
)
def _fact_sheet_select_without_choices(bundle: Bundle) -> Iterator[Problem]:
    for key, question in _questions(bundle):
        selection = question.get("selection")
        if (
            question.get("type") == "select"
            and "selection" in question
            and not (isinstance(selection, list) and selection)
        ):
            yield Problem(f"the question {shown(key)} has no choices", ("fact_sheet", key, "selection"))

"""Which columns of gold participants answer, and how they answer them."""

import re
from collections.abc import Callable, Sequence

from gen_bundle.errors import UserError
from gen_bundle.new.column_names import ANNOTATOR_NAME, ANSWER_NAME, GROUP_NAME, INPUT_NAME, PRIVATE_NAME
from gen_bundle.new.columns import BINARY, WHOLE, GoldColumn, constant, gaps, labels_of
from gen_bundle.new.table import GoldRows, raise_all

FEWEST_SPREAD = 3
"""So many columns of 0 and 1 are a set of labels."""


def answered(
    gold: GoldRows,
    columns: dict[str, GoldColumn],
    own: set[str],
    asked: Sequence[tuple[str, str | None]],
    *,
    many: bool,
) -> list[GoldColumn]:
    """The columns that participants answer, as they answer them; raises UserError for gaps in the gold.

    Args:
        gold: the gold.
        columns: its columns that are not of the key.
        own: those that have one value for each key.
        asked: the columns that were named, each with its type or None.
        many: whether a key has many rows.
    """
    answers = [columns[name] for name, _ in asked]
    if not answers:
        answers = _answers_of_rows(columns, own) if many else _answers(columns)
    if not answers:
        raise UserError(f"{gold.file}: it is unclear what participants answer. Name the columns with --answer.")
    typed = {name for name, kind in asked if kind is not None}
    answers = [_plain(column, many=many, whole=column.name not in typed) for column in answers]
    raise_all(_each(gold, answers, gaps))
    if many:
        return answers
    together = None if typed else _of_annotators(gold, answers) or _spread(gold, answers)
    if together is not None:
        return [together]
    raise_all(_each(gold, answers, constant))
    return answers


def _each(
    gold: GoldRows, answers: Sequence[GoldColumn], faults: Callable[[GoldRows, GoldColumn], list[str]]
) -> list[str]:
    return [fault for column in answers for fault in faults(gold, column)]


def _spread(gold: GoldRows, answers: Sequence[GoldColumn]) -> GoldColumn | None:
    """Columns that say of a label each whether it holds, as one set of labels; None for any other."""
    texts: set[str] = set()
    for column in answers:
        texts.update(gold.shown(column.name))
    words = {text.casefold() for text in texts}
    if len(answers) < FEWEST_SPREAD or words not in BINARY or len(texts) > len(words):
        return None
    names = tuple(column.name for column in answers)
    negative, positive = sorted(texts)
    return GoldColumn(_unused("labels", gold), "labels", names, columns=names, binary=(negative, positive))


def _of_annotators(gold: GoldRows, answers: Sequence[GoldColumn]) -> GoldColumn | None:
    """Columns of several annotators as the one answer that each of them gave; None for any other."""
    names = tuple(column.name for column in answers)
    types = {column.type for column in answers}
    if len(names) < 2 or len(types) > 1 or not all(map(ANNOTATOR_NAME.fullmatch, names)):
        return None
    if types == {"number"}:
        within_one = all(column.within_one for column in answers)
        return GoldColumn(_unused("score", gold), "number", annotators=names, within_one=within_one)
    if not types <= {"label", "ordinal"}:
        return None
    texts: set[str] = set()
    for name in names:
        texts.update(gold.shown(name))
    kind = answers[0].type
    return GoldColumn(_unused("label", gold), kind, labels_of(texts, kind), annotators=names)


def _unused(name: str, gold: GoldRows) -> str:
    return name if name not in gold.names else f"{name}_answer"


def _answers(columns: dict[str, GoldColumn]) -> list[GoldColumn]:
    """The columns that participants answer: by their names, else by their types, else the last one."""
    every = list(columns.values())
    rest = [column for column in every if not is_input(column)]
    values = of_types(rest, "label", "ordinal", "number")
    annotators = _named(ANNOTATOR_NAME, values)
    private = _named(PRIVATE_NAME, values)
    values = [column for column in values if column not in private] or values
    ways = (
        _named(ANSWER_NAME, every),
        annotators if len(annotators) > 1 else [],
        of_types(rest, "spans", "tags", "labels", "texts"),
        [column for column in values if is_alike(column, values[-1]) or _are_flags(column, values[-1])],
        # Rather than an input, a column that cannot be read: the organiser reads what is wrong with it.
        of_types(rest, "other"),
        [column for column in every if column.type != "other"][-1:],
    )
    return next(filter(None, ways), [])


def _named(pattern: re.Pattern[str], columns: Sequence[GoldColumn]) -> list[GoldColumn]:
    return [column for column in columns if pattern.fullmatch(column.name)]


def of_types(columns: Sequence[GoldColumn], *types: str) -> list[GoldColumn]:
    """The columns of these types."""
    return [column for column in columns if column.type in types]


def is_alike(column: GoldColumn, other: GoldColumn) -> bool:
    """Whether two columns hold values of one kind, such as an emotion each."""
    return (column.type, column.values) == (other.type, other.values)


def _are_flags(*columns: GoldColumn) -> bool:
    """Whether columns say whether something holds, all in the same two words; some may say the same in all rows."""
    texts = {text.casefold() for column in columns for text in column.values}
    return all(column.type == "label" for column in columns) and texts in BINARY


def _answers_of_rows(columns: dict[str, GoldColumn], own: set[str]) -> list[GoldColumn]:
    """What differs from row to row of a key: short values, else all."""
    rows = [column for column in columns.values() if column.type != "other" and column.name not in own]
    short = [
        column for column in rows if column.type in ("label", "ordinal", "number", "string") and not is_input(column)
    ]
    return short or rows


def _plain(column: GoldColumn, *, many: bool, whole: bool) -> GoldColumn:
    """Texts without a blank are answered as texts; in a row of many they are compared as they are.

    There, with `whole`, whole numbers are positions rather than labels.
    """
    are_whole = column.type in ("label", "ordinal") and column.values and all(map(WHOLE.fullmatch, column.values))
    if many and whole and are_whole:
        return GoldColumn(column.name, "number", blank=column.blank, not_numbers=column.not_numbers)
    if many or column.type != "string":
        return column
    return GoldColumn(column.name, "text", words=column.words, blank=column.blank)


def is_input(column: GoldColumn) -> bool:
    """Whether a column looks like what participants are given."""
    if PRIVATE_NAME.fullmatch(column.name):
        return False
    by_name = INPUT_NAME.fullmatch(column.name) or GROUP_NAME.fullmatch(column.name)
    return bool(by_name) or column.type == "text"

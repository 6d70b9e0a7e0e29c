"""Which columns identify a row of gold, and which ones participants answer: by their names, types and values."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from gen_bundle.author.new.columns import BINARY, WHOLE, GoldColumn, constant, gaps, labels_of, names_of, without_case
from gen_bundle.ground.errors import UserError, raise_all
from gen_bundle.ground.tables.table import FEWEST_REPEATS, LINE_KEY, FileTable, all_match
from scoring_kit.base.field_types import NUMBER

FEWEST_WORDS = 3
"""Of a text on average, if it is no name."""
Rows = Literal["one", "many"]
Key = tuple[str, ...]
FEWEST_SPREAD = 3
"""So many columns of 0 and 1 are a set of labels."""


def _names(words: str) -> re.Pattern[str]:
    """Names of columns that are one of these words, or end in one: `gold label`, `doc_id`."""
    return re.compile(rf"(?i)(.*[ _.-])?({words})")


ID = "_?id|ids|idx|index|uid|uuid|guid|key|file|filename|item|doc|docid|document|query|qid|sentence|sent|line|row|nr|no"
ID_NAME = re.compile(rf"(?i:(.*[_ .-])?({ID})[0-9]?)|.*[a-z](Id|ID)[0-9]?")
POSITION_NAME = re.compile(
    r"(?i)(word|token|segment|turn|utterance|post|step)?[_ .-]?"
    r"(position|pos_?id|index|place|turn|number|annotator|rater|coder|worker)([_ .-]?(id|no|nr))?"
)
"""A place in what the key names: with it, rows that are labelled are told apart."""
PLACE_NAME = re.compile(
    r"(?i)(.*[_ .-])?(start|begin|end|stop|offset|from|to|span)s?([_ .-]?(char|token|offset|index|pos))?"
)
"""Where something is found: such rows are what participants answer."""
ANNOTATOR_NAME = re.compile(
    r"(?i)(annotat(or|ion)|ann|rater|rating|coder|judge|expert|worker|label|gold|a)[_ .-]?([0-9]{1,2}|[a-e])"
)
QUERY_NAME = re.compile(r"(?i)(query|question|topic|q)([_ .-]?(id|no|nr))?")
RELEVANCE = _names("relevance|rel|qrel|grade|judg(e?)ment")
"""A ranking's gold: how relevant an item is for a query, with many items a query."""
CLUSTER_NAME = re.compile(
    r"(?i)(.*[_ .-])?(doc|document|article|essay|conversation|dialog(ue)?|thread|debate|interview|session|video"
    r"|user|author|speaker|patient|subject|person|timeline|page|url|source|group|cluster)([_ .-]?(id|no|nr|name))?"
    r"|.*[_ -]id"
)
ANSWER_NAME = _names(
    "labels?|class(es)?|gold|golds|target|truth|answers?|categor(y|ies)|sentiment|stance|emotions?|tags|spans"
    "|references?|tag|summary|translation|output|score|rating|relevance|intensity|polarity|intent"
)
INPUT_NAME = _names(
    "(text|texts|tokens?|words?|form|headline|claim|sentence|sentences|sent|tweet|post|title|body|content|context|question|query|document"
    "|passage|paragraph|source|src|input|premise|hypothesis|url|image|audio|dialogue|utterance|prompt)[0-9]?"
)
GROUP_NAME = _names("lang|language|locale|dialect|domain|genre|topic|corpus|dataset|year|register|medium|platform")
PRIVATE_NAME = re.compile(
    r"(?i).*(gold|label|answer|target|truth|reference|annot|comment|note|rationale|explan|score|rating|vote|worker"
    r"|confidence|agreement|correct|solution).*"
)


MOST_FIELDS = 10
"""More columns of numbers than so many are one answer."""


def key_of(gold: FileTable, asked: Sequence[str], rows: Rows | None) -> tuple[Key, bool]:
    """Return the columns that identify a row, and whether a key may have many rows; what was not `asked` is proposed.

    A column with one value in all rows is never proposed.

    Raises:
        UserError: a key that is blank, repeated rows, or nothing that identifies a row.
    """
    if gold.suffix == ".txt":
        return (gold.names[0],), False
    if asked:
        key = tuple(dict.fromkeys(asked))
        for name in key:
            raise_all(blanks(gold, name))
        return key, _is_many(gold, key, rows)
    varied = [name for name in gold.names if len(gold) < 2 or len(set(gold.shown(name))) > 1]
    named = usable(gold, called(ID_NAME, varied))
    if rows == "many":
        repeated = _repeated(gold, named or usable(gold, varied))
        if not repeated:
            raise UserError(
                f"{gold.file}: every value of every column is unique. Expected a key with several rows: name its "
                "column with --key."
            )
        return (repeated[0],), True
    # a ranking's queries: their values repeat, and another column has relevances
    if rows is None and called(RELEVANCE, gold.names) and (queries := _repeated(gold, called(QUERY_NAME, named))):
        return (queries[0],), True
    for key in _candidates(gold, named):
        if is_unique(gold, key):
            return key, False
    if named:
        return (named[0],), _is_many(gold, (named[0],), rows)
    return (_plain_id(gold, varied),), False


def _plain_id(gold: FileTable, varied: Sequence[str]) -> str:
    """Return the first column that identifies rows, whatever its name: texts only in front, no numbers by chance.

    `varied` are the columns that have several values.
    """
    for name in usable(gold, varied):
        texts = gold.shown(name)
        if all_match(NUMBER, texts):  # measured, a hash, or a time; in front it may be a number
            may_be = name == gold.names[0] and all_match(WHOLE, texts)
        else:
            may_be = name == varied[0] or " " not in "".join(texts)
        if may_be and is_unique(gold, (name,)):
            return name
    raise UserError(
        f"{gold.file}: no column identifies its rows. Expected a column whose values all differ and are never blank. "
        f"Name the columns that identify a row together with --key, number the rows with --key {LINE_KEY}, or say "
        "--rows many where a key has any number of rows."
    )


def _candidates(gold: FileTable, named: Sequence[str]) -> Iterator[Key]:
    """Yield what may identify rows: an id, two of them, or one with a position or a text in it."""
    for name in named:
        yield (name,)
    yield from itertools.combinations(named, 2)
    yield from itertools.product(named, usable(gold, called(POSITION_NAME, gold.names)))
    if called(PLACE_NAME, gold.names):  # rows are what participants find
        return
    for name in usable(gold, gold.names):
        if name in named or PRIVATE_NAME.fullmatch(name):
            continue
        texts = gold.shown(name)
        if "".join(texts).count(" ") >= (FEWEST_WORDS - 1) * len(texts):
            for first in named:
                yield first, name


def called(pattern: re.Pattern[str], names: Iterable[str]) -> list[str]:
    """Return the names that are of a form."""
    return [name for name in names if pattern.fullmatch(name)]


def _repeated(gold: FileTable, names: Iterable[str]) -> list[str]:
    """Return the columns whose values repeat."""
    return [name for name in names if not is_unique(gold, (name,))]


def blanks(gold: FileTable, name: str) -> Iterator[str]:
    """Yield what keeps a column from being part of a key."""
    for at, text in enumerate(gold.texts(name)):
        if not text or text != text.strip() or "\n" in text or "\r" in text:
            yield (
                f"{gold.place(at)}: {name} is blank, has blanks around it, or is not a text on one line. "
                "Expected the id of the row."
            )


def usable(gold: FileTable, names: Iterable[str]) -> list[str]:
    """Return the columns that may be part of a key."""
    return [name for name in names if next(blanks(gold, name), None) is None]


def is_unique(gold: FileTable, key: Key) -> bool:
    """Return whether columns tell all rows apart."""
    if len(key) == 1 and not gold.phases:
        return len(set(gold.texts(key[0]))) == len(gold)
    return len(set(gold.keys(key))) == len(gold)


def _is_many(gold: FileTable, key: Key, rows: Rows | None) -> bool:
    """Return whether a key has many rows; raises UserError where it repeats and that may be a mistake."""
    found = gold.keys(key)
    different = len(set(found))
    if rows == "many" or different == len(found):
        return rows == "many"
    if rows is None and len(found) >= FEWEST_REPEATS * different:
        return True
    first: dict[tuple[str, ...], int] = {}
    problems = []
    for at, one in enumerate(found):
        if first.setdefault(one, at) != at:
            shown = repr(one[-len(key) :]).strip("(,)")
            problems.append(
                f"{gold.place(at)}: {' and '.join(key)} {shown} is used already, in {gold.place(first[one])}. Expected "
                "each key once, or --rows many."
            )
    raise_all(problems)
    return False


def answered(
    gold: FileTable,
    columns: dict[str, GoldColumn],
    own: set[str],
    asked: Sequence[tuple[str, str | None]],
    *,
    many: bool,
) -> list[GoldColumn]:
    """The columns that participants answer, as they answer them; raises UserError for gaps in the gold.

    `own` are the columns that have one value for each key; those that were `asked` may have a type.
    """
    answers = [columns[one] for one in dict(asked)]
    if not answers:
        may_be = columns
        if len(columns) > 1 or not all_match(ID_NAME, set(gold.names) - set(columns)):
            may_be = {name: column for name, column in columns.items() if not _says_nothing(gold, column)}
        answers = _answers_of_rows(may_be, own) if many else _answers(may_be)
    if not answers:
        raise UserError(
            f"{gold.file}: it is unclear what participants answer. Name the columns with --answer; a column with one "
            "value in all rows, or a code of its own in each, is not taken for one."
        )
    typed = {name for name, kind in asked if kind is not None}
    plain: list[GoldColumn] = []
    faults: list[str] = []
    for column in answers:
        plain.append(_plain(column, many=many, whole=column.name not in typed))
        faults += gaps(gold, plain[-1])
    raise_all(faults)
    if many:
        return plain
    if not typed and (together := _of_annotators(gold, plain) or _spread(gold, plain) or _numbers(gold, plain)):
        return [together]
    raise_all(constant(gold, plain))
    return plain


def _says_nothing(gold: FileTable, column: GoldColumn) -> bool:
    """Return whether a column is no answer unasked: one value, or a code or whole number that no other row has.

    One that is called like an answer, or holds flags, may be one all the same: what is wrong with it is said then.
    """
    texts = gold.shown(column.name)
    different = set(texts)
    is_flag = without_case(different).keys() < set().union(*BINARY)
    if ANSWER_NAME.fullmatch(column.name) or len(texts) < 2 or column.type == "other" or is_flag:
        return False
    is_code = column.type == "string" or (column.type == "number" and all_match(WHOLE, texts))
    return len(different) == 1 or (len(different) == len(texts) and is_code)


def _spread(gold: FileTable, answers: Sequence[GoldColumn]) -> GoldColumn | None:
    """Columns that say of a label each whether it holds, as one set of labels; None for any other."""
    names = tuple(names_of(answers))
    texts = _texts_of(gold, names)
    words = without_case(texts).keys()
    if len(names) < FEWEST_SPREAD or words not in BINARY or len(texts) > len(words):
        return None
    negative, positive = sorted(texts)
    return GoldColumn(_unused("labels", gold), "labels", names, columns=names, binary=(negative, positive))


def _texts_of(gold: FileTable, names: Sequence[str]) -> set[str]:
    texts: set[str] = set()
    for name in names:
        texts.update(gold.shown(name))
    return texts


def _of_annotators(gold: FileTable, answers: Sequence[GoldColumn]) -> GoldColumn | None:
    """Columns of several annotators as the one answer that each of them gave; None for any other."""
    names = tuple(names_of(answers))
    kind, *others = {one.type for one in answers}
    if len(names) < 2 or others or not all_match(ANNOTATOR_NAME, names):
        return None
    if kind == "number":
        within_one = all(one.within_one for one in answers)
        return GoldColumn(_unused("score", gold), kind, annotators=names, within_one=within_one)
    if kind not in ("label", "ordinal"):
        return None
    return GoldColumn(_unused("label", gold), kind, labels_of(_texts_of(gold, names), kind), annotators=names)


def _numbers(gold: FileTable, answers: Sequence[GoldColumn]) -> GoldColumn | None:
    """Return many columns of numbers, such as one of each gene, as one list of numbers; None for any other."""
    if len(answers) <= MOST_FIELDS or len(of_types(answers, "number")) < len(answers):
        return None
    return GoldColumn(_unused("values", gold), "numbers", columns=tuple(names_of(answers)))


def _unused(name: str, gold: FileTable) -> str:
    return name if name not in gold.names else f"{name}_answer"


def _answers(columns: dict[str, GoldColumn]) -> list[GoldColumn]:
    """The columns that participants answer: by their names, else by their types, else the last one."""
    every = list(columns.values())
    rest = [one for one in every if not is_input(one)]
    values = of_types(rest, "label", "ordinal", "number")
    measured = of_types(rest, "number")
    if len(measured) > MOST_FIELDS and not _named(ANSWER_NAME, every):
        return measured
    annotators = _named(ANNOTATOR_NAME, values)
    private = _named(PRIVATE_NAME, values)
    values = [column for column in values if column not in private] or values
    if len(annotators) < 2:
        annotators = []
    return (
        _named(ANSWER_NAME, every)
        or annotators
        or of_types(rest, "spans", "tags", "labels", "texts")
        or [column for column in values if is_alike(column, values[-1]) or _are_flags(column, values[-1])]
        # Rather than an input, a column that cannot be read: the organiser reads what is wrong with it.
        or of_types(rest, "other")
        or [column for column in every if column.type != "other"][-1:]
    )


def _named(pattern: re.Pattern[str], columns: Sequence[GoldColumn]) -> list[GoldColumn]:
    return [column for column in columns if pattern.fullmatch(column.name)]


def of_types(columns: Sequence[GoldColumn], *types: str) -> list[GoldColumn]:
    """The columns of these types."""
    return [column for column in columns if column.type in types]


def is_alike(column: GoldColumn, other: GoldColumn) -> bool:
    """Return whether two columns hold values of one kind, such as an emotion each."""
    return (column.type, column.values) == (other.type, other.values)


def _are_flags(column: GoldColumn, other: GoldColumn) -> bool:
    """Return whether columns say whether something holds, in the same two words; some may say the same in all rows."""
    texts = without_case(column.values + other.values).keys()
    return column.type == other.type == "label" and texts in BINARY


def _answers_of_rows(columns: dict[str, GoldColumn], own: set[str]) -> list[GoldColumn]:
    """Return what differs from row to row of a key: short values, else all."""
    rows = [column for column in columns.values() if column.type != "other" and column.name not in own]
    short = of_types(rows, "label", "ordinal", "number", "string")
    return [one for one in short if not is_input(one)] or rows


def _plain(column: GoldColumn, *, many: bool, whole: bool) -> GoldColumn:
    """Texts without a blank are answered as texts; in a row of many they are compared as they are.

    There, with `whole`, whole numbers are positions rather than labels.
    """
    are_whole = column.type in ("label", "ordinal") and column.values and all_match(WHOLE, column.values)
    if many and whole and are_whole:
        return GoldColumn(column.name, "number", blank=column.blank, not_numbers=column.not_numbers)
    if many or column.type != "string":
        return column
    return GoldColumn(column.name, "text", words=column.words, blank=column.blank)


def is_input(column: GoldColumn) -> bool:
    """Return whether a column looks like what participants are given."""
    if PRIVATE_NAME.fullmatch(column.name):
        return False
    by_name = INPUT_NAME.fullmatch(column.name) or GROUP_NAME.fullmatch(column.name)
    return bool(by_name) or column.type == "text"

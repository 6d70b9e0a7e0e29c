"""What each column of the gold is for: the key, what participants answer, what they are given, and what is scored."""

import itertools
import operator
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from gen_bundle.declaration.overrides import nearest
from gen_bundle.errors import UserError
from gen_bundle.new.columns import TYPES, WHOLE, GoldColumn, as_type, constant, gaps, look_at, misfits
from gen_bundle.new.table import FEWEST_REPEATS, LINE_END, LINE_KEY, NUMBER, NUMBERED, GoldRows, numbered, raise_all

Rows = Literal["one", "many"]
Key = tuple[str, ...]
NOTHING = "-"
FEWEST_CLUSTERS = 3


def _names(words: str, *, after: str = " _.-") -> re.Pattern[str]:
    """Names of columns that are one of these words, or end in one: `gold label`, `doc_id`."""
    return re.compile(rf"(?i)(.*[{after}])?({words})")


ID = "id|ids|idx|index|uid|uuid|guid|key|file|filename|item|doc|docid|document|query|qid|sentence|sent|line|row|nr|no"
ID_NAME = re.compile(rf"(?i:(.*[_ .-])?({ID}))|.*[a-z](Id|ID)")
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
    "|references?|summary|translation|output|score|rating|relevance|intensity|polarity|intent"
)
INPUT_NAME = _names(
    "(text|texts|tokens|words|sentence|sentences|sent|tweet|post|title|body|content|context|question|query|document"
    "|passage|paragraph|source|src|input|premise|hypothesis|url|image|audio|dialogue|utterance|prompt)[0-9]?"
)
GROUP_NAME = _names("lang|language|locale|dialect|domain|genre|topic|corpus|dataset|year|register|medium|platform")
PRIVATE_NAME = re.compile(
    r"(?i).*(gold|label|answer|target|truth|reference|annot|comment|note|rationale|explan|score|rating|vote|worker"
    r"|confidence|agreement|correct|solution).*"
)

KINDS = {
    "label": "classification",
    "labels": "multilabel",
    "number": "regression",
    "probability": "classification",
    "tags": "tagging",
    "spans": "spans",
}
"""Type of the first answer → kind of task; any other is generation."""


@dataclass(frozen=True)
class Choices:
    """What was asked for; what is empty is proposed.

    Attributes:
        key: names of the columns that identify a row; `line` numbers the rows.
        answers: names of the columns that participants answer, each with its type, or None to find it out.
        public: names of further columns that participants are given.
        rows: whether a key has one row or many.
        only_public: whether participants are given the `public` columns alone; else what looks like an input, too.
        cluster: the column whose values mark the rows that belong together; `-` for none.
    """

    key: Sequence[str] = ()
    answers: Sequence[tuple[str, str | None]] = ()
    public: Sequence[str] = ()
    rows: Rows | None = None
    only_public: bool = False
    cluster: str | None = None


@dataclass(frozen=True)
class Proposal:
    """A gold file understood.

    Attributes:
        gold: the file.
        key: the columns that identify a row; the lines' numbers of a .txt file.
        many: whether a key may have many rows.
        answers: what participants answer.
        item: of a ranking, the column of the ranked items; its `relevance` is then the only other one that is judged.
        public: columns that participants are given.
        groups: those among them whose values group rows.
        secret: further columns, which stay in the gold.
        cluster: the column of rows that belong together, in phases and when results are resampled.
        code: whether participants hand in code that answers, instead of the answers.
    """

    gold: GoldRows
    key: Key
    many: bool
    answers: tuple[GoldColumn, ...]
    public: tuple[str, ...] = ()
    groups: tuple[GoldColumn, ...] = ()
    secret: tuple[str, ...] = ()
    item: str | None = None
    relevance: str | None = None
    cluster: str | None = None
    columns: dict[str, GoldColumn] = field(default_factory=dict)
    code: bool = False

    @property
    def of_lines(self) -> bool:
        """Whether line n of a submission answers line n of the gold."""
        return self.gold.suffix == ".txt"

    @property
    def kind(self) -> str:
        """The kind of task, as recipes call it."""
        if self.item is not None:
            return "ranking"
        return "extraction" if self.many else KINDS.get(self.answers[0].type, "generation")


def propose(gold: GoldRows, choices: Choices) -> Proposal:
    """Understand gold: its key, then its other columns, then what they are for.

    Raises:
        UserError: a column that was named does not exist, or does not fit; no key, nothing to answer, gaps in the gold.
    """
    if choices.key == (LINE_KEY,) and gold.suffix != ".txt" and LINE_KEY not in gold.names:
        gold, choices = numbered(gold), replace(choices, key=(NUMBERED,))
    _check_names(gold, choices)
    key, many = key_of(gold, choices.key, choices.rows)
    in_key = [name for name, _ in choices.answers if name in key]
    raise_all([f"--answer {name}: is a column of the key. Expected another column." for name in in_key])
    columns = _columns(gold, key, choices)
    own = _own_to_key(gold, key) if many else set(columns)
    proposal = _ranking(gold, key, columns, own, choices) if many else None
    if proposal is None:
        proposal = Proposal(gold, key, many, tuple(_answered(gold, columns, own, choices, many=many)), columns=columns)
    return _with_cluster(_with_roles(proposal, own, choices), choices.cluster)


def _check_names(gold: GoldRows, choices: Choices) -> None:
    named = [("--answer", name) for name, _ in choices.answers] + [("--public", name) for name in choices.public]
    named += [("--key", name) for name in choices.key]
    named += [("--cluster", choices.cluster)] if choices.cluster not in (None, NOTHING) else []
    raise_all([_unknown_column(gold, option, str(name)) for option, name in named if name not in gold.names])


def _unknown_column(gold: GoldRows, option: str, name: str) -> str:
    column, _, kind = name.rpartition("=")
    if option == "--answer" and column in gold.names:
        return f"--answer {name}: no type {kind!r}. {nearest(kind, list(TYPES))}"
    return f"{option} {name}: {gold.file} has no such column. {nearest(name, list(gold.names))}"


def key_of(gold: GoldRows, asked: Sequence[str], rows: Rows | None) -> tuple[Key, bool]:
    """The columns that identify a row, and whether a key may have many rows.

    Args:
        gold: the gold.
        asked: the columns that were named; none: they are proposed.
        rows: the number of rows that was given; None: proposed.

    Raises:
        UserError: a key that is blank, repeated rows, or nothing that identifies a row.
    """
    if gold.suffix == ".txt":
        return (gold.names[0],), False
    if asked:
        key = tuple(dict.fromkeys(asked))
        for name in key:
            raise_all(list(_blanks(gold, name)))
        return key, _is_many(gold, key, rows)
    named = _usable(gold, list(filter(ID_NAME.fullmatch, gold.names)))
    if rows == "many":
        return _key_of_many(gold, named or _usable(gold, gold.names)), True
    if rows is None and (query := _query(gold, named)) is not None:
        return (query,), True
    for key in (*itertools.combinations(named, 1), *itertools.combinations(named, 2)):
        if _is_unique(gold, key):
            return key, False
    if named:
        return (named[0],), _is_many(gold, (named[0],), rows)
    return (_plain_id(gold),), False


def _plain_id(gold: GoldRows) -> str:
    """The first column that identifies rows, whatever its name."""
    for name in _usable(gold, gold.names):
        if _may_be_id(gold, name):
            return name
    raise UserError(
        f"{gold.file}: no column identifies its rows. Expected a column whose values all differ and are never blank. "
        f"Name the columns that identify a row together with --key, number the rows with --key {LINE_KEY}, or say "
        "--rows many where a key has any number of rows."
    )


def _query(gold: GoldRows, names: Sequence[str]) -> str | None:
    """The column of queries in the gold of a ranking: its values repeat, and another column has relevances."""
    if not any(map(RELEVANCE.fullmatch, gold.names)):
        return None
    queries = [name for name in names if QUERY_NAME.fullmatch(name)]
    return next((name for name in queries if not _is_unique(gold, (name,))), None)


def _key_of_many(gold: GoldRows, names: Sequence[str]) -> Key:
    repeated = next((name for name in names if not _is_unique(gold, (name,))), None)
    if repeated is None:
        raise UserError(
            f"{gold.file}: every value of every column is unique. Expected a key with several rows: name its column "
            "with --key."
        )
    return (repeated,)


def _blanks(gold: GoldRows, name: str) -> Iterator[str]:
    """What keeps a column from being part of a key."""
    for at, text in enumerate(gold.texts(name)):
        if not text or text != text.strip() or LINE_END.search(text):
            yield (
                f"{gold.place(at)}: {name} is blank, has blanks around it, or is not a text on one line. "
                "Expected the id of the row."
            )


def _usable(gold: GoldRows, names: Sequence[str]) -> list[str]:
    """The columns that may be part of a key."""
    return [name for name in names if _is_usable(gold, name)]


def _is_usable(gold: GoldRows, name: str) -> bool:
    return next(_blanks(gold, name), None) is None


def _is_unique(gold: GoldRows, key: Key) -> bool:
    found = gold.keys(key)
    return len(set(found)) == len(found)


def _may_be_id(gold: GoldRows, name: str) -> bool:
    """Whether a column with any name identifies rows: texts only in front, and no numbers that differ by chance."""
    texts = gold.shown(name)
    whole = all(map(WHOLE.fullmatch, texts))
    if name == gold.names[0]:
        is_measure = not whole and all(map(NUMBER.fullmatch, texts))
    else:
        is_measure = whole or any(" " in text for text in texts)
    return not is_measure and _is_unique(gold, (name,))


def _is_many(gold: GoldRows, key: Key, rows: Rows | None) -> bool:
    """Whether a key has many rows; raises UserError where it repeats and that may be a mistake."""
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
            problems.append(
                f"{gold.place(at)}: {' and '.join(key)} {', '.join(map(repr, one[-len(key) :]))} is used already, in "
                f"{gold.place(first[one])}. Expected each key once, or --rows many."
            )
    raise_all(problems)
    return False


def _columns(gold: GoldRows, key: Key, choices: Choices) -> dict[str, GoldColumn]:
    """What the columns hold that are not of the key; those that were named with a type are of that type."""
    columns = {name: look_at(gold, name) for name in gold.names if name not in key}
    if not columns:
        raise UserError(f"{gold.file}: has the key alone. Expected a further column, what participants are to answer.")
    for name, kind in choices.answers:
        if kind is not None:
            raise_all(misfits(gold, columns[name], kind))
            columns[name] = as_type(gold, columns[name], kind)
    return columns


def _own_to_key(gold: GoldRows, key: Key) -> set[str]:
    """The columns that have one value for each key."""
    keys = gold.keys(key)
    own = set()
    for name in gold.names:
        first: dict[tuple[str, ...], object] = {}
        if all(first.setdefault(one, value) == value for one, value in zip(keys, gold.column(name), strict=True)):
            own.add(name)
    return own


def _answered(
    gold: GoldRows, columns: dict[str, GoldColumn], own: set[str], choices: Choices, *, many: bool
) -> list[GoldColumn]:
    """The columns that participants answer, as they answer them; raises UserError for gaps in the gold."""
    answers = [columns[name] for name, _ in choices.answers]
    if not answers:
        answers = _answers_of_rows(columns, own) if many else _answers(columns)
    if not answers:
        raise UserError(f"{gold.file}: it is unclear what participants answer. Name the columns with --answer.")
    asked = {name for name, kind in choices.answers if kind is not None}
    answers = [_plain(column, many=many, whole=column.name not in asked) for column in answers]
    faults: list[str] = []
    for column in answers:
        faults += gaps(gold, column)
    raise_all(faults)
    for column in answers:
        if not many:
            faults += constant(gold, column)
    raise_all(faults)
    return answers


def _answers(columns: dict[str, GoldColumn]) -> list[GoldColumn]:
    """The columns that participants answer: by their names, else by their types, else the last one."""
    every = list(columns.values())
    rest = [column for column in every if not _is_input(column)]
    values = _of_types(rest, "label", "number")
    values = [column for column in values if not PRIVATE_NAME.fullmatch(column.name)] or values
    ways = (
        [column for column in every if ANSWER_NAME.fullmatch(column.name)],
        _of_types(rest, "spans", "tags", "labels", "texts"),
        [column for column in values if is_alike(column, values[-1])],
        # Rather than an input, a column that cannot be read: the organiser reads what is wrong with it.
        _of_types(rest, "other"),
        [column for column in every if column.type != "other"][-1:],
    )
    return next(filter(None, ways), [])


def _of_types(columns: Sequence[GoldColumn], *types: str) -> list[GoldColumn]:
    return [column for column in columns if column.type in types]


def is_alike(column: GoldColumn, other: GoldColumn) -> bool:
    """Whether two columns hold values of one kind, such as an emotion each."""
    return (column.type, column.values) == (other.type, other.values)


def _answers_of_rows(columns: dict[str, GoldColumn], own: set[str]) -> list[GoldColumn]:
    """What differs from row to row of a key: short values, else all."""
    rows = [column for column in columns.values() if column.type != "other" and column.name not in own]
    short = [column for column in rows if column.type in ("label", "number", "string") and not _is_input(column)]
    return short or rows


def _plain(column: GoldColumn, *, many: bool, whole: bool) -> GoldColumn:
    """Texts without a blank are answered as texts; in a row of many they are compared as they are.

    There, with `whole`, whole numbers are positions rather than labels.
    """
    if many and whole and column.type == "label" and column.values and all(map(WHOLE.fullmatch, column.values)):
        return GoldColumn(column.name, "number", blank=column.blank, not_numbers=column.not_numbers)
    if many or column.type != "string":
        return column
    return GoldColumn(column.name, "text", words=column.words, blank=column.blank)


def _ranking(
    gold: GoldRows, key: Key, columns: dict[str, GoldColumn], own: set[str], choices: Choices
) -> Proposal | None:
    """A ranking: with a column of relevances, and one of items that identifies a row with the key. None for any other.

    Raises:
        UserError: a relevance that is none, or a query without a relevant item.
    """
    asked = [name for name, _ in choices.answers]
    relevance = next((name for name in asked or columns if RELEVANCE.fullmatch(name)), None)
    rest = [name for name in columns if name not in own and name != relevance]
    rest.sort(key=lambda name: ID_NAME.fullmatch(name) is None)
    item = next((name for name in rest if _identifies(gold, key, name)), None)
    if relevance is None or item is None:
        return None
    _check_relevances(gold, key, relevance)
    answers = (GoldColumn(item, "string"), GoldColumn("score", "number"))
    return Proposal(gold, key, True, answers, item=item, relevance=relevance, columns=columns)


def _check_relevances(gold: GoldRows, key: Key, name: str) -> None:
    faults = []
    answered: dict[tuple[str, ...], bool] = {}
    for at, (query, text) in enumerate(zip(gold.keys(key), gold.texts(name), strict=True)):
        if text is None or not re.fullmatch("[0-9]+", text):
            expected = "Expected 0 for an irrelevant item."
            faults.append(f"{gold.place(at)}: {name} is not a whole number of at least 0. {expected}")
        else:
            answered[query] = answered.get(query, False) or int(text) > 0
    raise_all(faults)
    for query, is_answered in answered.items():
        if not is_answered:
            shown = ", ".join(map(repr, query[-len(key) :]))
            faults.append(
                f"{gold.file}: {shown} has no item with a {name} above 0. Expected a relevant item for each query."
            )
    raise_all(faults)


def _identifies(gold: GoldRows, key: Key, name: str) -> bool:
    """Whether a column of plain texts identifies a row together with the key."""
    return _is_usable(gold, name) and _is_unique(gold, (*key, name))


def _with_roles(proposal: Proposal, own: set[str], choices: Choices) -> Proposal:
    """What is given and what stays secret: only what looks like an input is given, unless it is named."""
    answered = {column.name for column in proposal.answers} | {proposal.item, proposal.relevance}
    rest = {name: column for name, column in proposal.columns.items() if name not in answered}
    _check_public(choices, answered, rest.keys() - own)
    given: list[str] = []
    secret: list[str] = []
    for name, column in rest.items():
        is_proposed = _is_input(column) and not choices.only_public
        is_given = name in own and (name in choices.public or is_proposed)
        (given if is_given else secret).append(name)
    groups = [rest[name] for name in given if _is_group(rest[name])]
    return replace(proposal, public=tuple(given), groups=tuple(groups), secret=tuple(secret))


def _check_public(choices: Choices, answered: Collection[str | None], differing: Collection[str]) -> None:
    faults = [f"--public {name}: participants answer this column." for name in choices.public if name in answered]
    for name in choices.public:
        if name in differing:
            faults.append(
                f"--public {name}: differs between the rows of a key, so that it would show how many there are. "
                "Expected a column with one value for each key."
            )
    raise_all(faults)


def _is_input(column: GoldColumn) -> bool:
    if PRIVATE_NAME.fullmatch(column.name):
        return False
    by_name = INPUT_NAME.fullmatch(column.name) or GROUP_NAME.fullmatch(column.name)
    return bool(by_name) or column.type == "text"


def _is_group(column: GoldColumn) -> bool:
    has_gaps = column.blank or column.not_numbers
    return column.type == "label" and GROUP_NAME.fullmatch(column.name) is not None and not has_gaps


def _with_cluster(proposal: Proposal, asked: str | None) -> Proposal:
    """With the column whose values mark rows that belong together, such as those of a document, if there is one.

    Where each key has many rows, it is the key that these belong to.
    """
    if asked == NOTHING:
        return proposal
    answered = {column.name for column in proposal.answers}
    if asked is not None:
        if asked in answered:
            raise UserError(f"--cluster {asked}: participants answer this column. Expected another column, or -.")
        raise_all(list(_blanks(proposal.gold, asked)))
        return replace(proposal, cluster=asked)
    if proposal.many:
        return proposal
    of_key = proposal.key if len(proposal.key) > 1 else ()
    texts = _of_types(list(proposal.columns.values()), "text")
    others = answered | {column.name for column in (*proposal.groups, *texts)}
    for name in (*of_key, *proposal.public, *proposal.secret):
        if name not in others and CLUSTER_NAME.fullmatch(name) and _is_repeated(proposal.gold, name):
            return replace(proposal, cluster=name)
    return proposal


def _is_repeated(gold: GoldRows, name: str) -> bool:
    """Whether a column's values mark some groups of rows."""
    if not _is_usable(gold, name):
        return False
    different = set(gold.texts(name))
    return FEWEST_CLUSTERS <= len(different) <= len(gold.rows) / FEWEST_REPEATS


def token_column(proposal: Proposal) -> str | None:
    """The column that participants are given whose tokens the tags are of; None where there is none, or no tags."""
    tags = next((proposal.gold.column(answer.name) for answer in proposal.answers if answer.type == "tags"), None)
    for name in proposal.public if tags is not None else ():
        if all(map(operator.eq, map(_length, proposal.gold.column(name)), map(_length, tags or ()))):
            return name
    return None


def _length(value: object) -> int:
    """How many tokens or tags a list or cell has."""
    if isinstance(value, list):
        return len(value)
    return len(str(value).split(" ")) if value else 0


def taking_code(proposal: Proposal) -> Proposal:
    """The same for a competition whose participants hand in code; raises UserError where code could read nothing."""
    if proposal.of_lines:
        raise UserError(
            f"--code: {proposal.gold.file} has no column that code could read. Expected .csv, .tsv, .jsonl or .json."
        )
    if any(answer.type == "tags" for answer in proposal.answers) and token_column(proposal) is None:
        raise UserError(
            "--code: no column that the code reads has as many tokens as there are tags. Name it: --public."
        )
    return replace(proposal, code=True)

"""Columns of the gold get their parts: the key, what participants answer, what they are given; and what is a guess."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from gen_bundle.author.new.columns import TYPES, GoldColumn, as_type, look_at, misfits, names_of
from gen_bundle.author.new.gold_of_phases import numbered
from gen_bundle.author.new.key_and_answers import (
    ANSWER_NAME,
    CLUSTER_NAME,
    GROUP_NAME,
    ID_NAME,
    RELEVANCE,
    Key,
    Rows,
    answered,
    blanks,
    called,
    is_input,
    is_unique,
    key_of,
    of_types,
    usable,
)
from gen_bundle.declaration.source import nearest
from gen_bundle.ground.errors import UserError, raise_all
from gen_bundle.ground.plain_text import listed
from gen_bundle.ground.tables.table import FEWEST_REPEATS, LINE_KEY, NUMBERED, FileTable

NOTHING = "-"
FEWEST_CLUSTERS = 3
KINDS = {
    "label": "classification",
    "ordinal": "classification",
    "offsets": "spans",
    "labels": "multilabel",
    "number": "regression",
    "numbers": "regression",
    "probability": "classification",
    "tags": "tagging",
    "spans": "spans",
}
"""Type of the first answer → kind of task; any other is generation."""
MOST_NAMED = 3


@dataclass(frozen=True)
class Choices:
    """Choices that were asked for; what is empty is proposed.

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

    gold: FileTable
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
        """Return whether line n of a submission answers line n of the gold."""
        return self.gold.suffix == ".txt"

    @property
    def kind(self) -> str:
        """The kind of task, as recipes call it."""
        if self.item is not None:
            return "ranking"
        return "extraction" if self.many else KINDS.get(self.answers[0].type, "generation")


def propose(gold: FileTable, choices: Choices) -> Proposal:
    """Understand gold: its key, then its other columns, then what they are for.

    Raises:
        UserError: a column that was named does not exist, or does not fit; no key, nothing to answer, gaps in the gold.
    """
    if list(choices.key) == [LINE_KEY] and gold.suffix != ".txt" and LINE_KEY not in gold.names:
        gold, choices = numbered(gold), replace(choices, key=(NUMBERED,))
    _check_names(gold, choices)
    key, many = key_of(gold, choices.key, choices.rows)
    expected = "is a column of the key. Expected another column."
    raise_all(f"--answer {name}: {expected}" for name, _ in choices.answers if name in key)
    columns = _columns(gold, key, choices)
    own = set(columns)
    proposal = None
    if many:
        own = _own_to_key(gold, key)
        proposal = _ranking(gold, key, columns, own, choices)
    if proposal is None:
        proposal = Proposal(
            gold, key, many, tuple(answered(gold, columns, own, choices.answers, many=many)), columns=columns
        )
    return _with_cluster(_with_roles(proposal, own, choices), choices.cluster)


UNWRITABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
"""Characters that no name in bundle.yaml may have."""


def _check_names(gold: FileTable, choices: Choices) -> None:
    named = {"--answer": list(dict(choices.answers)), "--public": choices.public, "--key": choices.key}
    if choices.cluster is not None and choices.cluster != NOTHING:
        named["--cluster"] = [choices.cluster]
    problems = []
    for option, names in named.items():
        for name in names:
            if name in gold.names:
                continue
            column, _, kind = name.rpartition("=")
            if option == "--answer" and column in gold.names:
                problems.append(f"--answer {name}: no type {kind!r}. {nearest(kind, list(TYPES))}")
            else:
                problems.append(f"{option} {name}: {gold.file} has no such column. {nearest(name, gold.names)}")
    for name in gold.names:
        if UNWRITABLE.search(name):
            problems.append(f"{gold.file}: the column {name!r} has a control character in its name. Expected none.")
    raise_all(problems)


def _columns(gold: FileTable, key: Key, choices: Choices) -> dict[str, GoldColumn]:
    """Return what the columns hold that are not of the key; those that were named with a type are of that type."""
    columns = {name: look_at(gold, name) for name in gold.names if name not in key}
    if not columns:
        raise UserError(f"{gold.file}: has the key alone. Expected a further column, what participants are to answer.")
    for name, kind in choices.answers:
        if kind is not None:
            raise_all(misfits(gold, columns[name], kind))
            columns[name] = as_type(gold, columns[name], kind)
    return columns


def _own_to_key(gold: FileTable, key: Key) -> set[str]:
    """The columns that have one value for each key."""
    keys = gold.keys(key)
    own = set()
    for name in gold.names:
        first: dict[tuple[str, ...], object] = {}
        if all(first.setdefault(one, value) == value for one, value in zip(keys, gold.columns[name], strict=True)):
            own.add(name)
    return own


def _ranking(
    gold: FileTable, key: Key, columns: dict[str, GoldColumn], own: set[str], choices: Choices
) -> Proposal | None:
    """A ranking: with a column of relevances, and one of items that identifies a row with the key. None for any other.

    Raises:
        UserError: a relevance that is none, or a query without a relevant item.
    """
    asked = dict(choices.answers)
    relevances = called(RELEVANCE, asked or columns)
    rest = [name for name in columns if name not in own and name not in relevances[:1]]
    rest.sort(key=lambda name: ID_NAME.fullmatch(name) is None)
    # an item identifies a row together with the key
    item = next((name for name in usable(gold, rest) if is_unique(gold, (*key, name))), None)
    if not relevances or item is None:
        return None
    relevance = relevances[0]
    _check_relevances(gold, key, relevance)
    answers = (GoldColumn(item, "string"), GoldColumn("score", "number"))
    return Proposal(gold, key, True, answers, item=item, relevance=relevance, columns=columns)


def _check_relevances(gold: FileTable, key: Key, name: str) -> None:
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
            shown = repr(query[-len(key) :]).strip("(,)")
            faults.append(
                f"{gold.file}: {shown} has no item with a {name} above 0. Expected a relevant item for each query."
            )
    raise_all(faults)


def _with_roles(proposal: Proposal, own: set[str], choices: Choices) -> Proposal:
    """Return what is given and what stays secret: only what looks like an input is given, unless it is named."""
    answered = {*_held(proposal), proposal.item, proposal.relevance}
    rest = {name: column for name, column in proposal.columns.items() if name not in answered}
    _check_public(choices, answered, rest.keys() - own)
    given: list[str] = []
    secret: list[str] = []
    for name, column in rest.items():
        is_proposed = is_input(column) and not choices.only_public
        if name in own and (name in choices.public or is_proposed):
            given.append(name)
        else:
            secret.append(name)
    groups = []
    for name in called(GROUP_NAME, given):
        column = rest[name]
        if column.type == "label" and not column.blank and not column.not_numbers:
            groups.append(column)
    return replace(proposal, public=tuple(given), groups=tuple(groups), secret=tuple(secret))


def _held(proposal: Proposal) -> set[str]:
    """The columns of the gold that hold answers."""
    return {name for column in proposal.answers for name in column.in_gold}


def _check_public(choices: Choices, answered: Collection[str | None], differing: Collection[str]) -> None:
    faults = []
    for name in choices.public:
        if name in answered:
            faults.append(f"--public {name}: participants answer this column.")
        if name in differing:
            faults.append(
                f"--public {name}: differs between the rows of a key, so that it would show how many there are. "
                "Expected a column with one value for each key."
            )
    raise_all(faults)


def _with_cluster(proposal: Proposal, asked: str | None) -> Proposal:
    """With the column whose values mark rows that belong together, such as those of a document, if there is one.

    Where each key has many rows, it is the key that these belong to.
    """
    if asked == NOTHING:
        return proposal
    answered = _held(proposal)
    if asked is not None:
        if asked in answered:
            raise UserError(f"--cluster {asked}: participants answer this column. Expected another column, or -.")
        raise_all(blanks(proposal.gold, asked))
        return replace(proposal, cluster=asked)
    if proposal.many:
        return proposal
    of_key = proposal.key if len(proposal.key) > 1 else ()
    texts = of_types(list(proposal.columns.values()), "text")
    others = answered.union(names_of((*proposal.groups, *texts)))
    for name in called(CLUSTER_NAME, (*of_key, *proposal.public, *proposal.secret)):
        if name not in others and usable(proposal.gold, [name]):
            different = len(set(proposal.gold.texts(name)))
            if FEWEST_CLUSTERS <= different <= len(proposal.gold) / FEWEST_REPEATS:
                return replace(proposal, cluster=name)
    return proposal


def token_column(proposal: Proposal) -> str | None:
    """The column that participants are given whose tokens the tags are of; None where there is none, or no tags."""
    tagged = of_types(proposal.answers, "tags")
    if not tagged:
        return None
    for name in proposal.public:
        if _numbers_of_tokens(proposal.gold, name) == _numbers_of_tokens(proposal.gold, tagged[0].name):
            return name
    return None


def _numbers_of_tokens(gold: FileTable, name: str) -> list[int]:
    return [tokens_in(one) for one in gold.columns[name]]


def tokens_in(value: object) -> int:
    """Return how many tokens or tags a list or cell has."""
    if isinstance(value, list):
        return len(value)
    return len(str(value).split(" ")) if value else 0


def taking_code(proposal: Proposal) -> Proposal:
    """The same for a competition whose participants hand in code; raises UserError where code could read nothing."""
    if proposal.of_lines:
        raise UserError(
            f"--code: {proposal.gold.file} has no column that code could read. Expected .csv, .tsv, .jsonl or .json."
        )
    if of_types(proposal.answers, "tags") and token_column(proposal) is None:
        raise UserError(
            "--code: no column that the code reads has as many tokens as there are tags. Name it: --public."
        )
    return replace(proposal, code=True)


def doubts(proposal: Proposal, choices: Choices) -> Iterator[str]:
    """A line for each guess about what was not asked for."""
    if not choices.key and not proposal.of_lines:
        yield from _of_key(proposal, choices)
    elif proposal.many and choices.rows is None and proposal.item is None:
        gold, key = proposal.gold, " and ".join(proposal.key)
        different = f"{key} has {len(set(gold.keys(proposal.key)))} values in {len(gold)} rows"
        yield f"{different}, so each has many rows; one row each: a --key whose values all differ"
    if choices.answers or proposal.item is not None:
        answers = [column for column in proposal.answers if (column.name, None) in choices.answers]
    else:
        answers = list(proposal.answers)
        if proposal.secret and not proposal.many and not any(_is_named(one) for one in answers):
            names = ", ".join(names_of(answers))
            yield f"that participants answer {names} is a guess; another column: --answer COLUMN"
    for column in answers:
        yield from _of_answer(column)


def _of_key(proposal: Proposal, choices: Choices) -> Iterator[str]:
    key = " and ".join(proposal.key)
    if proposal.many and choices.rows is None and proposal.item is None:
        other = f"--key {proposal.key[0]!r} --key COLUMN".replace("'", '"')
        yield f"the rows of a {key} are what participants find; if they get these rows to label them: {other}"
    elif not ID_NAME.fullmatch(proposal.key[-1]) or " " in proposal.gold.shown(proposal.key[-1])[0]:
        yield f"that {key} identifies a row is a guess; another column: --key COLUMN; the number of the row: --key line"


def _is_named(column: GoldColumn) -> bool:
    return bool(called(ANSWER_NAME, column.in_gold))


def _of_answer(column: GoldColumn) -> Iterator[str]:
    """Yield how the values of a column may be meant otherwise."""
    name = column.name
    first = column.in_gold[0]
    names = listed(column.in_gold, MOST_NAMED)
    if column.type == "numbers":
        yield f"{names} are read as one list of numbers; an answer each: --answer {first}=number …"
    elif column.columns:
        yield f"{names} are read as one set of labels; an answer each: --answer {first}=label …"
    elif column.annotators:
        yield f"{names} are read as one answer by several annotators; an answer each: --answer {first}=TYPE …"
    elif column.type == "ordinal":
        lowest, *_, highest = column.values
        yield f"{name} is read as a scale, from {lowest} to {highest}; if it is none: --answer {name}=label"
    elif column.grades:
        others = f"a scale: --answer {name}=ordinal; numbers: --answer {name}=number"
        yield f"{name} is read as labels without an order; {others}"
    elif column.type == "texts":
        yield f"{name} is read as texts of which one is right; a set of labels: --answer {name}=labels"
    elif column.type == "text" and not _is_named(column):
        yield f"{name} is read as a text; labels: --answer {name}=label; another column: --answer COLUMN"

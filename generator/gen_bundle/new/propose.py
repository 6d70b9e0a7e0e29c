"""What each column of the gold is for: the key, what participants answer, what they are given, what stays secret."""

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gen_bundle.declaration.overrides import nearest
from gen_bundle.errors import UserError
from gen_bundle.new.faults import TYPES, constant, gaps, misfits
from gen_bundle.new.gold import Gold, raise_all
from gen_bundle.new.key import ID_NAME, RELEVANCE, Key, Rows, key_of, keys_of
from gen_bundle.new.look import WHOLE, Column, as_type, look_at, text_of

ANSWER_NAME = re.compile(
    r"(?i)(.*[_ .-])?(labels?|class(es)?|gold|golds|target|truth|answers?|categor(y|ies)|sentiment|stance|emotions?"
    r"|tags|spans|references?|summary|translation|output|score|rating|relevance|intensity|polarity|intent)"
)
INPUT_NAME = re.compile(
    r"(?i)(.*[_ .-])?(text|texts|tokens|words|sentence|sentences|sent|tweet|post|title|body|content|context|question"
    r"|query|document|passage|paragraph|source|src|input|premise|hypothesis|url|image|audio|dialogue|utterance|prompt)[0-9]?"
)
GROUP_NAME = re.compile(
    r"(?i)(.*[_ .-])?(lang|language|locale|dialect|domain|genre|topic|corpus|dataset|year|register|medium|platform)"
)
PRIVATE_NAME = re.compile(
    r"(?i).*(gold|label|answer|target|truth|reference|annot|comment|note|rationale|explan|score|rating|vote|worker"
    r"|confidence|agreement|correct|solution).*"
)


@dataclass(frozen=True)
class Choices:
    """What was asked for; what is empty is proposed.

    Attributes:
        key: names of the columns that identify a row.
        answers: names of the columns that participants answer, each with its type, or None to find it out.
        public: names of further columns that participants are given.
        rows: whether a key has one row or many.
        only_public: whether participants are given the `public` columns alone; else what looks like an input, too.
    """

    key: Sequence[str] = ()
    answers: Sequence[tuple[str, str | None]] = ()
    public: Sequence[str] = ()
    rows: Rows | None = None
    only_public: bool = False


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
        code: whether participants hand in code that answers, instead of the answers.
    """

    gold: Gold
    key: Key
    many: bool
    answers: tuple[Column, ...]
    public: tuple[str, ...] = ()
    groups: tuple[Column, ...] = ()
    secret: tuple[str, ...] = ()
    item: str | None = None
    relevance: str | None = None
    columns: dict[str, Column] = field(default_factory=dict)
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
        if self.many:
            return "extraction"
        kinds = {"label": "classification", "labels": "multilabel", "number": "regression", "tags": "tagging"}
        return kinds.get(self.answers[0].type, "spans" if self.answers[0].type == "spans" else "generation")


def propose(gold: Gold, choices: Choices) -> Proposal:
    """Understand a gold file.

    Raises:
        UserError: a column that was named does not exist, or does not fit; no key, nothing to answer, gaps in the gold.
    """
    named = [("--answer", name) for name, _ in choices.answers] + [("--public", name) for name in choices.public]
    raise_all([_unknown_column(gold, option, name) for option, name in named if name not in gold.names])
    key, many = ((gold.names[0],), False) if gold.suffix == ".txt" else key_of(gold, choices.key, choices.rows)
    answered_keys = [name for name, _ in choices.answers if name in key]
    raise_all([f"--answer {name}: is a column of the key. Expected another column." for name in answered_keys])
    columns = {name: look_at(gold, name) for name in gold.names if name not in key}
    if not columns:
        raise UserError(f"{gold.file}: has the key alone. Expected a further column, what participants are to answer.")
    for name, kind in choices.answers:
        if kind is not None:
            raise_all(misfits(gold, columns[name], kind))
            columns[name] = as_type(gold, columns[name], kind)
    own = _own_to_key(gold, key) if many else set(columns)
    relevance = _relevance(columns, choices) if many else None
    if relevance is not None and (item := _item(gold, key, columns, own, relevance)) is not None:
        return _ranking(gold, key, columns, own, item, relevance, choices)
    answers = [columns[name] for name, _ in choices.answers] or _answers(columns, own, many=many)
    if not answers:
        raise UserError(f"{gold.file}: it is unclear what participants answer. Name the columns with --answer.")
    asked = {name for name, kind in choices.answers if kind is not None}
    answers = [_plain(column, many=many, whole=column.name not in asked) for column in answers]
    raise_all([fault for column in answers for fault in gaps(gold, column)])
    raise_all([fault for column in answers if not many for fault in constant(gold, column)])
    return _with_roles(Proposal(gold, key, many, tuple(answers), columns=columns), own, choices)


def _unknown_column(gold: Gold, option: str, name: str) -> str:
    column, _, kind = name.rpartition("=")
    if option == "--answer" and column in gold.names:
        return f"--answer {name}: no type {kind!r}. {nearest(kind, list(TYPES))}"
    return f"{option} {name}: {gold.file} has no such column. {nearest(name, list(gold.names))}"


def _with_roles(proposal: Proposal, own: set[str], choices: Choices) -> Proposal:
    """What is given and what stays secret: only what looks like an input is given, unless it is named."""
    answered = {column.name for column in proposal.answers} | {proposal.item, proposal.relevance}
    rest = {name: column for name, column in proposal.columns.items() if name not in answered}
    faults = [f"--public {name}: participants answer this column." for name in choices.public if name in answered] + [
        f"--public {name}: differs between the rows of a key, so that it would show how many there are. "
        "Expected a column with one value for each key."
        for name in choices.public
        if name in rest and name not in own
    ]
    raise_all(faults)
    given = [
        name
        for name, column in rest.items()
        if name in own and (name in choices.public or (_is_input(column) and not choices.only_public))
    ]
    groups = [column for name, column in rest.items() if name in given and _is_group(column)]
    secret = tuple(name for name in rest if name not in given)
    return replace(proposal, public=tuple(given), groups=tuple(groups), secret=secret)


def _is_input(column: Column) -> bool:
    if PRIVATE_NAME.fullmatch(column.name) or len(column.name) < 1:
        return False
    by_name = INPUT_NAME.fullmatch(column.name) or GROUP_NAME.fullmatch(column.name)
    return bool(by_name) or column.type == "text"


def _is_group(column: Column) -> bool:
    gaps = column.blank or column.not_numbers
    return column.type == "label" and GROUP_NAME.fullmatch(column.name) is not None and not gaps


def _answers(columns: dict[str, Column], own: set[str], *, many: bool) -> list[Column]:
    """The columns that participants answer: by their names, else by their types, else the last one."""
    fitting = [column for column in columns.values() if column.type != "other"]
    if many:
        rows = [column for column in fitting if column.name not in own]
        short = [column for column in rows if column.type in ("label", "number", "string") and not _is_input(column)]
        return short or rows
    named = [column for column in columns.values() if ANSWER_NAME.fullmatch(column.name)]
    if named:
        return named
    inputs = [column for column in fitting if _is_input(column)]
    rest = [column for column in fitting if column not in inputs]
    of_lists = [column for column in rest if column.type in ("spans", "tags", "labels", "texts")]
    of_values = [column for column in rest if column.type in ("label", "number")]
    of_values = [column for column in of_values if not PRIVATE_NAME.fullmatch(column.name)] or of_values
    alike = [
        column for column in of_values if (column.type, column.values) == (of_values[-1].type, of_values[-1].values)
    ]
    # Rather than an input, a column that cannot be read: the organiser hears what is wrong with it.
    unread = [column for column in columns.values() if column.type == "other" and not _is_input(column)]
    return of_lists or alike or unread or fitting[-1:]


def _plain(column: Column, *, many: bool, whole: bool) -> Column:
    """Texts without a blank are answered as texts; in a row of many they are compared as they are.

    There, with `whole`, whole numbers are positions rather than labels.
    """
    if many and whole and column.type == "label" and column.values and all(map(WHOLE.fullmatch, column.values)):
        return Column(column.name, "number", blank=column.blank, not_numbers=column.not_numbers)
    if many or column.type != "string":
        return column
    return Column(column.name, "text", words=column.words, blank=column.blank)


def _own_to_key(gold: Gold, key: Key) -> set[str]:
    """The columns that have one value for each key."""
    keys = keys_of(gold, key)
    own = set()
    for name in gold.names:
        first: dict[tuple[str, ...], object] = {}
        if all(first.setdefault(one, value) == value for one, value in zip(keys, gold.column(name), strict=True)):
            own.add(name)
    return own


def _relevance(columns: dict[str, Column], choices: Choices) -> str | None:
    asked = [name for name, _ in choices.answers]
    return next((name for name in asked or columns if RELEVANCE.fullmatch(name)), None)


def _item(gold: Gold, key: Key, columns: dict[str, Column], own: set[str], relevance: str) -> str | None:
    """The column of ranked items: with the key it identifies a row. None where there is none."""
    rest = [name for name in columns if name not in own and name != relevance]
    for name in sorted(rest, key=lambda name: ID_NAME.fullmatch(name) is None):
        texts = [text_of(value) for value in gold.column(name)]
        if None not in texts and all(text and text == text.strip() for text in texts):
            pairs = set(zip(keys_of(gold, key), texts, strict=True))
            if len(pairs) == len(texts):
                return name
    return None


def _ranking(
    gold: Gold,
    key: Key,
    columns: dict[str, Column],
    own: set[str],
    item: str,
    relevance: str,
    choices: Choices,
) -> Proposal:
    relevances = [text_of(value) for value in gold.column(relevance)]
    raise_all(
        [
            f"{gold.place(at)}: {relevance} is not a whole number of at least 0. Expected 0 for an irrelevant item."
            for at, text in enumerate(relevances)
            if text is None or not re.fullmatch("[0-9]+", text)
        ]
    )
    best: dict[tuple[str, ...], int] = {}
    for one, text in zip(keys_of(gold, key), relevances, strict=True):
        best[one] = max(best.get(one, 0), int(text or 0))
    raise_all(
        [
            f"{gold.file}: {', '.join(map(repr, one))} has no item with a {relevance} above 0. "
            "Expected a relevant item for each query."
            for one, highest in best.items()
            if not highest
        ]
    )
    answers = (Column(item, "string"), Column("score", "number"))
    proposal = Proposal(gold, key, True, answers, item=item, relevance=relevance, columns=columns)
    return _with_roles(proposal, own, choices)


def token_column(proposal: Proposal) -> str | None:
    """The column that participants are given whose tokens the tags are of; None where there is none, or no tags."""
    tags = next((proposal.gold.column(answer.name) for answer in proposal.answers if answer.type == "tags"), None)
    for name in proposal.public if tags is not None else ():
        if all(map(operator.eq, map(_length, proposal.gold.column(name)), map(_length, tags or ()))):
            return name
    return None


def _length(value: object) -> int:
    """How many tokens or tags a list or cell has."""
    return len(value) if isinstance(value, list) else len(str(value).split(" ")) if value else 0


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

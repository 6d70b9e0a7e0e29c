"""Which columns identify a row of gold, and whether a key may have many rows."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Literal

from gen_bundle.errors import UserError
from gen_bundle.new.column_names import ID_NAME, PLACE_NAME, POSITION_NAME, PRIVATE_NAME, QUERY_NAME, RELEVANCE
from gen_bundle.new.columns import WHOLE
from gen_bundle.new.table import FEWEST_REPEATS, LINE_END, LINE_KEY, NUMBER, GoldRows, raise_all

FEWEST_WORDS = 3
"""Of a text on average, if it is no name."""
Rows = Literal["one", "many"]
Key = tuple[str, ...]


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
            raise_all(list(blanks(gold, name)))
        return key, _is_many(gold, key, rows)
    named = _usable(gold, list(filter(ID_NAME.fullmatch, gold.names)))
    if rows == "many":
        return _key_of_many(gold, named or _usable(gold, gold.names)), True
    query = _query(gold, named) if rows is None else None
    if query is not None:
        return (query,), True
    for key in _candidates(gold, named):
        if is_unique(gold, key):
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


def _candidates(gold: GoldRows, named: Sequence[str]) -> Iterator[Key]:
    """What may identify rows: an id, two of them, or one with a position or a text in it."""
    for name in named:
        yield (name,)
    yield from itertools.combinations(named, 2)
    positions = _usable(gold, list(filter(POSITION_NAME.fullmatch, gold.names)))
    for name, position in itertools.product(named, positions):
        yield name, position
    yield from _with_texts(gold, named)


def _with_texts(gold: GoldRows, named: Sequence[str]) -> Iterator[Key]:
    """Ids, each with a text that participants are given; none where rows are what they find."""
    if any(map(PLACE_NAME.fullmatch, gold.names)):
        return
    for name in gold.names:
        if name not in named and not PRIVATE_NAME.fullmatch(name) and is_usable(gold, name):
            texts = gold.shown(name)
            words = sum(text.count(" ") + 1 for text in texts)
            for first in named if words >= FEWEST_WORDS * len(texts) else ():
                yield first, name


def _query(gold: GoldRows, names: Sequence[str]) -> str | None:
    """The column of queries in the gold of a ranking: its values repeat, and another column has relevances."""
    if not any(map(RELEVANCE.fullmatch, gold.names)):
        return None
    queries = [name for name in names if QUERY_NAME.fullmatch(name)]
    return next((name for name in queries if not is_unique(gold, (name,))), None)


def _key_of_many(gold: GoldRows, names: Sequence[str]) -> Key:
    repeated = next((name for name in names if not is_unique(gold, (name,))), None)
    if repeated is None:
        raise UserError(
            f"{gold.file}: every value of every column is unique. Expected a key with several rows: name its column "
            "with --key."
        )
    return (repeated,)


def blanks(gold: GoldRows, name: str) -> Iterator[str]:
    """What keeps a column from being part of a key."""
    for at, text in enumerate(gold.texts(name)):
        if not text or text != text.strip() or LINE_END.search(text):
            yield (
                f"{gold.place(at)}: {name} is blank, has blanks around it, or is not a text on one line. "
                "Expected the id of the row."
            )


def _usable(gold: GoldRows, names: Sequence[str]) -> list[str]:
    """The columns that may be part of a key."""
    return [name for name in names if is_usable(gold, name)]


def is_usable(gold: GoldRows, name: str) -> bool:
    """Whether a column may be part of a key."""
    return next(blanks(gold, name), None) is None


def is_unique(gold: GoldRows, key: Key) -> bool:
    """Whether columns tell all rows apart."""
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
    return not is_measure and is_unique(gold, (name,))


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

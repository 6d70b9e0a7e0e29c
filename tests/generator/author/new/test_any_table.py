"""Any table becomes a competition whose gold the scoring program reads, or is refused with a clear message."""

import contextlib
import csv
import io
import json
import string
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from declared import reference
from gen_bundle.author.new.columns import TYPES
from gen_bundle.author.new.project import Place, new_declared, yaml_text
from gen_bundle.author.new.propose import Choices, propose
from gen_bundle.author.new.split import divide
from gen_bundle.build.package.resolve import resolve
from gen_bundle.build.render.page_tables import page_text
from gen_bundle.declaration.source import parse_value
from gen_bundle.ground.errors import UserError
from tests.generator.author.new.making import read_gold

pytestmark = pytest.mark.slow

CELLS = st.one_of(
    st.sampled_from(
        ["", "a", "b", "neg", "pos", "0.5", "1", "2", "1e5", "a|b", "O B-x", "[[0, 1]]", '["x"]', "no", "NaN"]
    ),
    st.text(alphabet=string.ascii_letters + " ,;|\"'{}%$<>&#:[]\u2028é\r\t", max_size=8),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
)
NAMES = st.one_of(
    st.sampled_from(
        ["id", "text", "label", "score", "query_id", "item", "relevance", "tags", "language", "doc", "start"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)


@st.composite
def tables(draw: st.DrawFn) -> list[list[str]]:
    """A header and rows; usually with an id, so that something comes of it."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4))
    rows = draw(st.lists(st.lists(CELLS, min_size=len(names), max_size=len(names)), max_size=8))
    if draw(st.integers(0, 3)):
        return [["id", *names], *([f"r{i}", *row] for i, row in enumerate(rows))]
    return [names, *rows]


@settings(max_examples=60)
@given(tables(), st.sampled_from([".csv", ".tsv", ".jsonl"]), st.sampled_from(["none", "50:50"]))
@example([["id", "label"], ["1", "yes"], ["2", "no"]], ".csv", "none")
@example([["id", "label"], ["1", "yes"], ["2", ""], ["3", "no"]], ".csv", "none")
@example([["id", "{{ x }}"], ["1", "{% y %}"], ["2", "a: b # c"]], ".tsv", "50:50")
def test_any_table_is_a_competition_or_a_clear_error(table: list[list[str]], suffix: str, split: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        try:
            _is_read(Path(name), table, suffix, Choices(), split)
        except UserError as error:
            for message in error.messages:
                assert message.startswith(("gold.", "--split"))
                assert "Expected" in message or "--" in message


def _is_read(work: Path, table: list[list[str]], suffix: str, choices: Choices, split: str) -> None:
    """Let the scoring program read the gold, and the example, of the competition that is made of a table."""
    path = work / f"gold{suffix}"
    path.write_text(_text(table, suffix), encoding="utf-8", newline="")
    proposal = propose(read_gold(path), choices)
    phases = divide(proposal, split)
    try:
        folder = new_declared(Place("made", work), proposal, phases, check=False)
        competition = resolve(folder)
        for data in ("data", "example"):
            for phase in phases:
                assert reference.read(folder / data / phase, [competition.tasks[0].id], competition.options)
    except UserError as error:
        raise AssertionError(error.messages) from error


def _text(table: list[list[str]], suffix: str) -> str:
    if suffix == ".jsonl":
        names, *rows = table
        return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)
    buffer = io.StringIO()
    csv.writer(buffer, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n").writerows(table)
    return buffer.getvalue()


VALUES = st.recursive(
    st.one_of(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), st.booleans(), st.integers(-999, 999)),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(string.ascii_letters, min_size=1), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=100)
@given(VALUES)
@example("no")
@example("1e3")
@example("0o7")
@example("\x85\u2028\ufeff")
def test_yaml_text_is_read_as_the_same_value(value: object) -> None:
    assert parse_value(yaml_text(value)) == value
    assert "\n" not in yaml_text(value)


@given(st.text(max_size=20))
def test_names_on_pages_mean_nothing_to_jinja(text: str) -> None:
    shown = page_text(text)
    assert not {"{{", "{%", "{#", "$", "|"} & {shown[i : i + n] for i in range(len(shown)) for n in (1, 2)}


@settings(max_examples=40)
@given(tables(), st.sampled_from([".csv", ".jsonl"]), st.sampled_from(TYPES), st.booleans())
def test_any_type_that_is_asked_for_fits_or_is_refused(
    table: list[list[str]], suffix: str, kind: str, many: bool
) -> None:
    choices = Choices(answers=[(table[0][-1].strip(), kind)], rows="many" if many else None)
    with tempfile.TemporaryDirectory() as name, contextlib.suppress(UserError):
        _is_read(Path(name), table, suffix, choices, "none")

"""Files of any scorer are read as tables, written again so that they are read the same, and paired with their gold."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gen_bundle.author.importing.tables import FoundTable, pairs_of, read_table

NO_NAMES: frozenset[str] = frozenset()
READ = {
    "a CSV with a header": ("p.csv", "id,label\na,x\nb,y\n", ("id", "label"), [("a", "x"), ("b", "y")]),
    "without one": ("p.csv", "1,2\n3,4\n", ("column1", "column2"), [("1", "2"), ("3", "4")]),
    "one column of numbers below a word": ("p.csv", "y\n1\n2\n", ("y",), [("1",), ("2",)]),
    "one value a line": ("data.predict", "1.5\n2\n\n", ("answer",), [("1.5",), ("2",)]),
    "labels alone": ("labels", "oak\nash\noak\n", ("answer",), [("oak",), ("ash",), ("oak",)]),
    "between blanks": ("x.solution", "1 0\n0 1\n", ("column1", "column2"), [("1", "0"), ("0", "1")]),
    "between tabs": ("a.tsv", "id\tn\na\t1\nb\t2\n", ("id", "n"), [("a", "1"), ("b", "2")]),
    "quoted cells": ("p.csv", 'id,text\n1,"a, b"\n2,c\n', ("id", "text"), [("1", "a, b"), ("2", "c")]),
    "a BOM": ("p.csv", "\ufeffid,n\na,1\nb,2\n", ("id", "n"), [("a", "1"), ("b", "2")]),
    "keys and values": ("p.json", '{"a": 1, "b": 2}', ("key", "value"), [("a", 1), ("b", 2)]),
    "keys and records": ("p.json", '{"a": {"x": 1}, "b": {"x": 2}}', ("key", "x"), [("a", 1), ("b", 2)]),
    "records": ("p.json", '[{"id": 1, "x": true}]', ("id", "x"), [(1, True)]),
    "values": ("p.json", "[1, 2]", ("value",), [(1,), (2,)]),
    "numbers beyond all bounds": ("p.json", f"[1{'0' * 400}, 2]", ("value",), [(10**400,), (2,)]),
    "lines of JSON": ("p.jsonl", '{"id": 1}\n{"id": 2}\n', ("id",), [(1,), (2,)]),
}
NOT_READ = {
    "nothing": ("p.csv", b" \n"),
    "bytes": ("p.npy", b"\x93NUMPY\x01\x00"),
    "zeros": ("p.bin", b"a\0b"),
    "JSON of lists": ("p.json", b'{"a": [1, 2]}'),
    "records of different names": ("p.json", b'[{"a": 1}, {"b": 2}]'),
    "broken JSON": ("p.json", b'{"a": '),
    "a number": ("p.json", b"3"),
    "a BOM alone": ("p.csv", b"\xef\xbb\xbf"),
    "a key of the name that keys have here": ("p.json", b'{"a": {"key": 1}, "b": {"key": 2}}'),
}


@pytest.mark.parametrize("name", READ)
def test_what_is_a_table(name: str) -> None:
    file, text, columns, rows = READ[name]
    table = read_table(file, text.encode(), NO_NAMES)
    assert table is not None
    assert (table.columns, list(table.rows)) == (columns, rows)
    assert read_table(file, table.written(), NO_NAMES) == table


@pytest.mark.parametrize("name", NOT_READ)
def test_what_is_none(name: str) -> None:
    assert read_table(*NOT_READ[name], NO_NAMES) is None


def test_a_column_that_the_scorer_names_is_a_header() -> None:
    text = b"label\noak\nash\n"
    named, unnamed = read_table("p.csv", text, frozenset(["label"])), read_table("p.csv", text, NO_NAMES)
    assert named is not None
    assert unnamed is not None
    assert (named.columns, unnamed.columns) == (("label",), ("answer",))


CELL = st.text(st.characters(min_codepoint=97, max_codepoint=122), min_size=1, max_size=4)


@given(st.lists(st.tuples(CELL, st.integers(0, 9).map(str)), min_size=2, max_size=6), st.sampled_from(",\t;|"))
def test_tables_with_a_header_survive(rows: list[tuple[str, str]], delimiter: str) -> None:
    table = FoundTable("p.txt", "cells", ("THE ID", "N"), tuple(rows), delimiter, header=True)
    assert read_table("p.txt", table.written(), NO_NAMES) == table


def test_json_values_stay_what_they_are() -> None:
    table = read_table("p.json", b'{"a": 1, "b": "1"}', NO_NAMES)
    assert table is not None
    assert json.loads(table.written()) == {"a": 1, "b": "1"}


def tables(files: dict[str, str]) -> list[FoundTable]:
    found = [read_table(name, text.encode(), NO_NAMES) for name, text in files.items()]
    return [table for table in found if table is not None]


PAIRED: dict[str, tuple[dict[str, str], dict[str, str], list[str]]] = {
    "by an id": ({"p.csv": "id,y\nb,1\na,2\n"}, {"g.csv": "id,y\na,1\nb,1\n"}, ["p.csv answers g.csv, by id"]),
    "by an id of another name": (
        {"p.csv": "name,y\nb,1\na,2\n"},
        {"g.csv": "id,y\na,1\nb,1\n"},
        ["p.csv answers g.csv, by name"],
    ),
    "by two columns": (
        {"p.csv": "who,day,y\na,1,5\na,2,5\nb,1,7\n"},
        {"g.csv": "who,day,y\na,1,5\nb,1,6\na,2,7\n"},
        ["p.csv answers g.csv, by who, day"],
    ),
    "line by line": (
        {"t.predict": "1\n1\n2\n"},
        {"t.solution": "1\n2\n2\n"},
        ["t.predict answers t.solution, by line"],
    ),
    "a perfect file of different numbers": ({"p": "1\n2\n3\n"}, {"g": "1\n2\n3\n"}, ["p answers g, by line"]),
    "two halves": (
        {"test_p.csv": "1\n2\n", "private_p.csv": "3\n4\n"},
        {"private_l.csv": "1\n1\n", "test_l.csv": "2\n2\n"},
        ["test_p.csv answers test_l.csv, by line", "private_p.csv answers private_l.csv, by line"],
    ),
    "a note beside it": (
        {"p.csv": "id,y\na,1\nb,2\n", "metadata.json": '{"seconds": 3}'},
        {"g.csv": "id,y\na,1\nb,1\n"},
        ["p.csv answers g.csv, by id"],
    ),
    "JSON against CSV": (
        {"p.json": '{"a": 1, "b": 2}'},
        {"g.csv": "id,y\na,1\nb,1\n"},
        ["p.json answers g.csv, by key"],
    ),
    "other ids, and another number of rows": ({"p.csv": "id,y\nx,1\n"}, {"g.csv": "id,y\na,1\nb,1\n"}, []),
}


@pytest.mark.parametrize("name", PAIRED)
def test_files_find_their_gold(name: str) -> None:
    answers, golds, expected = PAIRED[name]
    assert [pair.said for pair in pairs_of(tables(answers), tables(golds))] == expected

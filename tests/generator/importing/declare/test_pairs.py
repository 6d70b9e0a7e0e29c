"""Which file answers which gold, and by what its rows are matched."""

import pytest

from gen_bundle.importing.declare.pairs import pairs_of
from gen_bundle.importing.declare.tables import FoundTable, read_table

NO_NAMES: frozenset[str] = frozenset()
Files = dict[str, str]


def tables(files: Files) -> list[FoundTable]:
    found = [read_table(name, text.encode(), NO_NAMES) for name, text in files.items()]
    return [table for table in found if table is not None]


CASES: dict[str, tuple[Files, Files, list[str]]] = {
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


@pytest.mark.parametrize("name", CASES)
def test_files_find_their_gold(name: str) -> None:
    answers, golds, expected = CASES[name]
    assert [pair.said for pair in pairs_of(tables(answers), tables(golds))] == expected

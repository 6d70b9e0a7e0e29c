"""JSON, CSV and the files of a submission: every problem with its place, and never a traceback."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring_kit.csv_reading import read_table
from scoring_kit.errors import Problems, shown
from scoring_kit.json_reading import JsonObject, read_json, report_duplicates
from scoring_kit.submission_files import SubmissionFiles


def json_problems(tmp_path: Path, content: bytes, max_megabytes: float = 1) -> list[str]:
    path = tmp_path / "answer.json"
    path.write_bytes(content)
    problems = Problems()
    read_json(path, path.name, max_megabytes, problems)
    return problems.errors


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{\n "a": 1,\n}', "answer.json:3:1: not valid JSON"),
        (b"", "answer.json:1:1: not valid JSON"),
        (b"[" * 100_000, "answer.json: is nested too deeply."),
        (b"1" * 5000, "answer.json: contains a number with too many digits."),
        ('{"a": "é"}'.encode("utf-16"), "answer.json: is encoded as UTF-16."),
        (b'{"a":\n"\xe9"}', "answer.json:2: contains bytes that are not UTF-8."),
        (b'"' + b"x" * 1_000_001 + b'"', "answer.json: is 1.0 MB in size. Expected: at most 1 MB."),
    ],
)
def test_json_that_cannot_be_read(tmp_path: Path, content: bytes, message: str) -> None:
    (error,) = json_problems(tmp_path, content)
    assert error.startswith(message)


@pytest.mark.parametrize("content", [b'\xef\xbb\xbf{"a": 1}', b'{"a": NaN, "b": 1e400}', b'{"a": "\\ud800"}'])
def test_json_that_is_left_to_the_fields(tmp_path: Path, content: bytes) -> None:
    assert json_problems(tmp_path, content) == []


def test_duplicate_keys_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    path.write_text('{"t1": {"a": 1, "b": 2, "a": 3, "a": 4}}', encoding="utf-8")
    problems = Problems()
    value = read_json(path, path.name, 1, problems)
    assert isinstance(value["t1"], JsonObject)
    report_duplicates(value["t1"], "Timeline t1", problems)
    assert problems.errors == ['Timeline t1: the key "a" occurs more than once. Expected: each key once.']


@pytest.mark.slow
@given(
    content=st.binary(max_size=200)
    | st.text(alphabet='{}[]",:0123456789eE+-. \\unaltrfsI', max_size=60).map(str.encode)
)
def test_no_bytes_make_the_json_reader_fail(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    json_problems(tmp_path_factory.mktemp("any"), content)


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("id,label\na,b\n", []),
        ("id,label\r\n\r\na,b\r\n", []),
        ('id,label\n"a,1",b\n', []),
        ("", ["t.csv: has no header line."]),
        ("id,label,,\na,x,,\n", []),
        ("id;label\na;0,5\n", ["t.csv:1: fields are separated by semicolons."]),
        ("id,id\n", ['t.csv:1: the column "id" occurs more than once.']),
        ("id,label\na\nb,c,d\n", ["t.csv:2: has 1 cells.", "t.csv:3: has 3 cells."]),
        ('id,label\n"a,b\n', ["t.csv:2: a quotation mark opens a cell here, and none closes it."]),
        ("id,label\na,\0\n", ["t.csv:2: contains a NUL character."]),
    ],
)
def test_csv(text: str, messages: list[str]) -> None:
    problems = Problems()
    list(read_table(text, "t.csv", problems).rows)
    assert len(problems.errors) == len(messages)
    for error, message in zip(problems.errors, messages, strict=True):
        assert error.startswith(message)


def test_a_cell_may_be_a_whole_document() -> None:
    problems = Problems()
    ((_, cells),) = read_table("id,text\na," + "x" * 200_000, "t.csv", problems).rows
    assert (len(cells[1]), problems.errors) == (200_000, [])


@given(text=st.text(alphabet='ab,"\n\r\0 ', max_size=40))
def test_no_text_makes_the_csv_reader_fail(text: str) -> None:
    table = read_table(text, "t.csv", Problems())
    assert all(len(cells) == len(table.header) for _, cells in table.rows)


@pytest.mark.parametrize(
    ("files", "names", "warned"),
    [
        (["a.csv"], ["a.csv"], 0),
        (["out/a.csv"], ["a.csv"], 1),
        (["my/team/a.csv", "my/team/b.csv"], ["a.csv", "b.csv"], 1),
        (["binary/a.a2"], ["binary/a.a2"], 0),
        (["sub/binary/a.a2", "sub/full/b.a2"], ["binary/a.a2", "full/b.a2"], 1),
        (["out/a.csv", "b.csv"], ["b.csv", "out/a.csv"], 0),
        (["a.csv", ".DS_Store", "__MACOSX/._a.csv"], ["a.csv"], 1),
        (["out/a.csv", "__MACOSX/out/._a.csv"], ["a.csv"], 2),
        (["a.csv", "metadata"], ["a.csv"], 0),
        (["out/a.csv", "metadata"], ["a.csv"], 1),
        (["out\\a.csv", "out\\b.csv", "out\\"], ["a.csv", "b.csv"], 1),
        (["binary\\a.a2", "__MACOSX\\binary\\._a.a2"], ["binary/a.a2"], 1),
    ],
)
def test_the_files_of_a_submission(tmp_path: Path, files: list[str], names: list[str], warned: int) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    problems = Problems()
    found = SubmissionFiles(tmp_path, ["binary", "full"], problems)
    assert list(found.paths) == names
    assert len(problems.warnings) == warned
    assert problems.errors == []


def test_a_name_with_a_slash_and_with_a_backslash_is_one(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    for name in ("out/a.csv", "out\\a.csv"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    problems = Problems()
    SubmissionFiles(tmp_path, [], problems)
    assert problems.errors == ['"out/a.csv": occurs twice, once with a backslash in its name. Expected: the file once.']


@pytest.mark.slow
@given(value=st.text(max_size=200) | st.integers() | st.none())
def test_a_shown_value_is_short_and_printable(value: object) -> None:
    assert shown(value).isprintable()
    assert len(shown(value)) <= 60 * 10 + 3

"""Every malformed answer is refused with file, line and what was expected; everything sound is read."""

from pathlib import Path

import pytest

from scoring_kit.manifest import Manifest
from tests.scoring_programs.are2007.cases import chain, document, manifest, pair, read_submission

IT, ONE = '<pronoun id="2"/>', '<antecedent id="1"/>'
BOMB = '<!DOCTYPE document [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>\n<document>&b;</document>'
FILE = '<?xml version="1.0"?>\n<!DOCTYPE document SYSTEM "file:///etc/passwd">\n<document/>'
MALFORMED = [
    # task, content of its file, the line and what is wrong in it
    ("task1", document(pair("2", "99")), 2, 'unknown id in <antecedent> "99"'),
    ("task1", document(pair("99", "1")), 2, 'unknown id in <pronoun> "99"'),
    ("task1", document(pair("1", "2")), 2, 'a pronoun that is not to be resolved "1"'),
    ("task1", document(pair("2", "1"), pair("2", "4")), 3, 'a second answer for one pronoun "2"'),
    ("task1", document(pair("2", "1"), pair("2", "1")), 3, 'a second answer for one pronoun "2"'),
    ("task1", document("<pair>", IT, "</pair>"), 2, "a pair without <antecedent>"),
    ("task1", document("<pair>", ONE, "</pair>"), 2, "a pair without <pronoun>"),
    ("task1", document("<pair>", f"{IT}{ONE}", f"{ONE}</pair>"), 4, "a second <antecedent> in one pair"),
    ("task1", document(f'<pair><pronoun value="it"/>{ONE}</pair>'), 2, "<pronoun> without id"),
    ("task1", document(chain("1", "2")), 2, "<chain> inside <document>"),
    ("task2", document(pair("2", "1")), 2, "<pair> inside <document>"),
    ("task2", document(chain("1", "2"), chain("3", "1")), 3, 'a mention that is already in a chain "1"'),
    ("task2", document(chain("1", "2", "2")), 2, 'a mention that is already in a chain "2"'),
    ("task2", document(chain("1", "x")), 2, 'unknown id in <node> "x"'),
    ("task2", document("", chain()), 3, "a chain without <node>"),
    ("task2", "<answer/>", 1, "<answer> as the root"),
    ("task2", document("<chain><node id='1'><node id='2'/></node></chain>"), 2, "<node> inside <node>"),
    ("task3", document(pair("n1 n2", "n5 n99")), 2, 'unknown end in <antecedent> "n99"'),
    ("task3", document(pair("n3 n2", "n5 n6")), 2, 'a span that does not end after its start "n3 to n2"'),
    ("task3", document(pair("n3 n3", "n5 n6")), 2, 'a span that does not end after its start "n3 to n3"'),
    ("task3", document(pair("n1 n2", "n5 n6"), pair("n1 n2", "n7 n8")), 3, 'a second answer for one pronoun "n1 n2"'),
    ("task3", document('<pair><pronoun start="n1"/></pair>'), 2, "<pronoun> without end"),
    ("task4", document(chain("n3 n5"), chain("n3 n5")), 3, 'a mention that is already in a chain "n3 n5"'),
    ("task4", document(chain("n1 n2", "n9 n4")), 2, 'a span that does not end after its start "n9 to n4"'),
    ("task4", "<document>\n<chain>\n</document>", 3, "not well-formed XML (mismatched tag)"),
    ("task4", "", 1, "not well-formed XML (no element found)"),
    ("task4", "<document>\n&gov;</document>", 2, "not well-formed XML (undefined entity)"),
    ("task4", BOMB, 1, "a document type (<!DOCTYPE …>)"),
    ("task4", FILE, 2, "a document type (<!DOCTYPE …>)"),
    ("task4", b"<document>\n<chain><node id='\xe9'/></chain></document>", 2, "contains bytes that are not UTF-8"),
]
EXPECTED = {
    "unknown id": "the id of an entity of the input",
    "unknown end": "the id of a node of the input",
    "<pronoun> without id": 'id="…", the id of an entity of the input',
    "<pronoun> without end": 'end="…", the id of a node of the input',
    "a pronoun that": "a pronoun that <anaphoric_pronouns> of the input lists",
    "a second answer": "one pair for a pronoun",
    "a second <antecedent>": "one <antecedent>",
    "a pair without <antecedent>": "one <antecedent> in each pair",
    "a pair without <pronoun>": "one <pronoun> in each pair",
    "a chain": "at least one <node>",
    "a mention": "each mention once, in one chain",
    "a span": "end after start",
    "<chain> inside": "<pair> inside <document>",
    "<pair> inside": "<chain> inside <document>",
    "<node> inside": "nothing inside <node>",
    "<answer>": "<document> as the root",
    "not well-formed": "well-formed XML",
    "a document type": "no document type, and no entities",
    "contains bytes": "UTF-8 text is expected",
}
"""How a rule begins → what is expected."""


@pytest.mark.parametrize(("task", "content", "line", "rule"), MALFORMED)
def test_a_malformed_answer_is_named_with_what_was_expected(
    tmp_path: Path, task: str, content: str | bytes, line: int, rule: str
) -> None:
    _, problems = read_submission(tmp_path, {"t-output.xml": content}, manifest("separate", [task]))
    (expected,) = (text for start, text in EXPECTED.items() if rule.startswith(start))
    assert problems.errors[0].startswith(f"t-output.xml:{line}: {rule}. ")
    assert problems.errors[0].removesuffix(".").endswith(expected)
    assert {error.partition(":")[0] for error in problems.errors} == {"t-output.xml"}


def test_all_problems_of_all_files_are_found_together(tmp_path: Path) -> None:
    files = {
        "task1/t-output.xml": document(pair("9", "1"), pair("2", "77"), "", "<x/><broken>"),
        "task2/t-output.xml": document(chain("1", "1"), chain()),
        "task3/u-output.xml": document(),
        "t-output.xml": document(),
    }
    _, problems = read_submission(tmp_path, files, manifest())
    assert [error.split(": ")[0] for error in problems.errors] == [
        "t-output.xml",
        "task1/t-output.xml:2",
        "task1/t-output.xml:3",
        "task1/t-output.xml:5",
        "task1/t-output.xml:5",
        "task1/t-output.xml:6",
        "task3/t-output.xml",
        "task3/u-output.xml",
        "task2/t-output.xml:2",
        "task2/t-output.xml:3",
    ]
    stray, missing, unknown = (problems.errors[at] for at in (0, 6, 7))
    assert stray.startswith("t-output.xml: is in the wrong place. Expected: task1/NAME-output.xml or task2/")
    assert missing.startswith("task3/t-output.xml: is missing. Expected: one answer for each text")
    assert unknown.startswith("task3/u-output.xml: is not a text of this task. Expected: the names of the inputs")


def test_values_ids_of_pairs_and_chains_order_and_white_space_do_not_matter(tmp_path: Path) -> None:
    """The seed's two examples of one answer are the same answer."""
    one = document(
        '<pair id="p6">', '<pronoun id="2" value=" it"/>', '<antecedent id="4" value=" the Authority"/></pair>'
    )
    other = '\ufeff<?xml version="1.0" encoding="ISO-8859-1"?>\r\n' + one.replace(' value=" it"', "").replace(
        "\n", "\r\n"
    )
    other = other.replace(' value=" the Authority"', " value='gibberish &amp; &#65; é'").replace(' id="p6"', "")
    read = []
    for number, content in enumerate((one, other)):
        answer, problems = read_submission(
            tmp_path / str(number), {"t-output.xml": content}, manifest("separate", ["task1"])
        )
        assert problems.errors == []
        assert answer is not None
        read.append(answer.pairs)
    assert read[0] == read[1] == {"task1": {"t": {(1, 2): (3, 4)}}}


def test_blanks_around_ids_and_nodes_do_not_matter(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "task1/t-output.xml": document('<pair><pronoun id=" 2 "/><antecedent id="4 "/></pair>'),
        "task4/t-output.xml": document('<chain><node start=" n1" end="n2 "/></chain>'),
    }
    read, problems = read_submission(tmp_path, files, manifest())
    assert problems.errors == []
    assert read is not None
    assert read.pairs == {"task1": {"t": {(1, 2): (3, 4)}}}
    assert read.chains == {"task4": {"t": [[(1, 2)]]}}


def test_spans_count_nodes_in_document_order(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "task3/t-output.xml": document(pair("n4 n5", "n0 n3")),
        "task4/t-output.xml": document(chain("n9 n10", "n0 n3"), chain("n1 n2")),
    }
    read, problems = read_submission(tmp_path, files, manifest())
    assert problems.errors == []
    assert read is not None
    assert read.entered == {"task3", "task4"}
    assert read.pairs == {"task3": {"t": {(4, 5): (0, 3)}}}
    assert read.chains == {"task4": {"t": [[(9, 10), (0, 3)], [(1, 2)]]}}


@pytest.mark.parametrize(
    ("given", "files", "entered"),
    [
        (manifest(), ["task1/t-output.xml"], {"task1"}),
        (manifest("tasks", ["task3"]), ["task1/t-output.xml"], set()),
        (manifest("tasks", ["task3"]), ["task1/u-output.xml", "task3/t-output.xml", "task3/t-input.xml"], {"task3"}),
        (manifest("separate", ["task4"]), ["t-output.xml"], {"task4"}),
    ],
)
def test_a_submission_enters_the_tasks_whose_folder_it_has(
    tmp_path: Path, given: Manifest, files: list[str], entered: set[str]
) -> None:
    read, problems = read_submission(tmp_path, dict.fromkeys(files, "<document/>"), given)
    assert problems.errors == []
    assert read is not None
    assert read.entered == entered


def test_what_enters_nothing_is_no_submission(tmp_path: Path) -> None:
    read, problems = read_submission(tmp_path, {"README": "?"}, manifest())
    assert read is None
    assert len(problems.errors) == 1
    assert problems.errors[0].startswith('submission: holds no -output.xml file; found "README". Expected: task1/NAME')


def test_a_long_file_keeps_its_line_numbers(tmp_path: Path) -> None:
    """More than one part of the file that is given to the parser at once."""
    filler = [f"<!-- {'x' * 100} -->"] * 2000
    content = document(*filler, chain("1", "2"), chain("1", "3"))
    _, problems = read_submission(tmp_path, {"t-output.xml": content}, manifest("separate", ["task2"]))
    assert [error.split(": ")[0] for error in problems.errors] == ["t-output.xml:2003"]


def test_deep_nesting_is_no_danger(tmp_path: Path) -> None:
    content = "<document>" + "<x>" * 100_000 + "</x>" * 100_000 + "</document>"
    _, problems = read_submission(tmp_path, {"t-output.xml": content}, manifest("separate", ["task2"]))
    assert problems.errors == ["t-output.xml:1: <x> inside <document>. Expected: <chain> inside <document>."]

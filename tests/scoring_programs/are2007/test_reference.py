"""The organiser's side: faults are named without the gold, and the verbs give what the press needs."""

from pathlib import Path
from typing import Any, cast

import pytest

from are2007 import organiser, reference
from are2007.answers import AnswerKey
from scoring_kit.errors import OrganiserError
from scoring_kit.organiser import Request
from tests.scoring_programs.are2007.cases import ALL_TASKS, chain, document
from tests.scoring_programs.framed import write_files

ENTITIES = (
    '<text><entity id="a">The mayor of <entity id="b">Lund</entity></entity> said <entity id="c">she</entity>.</text>'
)
PRONOUNS = '<anaphoric_pronouns><pronoun id="c" value="she"/></anaphoric_pronouns>'
NODES = '<text><node id="0"/>The <node id="1"/>mayor <node id="2"/>said <node id="3"/>she<node id="4"/></text>'
SPAN = '<pronoun start="3" end="4"/>'
FILES = {
    "task1/t-input.xml": document(ENTITIES, PRONOUNS),
    "task1/t-key.xml": document(chain("a", "c"), PRONOUNS),
    "task2/t-input.xml": document(ENTITIES, PRONOUNS),
    "task2/t-key.xml": document(chain("a", "c")),
    "task3/t-input.xml": document(NODES),
    "task3/t-key.xml": document(chain("0 2", "3 4"), f"<anaphoric_pronouns>{SPAN}</anaphoric_pronouns>"),
    "task4/t-input.xml": document(NODES),
    "task4/t-key.xml": document(chain("0 2", "3 4")),
}


def request(folder: Path, **more: Any) -> Request:
    every = {"tasks": list(ALL_TASKS), "all_tasks": list(ALL_TASKS), "layout": "joint", "options": {}}
    return cast("Request", {**every, "reference": str(folder), **more})


def test_inputs_and_keys_are_read(tmp_path: Path) -> None:
    gold = reference.read(write_files(tmp_path, FILES), ALL_TASKS, {})
    assert gold.inputs == {
        "task1": {"t": {"entities": ["a", "b", "c"], "pronouns": ["c"]}},
        "task2": {"t": {"entities": ["a", "b", "c"]}},
        "task3": {"t": {"nodes": ["0", "1", "2", "3", "4"]}},
        "task4": {"t": {"nodes": ["0", "1", "2", "3", "4"]}},
    }
    assert gold.keys == {
        "task1": {"t": AnswerKey([[(0, 1), (2, 3)]], [(2, 3)])},
        "task2": {"t": AnswerKey([[(0, 1), (2, 3)]], [])},
        "task3": {"t": AnswerKey([[(0, 2), (3, 4)]], [(3, 4)])},
        "task4": {"t": AnswerKey([[(0, 2), (3, 4)]], [])},
    }
    assert reference.manifest(gold, ["task2"]) == {"task2": gold.inputs["task2"]}


def test_blanks_around_ids_of_inputs_and_keys_do_not_matter(tmp_path: Path) -> None:
    padded = {name: content.replace('id="c"', 'id=" c "').replace('="3"', '="3 "') for name, content in FILES.items()}
    assert reference.read(write_files(tmp_path / "padded", padded), ALL_TASKS, {}) == reference.read(
        write_files(tmp_path / "plain", FILES), ALL_TASKS, {}
    )


@pytest.mark.parametrize("task", ["task1", "task3"])
def test_other_markup_in_a_text_is_looked_through(tmp_path: Path, task: str) -> None:
    """Paragraphs, sentences and emphasis, around and inside of what is marked; also elements without content."""
    given = FILES[f"{task}/t-input.xml"]
    marked = given.replace("<text>", '<text><title>A <b>mayor</b></title><p n="1"><s>').replace(
        "</text>", "</s></p></text>"
    )
    marked = marked.replace("said", "<em>said</em><br/>").replace("Lund", "<name>Lund</name>")
    assert all(marked.count(tag) == 1 for tag in ("<p n", "<br/>", "<title>"))
    gold = reference.read(write_files(tmp_path, {**FILES, f"{task}/t-input.xml": marked}), ALL_TASKS, {})
    assert gold == reference.read(write_files(tmp_path / "plain", FILES), ALL_TASKS, {})


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("task1/t-key.xml", document(chain("a", "secret"), PRONOUNS), ":2: unknown id in <node>."),
        ("task1/t-key.xml", document(chain("a", "b"), PRONOUNS), ":3: a pronoun that is not in any"),
        ("task1/t-key.xml", document(chain("a", "c")), ": <anaphoric_pronouns> is not that of the input."),
        ("task2/t-key.xml", "<!DOCTYPE document>\n<document/>", ":1: a document type (<!DOCTYPE …>)."),
        ("task2/t-input.xml", document(ENTITIES, ENTITIES), ":3: a repeated id of <entity>."),
        ("task2/t-input.xml", document("<text><entity/></text>"), ":2: <entity> without id."),
        (
            "task1/t-input.xml",
            document(ENTITIES, PRONOUNS.replace('"c"', '"z"')),
            ": the pronoun z is not an entity of the text.",
        ),
        (
            "task3/t-key.xml",
            document(chain("0 2", "3 4"), f"<anaphoric_pronouns>{SPAN}{SPAN}</anaphoric_pronouns>"),
            ":3: a repeated pronoun.",
        ),
        ("task4/t-input.xml", document(ENTITIES), ":2: <entity> inside <text>."),
        ("task1/t-input.xml", document(f"<text><p>{chain('a')}</p></text>"), ":2: <chain> inside <text>."),
        ("task1/t-input.xml", document("<p/>", ENTITIES, PRONOUNS), ":2: <p> inside <document>."),
    ],
)
def test_a_fault_in_the_reference_data_is_named_without_the_gold(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    folder = write_files(tmp_path, {**FILES, name: content})
    with pytest.raises(OrganiserError) as raised:
        reference.read(folder, ALL_TASKS, {})
    assert raised.value.messages[0].startswith(f"{name}{message}")
    assert "secret" not in str(raised.value)


def test_missing_files_folders_and_unknown_options_are_named_together(tmp_path: Path) -> None:
    folder = write_files(tmp_path, {"task1/t-key.xml": "", "task2/t-input.xml": "", "task3/README": "x"})
    with pytest.raises(OrganiserError) as raised:
        reference.read(folder, ALL_TASKS, {"reading": "A"})
    assert [message.split(": ")[0] for message in raised.value.messages] == [
        "options.reading",
        "task1/t-input.xml",
        "task2/t-key.xml",
        "task3",
        "task4",
    ]


NO_LINK = "no key has a chain of two mentions, so that every submission scores 0."


@pytest.mark.parametrize(
    ("keys", "warnings"),
    [
        (
            {"task1/t-key.xml": document(chain("c"), chain("a", "b"), PRONOUNS)},
            ["task1/t-key.xml: pronouns that are alone in their chain cannot be resolved; there are 1."],
        ),
        (
            {"task3/t-key.xml": document(chain("0 2", "3 4"))},
            ["task3: no key lists an anaphoric pronoun, so that every submission scores 0."],
        ),
        ({"task2/t-key.xml": document()}, [f"task2: {NO_LINK}"]),
        (
            {"task2/t-key.xml": document(chain("a"), chain("b")), "task4/t-key.xml": document(chain("0 2"))},
            [f"task2: {NO_LINK}", f"task4: {NO_LINK}"],
        ),
    ],
    ids=["a pronoun that is alone", "no pronoun", "no chain", "no link"],
)
def test_what_nobody_can_find_is_pointed_out(tmp_path: Path, keys: dict[str, str], warnings: list[str]) -> None:
    folder = write_files(tmp_path, {**FILES, **keys})
    assert organiser.check_reference(request(folder)) == {"warnings": warnings}

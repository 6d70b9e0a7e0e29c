"""YAML faults in words, at the line that is at fault: of bundle.yaml and of competition.yaml alike."""

from pathlib import Path

import pytest

from gen_bundle.declaration.source import read_source
from gen_bundle.ground.yaml_document import UnreadableYamlError, read_yaml

FAULTS = {
    "title:Emotions\ndescription: x\n": (1, "space after the colon is missing", '"title: Emotions"'),
    "phases:\n  - id: dev\n    name:Dev\n    start: x\n": (3, "space after the colon is missing", '"name: Dev"'),
    "a: b\ntitle:Emotions\n": (2, "space after the colon is missing", '"title: Emotions"'),
    "phases:\n  -id: dev\n    name: x\n": (2, "space after the dash is missing", '"- id: dev"'),
    "contact: @me\n": (1, "may not begin with @", '"@me"'),
    "title: `x`\n": (1, "may not begin with `", '"`x`"'),
    "title: *bold*\n": (1, "may not begin with *", '"*bold*"'),
    "title: & co\n": (1, "may not begin with &", '"& co"'),
    "title: , b\n": (1, "may not begin with ,", '", b"'),
    "title: Emotions: a task\n": (1, '": "', '"Emotions: a task"'),
    "title: A\n description: b\n": (2, "indented by 1 space;", "line 1 above it is complete"),
    "phases:\n  - id: dev\n    name: x\n   start: y\n": (4, "indented by 3 spaces", "start: y"),
    "tasks:\n    id: a\n  name: b\n": (3, "indented by 2 spaces", "name: b"),
    "a: b\n- c\n": (2, "indented by 0 spaces", "- c"),
    "title\ndescription: x\n": (1, "no colon after the key", "title"),
    "a: b\nc\nd: e\n": (2, "no colon after the key", "c"),
    'a: 1\ntitle: "Emotions\nb: x\nc: []\n': (2, "never closed", '"Emotions'),
    'a: 1\ntitle: "Emotions\nb: x\nc: "y"\n': (2, "opens here and is not closed", '"Emotions'),
    "title: 'It's fine'\n": (1, "after its closing quote", "''"),
    "a: [1, 2\nb: 3\n": (1, "bracket [", "]"),
    "a: {x: 1\nb: 3\n": (1, "bracket {", "}"),
    "a: [\n\n": (1, "ends before a bracket is closed", "]"),
    "phases:\n\t- id: dev\n": (2, "with a tab", "spaces"),
    "title: | text\nb: c\n": (1, "same line", "next line"),
    'title: "C:\\users"\n': (1, "backslash", "single quotes"),
    "a: b\n---\nc: d\n": (2, "second document", "one alone"),
    # In each the line above is sound.
    "time: 12:30\ntitle: @me\n": (2, "may not begin with @", '"@me"'),
    "link: https://example.org/a\ntitle: @me\n": (2, "may not begin with @", '"@me"'),
    "# no:te\ntitle: @me\n": (2, "may not begin with @", '"@me"'),
    'title: "a:b"\nb: @me\n': (2, "may not begin with @", '"@me"'),
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_fault_of_a_declaration(text: str, tmp_path: Path) -> None:
    line, wrong, expected = FAULTS[text]
    (tmp_path / "bundle.yaml").write_text(text, encoding="utf-8")
    [told] = read_source(tmp_path / "bundle.yaml").problems
    assert told.startswith(f"bundle.yaml:{line}:")
    assert "not valid YAML: " in told
    assert wrong in told
    assert expected in told


@pytest.mark.parametrize("text", FAULTS)
def test_the_same_words_for_competition_yaml(text: str) -> None:
    line, wrong, expected = FAULTS[text]
    with pytest.raises(UnreadableYamlError) as refused:
        read_yaml(text.encode())
    assert refused.value.line == line
    assert wrong in str(refused.value)
    assert expected in str(refused.value)

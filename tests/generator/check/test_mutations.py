"""Whatever a declaration says, the check answers."""

import copy
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gen_bundle.check import check_path
from tests.generator.check.drafts import NOW, TWO_TASKS, Draft, new, old, put
from tests.yaml_text import dumped

pytestmark = pytest.mark.slow

VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 10**30, float("nan"), float("inf")),
    *("", " ", "0", "yes", "2031", "2031-01-01", "31.12.2031", "x" * 300, "a\0b", "\ud800"),
    *("/etc", "..", "./", "x/../y", "scoring", "logo.png", "e654788a-0597-4b60-8a05-ac1787dba46b"),
    *([], {}, [None], ["x"], [[]], [{}], [0], {"x": 1}, {1: {}}, {"index": 0}, [{"index": 0}]),
]
ODD = st.sampled_from(VALUES)
NAMES = st.sampled_from(["name", "title", "index", "tasks", "key", "file", "path", "label", "id", "x", "start", "html"])


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a nested value."""
    found = [at] if at else []
    if isinstance(value, dict):
        for key, child in value.items():
            found += places(child, (*at, key))
    elif isinstance(value, list):
        for number, child in enumerate(value):
            found += places(child, (*at, number))
    return found


def holder(value: Any, at: tuple[Any, ...]) -> Any:
    """What holds the value at a place."""
    for key in at[:-1]:
        value = value[key]
    return value


@st.composite
def mutated(draw: st.DrawFn) -> Draft:
    """A sound bundle with a few of its values dropped, replaced, renamed or doubled."""
    draft = draw(st.sampled_from([new, old]))()
    if "tasks" in draft.yaml:
        TWO_TASKS(draft)
        put("solutions", [{"index": 0, "tasks": [0], "path": "ref"}])(draft)
        put("fact_sheet", {"q": {"key": "q", "type": "text"}})(draft)
        put("leaderboards", 0, "columns", 0, "computation_indexes", [1])(draft)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.sampled_from(places(draft.yaml) or [("title",)]))
        owner, key = holder(draft.yaml, at), at[-1]
        match draw(st.sampled_from(["drop", "replace", "rename", "double"])):
            case "drop":
                del owner[key]
            case "rename" if isinstance(owner, dict):
                owner[draw(NAMES)] = owner.pop(key)
            case "double" if isinstance(owner, list):
                owner.append(copy.deepcopy(owner[key]))
            case _:
                owner[key] = copy.deepcopy(draw(ODD))
    return draft


@settings(max_examples=120)
@given(mutated())
def test_a_mutated_declaration_is_answered(draft: Draft) -> None:
    try:
        draft.text = dumped(draft.yaml)
        draft.text.encode()
    except (UnicodeEncodeError, yaml.YAMLError):
        return
    with tempfile.TemporaryDirectory() as folder:
        report = draft.check(Path(folder))
    assert report.later in (None, "ok", "trap", "broken")
    firsts = [finding for finding in report.findings if finding.first]
    assert len(firsts) == (0 if report.accepted else 1)
    assert report.as_json()


@settings(max_examples=25)
@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_as_competition_yaml_are_answered(data: bytes) -> None:
    draft = new()
    draft.text = data
    with tempfile.TemporaryDirectory() as folder:
        assert not draft.check(Path(folder)).accepted


@settings(max_examples=25)
@given(st.integers(0, 4000), st.binary(min_size=1, max_size=20))
def test_a_damaged_zip_is_answered(place: int, data: bytes) -> None:
    whole = bytearray(new().as_zip())
    whole[place : place + len(data)] = data
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bundle.zip"
        path.write_bytes(whole)
        assert check_path(path, now=NOW).later in (None, "ok", "trap", "broken")

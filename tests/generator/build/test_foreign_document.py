"""What a foreign project declares is what the platform reads in its competition.yaml."""

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gen_bundle.build.foreign import foreign_document, resolve_foreign
from gen_bundle.build.platforms.codabench import yaml_text
from gen_bundle.codabench.reading import CompetitionYaml
from gen_bundle.ground.yaml_document import read_yaml
from tests.generator.foreign_project import foreign_project

NOW = datetime(2031, 1, 1, tzinfo=UTC)
TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=0x24F, exclude_characters="\x7f\x85\xa0"), min_size=1)
NAMES = TEXTS.map(str.strip).filter(bool).map(lambda text: text[:30].strip())
DATES = st.datetimes(datetime(2000, 1, 1), datetime(2090, 1, 1)).map(lambda moment: moment.replace(microsecond=0))
COUNTS = st.integers(0, 10_000)


@st.composite
def competitions(draw: st.DrawFn) -> dict[str, Any]:
    """A declaration of tasks, phases that share them as they like, and columns in any order."""
    tasks = [f"t{number}" for number in range(draw(st.integers(1, 3)))]
    keys = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    indexes = draw(st.permutations(range(0, 3 * len(keys), 3)))
    columns: list[dict[str, Any]] = []
    for key, index in zip(keys, indexes, strict=True):
        sort, precision = draw(st.sampled_from(["asc", "desc"])), draw(st.integers(-3, 12))
        columns.append({"key": key, "title": draw(NAMES), "sort": sort, "precision": precision, "index": index})
    if draw(st.booleans()):
        of = draw(st.lists(st.sampled_from(keys), min_size=1, max_size=3))
        mean = {"key": "a mean of them", "title": "Mean", "sort": "desc", "precision": 2, "index": 3 * len(keys)}
        columns.append({**mean, "computation": draw(st.sampled_from(["avg", "sum", "min", "max"])), "of": of})
    phases = [
        {
            "id": f"p{number}",
            "name": draw(NAMES),
            "start": f"{draw(DATES):%Y-%m-%d %H:%M:%S}",
            "tasks": draw(st.lists(st.sampled_from(tasks), unique=True)),
            "max_submissions": draw(COUNTS),
            "max_submissions_per_day": draw(COUNTS),
            "auto_migrate": draw(st.booleans()),
        }
        for number in range(draw(st.integers(1, 3)))
    ]
    return {
        "title": draw(NAMES),
        "tasks": [{"id": task, "name": draw(NAMES), "reference_data": "data/dev"} for task in tasks],
        "phases": phases,
        "leaderboard": {"columns": columns, "primary_index": draw(st.sampled_from(indexes))},
    }


@pytest.mark.slow
@settings(max_examples=25)
@given(competitions())
def test_the_platform_reads_what_is_declared(declared: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = foreign_project(Path(folder) / "task", lambda one: one.update(declared, solutions=[]))
        text = yaml_text(foreign_document(resolve_foreign(project)))
    read = CompetitionYaml(NOW, read_yaml(text)).competition
    assert read.title == declared["title"]
    assert [task.name for task in read.tasks] == [task["name"] for task in declared["tasks"]]
    for phase, wanted in zip(read.phases, declared["phases"], strict=True):
        assert (phase.name, f"{phase.start.moment:%Y-%m-%d %H:%M:%S}") == (wanted["name"], wanted["start"])
        assert sorted(str(task.id) for task in phase.tasks) == sorted(wanted["tasks"])
        assert (phase.in_all, phase.a_day) == (wanted["max_submissions"], wanted["max_submissions_per_day"])
        assert phase.auto_migrate == wanted["auto_migrate"]
    columns = declared["leaderboard"]["columns"]
    places = {column["key"]: column["index"] for column in columns}
    for column, wanted in zip(read.columns, columns, strict=True):
        assert (column.key, column.title, column.sorting) == (wanted["key"], wanted["title"], wanted["sort"])
        assert (column.index, column.precision) == (wanted["index"], wanted["precision"])
        assert column.inputs == tuple(places[key] for key in wanted.get("of", ()))
    assert read.primary_index == declared["leaderboard"]["primary_index"]

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gen_bundle.codabench.runnable import read_competition
from gen_bundle.ground.errors import UserError
from tests.generator.dry_run.bundles import Bundle

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


def test_phases_by_index_and_tasks_in_the_order_of_the_file(tmp_path: Path) -> None:
    task = {"name": "x", "scoring_program": "program"}
    phase = {"start": "2020-01-01"}
    bundle = Bundle(
        top={
            "tasks": [{**task, "index": 5}, {**task, "index": 3}],
            "phases": [{**phase, "name": "B", "index": 2, "tasks": [3, 5]}, {**phase, "name": "A", "tasks": [3, 3]}],
        }
    )
    read = read_competition(bundle.write(tmp_path))
    assert [(phase.name, [task.id for task in phase.tasks]) for phase in read.phases] == [
        ("A", ["3"]),
        ("B", ["5", "3"]),
    ]


def test_defaults_of_the_platform(tmp_path: Path) -> None:
    read = read_competition(Bundle(top={"docker_image": "x"}, leaderboard={"submission_rule": "Add"}).write(tmp_path))
    phase, column = read.phases[0], read.leaderboard.columns[0]
    assert (phase.in_all, phase.a_day, phase.limit_s) == (100, 5, 600)
    assert (column.sorting, column.precision, column.hidden, read.queue) == ("desc", 2, False, False)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, object]:
    """A bundle's folder, and the content of its competition.yaml, which a test writes anew."""
    folder = Bundle().write(tmp_path_factory.mktemp("any"))
    return folder, yaml.safe_load((folder / "competition.yaml").read_text())


@pytest.mark.slow
@given(data=st.data())
def test_any_content_is_read_or_told(written: tuple[Path, object], data: st.DataObject) -> None:
    folder, unchanged = written
    content: Any = copy.deepcopy(unchanged)
    place, steps = content, data.draw(st.integers(1, 4))
    for step in range(steps):
        keys = list(range(len(place))) if isinstance(place, list) else sorted(place)
        key = data.draw(st.sampled_from(keys))
        if step == steps - 1 or not isinstance(place[key], list | dict) or not place[key]:
            place[key] = data.draw(VALUES)
            break
        place = place[key]
    (folder / "competition.yaml").write_text(yaml.safe_dump(content))
    try:
        messages = [f"competition.yaml: {len(read_competition(folder).phases)} phases"]
    except UserError as error:
        messages = list(error.messages)
    assert messages
    assert all(message.startswith("competition.yaml") for message in messages)

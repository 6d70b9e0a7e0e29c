"""The check and the dry run cannot disagree about what a bundle's competition.yaml says."""

import contextlib
import copy
import random
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.codabench.reading import CompetitionYaml
from gen_bundle.codabench.runnable import read_competition
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.yaml_document import read_yaml
from tests.generator.check.drafts import NOW, TWO_TASKS, Draft, Edit, both, drop, new, put, write
from tests.generator.check.test_mutations import VALUES, places
from tests.sweeps import sweep
from tests.yaml_text import dumped

COLUMNS = ("leaderboards", 0, "columns")
MEAN = {"title": "Mean", "key": "mean", "index": 2, "computation": "avg", "computation_indexes": ["0,1"]}


def sound() -> Draft:
    """A bundle that works, with everything in it that the two may read in their own ways."""
    return new(
        TWO_TASKS,
        put("phases", 0, "max_submissions", 20),
        put("phases", 0, "max_submissions_per_day", 3),
        put("phases", 0, "execution_time_limit", 300),
        put("phases", 0, "auto_migrate_to_this_phase", False),
        put("leaderboards", 0, "primary_index", 0),
        put("leaderboards", 0, "submission_rule", "Add"),
        put(*COLUMNS, 1, {"title": "More", "key": "more", "index": 1, "precision": 3, "hidden": False}),
        put("solutions", [{"index": 0, "tasks": [0, 1], "path": "sol"}]),
        put("docker_image", "team/image:1"),
        put("enable_detailed_results", True),
        put("queue", ""),
        write("sol/answers.txt", b"b\nb\nb\n"),
    )


@pytest.mark.slow
@pytest.mark.parametrize("number", sweep((100, 240), (100,)))
def test_what_the_check_calls_sound_the_dry_run_reads(number: int, tmp_path: Path) -> None:
    """Seeded: each time a value of the bundle is replaced or taken away."""
    chance = random.Random(11)
    spots = [at for at in places(sound().yaml) if at[0] in ("tasks", "phases", "leaderboards", "solutions")]
    spots += [("docker_image",), ("enable_detailed_results",), ("queue",)]
    near = ["0,1", "5.", "300.0", " 7", "on", "No", "1", 1.0, "./ref/", "sol/../ref", {0: None}, "01", [1], [1, 0]]
    agreed = 0
    for _ in range(number):
        draft, at = sound(), chance.choice(spots)
        value = copy.deepcopy(chance.choice([*near, *VALUES, "gone"]))
        if value == "gone":
            drop(*at)(draft)
        else:
            put(*at, value)(draft)
        draft.text = dumped(draft.yaml, sort_keys=True)
        try:
            draft.text.encode()
        except UnicodeEncodeError:
            continue
        report = draft.check(tmp_path)
        folder = draft.unpack(tmp_path / "unpacked")
        if report.later in ("ok", "trap"):
            assert len(read_competition(folder).phases) == len(draft.yaml["phases"]), (at, value)
            agreed += 1
        else:
            with contextlib.suppress(UserError):
                read_competition(folder)
    assert agreed > number // 6


@pytest.mark.parametrize(
    "edit",
    [
        put(*COLUMNS, [*new().yaml["leaderboards"][0]["columns"], MEAN]),
        put("phases", 0, "execution_time_limit", ""),
        put("phases", 0, "execution_time_limit", []),
        put("phases", 0, "tasks", {0: None}),
        put("phases", 0, "max_submissions", "5."),
        put("tasks", 0, "reference_data", "ref/../ref"),
        put("tasks", 0, "reference_data", "./ref/"),
        put("docker_image", 3.11),
        put("enable_detailed_results", "on"),
        both(TWO_TASKS, put("tasks", 0, "index", 0.0)),
    ],
)
def test_odd_ways_to_write_what_the_platform_takes(edit: Edit, tmp_path: Path) -> None:
    draft = new(edit)
    assert draft.check(tmp_path).accepted
    read = read_competition(draft.unpack(tmp_path / "bundle"))
    declared = CompetitionYaml(NOW, read_yaml(dumped(draft.yaml).encode())).competition
    [phase], [seen] = read.phases, declared.phases
    assert (phase.limit_s, phase.in_all) == (seen.limit_s, seen.in_all)
    assert [task.name for task in phase.tasks] == [task.name for task in seen.tasks]
    assert read.leaderboard == declared.leaderboard
    assert (read.image, read.detailed_results) == (declared.image, declared.detailed_results)


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("phases", 0, "max_submissions"), "many", "phases[0].max_submissions is 'many', and must be a whole number"),
        ((*COLUMNS, 0, "sorting"), "up", "leaderboards[0].columns[0].sorting is 'up'; allowed are desc, asc"),
        (("phases", 0, "tasks"), [1], "phases[0].tasks: no task has the index 1"),
        (("tasks", 0, "scoring_program"), "Scoring", "tasks[0].scoring_program: 'Scoring' is not in the bundle"),
        (("tasks", 0, "reference_data"), "../x", "tasks[0].reference_data: '../x' leaves the bundle"),
    ],
)
def test_what_a_run_needs_is_named_with_its_place(
    place: tuple[Any, ...], value: object, said: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as raised:
        read_competition(new(put(*place, value)).unpack(tmp_path))
    assert any(said in message for message in raised.value.messages)

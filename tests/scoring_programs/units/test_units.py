"""Per-unit results: over any units they are what the scorer gives on these units, of one submission or of two mixed.

Every declared column has some, and no run of a program makes any.
"""

import math
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gen_bundle.build.package.phase_data import prepare_phases
from gen_bundle.build.package.programs import program_members
from gen_bundle.build.package.resolve import resolve
from gen_bundle.ground.resources import resource
from gen_bundle.ground.zips.writing import write_zip
from process2025.submission import MODELS
from scoring_kit import frame
from scoring_kit.program import Program
from scoring_kit.results import TaskResult
from scoring_kit.units import Statistic, Units
from tests.scoring_programs.clpsych2025.fake_models import LetterClassifier, WordScorer
from tests.scoring_programs.packed import TAKING_RESULTS
from tests.scoring_programs.units.tasks import TASKS, Answer, Gold, Task
from tests.sweeps import sweep

ONE_OF_EACH = (
    "are2007 task2",
    "clarity2026 clarity",
    "clpsych2025 a2, as-run",
    "process2025 classification",
    "seedev2016 binary",
)
"""Of each competition a task."""

MOST = 5


@pytest.fixture(autouse=True, scope="module")
def without_models() -> Iterator[None]:
    """BERTScore by words, NLI by letters, sentences by full stops."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("clpsych2025.a1.bert_scorer", lambda options: WordScorer())
        for module in ("b", "c"):
            patch.setattr(f"clpsych2025.{module}.nli_model", lambda options: LetterClassifier())
        patch.setattr(
            "scoring_kit.metrics.sentences.split_sentences",
            lambda text: [part.strip() for part in text.split(".") if part.strip()],
        )
        patch.setattr("scoring_kit.metrics.sentences.punkt_digest", lambda: "none")
        yield


@st.composite
def phases(draw: st.DrawFn, task: Task) -> tuple[list[Gold], list[Answer], list[Answer]]:
    """The gold of a phase and two submissions to it."""
    drawn = draw(st.lists(task.drawn, min_size=1, max_size=MOST))
    golds = [gold for gold, _, _ in drawn]
    assume(task.scorable(golds))
    first, second = ([answers[i] for answers in drawn] for i in (1, 2))
    if task.unit == "speaker":
        first, second = (best_first(task, golds, one, draw(st.integers(1, MODELS))) for one in (first, second))
    return golds, first, second


def best_first(task: Task, golds: list[Gold], answers: list[Answer], filled: int) -> list[Answer]:
    """PROCESS's answers with only so many models filled in, the best one first.

    Between two teams the best models exchange speakers with each other, whatever columns they stand in.
    """
    metric, sign = ("macro_f1", -1) if task.name.endswith("classification") else ("rmse", 1)
    cut = [[*cells[:filled], *[None] * (MODELS - filled)] for cells in answers]
    metrics = task.score(golds, cut).metrics
    order = sorted(range(filled), key=lambda i: sign * round(metrics[f"model{i + 1}_{metric}"].value or 0.0, 12))
    return [[cells[i] for i in (*order, *range(filled, MODELS))] for cells in cut]


def statistics_of(result: TaskResult) -> Mapping[str, Statistic]:
    assert result.units is not None
    return result.units().statistics


def assert_same(statistics: Mapping[str, Statistic], counts: Sequence[int], result: TaskResult) -> None:
    """The statistics over units that count so often are the metrics of the scorer."""
    found = {name: statistic.over(np.array([counts], dtype=float)) for name, statistic in statistics.items()}
    expected = {name: _number(result.metrics[name].value) for name in found}
    assert {name: values.shape for name, values in found.items()} == dict.fromkeys(found, (1,))
    assert {name: values[0] for name, values in found.items()} == pytest.approx(
        expected, rel=1e-12, abs=1e-12, nan_ok=True
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def assert_every_metric_of_the_gold_has_a_statistic(task: Task, result: TaskResult, units: Units) -> None:
    of_gold = {name for name, metric in result.metrics.items() if not metric.of_submission}
    answered = {name for name, metric in result.metrics.items() if metric.status in (None, "scored")}
    assert set(units.statistics) == of_gold & answered & set(task.module.METRICS)


def assert_other_units_change_nothing(units: Units) -> None:
    """What a metric says is all that it scores."""
    for name, scored in units.scored.items():
        counts = np.zeros((2, len(units.names)))
        counts[0], counts[1, np.asarray(scored.places, dtype=np.intp)] = 1, 1
        whole, alone = units.statistics[name].over(counts)
        assert alone == pytest.approx(whole, rel=1e-12, abs=1e-12, nan_ok=True), name


@pytest.mark.slow
@pytest.mark.parametrize("name", sweep(TASKS, ONE_OF_EACH))
@settings(max_examples=20)
@given(data=st.data())
def test_statistics_are_what_the_scorer_gives_on_the_units_that_count(name: str, data: st.DataObject) -> None:
    """Every metric of the gold that a column may show has one; units that a metric does not score change nothing."""
    task = TASKS[name]
    golds, first, second = data.draw(phases(task))
    size = len(golds)
    result = task.score(golds, first)
    assert result.units is not None
    units = result.units()
    assert (units.unit, len(units.names), len({*units.names})) == (task.unit, size, size)
    assert_every_metric_of_the_gold_has_a_statistic(task, result, units)
    assert_other_units_change_nothing(units)

    one, other = units.statistics, statistics_of(task.score(golds, second))
    assert_same(one, [1] * size, result)

    counts = data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size), label="how often each unit counts")
    copies = [i for i, count in enumerate(counts) for _ in range(count)]
    if copies and task.scorable([golds[i] for i in copies]):
        assert_same(one, counts, task.score([golds[i] for i in copies], [first[i] for i in copies]))

    picked = data.draw(st.lists(st.booleans(), min_size=size, max_size=size), label="units taken from the first")
    mixed = [a if is_first else b for is_first, a, b in zip(picked, first, second, strict=True)]
    joined = {name: one[name].joined(other[name]) for name in one if name in other}
    assert_same(joined, [*map(int, picked), *(1 - int(is_first) for is_first in picked)], task.score(golds, mixed))

    resamples = np.array([[1] * size, counts], dtype=float)
    for statistic in one.values():
        each = np.array([statistic.over(resample[None])[0] for resample in resamples])
        assert statistic.over(resamples) == pytest.approx(each, rel=1e-12, abs=1e-12, nan_ok=True)


def test_speakers_without_a_score_are_not_scored() -> None:
    task = next(task for name, task in TASKS.items() if name.endswith("regression"))
    result = task.score([20.0, None, 25.0], [[21.0, None, None], [3.0, None, None], [25.0, None, None]])
    assert result.units is not None
    assert list(result.units().scored["rmse"].places) == [0, 2]


# CLPsych's signature names the versions of the models' libraries.
COMPETITIONS = [
    pytest.param(name, marks=[pytest.mark.models] if name == "clpsych2025" else []) for name in TAKING_RESULTS
]


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPETITIONS)
def test_every_declared_column_has_results_that_no_run_asks_for(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the synthetic gold of dev and its first baseline."""
    competition = resolve(resource("bundles") / name)
    data = prepare_phases(competition, tmp_path)[0]
    (part,) = competition.parts
    write_zip(tmp_path / "program.zip", program_members(competition, part))
    write_zip(tmp_path / "res.zip", next(iter(data.baselines.values())))
    for file, folder in (("program", tmp_path / "program"), ("res", tmp_path / "input" / "res")):
        with zipfile.ZipFile(tmp_path / f"{file}.zip") as archive:
            archive.extractall(folder)
    (tmp_path / "input" / "ref").symlink_to(data.gold.references[part.id])
    results: dict[str, TaskResult] = {}
    asked: list[str] = []

    def never() -> Units:
        asked.append("units")
        raise AssertionError("a run asked for per-unit results")

    def score_tasks(*arguments: Any) -> dict[str, TaskResult]:
        results.update(of_frame(*arguments))
        return {task: replace(one, units=never) for task, one in results.items()}

    of_frame = frame.score_tasks
    monkeypatch.setattr(frame, "score_tasks", score_tasks)
    frame.run(tmp_path / "program", tmp_path / "input", tmp_path / "output")
    written = {path.name for path in (tmp_path / "output").iterdir()}
    assert {"scores.json", "details.json", "detailed_results.html"} <= written
    assert asked == []
    program = Program.read(tmp_path / "program" / "program.json")
    units = {task: result.units() for task, result in results.items() if result.units}
    assert set(units) == set(program.tasks)
    for column in program.columns:
        own = units[column.task]
        (value,) = own.statistics[column.key].over(np.ones((1, len(own.names))))
        assert value == pytest.approx(results[column.task].metrics[column.key].value, rel=1e-12, abs=1e-12)

"""Builds a bundle, dry-runs its own baselines by the process engine, and compares the board with direct scores."""

import csv
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.build.package.resolve import resolve
from gen_bundle.build.render.markdown import page_html
from gen_bundle.build.render.pages import render_pages
from gen_bundle.codabench.board import shown_text, stored_value
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.dry_run.engines.process import ProcessEngine
from gen_bundle.ground.resources import resource
from tests.generator.dry_run.in_process import InProcessEngine
from tests.scoring_programs.framed import score

OVERRIDES = {"tasks": ("submission_rule=manual",)}
"""Layout `tasks` needs a rule that keeps the scores of all tasks."""


def files_of(folder: Path) -> dict[str, bytes]:
    """The files below a folder by their relative names."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rows_of(name: str, *parts: str) -> list[dict[str, str]]:
    """The rows of a CSV file below a competition's `data/`."""
    with resource("bundles").joinpath(name, "data", *parts).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def direct_scores(name: str, phase: str, baseline: str) -> Mapping[str, float]:
    """All columns of a baseline, scored in this process from the files of `data/`."""
    data = resource("bundles") / name / "data"
    with tempfile.TemporaryDirectory() as folder:
        outcome = score(Path(folder), name, files_of(data / phase), files_of(data / "baselines" / phase / baseline))
    assert outcome.exit_code == 0, outcome.stderr
    return dict(outcome.scores)


def check_board(tmp_path: Path, name: str, layout: str) -> None:
    """Assert that the boards of the built bundle or bundles show the baselines' direct scores."""
    expected = {baseline: direct_scores(name, "test", baseline) for baseline in ("good", "weak")}
    out = tmp_path / ("bundles" if layout == "separate" else "bundle.zip")
    built = build(BuildRequest(name, out, layout=layout, overrides=OVERRIDES.get(layout, ())))
    assert [bundle.errors for bundle in built] == [()] * len(built)
    told: dict[str, dict[str, str]] = {baseline: {} for baseline in expected}
    # that the packed programs run by themselves, one layout shows
    engine = ProcessEngine() if layout == "joint" else InProcessEngine()
    for number, bundle in enumerate(built):
        results = dry_run(DryRunRequest(bundle.path, tmp_path / f"run{number}", phases=["test"]), engine)
        assert {run.status for run in results.runs} == {"Finished"}, results.runs
        assert {row.submission for row in results.board} == set(expected)
        for run in results.runs:
            assert run.scores is not None
            own = {key: value for key, value in run.scores.items() if key in own_columns(name, run.task, layout)}
            assert own == {key: expected[run.submission][key] for key in own}
        for row in results.board:
            told[row.submission].update(row.cells)
    precision = {column.key: column.precision for task in declared(name) for column in task.columns}
    for baseline, cells in told.items():
        assert cells == {
            key: shown_text(stored_value(key, value), precision[key]) for key, value in expected[baseline].items()
        }


@cache
def declared(name: str) -> Sequence[Any]:
    """The tasks of a competition's declaration."""
    return resolve(resource("bundles") / name).declaration.tasks


def own_columns(name: str, task_id: str, layout: str) -> set[str]:
    """The columns that a program of the built bundle computes itself."""
    return {column.key for task in declared(name) if layout == "joint" or task.id == task_id for column in task.columns}


def pages(name: str, layout: str = "joint", *overrides: str) -> Mapping[str, str]:
    """The pages of a competition as they stand in the bundle; every formula of them can be read."""
    chosen = (*OVERRIDES.get(layout, ()), *overrides)
    competition = resolve(resource("bundles") / name, layout=layout, overrides=chosen)
    rendered = {page: content.decode() for page, content in render_pages(competition).items()}
    for text in rendered.values():
        html = page_html(text)
        assert "$" not in html
        assert "\\frac" not in html
    return rendered


def columns_of(name: str) -> dict[str, tuple[str, float]]:
    """Column key → its direction and its worst value, the primary one first."""
    return {column.key: (column.sort, column.worst) for task in declared(name) for column in task.columns}

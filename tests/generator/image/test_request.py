from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.build.package.resolve import Resolved, resolve
from gen_bundle.declaration.scoring import DeclaredScoring
from gen_bundle.declaration.scoring.columns import DeclaredMetric
from gen_bundle.declaration.scoring.tables import DeclaredTable
from gen_bundle.ground.errors import UserError
from gen_bundle.image.request import request_for
from tests.generator.competition import small_competition

REVISION = "0123456789abcdef0123456789abcdef01234567"


def competition(parent: Path, options: dict[str, Any]) -> Resolved:
    return replace(resolve(small_competition(parent)), name="task", options=options)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ("score", "cpu", {}, ())),
        ({"beta": 0.5, "sections": {"a": 1}}, ("score", "cpu", {}, ())),
        ({"device": "cuda"}, ("score", "cpu", {}, ())),  # nothing that could use the GPU
        ({"bertscore": {"model": "org/name"}}, ("models", "cpu", {"org/name": None}, ())),
        (
            {"device": "cuda", "bertscore": {"model": "org/a", "revision": REVISION}, "nli": {"model": "org/b"}},
            ("models", "cuda", {"org/a": REVISION, "org/b": None}, ()),
        ),
        ({"nli": {"model": "/models/nli"}}, ("models", "cpu", {}, ("/models/nli",))),
        (
            {"bertscore": {"model": "org/a"}, "nli": {"model": "org/a", "revision": REVISION}},
            ("models", "cpu", {"org/a": REVISION}, ()),
        ),
    ],
)
def test_options_decide_what_goes_into_the_image(
    options: dict[str, Any], expected: tuple[object, ...], tmp_path: Path
) -> None:
    request = request_for(competition(tmp_path, options), "me/task:1")
    assert (request.packages, request.variant, request.models, request.folders) == expected


def test_the_variant_can_be_chosen(tmp_path: Path) -> None:
    wanted = competition(tmp_path, {"device": "auto", "nli": {"model": "org/name"}})
    assert request_for(wanted, "me/task:1", "cuda").variant == "cuda"


@pytest.mark.parametrize("tag", ["registry.example/me/task:1", "127.0.0.1:5000/task:1", "me/task:1"])
def test_names_of_ones_own_are_fine(tag: str, tmp_path: Path) -> None:
    assert request_for(competition(tmp_path, {}), tag).tag == tag


@pytest.mark.parametrize("tag", ["python:3.11", "me/task", "127.0.0.1:5000/task", f"me/task@sha256:{'a' * 64}"])
def test_names_that_are_somebody_elses_or_incomplete_are_refused(tag: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"docker_image: {tag} is not a name to build under"):
        request_for(competition(tmp_path, {}), tag)


def declared(metric: str, file: str | None = None, **options: Any) -> DeclaredMetric:
    return DeclaredMetric(metric, file, DeclaredTable("table"), options=options)


@pytest.mark.parametrize(
    ("metrics", "locks"),
    [
        ({"a": declared("f1"), "b": declared("pearson")}, ("score",)),
        ({"a": declared("f1"), "b": declared("bleu")}, ("score", "metrics")),
        ({"a": declared("bertscore", model="org/name")}, ("models",)),
        ({"a": declared("bertscore", model="org/name"), "b": declared("rouge")}, ("models", "metrics")),
        ({"a": declared("mine", "metrics.py", model="x")}, ("score",)),
    ],
)
def test_declared_metrics_bring_their_libraries(
    metrics: dict[str, DeclaredMetric], locks: tuple[str, ...], tmp_path: Path
) -> None:
    wanted = competition(tmp_path, {})
    wanted = replace(wanted, scoring=DeclaredScoring(metrics={wanted.task_ids[0]: metrics}))
    assert request_for(wanted, "me/task:1").locks == locks

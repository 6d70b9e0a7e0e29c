from typing import Any

import pytest

from gen_bundle.errors import UserError
from gen_bundle.image.request import ImageRequest, request_for

REVISION = "0123456789abcdef0123456789abcdef01234567"


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
def test_options_decide_what_goes_into_the_image(options: dict[str, Any], expected: tuple[object, ...]) -> None:
    request = request_for("task", options, "me/task:1")
    assert (request.packages, request.variant, request.models, request.folders) == expected


def test_the_variant_can_be_chosen() -> None:
    request = request_for("task", {"device": "auto", "nli": {"model": "org/name"}}, "me/task:1", "cuda")
    assert request == ImageRequest("task", "me/task:1", "models", "cuda", {"org/name": None})


@pytest.mark.parametrize("tag", ["registry.example/me/task:1", "127.0.0.1:5000/task:1", "me/task:1"])
def test_names_of_ones_own_are_fine(tag: str) -> None:
    assert request_for("task", {}, tag).tag == tag


@pytest.mark.parametrize("tag", ["python:3.11", "me/task", "127.0.0.1:5000/task", f"me/task@sha256:{'a' * 64}"])
def test_names_that_are_somebody_elses_or_incomplete_are_refused(tag: str) -> None:
    with pytest.raises(UserError, match=f"docker_image: {tag} is not a name to build under"):
        request_for("task", {}, tag)


TABLE: dict[str, Any] = {"id": "table", "file": None, "gold": None, "gold_keys": None, "fields": []}


def plan(metric: str, file: str | None = None, **options: Any) -> dict[str, Any]:
    return {"metric": metric, "file": file, "table": TABLE["id"], "options": options}


@pytest.mark.parametrize(
    ("plans", "locks"),
    [
        ({"a": plan("f1"), "b": plan("pearson")}, ("score",)),
        ({"a": plan("f1"), "b": plan("bleu")}, ("score", "metrics")),
        ({"a": plan("bertscore", model="org/name")}, ("models",)),
        ({"a": plan("bertscore", model="org/name"), "b": plan("rouge")}, ("models", "metrics")),
        ({"a": plan("mine", "metrics.py", model="x")}, ("score",)),
    ],
)
def test_declared_metrics_bring_their_libraries(plans: dict[str, Any], locks: tuple[str, ...]) -> None:
    options = {"tables": [TABLE], "metrics": {"task": plans}}
    assert request_for("task", options, "me/task:1").locks == locks

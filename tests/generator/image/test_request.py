from typing import Any

import pytest

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
    request = request_for("task", options)
    assert (request.packages, request.variant, request.models, request.folders) == expected


def test_variant_and_tag_can_be_chosen() -> None:
    options = {"nli": {"model": "org/name"}}
    assert request_for("task", options).tag == "scoring/task:cpu"
    assert request_for("task", options, variant="cuda").tag == "scoring/task:cuda"
    assert request_for("task", options, tag="mine:1", variant="cuda") == ImageRequest(
        "task", "mine:1", "models", "cuda", {"org/name": None}
    )

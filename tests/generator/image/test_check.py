from typing import Any

import pytest

from gen_bundle.image.request import ImageRequest
from gen_bundle.image.verbs import inspected

REVISION = "0123456789abcdef0123456789abcdef01234567"
REQUEST = ImageRequest("task", "scoring/task:cpu", "models", "cpu", {"org/name": None})


def labels(**changes: str) -> dict[str, str]:
    return {"gen-bundle.models": f"org/name@{REVISION}", "gen-bundle.variant": "cpu"} | changes


def image(**changes: Any) -> dict[str, Any]:
    """What `docker image inspect` tells of an image that is fine, with changes; keys of Config go there."""
    config = {"Entrypoint": None, "User": "", "Labels": labels()}
    facts = {
        "Os": "linux",
        "Architecture": "amd64",
        "Size": 1_700_000_000,
        "RepoDigests": ["registry.example/task@sha256:" + "a" * 64],
    }
    config |= {key: value for key, value in changes.items() if key in config}
    return facts | {key: value for key, value in changes.items() if key not in config} | {"Config": config}


def problems(image: dict[str, Any], request: ImageRequest = REQUEST) -> dict[str, str]:
    return {found.name: found.text for found in inspected(image, request, worker_disk_gb=15) if found.problem}


def test_a_good_image_has_no_problem_and_every_line_says_what_was_seen() -> None:
    findings = list(inspected(image(), REQUEST, worker_disk_gb=15))
    assert [found.name for found in findings if found.problem] == []
    told = {found.name: found.text for found in findings}
    assert told["size"] == "1.70 GB unpacked; room for 15 GB assumed"
    assert told["registry"].startswith("registry.example/task@sha256:")
    assert told["models"] == f"org/name@{REVISION}"


@pytest.mark.parametrize(
    ("changes", "name", "text"),
    [
        ({"Entrypoint": ["python"]}, "entrypoint", "the worker appends its command to it. Expected none"),
        ({"User": "1000"}, "user", "USER is 1000: it cannot write the worker's folders"),
        ({"Architecture": "arm64"}, "platform", "linux/arm64 (workers are linux/amd64)"),
        ({"Size": 17_000_000_000}, "size", "17.00 GB unpacked; room for 15 GB assumed"),
        ({"RepoDigests": []}, "registry", "gen-bundle image push task --to REGISTRY/NAME:TAG"),
        ({"RepoDigests": None}, "registry", "not in a registry yet"),
        (
            {"Labels": {"gen-bundle.variant": "cpu"}},
            "models",
            "lacks org/name. Build it again: gen-bundle image build task",
        ),
        ({"Labels": labels(**{"gen-bundle.variant": "cuda"})}, "variant", "is cuda, wanted cpu. Build it again"),
    ],
)
def test_each_problem_is_told_with_what_is_expected(changes: dict[str, Any], name: str, text: str) -> None:
    found = problems(image(**changes))
    assert list(found) == [name]
    assert text in found[name]


@pytest.mark.parametrize(("wanted", "lacks"), [(None, False), (REVISION, False), ("f" * 40, True)])
def test_the_model_must_be_there_at_the_revision_asked_for(wanted: str | None, lacks: bool) -> None:
    request = ImageRequest("task", "scoring/task:cpu", "models", "cpu", {"org/name": wanted})
    assert ("models" in problems(image(), request)) == lacks


def test_an_image_of_somebody_else_lacks_what_ours_say_of_themselves() -> None:
    assert set(problems(image(Labels=None))) == {"models", "variant"}


def test_a_cuda_image_says_what_its_host_needs() -> None:
    told = labels(**{"gen-bundle.variant": "cuda", "gen-bundle.cuda": "13.0", "gen-bundle.driver": "580.65"})
    request = ImageRequest("task", "scoring/task:1", "models", "cuda", {"org/name": None})
    findings = {found.name: found for found in inspected(image(Labels=told), request, worker_disk_gb=15)}
    assert not findings["variant"].problem
    assert findings["variant"].text == "CUDA 13.0, on hosts with NVIDIA driver 580.65 or later"


@pytest.mark.parametrize("user", ["", "root", "0", "0:0"])
def test_every_way_to_say_root_is_fine(user: str) -> None:
    assert problems(image(User=user)) == {}

"""The built images, used as the platform's worker and stricter engines use them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import docker
from gen_bundle.ground.resources import resource
from gen_bundle.image.verbs import check_image
from tests.engine import MODELS_IMAGE, image_request

pytestmark = [pytest.mark.docker, pytest.mark.image]

WORKER: dict[str, Any] = {
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges"],
    "network_mode": "none",
    "working_dir": "/app/program",
}
STRICT: dict[str, Any] = {"user": "12345:12345", "read_only": True, "tmpfs": {"/tmp": "size=64m"}}
LABEL = {"gen-bundle.test": "image"}


@pytest.fixture(params=["score", "models"])
def image(request: pytest.FixtureRequest) -> str:
    name: str = request.getfixturevalue(f"{request.param}_image")
    return name


def run(engine: docker.DockerClient, image: str, command: list[str], **options: Any) -> tuple[int, str]:
    """Exit status and standard output of a command in a container, which is removed."""
    container = engine.containers.create(image, command, labels=LABEL, **(WORKER | options))
    try:
        container.start()
        status: int = container.wait()["StatusCode"]
        output: bytes = container.logs(stdout=True, stderr=False)
        return status, output.decode()
    finally:
        container.remove(force=True)


def selftest(engine: docker.DockerClient, image: str, *arguments: str, **options: Any) -> tuple[int, dict[str, Any]]:
    """Exit status and report of the self-test."""
    status, output = run(engine, image, ["scoring-selftest", "--json", *arguments], **options)
    report: dict[str, Any] = json.loads(output)
    return status, report


def test_only_the_missing_registry_stands_in_the_way(image: str) -> None:
    findings = check_image(image_request(image))
    assert [found.name for found in findings if found.problem] == ["registry"]


def test_it_passes_its_own_test_with_the_rights_of_strict_engines(engine: docker.DockerClient, image: str) -> None:
    """With the worker's, checking an image has run it."""
    status, report = selftest(engine, image, **STRICT)
    assert (status, report["ok"]) == (0, True)
    assert {check["name"] for check in report["checks"]} >= {"versions", "output"}
    assert set(report["numbers"]) == set(image_request(image).models)


def test_the_default_command_tells_what_to_do(engine: docker.DockerClient, image: str) -> None:
    config = engine.images.get(image).attrs["Config"]
    assert config["Entrypoint"] is None
    status, output = run(engine, image, config["Cmd"])
    assert status == 0
    assert output.startswith("usage: scoring-selftest")


def test_everything_is_readable_for_all(engine: docker.DockerClient, image: str) -> None:
    unreadable = "find /opt /usr/local/bin -type f ! -perm -o+r -o -type d ! -perm -o+rx"
    assert run(engine, image, unreadable.split()) == (0, "")


def test_nothing_of_the_build_stays_behind(engine: docker.DockerClient, image: str) -> None:
    history = json.dumps(engine.images.get(image).history())
    assert "scoring_selftest.py" in history
    for secret in ("find-links", "find_links", "127.0.0.1"):
        assert secret not in history
    left = "cat /etc/pip.conf /run/secrets/* 2>/dev/null; ls -d /bake /sources /root/.cache/pip 2>/dev/null; true"
    assert run(engine, image, ["sh", "-c", left]) == (0, "")


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("rw", (0, "/app/output can be written")), ("ro", (1, "/app/output cannot be written: Read-only file system"))],
)
def test_the_output_folder_is_tried_where_it_is_mounted(
    engine: docker.DockerClient, score_image: str, tmp_path: Path, mode: str, expected: tuple[int, str]
) -> None:
    mounted = {str(tmp_path): {"bind": "/app/output", "mode": mode}}
    status, report = selftest(engine, score_image, volumes=mounted)
    assert (status, *(c["detail"] for c in report["checks"] if c["name"] == "output")) == expected
    assert list(tmp_path.iterdir()) == []


def test_labels_say_what_is_inside(engine: docker.DockerClient, models_image: str, score_image: str) -> None:
    labels = engine.images.get(models_image).labels
    names = [entry.rpartition("@")[0] for entry in labels["gen-bundle.models"].split()]
    assert names == list(image_request(MODELS_IMAGE).models)
    assert labels["gen-bundle.variant"] == "cpu"
    assert "gen-bundle.cuda" not in labels
    assert engine.images.get(score_image).labels["gen-bundle.models"] == ""


def test_bert_score_finds_a_model_by_its_name(engine: docker.DockerClient, models_image: str) -> None:
    code = """
from bert_score import BERTScorer
scorer = BERTScorer(model_type="tiny/bert-encoder", num_layers=1)
print(*(round(float(score), 3) for score in scorer.score(["It rains today."], ["It rains today."])))
"""
    assert run(engine, models_image, ["python3", "-c", code], **STRICT) == (0, "1.0 1.0 1.0\n")


def test_a_gpu_is_missed_only_when_asked_for(engine: docker.DockerClient, models_image: str) -> None:
    status, report = selftest(engine, models_image, "--gpu")
    failed = {check["name"]: check["detail"] for check in report["checks"] if not check["ok"]}
    assert (status, failed) == (1, {"gpu": "no GPU is seen (torch is built without CUDA)"})


def test_the_small_image_holds_the_locked_packages_and_no_more(engine: docker.DockerClient, score_image: str) -> None:
    assert engine.images.get(score_image).attrs["Size"] < 600e6
    locked = set(re.findall(r"^([a-z0-9-]+)==", (resource("requirements") / "score.txt").read_text(), re.MULTILINE))
    assert "numpy" in locked
    _, listed = run(engine, score_image, ["pip", "list", "--format", "json"])
    assert {entry["name"].lower() for entry in json.loads(listed)} - {"pip", "setuptools"} == locked

"""The image's lock files agree with those of the project, and the Dockerfile with what the platform asks for."""

import re
from pathlib import Path

import pytest

from gen_bundle.image.build import CUDA
from tests.engine import ROOT


def pins(path: Path) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9._-]+)==(\S+)", path.read_text(), re.MULTILINE))


def instructions() -> list[str]:
    text = (ROOT / "docker" / "Dockerfile").read_text().replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_both_variants_have_the_projects_torch() -> None:
    torch = pins(ROOT / "requirements" / "torch.txt")["torch"]
    assert pins(ROOT / "docker" / "requirements.cpu.txt") == {"torch": f"{torch}+cpu"}
    assert pins(ROOT / "docker" / "requirements.cuda.txt")["torch"] == torch


def test_what_the_cuda_lock_shares_with_the_other_packages_has_the_same_version() -> None:
    cuda, models = (
        pins(ROOT / "docker" / "requirements.cuda.txt"),
        pins(ROOT / "requirements" / "models.txt"),
    )
    shared = cuda.keys() & models.keys()
    assert shared >= {"sympy", "jinja2", "filelock"}
    assert {name: cuda[name] for name in shared} == {name: models[name] for name in shared}


def test_every_pin_of_the_cuda_lock_is_hashed_and_no_index_is_named() -> None:
    text = (ROOT / "docker" / "requirements.cuda.txt").read_text()
    requirements = re.split(r"\n(?=[a-z])", text)[1:]
    assert len(requirements) == len(pins(ROOT / "docker" / "requirements.cuda.txt"))
    for requirement in requirements:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", requirement), requirement.splitlines()[0]
    assert "://" not in text


def test_the_label_names_the_cuda_that_the_lock_brings() -> None:
    toolkit = pins(ROOT / "docker" / "requirements.cuda.txt")["cuda-toolkit"]
    assert toolkit.startswith(CUDA["gen-bundle.cuda"] + ".")


@pytest.mark.parametrize("forbidden", ["ENTRYPOINT", "USER", "HEALTHCHECK", "ADD", "VOLUME"])
def test_the_dockerfile_has_no_instruction_that_the_worker_stumbles_over(forbidden: str) -> None:
    assert not [line for line in instructions() if line.split()[0] == forbidden]


def test_the_dockerfile_needs_no_frontend_from_a_registry() -> None:
    first = (ROOT / "docker" / "Dockerfile").read_text().splitlines()[0]
    assert "syntax" not in first


def test_nothing_is_kept_where_the_worker_mounts() -> None:
    kept = [line for line in instructions() if re.match(r"(COPY|RUN)\b.*\s/app\b", line)]
    assert kept == []

"""The image's lock files agree with those of the project, and the Dockerfile with what the platform asks for."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from gen_bundle.image.verbs import CUDA
from tests.engine import ROOT

CPU, CUDA_LOCK = ROOT / "docker" / "requirements.cpu.txt", ROOT / "docker" / "requirements.cuda.txt"
LOCKS = [*sorted((ROOT / "requirements").glob("*.txt")), CPU, CUDA_LOCK]


def pins(path: Path) -> dict[str, str]:
    return dict(re.findall(r"^([a-zA-Z0-9._-]+)==(\S+)", path.read_text(), re.MULTILINE))


def instructions() -> list[str]:
    text = (ROOT / "docker" / "Dockerfile").read_text().replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_both_variants_have_the_projects_torch() -> None:
    torch = pins(ROOT / "requirements" / "torch.txt")["torch"]
    assert pins(CPU) == {"torch": f"{torch}+cpu"}
    assert pins(CUDA_LOCK)["torch"] == torch


def test_the_projects_torch_is_any_wheel_of_the_common_index_by_its_hash() -> None:
    entry = re.search(r"^torch==.*(\n    --hash=.*)+", CUDA_LOCK.read_text(), re.MULTILINE)
    assert entry is not None
    assert (ROOT / "requirements" / "torch.txt").read_text().endswith(f"\n{entry.group()}\n")


def test_what_the_cuda_lock_shares_with_the_other_packages_has_the_same_version() -> None:
    cuda, models = (pins(ROOT / "docker" / "requirements.cuda.txt"), pins(ROOT / "requirements" / "models.txt"))
    shared = cuda.keys() & models.keys()
    assert shared >= {"sympy", "jinja2", "filelock"}
    assert {name: cuda[name] for name in shared} == {name: models[name] for name in shared}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_every_pin_of_every_lock_is_hashed_and_no_index_is_named(lock: Path) -> None:
    text = lock.read_text()
    requirements = re.split(r"\n(?=[A-Za-z])", text)
    requirements = [requirement for requirement in requirements if not requirement.startswith("#")]
    assert len(requirements) == len(pins(lock)) > 0
    for requirement in requirements:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", requirement), requirement.splitlines()[0]
    assert "://" not in text


def test_nothing_is_installed_without_its_hash() -> None:
    """But the project itself, from its own folder, what is only looked for, and what is tried unlocked."""
    files = [ROOT / "Makefile", ROOT / "docker" / "Dockerfile", ROOT / "requirements" / "install-torch"]
    lines = [line for path in files for line in path.read_text().replace("\\\n", " ").splitlines()]
    installing = [line for line in lines if re.search(r"(pip|PIP\)) install |pip_install ", line)]
    assert len(installing) >= 8
    unhashed = [line for line in installing if "--require-hashes" not in line and ".venv-newest/" not in line]
    assert [line for line in unhashed if "--editable ." not in line and "--dry-run" not in line] == []


def fake_torch(folder: Path, version: str) -> None:
    """A wheel that calls itself torch."""
    info = f"torch-{version}.dist-info"
    with zipfile.ZipFile(folder / f"torch-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is one build")
@pytest.mark.parametrize(
    ("versions", "message"),
    [
        (["+cpu"], "DO NOT MATCH THE HASHES"),
        ([""], "PyTorch's CPU build is not where pip looks: taking the CUDA build, which is large (docs/image.md)."),
        ([], "No matching distribution found for"),
    ],
)
def test_a_torch_of_another_hash_is_refused(tmp_path: Path, versions: list[str], message: str) -> None:
    (tmp_path / "wheels").mkdir()
    for local in versions:
        fake_torch(tmp_path / "wheels", pins(ROOT / "requirements" / "torch.txt")["torch"] + local)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    environment |= {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path / "wheels"),
        "PIP_TARGET": str(tmp_path / "target"),
    }
    command = [str(ROOT / "requirements" / "install-torch"), sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode != 0
    assert message in done.stderr
    assert not (tmp_path / "target").exists()


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

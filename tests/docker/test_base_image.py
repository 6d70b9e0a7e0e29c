"""docker/base-image on machines that lack something: it says what, and how to get it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.engine import ROOT

SCRIPT = ROOT / "docker" / "base-image"
NEEDED = "bash env grep sed cat ldd mktemp mkdir cp ln xargs chmod tar rm true"
BUSYBOX = "base-image: busybox is missing, which becomes local/busybox. Install it: apt-get install busybox-static"
MMDEBSTRAP = "base-image: mmdebstrap is missing, which makes local/python:3.11. Install it: apt-get install mmdebstrap"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder that is the whole PATH: what every machine has, and none of the tools in question."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in NEEDED.split():
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return folder


def docker(tools: Path, *present: str, answers: bool = True) -> None:
    """A `docker` whose engine has these images and reaches no registry; what is imported is noted in `imported`."""
    cases = "".join(f'"image inspect {image}") ;;\n' for image in present)
    (tools / "docker").write_text(
        f"""#!/usr/bin/env bash
case "$*" in
info) exit {0 if answers else 1} ;;
{cases}import*) cat >/dev/null; echo "${{@: -1}}" >>{tools.parent}/imported ;;
*) exit 1 ;;
esac
"""
    )
    (tools / "docker").chmod(0o755)


def base_image(tools: Path) -> subprocess.CompletedProcess[str]:
    bash = shutil.which("bash")
    assert bash is not None
    return subprocess.run([bash, SCRIPT], capture_output=True, text=True, env=os.environ | {"PATH": str(tools)})


def test_all_that_is_missing_is_named_at_once_with_its_package(tools: Path) -> None:
    docker(tools)
    done = base_image(tools)
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == [BUSYBOX, MMDEBSTRAP]


@pytest.mark.parametrize(("present", "line"), [("local/python:3.11", BUSYBOX), ("local/busybox:latest", MMDEBSTRAP)])
def test_a_tool_whose_image_is_there_is_not_missed(tools: Path, present: str, line: str) -> None:
    docker(tools, present)
    assert base_image(tools).stderr.splitlines()[1:] == [line]


def test_a_busybox_that_needs_libraries_is_refused(tools: Path) -> None:
    docker(tools, "local/python:3.11")
    (tools / "busybox").symlink_to(Path("/bin/ls").resolve())
    done = base_image(tools)
    assert done.returncode == 1
    assert "busybox needs libraries, which local/busybox would lack" in done.stderr
    assert "apt-get install busybox-static" in done.stderr


def test_an_image_is_made_from_what_is_there(tools: Path) -> None:
    docker(tools, "local/python:3.11")
    (tools / "busybox").write_text("#!/usr/bin/env bash\nprintf 'busybox\\nls\\n'\n")
    (tools / "busybox").chmod(0o755)
    done = base_image(tools)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tools.parent / "imported").read_text() == "local/busybox:latest\n"


def test_nothing_is_needed_where_both_images_are_there(tools: Path) -> None:
    docker(tools, "local/python:3.11", "local/busybox:latest")
    done = base_image(tools)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_docker_or_an_engine_it_says_how_to_get_one(tools: Path) -> None:
    assert base_image(tools).stderr.startswith("base-image: docker is not installed. Install Docker (docs/image.md)")
    docker(tools, answers=False)
    done = base_image(tools)
    assert done.returncode == 1
    assert done.stderr.startswith("base-image: no container engine answers. Start Docker, or as root on Debian")
    assert done.stderr.endswith("docker/with-engine docker/base-image\n")

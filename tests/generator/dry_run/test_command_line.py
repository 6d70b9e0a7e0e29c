"""Containers as `docker run` lines."""

import shlex
from pathlib import Path
from typing import Literal

import pytest

from gen_bundle.dry_run.engines import Container, Mount
from gen_bundle.dry_run.engines.docker import docker_run_line


@pytest.mark.parametrize(
    ("source", "mode", "option"),
    [
        ("/out/team one", "rw", "--volume=/out/team one:/app/input:rw"),
        ("/out/team:1", "rw", "--mount=type=bind,source=/out/team:1,target=/app/input"),
        ("/out/team:1", "ro", "--mount=type=bind,source=/out/team:1,target=/app/input,readonly"),
    ],
)
def test_a_folder_is_named_so_that_docker_understands_it(source: str, mode: Literal["rw", "ro"], option: str) -> None:
    mounts = (Mount(Path("/out/program"), "/app/program", "z"), Mount(Path(source), "/app/input", mode))
    container = Container("program", "image", ("python3", "score.py"), mounts, {"SCORING_DEBUG": "1"})
    line = docker_run_line(container, gpu=False, network=False)
    assert "--env=SCORING_DEBUG=1" in shlex.split(line)
    assert shlex.split(line)[-4:] == [option, "image", "python3", "score.py"]

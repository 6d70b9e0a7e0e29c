"""Workflows on public hosting give no right and no name away: our own, and those that `gen-bundle new` writes."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
OURS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SCAFFOLDED = sorted((ROOT / "generator/gen_bundle/scaffold").glob("*/*/.github/workflows/*.yml"))
CODE = re.compile(r"(^|[|;&(]\s*)(gen-bundle|git|make|pip|python|\.ci/)", re.MULTILINE)


def jobs(file: Path) -> Mapping[str, Any]:
    text = re.sub(r"\{\{ '(.*?)' \}\}", r"\1", file.read_text(encoding="utf-8"))
    content: Mapping[str, Any] = yaml.safe_load(text)
    assert content["permissions"] == {"contents": "read"}
    return content["jobs"]  # type: ignore[no-any-return]


def test_every_recipe_has_a_workflow() -> None:
    assert len(SCAFFOLDED) == 3


def test_the_newest_packages_are_tried_each_week_and_nothing_is_opened() -> None:
    file = ROOT / ".github" / "workflows" / "newest.yml"
    assert yaml.safe_load(file.read_text(encoding="utf-8"))[True]["schedule"]  # `on`, as YAML 1.1 reads it
    (job,) = jobs(file).values()
    assert "permissions" not in job  # it may read, and nothing else
    assert [step["run"] for step in job["steps"] if "run" in step] == ["make test-newest PYTHON=python"]


@pytest.mark.parametrize("file", [*OURS, *SCAFFOLDED], ids=lambda file: f"{file.parents[3].name}-{file.stem}")
def test_actions_are_pinned_and_leave_no_token(file: Path) -> None:
    for job in jobs(file).values():
        for step in job["steps"]:
            if "uses" in step:
                assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", step["uses"])
                if "/checkout@" in step["uses"]:
                    assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("file", [*OURS, *SCAFFOLDED], ids=lambda file: f"{file.parents[3].name}-{file.stem}")
def test_a_job_that_may_write_runs_no_code_of_the_repository(file: Path) -> None:
    for job in jobs(file).values():
        if "write" in (job.get("permissions") or {}).values():
            for step in job["steps"]:
                assert "uses" not in step
                assert not CODE.search(step["run"])
                assert "${{" not in step["run"]  # a text of the pull request would be part of the command
        if "--privileged" in str(job.get("container")):
            assert job["if"] == "github.event_name == 'push'"


@pytest.mark.parametrize(
    ("address", "installed"),
    [
        ("", False),
        ("gen-bundle", False),
        ("https://example.org/gen_bundle-0.1.0-py3-none-any.whl", False),
        ("https://example.org/gen_bundle-0.1.0-py3-none-any.whl#sha256=00", True),
    ],
)
@pytest.mark.parametrize("file", SCAFFOLDED, ids=lambda file: file.parents[3].name)
def test_gen_bundle_comes_from_an_address_with_its_digest(
    file: Path, address: str, installed: bool, tmp_path: Path
) -> None:
    (step,) = (step for step in jobs(file)["check"]["steps"] if "pip install" in step.get("run", ""))
    (tmp_path / "pip").write_text('#!/bin/sh\necho "$@" > called.txt\n')
    (tmp_path / "pip").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "GEN_BUNDLE": address}
    done = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=environment, capture_output=True)
    assert (done.returncode == 0) is installed
    assert (tmp_path / "called.txt").exists() is installed

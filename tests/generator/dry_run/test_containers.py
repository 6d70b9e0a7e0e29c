"""What the engine is asked to run, in which order and with which mounts, by version of the platform."""

from pathlib import Path
from typing import Any

import pytest

from gen_bundle.codabench.versions import PlatformVersion
from gen_bundle.dry_run.engines import Container, Ended, LineListener
from tests.generator.dry_run.bundles import GOOD, Bundle, replay_one

OLDER, NEWER = PlatformVersion
COMMAND = "command: python3 run.py"
ALWAYS = ["/app/program:z", "/app/output:z", "/app/data:ro"]
OF_SCORING = ["/app/shared:rw", "/app/input:rw"]
SUBMISSION, WRITABLE, INPUT_DATA = "/app/ingested_program:ro", "/app/ingested_program:rw", "/app/input_data:rw"
Asked = list[tuple[str, list[str]]]


class Recorder:
    """Runs nothing, and keeps what it was asked for."""

    name = "recorder"

    def __init__(self) -> None:
        self.containers: list[Container] = []

    def prepare(self, image: str) -> list[str]:
        return []

    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        self.containers.append(container)
        stdout.touch()
        stderr.touch()
        return Ended(0, 0.0)

    def close(self) -> None:
        pass


def asked(tmp_path: Path, version: PlatformVersion, submission: dict[str, str], **task: Any) -> Asked:
    """Kind and mounts of each container, in order."""
    bundle = Bundle(
        task={"ingestion_program": "ingestion", "input_data": "inputs", **task},
        folders={"ingestion": {"metadata.yaml": COMMAND}, "inputs": {"x.txt": ""}},
    )
    engine = Recorder()
    replay_one(bundle, tmp_path, engine, submission, version=version)
    return [
        (container.kind, [f"{mount.target}:{mount.mode}" for mount in container.mounts])
        for container in engine.containers
    ]


def test_newer_workers_start_the_ingestion_program_and_never_the_submission(tmp_path: Path) -> None:
    """The mounts are those that a worker of 1.32 was seen to make."""
    assert asked(tmp_path, NEWER, {**GOOD, "metadata": COMMAND}) == [
        ("ingestion", [*ALWAYS, SUBMISSION, INPUT_DATA]),
        ("program", [*ALWAYS, SUBMISSION, *OF_SCORING]),
    ]


def test_older_workers_start_the_submission_as_well(tmp_path: Path) -> None:
    assert asked(tmp_path, OLDER, {**GOOD, "metadata": COMMAND}) == [
        ("program", [*ALWAYS, INPUT_DATA]),
        ("ingestion", [*ALWAYS, WRITABLE, INPUT_DATA]),
        ("program", [*ALWAYS, *OF_SCORING]),
    ]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (
            NEWER,
            [("program", [*ALWAYS, SUBMISSION, *OF_SCORING]), ("ingestion", [*ALWAYS, SUBMISSION, INPUT_DATA])],
        ),
        (
            OLDER,
            [
                ("program", [*ALWAYS, *OF_SCORING, INPUT_DATA]),
                ("ingestion", [*ALWAYS, WRITABLE, *OF_SCORING, INPUT_DATA]),
            ],
        ),
    ],
    ids=["1.32", "1.25"],
)
def test_ingestion_during_scoring(tmp_path: Path, version: PlatformVersion, expected: Asked) -> None:
    assert asked(tmp_path, version, GOOD, ingestion_only_during_scoring=True) == expected

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gen_bundle.codabench.board import time_limit
from gen_bundle.codabench.worker import (
    ContainerKind,
    JobFailedError,
    WorkerCrashError,
    read_metadata,
    read_scores,
    replace_placeholders,
)
from tests.generator.dry_run.bundles import write_files


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"metadata.yaml": "command: a", "metadata": "command: b"}, "a"),
        ({"metadata": "command: b"}, "b"),
        ({"metadata.yaml": "Command: a", "metadata": "command: b"}, None),
        ({"metadata.yml": "command: a"}, None),
        ({"sub/metadata.yaml": "command: a"}, None),
        ({"metadata.yaml": "description: x\ncommand: python3 x.py"}, "python3 x.py"),
        ({"metadata.yaml": ""}, None),
        ({"metadata.yaml": "- command: a"}, None),
        ({"metadata.yaml": "command:a"}, None),
        ({"metadata.yaml": "command: !!python/object:x a"}, None),
        ({"metadata.yaml": "command: [python3, x.py]"}, None),
        ({"metadata.yaml": "command: 5"}, None),
        ({"metadata.yaml": f"command: a\nmore: {'x' * 65536}"}, None),
    ],
)
def test_which_command_counts(tmp_path: Path, files: dict[str, str], command: str | None) -> None:
    assert read_metadata(write_files(tmp_path, files)).command == command


@pytest.mark.parametrize(
    ("kind", "is_scoring", "only_scoring", "replaced"),
    [
        ("program", False, False, "/app/input /app/input_data /app/program /app/output /app/shared"),
        ("ingestion", False, False, "/app/input_data /app/input_data_data /app/program /app/output /app/shared"),
        ("program", True, False, "/app/input /app/input_data /app/program /app/input/res /app/shared"),
        ("program", True, True, "/app/input /app/input_data /app/ingestion_program /app/input/res /app/shared"),
    ],
)
def test_placeholders(kind: ContainerKind, is_scoring: bool, only_scoring: bool, replaced: str) -> None:
    command = "$input $input_data $program $predictions $shared"
    told = replace_placeholders(command, kind, is_scoring=is_scoring, ingestion_only_during_scoring=only_scoring)
    assert told == replaced


def test_the_rest_of_the_placeholders() -> None:
    told = replace_placeholders(
        "$output $tmp $hidden $submission_program $ingestion_program",
        "ingestion",
        is_scoring=True,
        ingestion_only_during_scoring=False,
    )
    assert told == "/app/output /app/output /app/input/ref /app/ingested_program /app/program"


@pytest.mark.parametrize(
    ("phase", "own_queue", "seconds"),
    [(None, False, 600), (0, False, 600), (60, False, 60), (3600, False, 600), (3600, True, 3600), (None, True, 600)],
)
def test_time_limit(phase: int | None, own_queue: bool, seconds: int) -> None:
    assert time_limit(phase, own_queue=own_queue) == seconds


@pytest.mark.slow
@given(st.binary(max_size=60) | st.text(max_size=40).map(str.encode), st.sampled_from(["scores.json", "scores.txt"]))
def test_any_scores_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / name).write_bytes(content)
    refused = False
    try:
        read_scores(folder)
    except (JobFailedError, WorkerCrashError):
        refused = True
    assert refused in (True, False)


def test_deep_nesting_is_no_crash_of_ours(tmp_path: Path) -> None:
    (tmp_path / "scores.json").write_text("[" * 200_000)
    with pytest.raises((JobFailedError, WorkerCrashError)):
        read_scores(tmp_path)

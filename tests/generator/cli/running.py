"""Runs the command line inside the test's own process: as `gen-bundle`, without the cost of a start."""

import io
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

import pytest

from gen_bundle.cli import main


def gen_bundle(*arguments: object, cwd: Path | None = None) -> "CompletedProcess[str]":
    """What `gen-bundle ARGUMENTS` prints, and its exit status."""
    given = [str(argument) for argument in arguments]
    stdout, stderr = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with (
        patch("gen_bundle.cli._end_on_signals"),  # which would change how this process takes signals
        chdir(cwd or Path.cwd()),
        redirect_stdout(stdout),
        redirect_stderr(stderr),
        pytest.raises(SystemExit) as ended,
    ):
        main(given)
    code = ended.value.code
    assert isinstance(code, int | None)
    return CompletedProcess(given, code or 0, _text(stdout), _text(stderr))


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()

"""Runs Python programs in forks of the test's process, where their libraries are imported already.

Importing scikit-learn takes most of two seconds a process, pip half a second. For tests that start many; that programs
start by themselves, the dry run's tests of the process engine show.
"""

import importlib
import os
import runpy
import subprocess
import sys
import traceback
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

LIBRARIES = {"score.py": "sklearn.metrics", "organise.py": "sklearn.metrics", "pip": "pip._internal.commands.install"}
"""What is forked, `python …/NAME` or `python -m NAME` → what is imported before."""

FLAGS = ("-P", "-s", "-B", "-X", "utf8")

ROOT = Path(__file__).resolve().parents[1]
ROOTS = [ROOT, ROOT / "generator", ROOT / "scoring_programs"]
OURS = {path.stem for root in ROOTS for path in root.iterdir()}


class ForkedPython(subprocess.Popen[Any]):
    """As `Popen`, but some of the programs that this Python is to run are run in a fork of this process."""

    def __init__(self, args: Sequence[str], **options: Any) -> None:
        library = _library(args)
        if library is None:
            super().__init__(args, **options)
            return
        importlib.import_module(library)
        options["preexec_fn"] = partial(_become, _program(args), dict(options.pop("env", None) or os.environ))
        with warnings.catch_warnings():
            # The other thread is xdist's, which only waits to read, and holds no lock that a program could want.
            warnings.filterwarnings("ignore", ".* is multi-threaded", DeprecationWarning)
            super().__init__(args, **options)


@pytest.fixture
def forked_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run scoring programs, organisers and pip in forks."""
    monkeypatch.setattr(subprocess, "Popen", ForkedPython)


def _library(command: Sequence[str]) -> str | None:
    if command[0] != sys.executable:
        return None
    program = _program(command)
    return LIBRARIES.get(program[1] if program[0] == "-m" else Path(program[0]).name)


def _program(command: Sequence[str]) -> Sequence[str]:
    """The arguments of a Python after its flags."""
    first = 1
    while command[first] in FLAGS:
        first += 1
    return command[first:]


def _become(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run a program in this fresh fork, which has its streams and its folder already, and end with its exit status."""
    os.closerange(3, 1024)  # one of them tells `Popen` that the program has started
    os.environ.clear()
    os.environ.update(environment)
    warnings.resetwarnings()
    warnings.simplefilter("ignore", DeprecationWarning)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    own = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:] = [*own, *(path for path in sys.path if Path(path) not in ROOTS)]
    for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
        del sys.modules[name]
    status = 1
    try:
        _run(arguments)
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def _run(arguments: Sequence[str]) -> None:
    if arguments[0] == "-m":
        sys.argv = list(arguments[1:])
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = list(arguments)
        sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
        runpy.run_path(arguments[0], run_name="__main__")

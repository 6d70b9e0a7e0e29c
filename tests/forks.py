"""Programs in forks of the test's process, where what they import is imported already, or within it.

Importing scikit-learn takes most of two seconds a process, pip half a second, compiling a validator a twentieth, and a
fork of a process that has run thousands of tests as long. For tests that start many; that programs start by themselves,
the dry run's tests of the process engine show.
"""

import gc
import importlib
import io
import os
import runpy
import subprocess
import sys
import traceback
import warnings
import zipimport
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TextIO
from unittest.mock import DEFAULT, patch

import pytest

LIBRARIES = {
    "score.py": "sklearn.metrics",
    "organise.py": "sklearn.metrics",
    "pip": "pip._internal.commands.install",
}
"""What is forked, `python …/NAME` or `python -m NAME` → what is imported before."""

FLAGS = ("-I", "-S", "-P", "-s", "-B", "-X", "utf8")

ROOT = Path(__file__).resolve().parents[1]
ROOTS = [ROOT, ROOT / "generator", ROOT / "scoring_programs"]
OURS = {path.stem for root in ROOTS for path in root.iterdir()}

COMPILED: dict[bytes, CodeType] = {}
"""Of the modules in validators: source → code."""
REPLACED: list[ModuleType] = []
"""Modules that a fork imports anew; they are kept, since taking them apart would copy them."""


def called(main: Callable[[], int], stdout: Path, stderr: Path) -> int:
    """The exit status that `main` returns, called in this process; what it prints goes to the two files."""
    with (
        stdout.open("w", encoding="utf-8") as out,
        stderr.open("w", encoding="utf-8") as err,
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        return main()


def forked(main: Callable[[], object], stdout: Path, stderr: Path, **options: Any) -> int:
    """As `called`, in a fork: for a program that changes its own process, as by ending all its children."""
    with stdout.open("wb") as out, stderr.open("wb") as err:
        return Fork(main, stdin=subprocess.DEVNULL, stdout=out, stderr=err, **options).wait()


class Fork(subprocess.Popen[Any]):
    """A function of this process that runs as a program, in a fork; its exit status is what the function returns."""

    def __init__(self, main: Callable[[], object], *, env: Mapping[str, str] | None = None, **options: Any) -> None:
        options["preexec_fn"] = partial(_become, main, dict(os.environ if env is None else env))
        with warnings.catch_warnings():
            # The other thread is xdist's, which only waits to read, and holds no lock that a program could want.
            warnings.filterwarnings("ignore", ".* is multi-threaded", DeprecationWarning)
            super().__init__([sys.executable], **options)


class ForkedPython(Fork):
    """As `Popen`, but some of the programs that this Python is to run are run in a fork of this process."""

    def __init__(self, args: Sequence[str], **options: Any) -> None:
        arguments = _arguments(args)
        library = LIBRARIES.get(_name(arguments))
        if library is None:
            super(Fork, self).__init__(args, **options)
            return
        importlib.import_module(library)
        super().__init__(partial(run_script, arguments), **options)


@pytest.fixture
def forked_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run scoring programs, organisers and pip in forks."""
    monkeypatch.setattr(subprocess, "Popen", ForkedPython)


def _arguments(command: Sequence[str]) -> Sequence[str]:
    """The arguments of a Python after its flags; none of another program."""
    if command[0] != sys.executable:
        return []
    first = 1
    while command[first] in FLAGS:
        first += 1
    return [*map(str, command[first:])]


def _name(arguments: Sequence[str]) -> str:
    """What a Python runs, as in `LIBRARIES`."""
    if not arguments:
        return ""
    return arguments[1] if arguments[0] == "-m" else Path(arguments[0]).name


def run_here(command: Sequence[str], *, env: Mapping[str, str], **_: object) -> "subprocess.CompletedProcess[str]":
    """As `subprocess.run`, in this process: for `python -c …` that imports the standard library and what is in zips."""
    own = OURS - {"tests"}
    ours = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in own}
    status = 0
    with (
        redirect_stdout(io.StringIO()) as out,
        redirect_stderr(io.StringIO()) as err,
        patch.dict(os.environ, env, clear=True),
        patch.object(sys, "path", [path for path in sys.path if Path(path) not in ROOTS]),
        patch.object(sys, "argv", ["-c", *_arguments(command)[2:]]),
        patch.multiple(gc, freeze=DEFAULT, set_threshold=DEFAULT),
        patch.object(zipimport, "_compile_source", _compiled),
    ):
        for name in ours:
            del sys.modules[name]
        try:
            exec(_arguments(command)[1], {"__name__": "__main__"})
        except Exception:
            traceback.print_exc()
            status = 1
        finally:
            for name, module in [*sys.modules.items()]:
                if isinstance(getattr(module, "__loader__", None), zipimport.zipimporter):
                    del sys.modules[name]
            sys.modules.update(ours)
    return subprocess.CompletedProcess(command, status, out.getvalue(), err.getvalue())


def _compiled(path: str, source: bytes) -> CodeType:
    """What `zipimport` takes for a module."""
    if source not in COMPILED:
        COMPILED[source] = compile(source, path, "exec", dont_inherit=True)
    return COMPILED[source]


def _become(main: Callable[[], object], environment: Mapping[str, str]) -> None:
    """Run in this fresh fork, which has its streams and its folder already, and end with the exit status."""
    os.closerange(3, 1024)  # one of them tells `Popen` that the program has started
    gc.freeze()  # what nobody looks at need not be copied
    os.environ.clear()
    os.environ.update(environment)
    warnings.resetwarnings()
    warnings.simplefilter("ignore", DeprecationWarning)
    warnings.showwarning = _show  # in place of pytest's
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    sys.path[:0] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    status: object = 1
    try:
        status = main()
    except SystemExit as ended:
        status = ended.code
        if not isinstance(status, int | None):
            print(status, file=sys.stderr)
            status = 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status if isinstance(status, int) else 0)


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    (file or sys.stderr).write(warnings.formatwarning(message, category, filename, lineno, line))


def run_script(arguments: Sequence[str], kept: Sequence[str] = ()) -> None:
    """Run what a Python would with these arguments; none of our own packages, but those `kept`, is imported before."""
    replaced = OURS - set(kept)
    for folder in filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)):
        replaced |= {path.stem for path in Path(folder).iterdir()}
    for name in [name for name in sys.modules if name.partition(".")[0] in replaced]:
        REPLACED.append(sys.modules.pop(name))
    sys.path[:] = [path for path in sys.path if Path(path) not in ROOTS]
    if arguments[0] == "-m":
        sys.argv = list(arguments[1:])
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = list(arguments)
        sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
        runpy.run_path(arguments[0], run_name="__main__")

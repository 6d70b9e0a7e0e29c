"""Scores many submissions with one scoring program of ours: run as `python many_runs.py PROGRAM REFERENCE`.

The program's modules and its gold are loaded once; each submission is scored in a fork by the code of a single run, so
that nothing of one reaches another. What one run imports beyond that is imported here before the next. The first line
of standard output is `{"protocol": 1}`; then each line of standard input is a request, and is answered by a line, as
`scoring_kit/warm/worker.py` does in programs with models. Linux only.
"""

import ctypes
import gc
import importlib
import json
import os
import select
import signal
import sys
import tempfile
import time
import traceback
import warnings
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import IO, Any

STREAMS = (1, 2)
PR_SET_PDEATHSIG = 1


def _main(program: Path, reference: Path) -> None:
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    sys.path.insert(0, str(program))
    warnings.showwarning = lambda *_, **__: None  # as in score.py
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        frame = importlib.import_module("scoring_kit.frame")
        frame.escape_what_cannot_be_printed()
        gc.set_threshold(*frame.THRESHOLDS)
        gold = frame.read_gold(frame.program_of(program, None), reference)
        frame.submission_module(gold.program.package)
        printed = [_content(out), _content(err)]  # a single run prints it as well
    _freeze()
    _say(answers, {"protocol": 1})
    for line in requests:
        request = json.loads(line)
        with tempfile.TemporaryFile() as imported:
            _say(answers, _run(frame, program, gold, request, printed, imported))
            names = _content(imported).decode().split()
        if names:
            for name in names:
                with suppress(Exception):  # it may have come to be otherwise than by an import of that name
                    importlib.import_module(name)
            _freeze()


def _run(
    frame: ModuleType, program: Path, gold: Any, request: dict[str, Any], printed: list[bytes], imported: IO[bytes]
) -> dict[str, object]:
    """Score one submission in a fork; returns how that ended."""
    began = time.monotonic()
    ours = os.getpid()
    fork = os.fork()
    if fork == 0:
        status = 1
        try:
            os.setpgid(0, 0)
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == ours:
                status = _score(frame, program, gold, request, printed, imported)
        finally:
            os._exit(status)
    watched = os.pidfd_open(fork)
    ended = select.poll()
    ended.register(watched, select.POLLIN)
    in_time = bool(ended.poll(request["seconds"] * 1000))
    seconds = time.monotonic() - began
    os.close(watched)
    with suppress(OSError):  # its number is still its own; with it ends what it left running
        os.killpg(fork, signal.SIGKILL)
    with suppress(OSError):
        os.kill(fork, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1])
    shown = code if code >= 0 else 128 - code
    return {"exit_code": shown if in_time else None, "seconds": seconds, "timed_out": not in_time}


def _score(
    frame: ModuleType, program: Path, gold: Any, request: dict[str, Any], printed: list[bytes], imported: IO[bytes]
) -> int:
    """The exit status, as Python makes it of what scoring returns or raises."""
    for name, stream, text in zip(("stdout", "stderr"), STREAMS, printed, strict=True):
        file = os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.write(file, text)
        os.dup2(file, stream)
        os.close(file)
    known = len(sys.modules)
    sys.argv[1:] = [request["input"], request["output"]]
    try:
        status = frame.score_once(program, Path(request["input"]), Path(request["output"]), None, gold)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    imported.write(" ".join(list(sys.modules)[known:]).encode())
    imported.flush()
    sys.stdout.flush()
    sys.stderr.flush()
    return int(status) & 0xFF


def _freeze() -> None:
    """Take what is loaded out of collections: one in a fork would write to all of it, and so copy it."""
    gc.collect()
    gc.freeze()


def _say(answers: IO[str], content: dict[str, object]) -> None:
    answers.write(json.dumps(content) + "\n")
    answers.flush()


def _content(file: IO[bytes]) -> bytes:
    sys.stdout.flush()
    sys.stderr.flush()
    file.seek(0)
    return file.read()


if __name__ == "__main__":
    _main(Path(sys.argv[1]), Path(sys.argv[2]))

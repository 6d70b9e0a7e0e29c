"""Runs Python programs in forks of one process that has imported what they import, which then costs nothing.

A script of its own: `python fork_server.py PATH MODULE…` imports the modules, from the folder PATH as well. Then each
line of JSON on standard input starts a program (see `Forks.start`) or waits for its end. The answer to each is a
process or an exit code.
"""

import gc
import importlib
import json
import os
import pkgutil
import runpy
import sys
from pathlib import Path
from typing import Any


def serve() -> dict[str, Any] | None:
    """Answer requests; returns in a fork with what it is to run, and else None at the end of the requests."""
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        if "wait" in request:
            answer = os.waitstatus_to_exitcode(os.waitpid(request["wait"], 0)[1])
        else:
            answer = os.fork()
            if not answer:
                return dict(request)
        print(answer, flush=True)
    return None


def run(program: dict[str, Any]) -> None:
    """Run a program as a process of its own would: its folder, streams, variables, arguments and module path."""
    for number, name, mode in ((0, os.devnull, os.O_RDONLY), *((n, program[f], WRITE) for n, f in OUTPUTS)):
        opened = os.open(name, mode)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115 open to the end
    os.chdir(program["folder"])
    os.environ.clear()
    os.environ.update(program["environment"])
    sys.argv = [program["run"], *program["arguments"]]
    for name, value in program["constants"].items():
        module, _, constant = name.partition(":")
        setattr(importlib.import_module(module), constant, value)
    sys.path[1:1] = filter(None, program["environment"].get("PYTHONPATH", "").split(os.pathsep))
    if ":" in program["run"]:
        del sys.path[0]
        sys.exit(pkgutil.resolve_name(program["run"])())
    sys.path[0] = str(Path(program["run"]).parent)
    runpy.run_path(program["run"], run_name="__main__")


WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
OUTPUTS = ((1, "stdout"), (2, "stderr"))

if __name__ == "__main__":
    _, path, *modules = sys.argv
    sys.path.append(path)
    for module in modules:
        importlib.import_module(module)
    sys.path.remove(path)
    gc.collect()
    gc.freeze()
    if program := serve():
        run(program)

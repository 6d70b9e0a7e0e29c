"""Run by the platform's Python: runs one program after the other, each in a fork that has scikit-learn.

Importing scikit-learn takes a second a process. Each line of standard input is a program's arguments,
folder, environment, and the files of its two streams; the answer is its exit status.
"""

import json
import os
import runpy
import sys
import traceback
from pathlib import Path

import sklearn.metrics  # noqa: F401


def become(arguments: "list[str]", folder: str, environment: "dict[str, str]", streams: "list[str]") -> int:
    """Run the program in this fork; returns its exit status."""
    for number, file in enumerate(streams, start=1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = arguments
    sys.path[0] = str(Path(arguments[0]).parent)
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            status = become(*json.loads(line))
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)

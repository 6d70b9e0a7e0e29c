"""Calls the entry's `predict`: this text is the program of the process that the submitted code runs in (`python -c`).

Arguments: the entry's file, the input folder, the output folder. Tracebacks begin at the first line that is the
participant's.
"""

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

OURS = "<"
"""How the names of files begin that are no files: this program, and Python's import machinery."""


def _traceback_of(error: BaseException) -> str:
    """The traceback as Python prints it, without the lines of this program and of the import machinery."""
    report = traceback.TracebackException.from_exception(error)
    waiting = [report]
    while waiting:  # of exceptions in a circle each is here once
        one = waiting.pop()
        kept = [frame for frame in one.stack if not frame.filename.startswith(OURS)]
        one.stack = traceback.StackSummary.from_list(kept)
        waiting += [each for each in (one.__cause__, one.__context__) if each]
    return "".join(report.format())


def _imported(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, str(path))
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _call(entry: str, input_folder: str, output_folder: str) -> None:
    sys.path[0] = str(Path.cwd())
    try:
        module = _imported(Path(entry).stem, Path(entry).resolve())
        predict = getattr(module, "predict", None)
        if not callable(predict):
            sys.exit(f"{entry}: has no function predict(input_folder, output_folder)")
        predict(Path(input_folder), Path(output_folder))
    except Exception as error:
        sys.stdout.flush()
        sys.exit(_traceback_of(error).rstrip())


sys.argv = sys.argv[1:]
_call(*sys.argv)

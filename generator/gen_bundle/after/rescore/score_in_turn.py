"""Scores one submission after the other: `python score_in_turn.py PROGRAM REFERENCE SECONDS`.

For programs of nothing but the tool's own code, which keep nothing of a submission. Their modules, gold and models are
loaded once. The first line on standard output is `loaded`, once gold is read, for which it has so many seconds. Each
line of standard input is a submission; the answer is its output's folder where it is scored, else an empty line:

    ["/job/input", "/job/output", 600]  →  /job/output

A submission that takes longer than its seconds ends this process, and so does whatever ends a single run.
"""

import gc
import importlib
import json
import os
import signal
import sys
from pathlib import Path


def main(program: Path, reference: Path, seconds: float) -> None:
    """Load the program and its gold, then score what is asked for until nobody asks."""
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # a scorer's own, away from the requests and the answers
        os.dup2(nothing, stream)
    # Nobody catches this signal: the kernel ends a run even where Python itself is not reached, as in a long regular
    # expression, and also where those who asked have been killed meanwhile.
    signal.setitimer(signal.ITIMER_REAL, seconds)
    sys.path[:0] = [str(program)]  # as score.py does
    sys.path.append(str(program / "site"))
    frame = importlib.import_module("scoring_kit.frame")
    gc.set_threshold(frame.THRESHOLD)
    gold = frame.read_gold(frame.program_of(program, None), reference)
    gc.freeze()  # what is loaded stays
    answer = "loaded"
    while True:
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(answer, file=answers, flush=True)
        line = requests.readline()
        if not line:
            return
        given, output, seconds = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        status = frame.score_once(program, Path(given), Path(output), None, gold)
        answer = "" if status else output
        if "scoring_kit.models.cache" in sys.modules:
            sys.modules["scoring_kit.models.cache"].forget()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]))

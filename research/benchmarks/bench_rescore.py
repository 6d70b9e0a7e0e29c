"""Rescoring: 5,000 small submissions through two workers, with the memory of all processes as it goes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tests.generator.competition import small_competition

SUBMISSIONS = 5_000
PRINTED = 20
"""So often the memory is printed."""


def main() -> None:
    """Print results, seconds and memory."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        competition = small_competition(folder)
        answer = (competition / "data" / "baselines" / "test" / "majority" / "predictions.csv").read_text("utf-8")
        teams = folder / "teams"
        teams.mkdir()
        lines = answer.splitlines(keepends=True)
        for number in range(SUBMISSIONS):  # each in another order, so that no two are one job
            turn = 1 + number % (len(lines) - 1)
            with zipfile.ZipFile(teams / f"team{number:04}.zip", "w") as packed:
                packed.writestr("predictions.csv", "".join([lines[0], *lines[turn:], *lines[1:turn]]))
                packed.comment = str(number).encode()
        _watch(
            [str(competition), "--submissions", str(teams), "--out", str(folder / "out")], folder / "out" / "results"
        )


def _watch(arguments: list[str], results: Path) -> None:
    fixed = ["--phase", "test", "--engine", "process", "--workers", "2"]
    began = time.monotonic()
    rescoring = subprocess.Popen([sys.executable, "-m", "gen_bundle", "rescore", *arguments, *fixed])
    print("seconds  results  MiB: the command  MiB: all its processes")
    printed = 0
    while rescoring.poll() is None:
        time.sleep(1)
        done = sum(1 for _ in results.rglob("*.json"))
        if done >= printed * SUBMISSIONS / PRINTED:
            memory = [_mebibytes(process) for process in _tree(rescoring.pid)]
            print(f"{time.monotonic() - began:7.0f}  {done:7}  {memory[0]:16.0f}  {sum(memory):22.0f}", flush=True)
            printed += 1
    print(f"exit status {rescoring.returncode} after {time.monotonic() - began:.0f} s")


def _tree(process: int) -> Iterator[int]:
    """A process and all below it."""
    yield process
    try:
        children = [
            child for file in Path(f"/proc/{process}/task").glob("*/children") for child in file.read_text().split()
        ]
    except OSError:  # it has ended
        return
    for child in children:
        yield from _tree(int(child))


def _mebibytes(process: int) -> float:
    """The memory of a process, with its share of what it has in common with others."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


if __name__ == "__main__":
    main()

"""What `new --gold` and `build` take for tables of many rows, and `build` for the bundled competitions.

CPU seconds of all processes that a command starts, and the memory of the largest of them; of a bundled competition the
least and the median of seven builds, when Python has kept the modules' bytecode. With another checkout in the
environment variable OTHER_CHECKOUT both are measured in turns, which makes ratios fair on a machine with other work.
"""

from __future__ import annotations

import csv
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROWS = (100_000, 1_000_000)
TIMES = 7
BUNDLED = ("clarity2026", "process2025", "seedev2016", "are2007", "clpsych2025")
WORDS = [
    "the",
    "service",
    "was",
    "great",
    "and",
    "the",
    "staff",
    "friendly",
    "but",
    "the",
    "room",
    "never",
    "clean",
    "and",
    "the",
    "price",
    "high",
    "again",
]
COLUMNS = {
    "texts with labels": ("id", "text", "label"),
    "texts with numbers": ("id", "text", "score"),
    "labels": ("id", "label"),
    "texts with 50 labels": ("id", "text", "topic"),
    "texts with labels, numbers and texts": ("id", "text", "label", "score", "answer"),
}
HERE = Path(__file__).resolve().parents[2]


def main() -> None:
    """Print the figures of each checkout."""
    other = os.environ.get("OTHER_CHECKOUT")
    checkouts = [HERE, Path(other)] if other else [HERE]
    with tempfile.TemporaryDirectory() as place:
        for name in BUNDLED:
            _measure_bundled(name, checkouts, Path(place))
        for rows in ROWS:
            for shape, columns in COLUMNS.items():
                _made(Path(place) / "gold.csv", columns, rows)
                _measure_rows(f"{rows:,} {shape}", checkouts, Path(place))


def _measure_bundled(name: str, checkouts: Sequence[Path], work: Path) -> None:
    taken: dict[Path, list[float]] = {checkout: [] for checkout in checkouts}
    for _ in range(1 + TIMES):
        for checkout in checkouts:
            taken[checkout].append(_run(checkout, name, "--out", work / "bundle.zip", "--force")[0])
    for checkout, (_, *seconds) in taken.items():  # the first run may have compiled modules
        least, middle = min(seconds), statistics.median(seconds)
        print(f"{checkout}: build {name}: {least:.2f} s, median {middle:.2f} s", flush=True)


def _measure_rows(what: str, checkouts: Sequence[Path], work: Path) -> None:
    for checkout in checkouts:
        new = _run(checkout, "new", "task", "--in", work, "--gold", work / "gold.csv", "--yes")
        build = _run(checkout, work / "task", "--out", work / "bundle.zip", "--force")
        shutil.rmtree(work / "task")
        said = [f"{seconds:.1f} s, {mebibytes:.0f} MiB" for seconds, mebibytes in (new, build)]
        print(f"{checkout}: {what}: new {said[0]}; build {said[1]}", flush=True)


def _run(checkout: Path, *arguments: str | Path) -> tuple[float, float]:
    """CPU seconds of a command with all that it starts, and MiB of the largest of these processes."""
    roots = os.pathsep.join(str(checkout / root) for root in ("generator", "scoring_programs"))
    with subprocess.Popen(
        [sys.executable, "-m", "gen_bundle", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": roots, "PYTHONDONTWRITEBYTECODE": ""},
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{checkout}: {' '.join(map(str, arguments))}: ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def _made(path: Path, columns: Sequence[str], rows: int) -> None:
    """Write a table of gold with these columns."""
    rng = random.Random(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for number in range(rows):
            values = {
                "id": f"r{number:07}",
                "text": " ".join([*rng.choices(WORDS, k=rng.randrange(5, 13)), str(number % 9973)]),
                "label": rng.choice(["negative", "neutral", "positive"]),
                "score": f"{rng.random() * 5:.3f}",
                "topic": f"topic-{rng.randrange(50):02}",
                "answer": " ".join(rng.choices(WORDS, k=rng.randrange(2, 7))),
            }
            writer.writerow([values[column] for column in columns])


if __name__ == "__main__":
    main()

"""What `gen-bundle rescore` takes for each of 200 submissions, beside a run of the scoring program for one.

Data of a real task's size: ARE with 84 files, SeeDev with 48, CLARITY with 130 rows, PROCESS with 40, a declared task
with 500. Each submission mixes the answers of the competition's baselines. The command's start is left out: the
seconds are those of 200 submissions less those of 20. CPU seconds of all processes, since a machine has other work.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.codabench.runnable import open_bundle, read_competition
from gen_bundle.ground.resources import resource

MANY, FEW, ALONE = 200, 20, 8
ROWS = 500


def main() -> None:
    """Print the figures of each task."""
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        for name, make in (
            ("declared", _declared),
            ("clarity2026", _bundled),
            ("seedev2016", _seedev),
            ("are2007", _are),
            ("process2025", _bundled),
        ):
            if len(sys.argv) < 2 or name in sys.argv[1:]:
                _measure(name, make(name, work / name), work / name)


def _measure(name: str, source: tuple[str, Path], work: Path) -> None:
    competition, data = source
    build(BuildRequest(competition, work / "bundle.zip", data, force=True))
    baselines = sorted(path for path in (data / "baselines" / "test").iterdir() if path.is_dir())
    for count in (FEW, MANY):
        for number in range(count):
            _mixed(baselines, work / f"{count}" / f"team{number:03}", random.Random(f"{count} {number}"))
    taken = {count: _seconds(partial(_rescore, work, count)) for count in (FEW, MANY)}
    each = (taken[MANY] - taken[FEW]) / (MANY - FEW)
    opened = read_competition(open_bundle(work / "bundle.zip", work / "opened"))
    (task,) = next(phase for phase in opened.phases if phase.id == "test").tasks
    shutil.unpack_archive(task.file("scoring_program"), work / "program")
    shutil.unpack_archive(task.file("reference_data"), work / "job/ref")
    _score(work, ALONE)  # which leaves compiled modules, as the first of many does
    alone = sum(_seconds(partial(_score, work, number)) for number in range(ALONE)) / ALONE
    ratio = alone / each
    print(f"{name}: rescore {each:.4f} s a submission, {alone:.3f} s alone: {ratio:.1f} times faster", flush=True)


def _rescore(work: Path, count: int) -> None:
    places = ["--submissions", work / f"{count}", "--out", work / f"out{count}"]
    options = [*places, "--phase", "test", "--engine", "process"]
    command = [sys.executable, "-m", "gen_bundle", "rescore", work / "bundle.zip", *options]
    _run(command)


def _score(work: Path, number: int) -> None:
    team = work / f"{MANY}" / f"team{number:03}"
    shutil.copytree(team, work / f"job{number}/res")
    (work / f"job{number}/ref").symlink_to(work / "job/ref")
    _run([sys.executable, work / "program/score.py", work / f"job{number}", work / f"job{number}/output"])


def _run(command: Sequence[object]) -> None:
    """Run a command, with the modules that an earlier one has compiled."""
    kept = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run([str(part) for part in command], check=True, capture_output=True, env=kept)


def _seconds(call: Callable[[], object]) -> float:
    before = getrusage(RUSAGE_CHILDREN)
    call()
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _mixed(baselines: list[Path], team: Path, rng: random.Random) -> None:
    """A submission with each file of one baseline or the other, or with the answers of a single file mixed."""
    names = sorted(path.relative_to(baselines[0]) for path in baselines[0].rglob("*") if path.is_file())
    for name in names:
        (team / name).parent.mkdir(parents=True, exist_ok=True)
        if len(names) > 1:
            shutil.copyfile(rng.choice(baselines) / name, team / name)
            continue
        head, *rows = (baselines[0] / name).read_text("utf-8").splitlines(keepends=True)
        answers = [row.partition(",")[2] for row in rows]
        rng.shuffle(answers)
        lines = [f"{row.partition(',')[0]},{answer}" for row, answer in zip(rows, answers, strict=True)]
        (team / name).write_text("".join([head, *lines]), "utf-8")


def _bundled(name: str, work: Path) -> tuple[str, Path]:
    shutil.copytree(resource("bundles") / name / "data", work / "data")
    return name, work / "data"


def _are(name: str, work: Path) -> tuple[str, Path]:
    """Four texts a task become 21."""
    return _multiplied(name, work, "-news-", [f"-news-{number}" for number in range(1, 5)], 21)


def _seedev(name: str, work: Path) -> tuple[str, Path]:
    """Eight texts a task become 24."""
    return _multiplied(name, work, "-test-", [f"-test-{number}" for number in range(1, 9)], 24)


def _multiplied(name: str, work: Path, mark: str, there: list[str], wanted: int) -> tuple[str, Path]:
    source = _bundled(name, work)
    for number in range(len(there) + 1, wanted + 1):
        old = there[number % len(there)]
        for folder in ("test", "baselines/test", "public"):
            for path in list((source[1] / folder).rglob(f"*{old}[-.]*")):
                shutil.copyfile(path, path.with_name(path.name.replace(old, f"{mark}{number}")))
    return source


def _declared(name: str, work: Path) -> tuple[str, Path]:
    work.mkdir()
    rng = random.Random(name)
    rows = [f"t{number},a text with number {number},{rng.choice(['yes', 'no', 'maybe'])}\n" for number in range(ROWS)]
    (work / "gold.csv").write_text("".join(["id,text,label\n", *rows]))
    command = [sys.executable, "-m", "gen_bundle", "new", "task", "--in", work, "--gold", work / "gold.csv", "--yes"]
    subprocess.run([str(part) for part in command], check=True, capture_output=True)
    data = work / "task/data"
    (baseline,) = (data / "baselines/test").rglob("*.csv")
    head, *lines = baseline.read_text("utf-8").splitlines()
    answers = [f"{line.partition(',')[0]},{rng.choice(['yes', 'no', 'maybe'])}" for line in lines]
    baseline.write_text("\n".join([head, *answers, ""]), "utf-8")
    return str(work / "task"), data


if __name__ == "__main__":
    main()

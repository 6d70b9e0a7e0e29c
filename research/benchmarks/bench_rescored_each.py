"""What `gen-bundle rescore` takes for each of 200 submissions, beside a run of the scoring program for one.

Data of a real task's size: ARE with 84 files, SeeDev with 48, CLARITY with 130 rows, PROCESS with 40, a declared task
with 500. Each submission mixes the answers of the competition's baselines. CLPsych, which runs models, has 50 of a team
that resubmits: a baseline, each time with another tenth of its answers changed. The command's start is left out: the
seconds are those of all submissions less those of a few; but with models it is shared out among the submissions, since
what the first have computed the others need not. CPU seconds of all processes and one thread, since a machine has other
work.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.codabench.runnable import open_bundle, read_competition
from gen_bundle.ground.resources import resource
from research.benchmarks.generated import sentence
from research.benchmarks.wide_models import LAYERS, make_wide_classifier, make_wide_encoder
from tests import tiny_models
from tests.punkt import NLTK_DATA

Source = tuple[str, Path, tuple[str, ...]]
"""A competition, its data, and what is set otherwise."""
ROWS = 500
CHANGED = 10
"""One of so many answers is changed by a resubmission."""


@dataclass(frozen=True)
class Counts:
    """How many submissions are rescored, less how many, and how many are scored alone."""

    many: int = 200
    few: int = 20  # 0: the command's start is shared out among its submissions
    alone: int = 8


def main() -> None:
    """Print the figures of each task."""
    tasks: dict[str, tuple[Callable[[str, Path], Source], Counts]] = {
        "declared": (_declared, Counts()),
        "clarity2026": (_bundled, Counts()),
        "seedev2016": (_seedev, Counts()),
        "are2007": (_are, Counts()),
        "process2025": (_bundled, Counts()),
    }
    if find_spec("torch") is not None:
        tasks["clpsych2025, tiny models"] = (_tiny, Counts(50, 0, 5))
        tasks["clpsych2025, real width"] = (_wide, Counts(50, 0, 2))
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        for name in tasks.keys() & {*sys.argv[1:]} or tasks:
            make, counts = tasks[name]
            _measure(name, make(name, work / name), work / name, counts)


def _measure(name: str, source: Source, work: Path, counts: Counts) -> None:
    competition, data, overrides = source
    build(BuildRequest(competition, work / "bundle.zip", data, overrides=overrides, force=True))
    baselines = sorted(path for path in (data / "baselines" / "test").iterdir() if path.is_dir())
    change = _mixed
    if overrides:
        change = _resubmitted
    for count in (counts.few, counts.many):
        for number in range(count):
            change(baselines, work / f"{count}" / f"team{number:03}", random.Random(f"{count} {number}"))
    start = 0.0
    if counts.few:
        start = _seconds(partial(_rescore, work, counts.few))
    each = (_seconds(partial(_rescore, work, counts.many)) - start) / (counts.many - counts.few)
    opened = read_competition(open_bundle(work / "bundle.zip", work / "opened"))
    (task,) = next(phase for phase in opened.phases if phase.id == "test").tasks
    shutil.unpack_archive(task.file("scoring_program"), work / "program")
    shutil.unpack_archive(task.file("reference_data"), work / "job/ref")
    teams = sorted((work / f"{counts.many}").iterdir())
    _score(work, teams[-1])  # which leaves compiled modules, as the first of many does
    alone = sum(_seconds(partial(_score, work, team)) for team in teams[: counts.alone]) / counts.alone
    largest = max(_difference(work, team.name, counts.many) for team in teams[: counts.alone])
    ratio = alone / each
    print(
        f"{name}: rescore {each:.4f} s a submission, {alone:.3f} s alone: {ratio:.1f} times faster; "
        f"largest difference {largest:.1e}",
        flush=True,
    )


def _difference(work: Path, team: str, count: int) -> float:
    """Between the scores of a team that was rescored and was scored alone; there must be some."""
    (run,) = [
        one for one in json.loads((work / f"out{count}/rescore.json").read_text())["runs"] if one["submission"] == team
    ]
    alone = json.loads((work / f"{team}/output/scores.json").read_text())
    return max([float(abs(alone[key] - value)) for key, value in run["scores"].items()])


def _rescore(work: Path, count: int) -> None:
    places = ["--submissions", work / f"{count}", "--out", work / f"out{count}"]
    options = [*places, "--phase", "test", "--engine", "process"]
    command = [sys.executable, "-m", "gen_bundle", "rescore", work / "bundle.zip", *options]
    _run(command)


def _score(work: Path, team: Path) -> None:
    job = work / team.name
    shutil.copytree(team, job / "res")
    (job / "ref").symlink_to(work / "job/ref")
    _run([sys.executable, work / "program/score.py", job, job / "output"])


def _run(command: Sequence[object]) -> None:
    """Run a command, with the modules that an earlier one has compiled."""
    kept = {"NLTK_DATA": str(NLTK_DATA), **os.environ, "PYTHONDONTWRITEBYTECODE": "", "OMP_NUM_THREADS": "1"}
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


def _resubmitted(baselines: list[Path], team: Path, rng: random.Random) -> None:
    """The last baseline, one of ten posts with other texts."""
    shutil.copytree(baselines[-1], team)
    for file in team.iterdir():
        content = json.loads(file.read_text(encoding="utf-8"))
        for timeline in content.values():
            for post in timeline["post_level"].values():
                if not rng.randrange(CHANGED):
                    post.update(summary=f"{sentence(rng)} {sentence(rng)}", adaptive_evidence=[sentence(rng)])
        file.write_text(json.dumps(content), encoding="utf-8")


def _bundled(name: str, work: Path) -> Source:
    shutil.copytree(resource("bundles") / name / "data", work / "data")
    return name, work / "data", ()


def _tiny(_: str, work: Path) -> Source:
    return _with_models(work, tiny_models.DEBERTA_ENCODER, tiny_models.DEBERTA_V2_NLI)


def _wide(_: str, work: Path) -> Source:
    """Two layers in the shapes of the models that the competition names."""
    work.mkdir()
    return _with_models(work, str(make_wide_encoder(work / "encoder")), str(make_wide_classifier(work / "classifier")))


def _with_models(work: Path, encoder: str, classifier: str) -> Source:
    options = {
        "bertscore.model": encoder,
        "bertscore.num_layers": LAYERS,
        "bertscore.baseline": tiny_models.BASELINE,
        "nli.model": classifier,
        "device": "cpu",
    }
    name, data, _ = _bundled("clpsych2025", work)
    return name, data, tuple(f"options.{key}={json.dumps(value)}" for key, value in options.items())


def _are(name: str, work: Path) -> Source:
    """Four texts a task become 21."""
    return _multiplied(name, work, "-news-", [f"-news-{number}" for number in range(1, 5)], 21)


def _seedev(name: str, work: Path) -> Source:
    """Eight texts a task become 24."""
    return _multiplied(name, work, "-test-", [f"-test-{number}" for number in range(1, 9)], 24)


def _multiplied(name: str, work: Path, mark: str, there: list[str], wanted: int) -> Source:
    source = _bundled(name, work)
    for number in range(len(there) + 1, wanted + 1):
        old = there[number % len(there)]
        for folder in ("test", "baselines/test", "public"):
            for path in list((source[1] / folder).rglob(f"*{old}[-.]*")):
                shutil.copyfile(path, path.with_name(path.name.replace(old, f"{mark}{number}")))
    return source


def _declared(name: str, work: Path) -> Source:
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
    return str(work / "task"), data, ()


if __name__ == "__main__":
    main()

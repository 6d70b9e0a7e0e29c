"""Many submissions scored by one warm worker, against a run of its own for each: CPU seconds a submission.

The submissions are those of a team that resubmits: the competition's own baseline for its synthetic test phase, each
time with another tenth of the answers changed. What a worker takes to start is shared out among its submissions.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from gen_bundle.build.package.phase_data import prepare_phases
from gen_bundle.build.package.programs import program_members
from gen_bundle.build.package.resolve import resolve
from gen_bundle.ground.resources import resource
from gen_bundle.ground.zips.writing import write_zip
from research.benchmarks.generated import sentence
from research.benchmarks.wide_models import LAYERS, make_wide_classifier, make_wide_encoder
from tests import tiny_models
from tests.generator.after.rescore.warm import WarmWorker
from tests.punkt import NLTK_DATA

WITH_MODELS = 50
CHANGED = 10
"""One of so many answers is changed by a resubmission."""
ENVIRONMENT = {"NLTK_DATA": str(NLTK_DATA), **os.environ, "OMP_NUM_THREADS": "1"}
Change = Callable[[str, random.Random], str]


@dataclass(frozen=True)
class Program:
    """An unpacked scoring program with the reference data of its test phase, and the baseline to start from."""

    folder: Path
    reference: Path
    baseline: Path


def main() -> None:
    """Measure CLPsych 2025 with tiny models and at real width."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        if find_spec("torch") is None:
            print("needs the models' packages: make test-scoring installs them")
            return
        tiny = _program(work, "clpsych2025", None, _models(tiny_models.DEBERTA_ENCODER, tiny_models.DEBERTA_V2_NLI))
        _compare("clpsych2025, tiny models", tiny, _other_texts, WITH_MODELS, every=5)
        encoder, classifier = make_wide_encoder(work / "encoder"), make_wide_classifier(work / "classifier")
        wide = _program(work, "clpsych2025", None, _models(str(encoder), str(classifier)))
        _compare("clpsych2025, real width", wide, _other_texts, WITH_MODELS, every=25)


def _models(encoder: str, classifier: str) -> dict[str, object]:
    """CLPsych's options for models that are folders, run by one thread of the CPU."""
    return {
        "bertscore.model": encoder,
        "bertscore.num_layers": LAYERS,
        "bertscore.baseline": tiny_models.BASELINE,
        "nli.model": classifier,
        "device": "cpu",
    }


def _program(work: Path, name: str, task: str | None, options: Mapping[str, object]) -> Program:
    overrides = tuple(f"options.{key}={json.dumps(value)}" for key, value in options.items())
    layout = "separate" if task else "joint"
    competition = resolve(resource("bundles") / name, layout=layout, overrides=overrides)
    competition = competition.only(task) if task else competition
    place = Path(tempfile.mkdtemp(dir=work))
    data = next(phase for phase in prepare_phases(competition, place) if phase.phase.id == "test")
    (part,) = competition.parts
    write_zip(place / "program.zip", program_members(competition, part))
    shutil.unpack_archive(place / "program.zip", place / "program")
    baselines = resource("bundles") / name / "data" / "baselines" / "test"
    return Program(place / "program", data.gold.references[part.id], max(baselines.iterdir()))


def _compare(what: str, program: Program, change: Change, submissions: int, every: int) -> None:
    """Score all submissions warm, every so many-th one also by itself, and print the ratio."""
    work = program.folder.parent / "jobs"
    jobs = [_job(work / str(i), program, change, random.Random(i)) for i in range(submissions)]
    log = program.folder.parent / "worker.log"
    before = _children()
    with WarmWorker(program.folder, program.reference, log=log, environment=ENVIRONMENT) as worker:
        for job in jobs:
            answer = worker.ask(job, seconds=3600.0)
            assert answer is not None, log.read_text(encoding="utf-8")
            assert answer["exit_code"] == 0, (job / "stderr").read_text(encoding="utf-8")
    warm = (_children() - before) / submissions
    largest, alone = 0.0, jobs[::every]
    before = _children()
    for job in alone:
        arguments = [sys.executable, str(program.folder / "score.py"), str(job / "input"), str(job / "alone")]
        subprocess.run(arguments, cwd=program.folder, check=True, capture_output=True, env=ENVIRONMENT)
    single = (_children() - before) / len(alone)
    for job in alone:
        ours, theirs = (json.loads((job / place / "scores.json").read_bytes()) for place in ("output", "alone"))
        largest = max([largest, *(abs(ours[key] - theirs[key]) for key in theirs)])
    print(
        f"{what}: {submissions} warm {warm:.4f} s CPU each, {len(alone)} of them alone {single:.3f} s each: "
        f"{single / warm:.1f} times faster, largest difference {largest:.1e}",
        flush=True,
    )


def _children() -> float:
    """CPU seconds of all processes that were started here and have ended."""
    spent = getrusage(RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _job(folder: Path, program: Program, change: Change, rng: random.Random) -> Path:
    for source in sorted(path for path in program.baseline.rglob("*") if path.is_file()):
        target = folder / "input" / "res" / source.relative_to(program.baseline)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(change(source.read_text(encoding="utf-8"), rng), encoding="utf-8")
    (folder / "input" / "ref").symlink_to(program.reference)
    return folder


def _other_texts(text: str, rng: random.Random) -> str:
    def change(post: dict[str, object]) -> None:
        post["summary"] = f"{sentence(rng)} {sentence(rng)}"
        post["adaptive_evidence"] = [sentence(rng)]

    return _posts_changed(text, rng, change)


def _posts_changed(text: str, rng: random.Random, change: Callable[[dict[str, object]], None]) -> str:
    content = json.loads(text)
    for timeline in content.values():
        for post in timeline["post_level"].values():
            if not rng.randrange(CHANGED):
                change(post)
    return json.dumps(content)

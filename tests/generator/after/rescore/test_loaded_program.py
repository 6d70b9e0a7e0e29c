"""Programs of ours stay loaded: every result is that of a run by itself, whatever was scored before."""

import os
import random
import shutil
import signal
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from gen_bundle.after.rescore import loaded_program as module
from gen_bundle.after.rescore.loaded_program import SCORE_IN_TURN, loaded_program
from gen_bundle.after.rescore.scoring_job import JobResult, OpenedBundle, ScoringJob, job_for, opened_bundle, score
from gen_bundle.after.rescore.workers import Desk
from gen_bundle.build.building import BuildRequest, build
from gen_bundle.cli import root
from gen_bundle.dry_run import layout
from gen_bundle.dry_run.engines.process import ProcessEngine
from gen_bundle.ground.resources import resource
from tests.generator.after.rescore.given import counting, runs_of
from tests.generator.competition import small_competition
from tests.generator.dry_run.bundles import Bundle, write_files, write_zip
from tests.generator.dry_run.in_process import ForkedEngine
from tests.sweeps import sweep

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("kept_organisers"),
    pytest.mark.skipif(sys.platform != "linux", reason="/proc tells which processes there are"),
]
BUNDLED = ("clarity2026", "process2025", "seedev2016", "are2007")
DECLARED = ("conll2003", "emoint", "semeval2018-1-e-c", "hotpotqa")
"""Real tasks that need no Python, with tags, numbers, sets of labels, and texts."""


def alone(job: ScoringJob, work: Path) -> JobResult:
    return score(job, ProcessEngine(), work)


def loaded() -> list[int]:
    """The processes that have a program loaded, of this one's."""
    found = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    children = [int(child) for file in found for child in file.read_text().split()]
    return [child for child in children if SCORE_IN_TURN.name in Path(f"/proc/{child}/cmdline").read_text()]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    (tmp_path / "desk").mkdir()
    with closing(Desk(tmp_path / "desk")) as opened:
        yield opened
    assert loaded() == []


@pytest.mark.parametrize("name", sweep([*BUNDLED, *DECLARED], [DECLARED[1]]))
def test_every_result_is_that_of_a_single_run_in_any_order(name: str, desk: Desk, tmp_path: Path) -> None:
    folder = resource("bundles") / name
    if name in DECLARED:
        folder = tmp_path / name
        done = CliRunner().invoke(root, ["new", name, "--like", name, "--in", str(tmp_path)])
        assert done.exit_code == 0, done.output
    build(BuildRequest(str(folder), out=tmp_path / "bundle.zip"))
    bundle = opened_bundle(tmp_path / "bundle.zip", "test", tmp_path / "opened", ProcessEngine())
    chance = random.Random(name)
    for number, baseline in enumerate(sorted((folder / "data" / "baselines" / "test").iterdir())):
        for spoilt in range(3):
            place = tmp_path / "sent" / f"{number}-{spoilt}"
            if baseline.is_dir():
                shutil.copytree(baseline, place)
            else:
                place.mkdir(parents=True)
                shutil.copy(baseline, place)
            if spoilt:
                _spoil(place, chance)
    sent = [*sorted((tmp_path / "sent").iterdir()), write_zip(tmp_path / "empty.zip", {})]
    jobs = [job_for(bundle.scorers[0], path, path.name) for path in sent]
    expected = {job.digest: score(job, ForkedEngine(), tmp_path) for job in jobs}
    finished = [job for job in jobs if expected[job.digest].status == "Finished"]
    assert 0 < len(finished) < len(jobs)
    chance.shuffle(jobs)
    for job in [*jobs, *finished]:  # what fails gets a run of its own each time
        assert desk.score(job) == expected[job.digest]
    assert len(loaded()) == (not (folder / "metrics.py").exists())  # code of its own is started anew


def _spoil(folder: Path, chance: random.Random) -> None:
    """Replace some bytes of a file."""
    file = chance.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    content = bytearray(file.read_bytes())
    for _ in range(chance.choice((1, 20))):
        content[chance.randrange(len(content))] = chance.choice(b'\x00\xff"{},9aE \n')
    file.write_bytes(content)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> OpenedBundle:
    """A program with an organiser's code, which does what a submission's `act.txt` asks."""
    place = tmp_path_factory.mktemp("acting")
    competition = small_competition(place)
    code = competition / "my_task" / "submission.py"
    acting = '    act = files.paths.get("act.txt")\n    exec(act.read_text() if act else "", globals())\n'
    text = code.read_text(encoding="utf-8").replace("    path = files", f"{acting}    path = files")
    code.write_text(f"import os, signal, sys, time\n{text.replace('from __future__ import annotations', '')}")
    build(BuildRequest(str(competition), out=place / "bundle.zip"))
    opened = opened_bundle(place / "bundle.zip", "test", place / "opened", ProcessEngine(), trust=True)
    return replace(opened, scorers=(replace(opened.scorers[0], seconds=3),))


ACTS = {
    "fails": "raise ValueError('GOLD')",
    "ends the process": "os._exit(7)",
    "ends well without scores": "sys.exit()",
    "crashes": "os.kill(os.getpid(), signal.SIGSEGV)",
    "hangs": "time.sleep(300)",
    "closes files": "os.closerange(3, 200)",
    "writes into files": "for n in range(3, 40):\n    try: os.write(n, b'0\\n')\n    except OSError: pass",
}
"""What a scorer may do to the process that it runs in."""


def sent(bundle: OpenedBundle, folder: Path, act: str) -> ScoringJob:
    """A submission that is right, and does something else besides."""
    baselines = small_competition(folder.with_name("source")) / "data" / "baselines" / "test"
    answers = (baselines / "majority" / "predictions.csv").read_text(encoding="utf-8")
    write_files(folder, {"predictions.csv": answers, "act.txt": act})
    return job_for(bundle.scorers[0], folder, folder.name)


@pytest.mark.parametrize("act", sweep(ACTS, ["fails", "ends the process", "closes files"]))
def test_what_ends_or_breaks_the_process_is_told_by_a_run_of_its_own_and_the_next_does_not_notice(
    act: str, bundle: OpenedBundle, desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, acting = sent(bundle, tmp_path / "plain", ""), sent(bundle, tmp_path / "acting", ACTS[act])
    expected = [alone(plain, tmp_path), alone(acting, tmp_path)]
    monkeypatch.setattr(module, "is_ours", lambda _: True)
    again = 1 if act == "hangs" else 2  # which waits to the limit each time
    assert [desk.score(job) for job in (plain, acting) * again] == expected * again
    assert expected[0].status == "Finished"
    assert desk.score(plain) == expected[0]
    assert len(loaded()) == 1


def test_gold_that_cannot_be_loaded_is_told_by_runs_of_their_own(
    bundle: OpenedBundle, desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = write_files(tmp_path / "gold", {"gold.csv": "id,label\nt1,CANARY\n"})
    scorer = replace(bundle.scorers[0], task=bundle.scorers[0].task.with_file("reference_data", gold), files="other")
    job = replace(sent(bundle, tmp_path / "plain", ""), scorer=scorer)
    monkeypatch.setattr(module, "is_ours", lambda _: True)
    assert [desk.score(job), desk.score(job)] == [alone(job, tmp_path)] * 2
    assert loaded() == []


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> OpenedBundle:
    """A bundle whose program is nothing but the tool's own code."""
    place = tmp_path_factory.mktemp("ours")
    build(BuildRequest("clarity2026", out=place / "bundle.zip"))
    return opened_bundle(place / "bundle.zip", "test", place / "opened", ProcessEngine())


@pytest.fixture
def job(ours: OpenedBundle) -> ScoringJob:
    (answers,) = (resource("bundles") / "clarity2026" / "data" / "baselines" / "test").glob("good/*.csv")
    return job_for(ours.scorers[0], answers, "good")


def test_a_submission_is_unpacked_and_not_copied(desk: Desk, job: ScoringJob, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = desk.score(job)
    monkeypatch.delattr(layout, "_lay_over")
    assert desk.score(job) == expected


def test_a_process_that_is_killed_takes_no_submission_with_it(desk: Desk, job: ScoringJob) -> None:
    expected = desk.score(job)
    (process,) = loaded()
    os.kill(process, signal.SIGKILL)
    assert [desk.score(job), desk.score(job)] == [expected] * 2
    assert len({process, *loaded()}) == 2


def test_memory_and_open_files_stay_flat(desk: Desk, job: ScoringJob) -> None:
    for _ in range(20):
        desk.score(job)
    (process,) = loaded()
    before = _open_files_and_memory(process)
    for _ in range(80):
        desk.score(job)
    after = _open_files_and_memory(process)
    assert after[0] == before[0]
    assert after[1] - before[1] < 1024, "kB"


def _open_files_and_memory(process: int) -> tuple[int, int]:
    """How many files it has open, and its memory in kB."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return len(list(Path(f"/proc/{process}/fd").iterdir())), int(status.partition("VmRSS:")[2].split()[0])


def test_an_ingestion_program_is_run_for_each(desk: Desk, job: ScoringJob, tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    files = {"metadata.yaml": "command: python3 /app/program/ingest.py", "ingest.py": counting(counter, "")}
    files["program.json"] = f'{{"options": {{"cache": "{tmp_path}"}}}}'  # a folder that it sees
    task = job.scorer.task.with_file("ingestion_program", write_files(tmp_path / "ingestion", files))
    given = replace(job, scorer=replace(job.scorer, task=task, files="other"))
    assert [desk.score(given), desk.score(given)] == [alone(given, tmp_path)] * 2
    assert runs_of(counter) == 3
    assert len(loaded()) == 1


def _no_frame(program: Path) -> None:
    shutil.rmtree(program)
    shutil.copytree(Bundle().write(program.parent / "other") / "program", program)


CHANGES: dict[str, Callable[[Path], object]] = {
    "nothing": lambda program: None,
    "another's program": _no_frame,
    "another command": lambda program: write_files(program, {"metadata.yaml": "command: python3 score.py -v"}),
    "a packed wheel": lambda program: write_files(program, {"site/other.py": ""}),
    "changed code": lambda program: write_files(program, {"clarity2026/submission.py": "STATE = []\n"}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_only_the_tools_own_code_scores_several_in_one_process(change: str, ours: OpenedBundle, tmp_path: Path) -> None:
    scorer, program = ours.scorers[0], tmp_path / "program"
    with zipfile.ZipFile(scorer.task.file("scoring_program")) as packed:
        packed.extractall(program)
    CHANGES[change](program)
    kept = tmp_path / "kept"
    given = replace(scorer, task=scorer.task.with_file("scoring_program", program))
    assert (loaded_program(given, kept) is not None) is (change == "nothing")
    assert loaded_program(replace(given, python=sys.executable), kept) is None

"""What is the machine's fault, and what the submission's: the first is never a result."""

import errno
import os
import re
import shutil
import subprocess
from collections import namedtuple
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gen_bundle.after.rescore import workers
from gen_bundle.after.rescore.scoring_job import (
    JobResult,
    LostError,
    OpenedBundle,
    Scorer,
    ScoringJob,
    job_for,
    opened_bundle,
    score,
)
from gen_bundle.after.rescore.workers import ATTEMPTS, HOPELESS, Desk, Workers, run
from gen_bundle.dry_run import layout
from gen_bundle.dry_run.engines import Container, Ended, EngineError, LineListener
from gen_bundle.dry_run.engines.docker import pinned_name
from gen_bundle.dry_run.engines.isolation import why_not
from gen_bundle.dry_run.engines.process import ProcessEngine
from gen_bundle.ground.errors import UserError
from tests.generator.after.rescore.given import NOWHERE, OPTIONS, TEAMS, content, rescored, submissions
from tests.generator.dry_run.bundles import ACCURACY, Bundle, write_zip


@pytest.fixture
def bundle(tmp_path: Path) -> OpenedBundle:
    return opened_bundle(Bundle().write(tmp_path / "bundle"), "test", tmp_path / "opened", ProcessEngine(), trust=True)


@pytest.fixture
def scorer(bundle: OpenedBundle) -> Scorer:
    return bundle.scorers[0]


@pytest.fixture
def job(scorer: Scorer, tmp_path: Path) -> ScoringJob:
    return job_for(scorer, submissions(tmp_path, {"ant": TEAMS["ant"]}) / "ant.zip", "ant")


class GoneEngine(ProcessEngine):
    """An engine that does not answer any more."""

    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        raise EngineError("the engine does not answer: start it again")


def test_an_engine_that_is_gone(job: ScoringJob, tmp_path: Path) -> None:
    with pytest.raises(LostError, match="the engine does not answer: start it again"):
        score(job, GoneEngine(), tmp_path)


def test_a_full_disk(job: ScoringJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(layout, "unpack", full)
    with pytest.raises(LostError, match="No space left on device"):
        score(job, ProcessEngine(), tmp_path)


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.ENOMEM, errno.EMFILE])
def test_a_machine_that_starts_no_process(
    job: ScoringJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    engine = ProcessEngine(keep_apart=False)

    def refused(*_: object, **_more: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(subprocess, "Popen", refused)
    with pytest.raises(LostError, match=os.strerror(number)):
        score(job, engine, tmp_path)


@pytest.mark.slow
def test_an_ingestion_program_that_is_killed(tmp_path: Path) -> None:
    """The platform scores what it has left, which would be a result of this machine's memory."""
    ingest = "import os\nopen('/app/output/pred.txt', 'w').write('0 0 0 0')\nos.kill(os.getpid(), 9)\n"
    folders = {"ingest": {"ingest.py": ingest, "metadata.yaml": "command: python3 /app/program/ingest.py"}}
    bundle = Bundle(task={"ingestion_program": "ingest"}, folders=folders).write(tmp_path / "bundle")
    opened = opened_bundle(bundle, "test", tmp_path / "opened", ProcessEngine(), trust=True)
    submission = submissions(tmp_path, {"ant": TEAMS["ant"]}) / "ant.zip"
    with pytest.raises(LostError, match=r"the ingestion program was killed \(exit code 137\)") as lost:
        score(job_for(opened.scorers[0], submission, "ant"), ProcessEngine(), tmp_path)
    assert lost.value.killed


@pytest.mark.slow
def test_a_program_that_fails_on_a_full_disk(job: ScoringJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "teams" / "ant.zip").unlink()
    failing = replace(job, submission=submissions(tmp_path, {"ant": TEAMS["eel"]}) / "ant.zip")
    assert score(failing, ProcessEngine(), tmp_path).status == "Failed"
    usage = namedtuple("usage", ("total", "used", "free"))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(1, 1, 0))
    with pytest.raises(LostError, match=re.escape(f"{tmp_path}: no space left on the disk")):
        score(failing, ProcessEngine(), tmp_path)


def test_a_damaged_zip_is_the_submissions_fault(scorer: Scorer, tmp_path: Path) -> None:
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04 no zip")
    ended = score(job_for(scorer, tmp_path / "bad.zip", "bad"), ProcessEngine(), tmp_path)
    assert (ended.status, ended.exit_code, ended.sent) == ("Failed", None, None)


@pytest.mark.slow
def test_a_message_names_no_folder_of_this_machine(scorer: Scorer, tmp_path: Path) -> None:
    """Else the same submission would fail with another text each time."""
    file = submissions(tmp_path, {"ant": TEAMS["eel"]}) / "ant.zip"
    first, second = (score(job_for(scorer, file, "ant"), ProcessEngine(), tmp_path) for _ in range(2))
    assert 'File "/app/program/score.py"' in first.message
    assert first == second


def test_a_submission_that_is_gone(scorer: Scorer, tmp_path: Path) -> None:
    with closing(Desk(tmp_path)) as desk, pytest.raises(LostError, match=r"gone\.zip"):
        desk.score(job_for(scorer, tmp_path / "gone.zip", "gone"))


def test_a_bug_of_ours_ends_one_job_alone(job: ScoringJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    with closing(Desk(tmp_path)) as desk:
        with monkeypatch.context() as patched:
            patched.setattr(workers, "score", broken)
            with pytest.raises(LostError, match="a bug in gen-bundle: ZeroDivisionError") as lost:
                desk.score(job)
        assert lost.value.final
        assert desk.score(job).status == "Finished"


def test_another_environment_scores_nothing(scorer: Scorer, job: ScoringJob, tmp_path: Path) -> None:
    other = replace(scorer, environment={**scorer.environment, "numpy": "0.1"})
    with closing(Desk(tmp_path)) as desk:
        with pytest.raises(LostError, match=r"versions do not match: numpy 0\.1 here, "):
            desk.score(replace(job, scorer=other))
        assert desk.score(job).status == "Finished"


class Losing:
    """Workers that lose some jobs."""

    def __init__(self, lost: set[str], *, final: bool = False, killed: bool = False) -> None:
        self.lost, self.final, self.killed = lost, final, killed
        self.seen: list[str] = []
        self.workers = Workers(self.submit, lambda: 2)

    def submit(self, job: ScoringJob) -> Future[JobResult]:
        self.seen.append(job.digest)
        ended: Future[JobResult] = Future()
        if job.digest in self.lost:
            ended.set_exception(LostError("gone", self.final, self.killed))
        else:
            ended.set_result(JobResult("Finished", 0, {}, ""))
        return ended


@pytest.fixture
def jobs(scorer: Scorer) -> list[ScoringJob]:
    return [ScoringJob(str(number), scorer, NOWHERE) for number in range(6)]


def ran(jobs: list[ScoringJob], workers: Losing) -> Iterator[str]:
    return (job.digest for job, ended in run(jobs, workers.workers, lambda _: None) if isinstance(ended, JobResult))


def test_a_lost_job_is_tried_so_often_and_others_are_not_held_up(jobs: list[ScoringJob]) -> None:
    workers = Losing({"1", "4"})
    assert sorted(ran(jobs, workers)) == ["0", "2", "3", "5"]
    assert workers.seen.count("1") == workers.seen.count("4") == ATTEMPTS
    lines: list[str] = []
    list(run(jobs[:1], Losing({"0"}, final=True).workers, lines.append))
    assert lines == [f"{NOWHERE.name}: gone. Given up after 1 attempt."]


def test_where_all_jobs_get_lost_it_ends(jobs: list[ScoringJob]) -> None:
    workers = Losing({str(number) for number in range(6)}, final=True)
    with pytest.raises(UserError, match=r"jobs in a row could not be run.*gone"):
        list(ran(jobs, workers))
    assert len(workers.seen) <= HOPELESS + 2


def test_programs_that_are_killed_do_not_end_it(jobs: list[ScoringJob]) -> None:
    """Else a few submissions that take too much memory would keep all others from a report."""
    assert sorted(ran(jobs, Losing({"0", "1", "2", "3"}, killed=True))) == ["4", "5"]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"RepoDigests": ["localhost/x@sha256:1", "org/x@sha256:2"], "Id": "sha256:3"}, "org/x@sha256:2"),
        ({"RepoDigests": [], "Id": "sha256:3"}, "sha256:3"),
        ({}, "org/x:1"),
    ],
)
def test_an_image_by_its_digest(found: dict[str, object], expected: str) -> None:
    assert pinned_name("org/x:1", found) == expected


ATTACK = """\
import os, signal
from pathlib import Path
found = 0
for entry in Path("/proc").iterdir():        # an ancestor's command names --out
    if entry.name.isdigit() and b"rescore" in (entry / "cmdline").read_bytes():
        found += 1
for place in (OUT, "/app/program", "/app/ingested_program"):
    for file in Path(place).rglob("*.json"):
        found += 1
        file.write_text(file.read_text().replace("0.75", "0.01"))
for number in range(3, 400):                 # whoever else is there
    try:
        os.kill(number, signal.SIGKILL)
        found += 1
    except OSError:
        pass
open("/app/output/pred.txt", "w").write(f"{found} 0 0 0")
"""


@pytest.mark.slow
@pytest.mark.skipif(bool(why_not()), reason=f"kept apart: {why_not()}")
def test_a_submission_changes_no_stored_result(tmp_path: Path) -> None:
    """Submitted code that knows where the results are, and runs when those of others are there."""
    out = tmp_path / "out"
    ingest = "import runpy\nrunpy.run_path('/app/ingested_program/model.py')\n"
    folders = {
        "ingest": {"ingest.py": ingest, "metadata.yaml": "command: python3 /app/program/ingest.py"},
        "inputs": {"x.txt": ""},
    }
    task = {"ingestion_program": "ingest", "input_data": "inputs"}
    scorer = f"print(open('../input/res/pred.txt').read())\n{ACCURACY}"
    bundle = Bundle(scorer, task=task, folders=folders).write(tmp_path / "bundle")
    good = "open('/app/output/pred.txt', 'w').write('1 0 1 0')\n"
    for name, code in (("a-good", good), ("b-evil", ATTACK.replace("OUT", repr(str(out))))):
        write_zip(tmp_path / "teams" / f"{name}.zip", {"model.py": code})
    for _ in range(2):
        done = rescored(bundle, "--submissions", tmp_path / "teams", *OPTIONS, "--out", out)
        assert done.exit_code == 0, done.output
        scores = {run["submission"]: run["scores"] for run in content(out)["runs"]}
        assert scores == {"a-good": {"acc": 0.75}, "b-evil": {"acc": 0.25}}  # 0 found: the first figure
        kept = [file.read_text() for file in sorted((out / "results").rglob("*.json"))]
        assert [text for text in kept if "0.01" in text] == []

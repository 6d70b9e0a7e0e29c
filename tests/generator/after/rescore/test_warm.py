"""Our own programs serve: gold and modules are loaded once, and every result is that of a run by itself."""

import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from gen_bundle.after.rescore import workers
from gen_bundle.after.rescore.scoring_job import JobResult, OpenedBundle, ScoringJob, job_for, opened_bundle, score
from gen_bundle.after.rescore.submissions import is_plain
from gen_bundle.after.rescore.workers import FRAME, ScoringDesk, WarmProcess, keeps_nothing, serve
from gen_bundle.build.building import BuildRequest, build
from gen_bundle.dry_run.engines.process import ProcessEngine
from gen_bundle.ground.resources import resource
from gen_bundle.ground.zips.unpacking import BUNDLE, unpack
from tests.generator.after.rescore.given import counting, runs_of
from tests.generator.competition import small_competition
from tests.generator.dry_run.bundles import Bundle, write_files, write_zip

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("kept_organisers"),
    pytest.mark.skipif(sys.platform != "linux", reason="a program serves on Linux alone"),
]
HEAD = "id,label\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("warm")


@pytest.fixture(scope="module")
def bundle(place: Path) -> OpenedBundle:
    competition = small_competition(place)
    build(BuildRequest(str(competition), out=place / "bundle.zip"))
    return opened_bundle(place / "bundle.zip", "test", place / "opened", ProcessEngine(), trust=True)


@pytest.fixture(scope="module")
def jobs(place: Path, bundle: OpenedBundle) -> list[ScoringJob]:
    """A good submission, a poor one, and two that are wrong in other ways."""
    good = (place / "my-task" / "data" / "baselines" / "test" / "majority" / "predictions.csv").read_text()
    texts = {"good": good, "poor": good.replace("neutral", "negative"), "short": good[:200], "empty": HEAD}
    files = [write_zip(place / "sent" / f"{name}.zip", {"predictions.csv": text}) for name, text in texts.items()]
    return [job_for(bundle.scorers[0], file, file.stem) for file in files]


@pytest.fixture(scope="module")
def expected(jobs: list[ScoringJob], place: Path) -> list[JobResult]:
    """What runs by themselves give."""
    return [alone(job, place) for job in jobs]


@pytest.fixture
def desk() -> Iterator[ScoringDesk]:
    with ScoringDesk() as opened:
        yield opened


def alone(job: ScoringJob, work: Path) -> JobResult:
    result = score(job, ProcessEngine(), work)
    assert isinstance(result, JobResult)
    return result


def test_the_results_are_those_of_single_runs(
    desk: ScoringDesk, jobs: list[ScoringJob], expected: list[JobResult]
) -> None:
    warm = [desk.score(job) for job in jobs]
    assert desk.serves
    assert warm == expected
    assert [result.status for result in warm if isinstance(result, JobResult)] == ["Finished"] * 2 + ["Failed"] * 2


def test_an_ingestion_program_is_run_for_each(desk: ScoringDesk, jobs: list[ScoringJob], tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    files = {"metadata.yaml": "command: python3 /app/program/ingest.py", "ingest.py": counting(counter, "")}
    files["program.json"] = json.dumps({"options": {"cache": str(tmp_path)}})  # a folder that it sees
    task = jobs[0].scorer.task.with_file("ingestion_program", write_files(tmp_path / "ingestion", files))
    given = [replace(job, scorer=replace(job.scorer, task=task, files="other")) for job in jobs[1:3]]
    warm = [desk.score(job) for job in given]
    assert desk.serves
    assert runs_of(counter) == len(given)
    assert warm == [alone(job, tmp_path) for job in given]


def test_one_process_serves_many(
    jobs: list[ScoringJob], expected: list[JobResult], bundle: OpenedBundle, tmp_path: Path
) -> None:
    served = serve(bundle.scorers[0], tmp_path / "kept", tmp_path)
    assert isinstance(served, WarmProcess)
    try:
        results = [score(replace(job, scorer=served.scorer), served, tmp_path) for job in jobs]
    finally:
        served.close()
    assert results == expected


def test_a_process_that_dies_takes_no_submission_with_it(
    desk: ScoringDesk, jobs: list[ScoringJob], expected: list[JobResult]
) -> None:
    assert desk.score(jobs[0]) == expected[0]
    assert desk.serves
    os.kill(desk.serves, signal.SIGKILL)
    assert desk.score(jobs[0]) == expected[0]
    assert desk.score(jobs[0]) == expected[0]
    assert desk.serves


def test_nothing_is_left(jobs: list[ScoringJob]) -> None:
    with ScoringDesk() as desk:
        desk.score(jobs[0])
        served = desk.serves
        assert served
    with pytest.raises(ProcessLookupError):
        os.kill(served, 0)


@pytest.fixture(scope="module")
def ours(place: Path) -> OpenedBundle:
    """A bundle whose program is nothing but the tool's own code."""
    build(BuildRequest("clarity2026", out=place / "ours.zip"))
    return opened_bundle(place / "ours.zip", "test", place / "ours", ProcessEngine())


ODD = {
    "nothing": True,
    "junk": True,
    "answers that are refused": True,
    "a link": False,
    "a linked folder": False,
    "an empty folder": False,
    "names for Windows": False,
    "a name that leaves": False,
    "a program's name": False,
    "no files": False,
    "a pipe": False,
}
"""What is odd about a folder, and whether it is read where it is."""


def odd_folder(folder: Path, odd: str) -> Path:
    """A submission to CLARITY as a folder with something odd in it."""
    (answers,) = (resource("bundles") / "clarity2026" / "data" / "baselines" / "test").glob("good/*.csv")
    (folder / "below").mkdir(parents=True)
    shutil.copy(answers, folder / "below")
    if odd == "junk":
        (folder / "below" / ".DS_Store").write_text("")
    elif odd == "answers that are refused":
        (folder / "below" / answers.name).write_text(answers.read_text()[:200])
    elif odd == "a link":
        (folder / "link.csv").symlink_to(answers)
    elif odd == "a linked folder":
        (folder / "linked").symlink_to(folder / "below")
    elif odd == "an empty folder":
        (folder / "empty").mkdir()
    elif odd == "names for Windows":
        (folder / "below\\other.txt").write_text("2")
        (folder / "C:drive.txt").write_text("3")
    elif odd == "a name that leaves":
        (folder / "below\\..\\..\\other.txt").write_text("2")
    elif odd == "a program's name":
        (folder / "metadata.yaml").write_text("command: python3 main.py")
    elif odd == "no files":
        shutil.rmtree(folder / "below")
    elif odd == "a pipe":
        os.mkfifo(folder / "below" / "pipe")
    return folder


@pytest.mark.parametrize("odd", ODD)
def test_a_folder_that_is_read_where_it_is_ends_as_its_zip(odd: str, ours: OpenedBundle, tmp_path: Path) -> None:
    folder = odd_folder(tmp_path / "team", odd)
    assert is_plain(folder) is ODD[odd]
    before = [(path, path.lstat().st_mtime_ns) for path in folder.rglob("*")]
    job = job_for(ours.scorers[0], folder, odd)
    with ScoringDesk() as desk:
        assert desk.score(job) == alone(job, tmp_path)
        assert desk.score(job) == alone(job, tmp_path)
        assert desk.serves
    assert [(path, path.lstat().st_mtime_ns) for path in folder.rglob("*")] == before


def test_a_sound_folder_is_not_laid_out(ours: OpenedBundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_for(ours.scorers[0], odd_folder(tmp_path / "team", "junk"), "junk")
    expected = alone(job, tmp_path)
    with ScoringDesk() as desk:
        assert desk.score(job) == expected
        monkeypatch.setattr(workers, "score", None)
        assert desk.score(job) == expected


def test_folders_that_follow_each_other_share_no_outputs(ours: OpenedBundle, tmp_path: Path) -> None:
    kinds = ("nothing", "answers that are refused", "junk")
    sent = [job_for(ours.scorers[0], odd_folder(tmp_path / kind, kind), kind) for kind in kinds]
    with ScoringDesk() as desk:
        first = desk.score(sent[0])
        found = [*desk.score_all(sent), *desk.score_all([*reversed(sent)])]
    expected = [alone(job, tmp_path) for job in sent]
    assert [first, *found] == [expected[0], *expected, *reversed(expected)]
    assert [result.status for result in expected] == ["Finished", "Failed", "Finished"]


def test_a_process_that_does_not_answer_is_asked_no_more(
    ours: OpenedBundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_for(ours.scorers[0], odd_folder(tmp_path / "team", "nothing"), "nothing")
    expected = alone(job, tmp_path)
    waits = []

    def nothing_comes(*_: object) -> tuple[list[object], list[object], list[object]]:
        waits.append("for an answer")
        return [], [], []

    with ScoringDesk() as desk:
        assert desk.score(job) == expected
        assert desk.serves
        monkeypatch.setattr(workers, "select", SimpleNamespace(select=nothing_comes))
        assert desk.score(job) == expected
        assert waits == ["for an answer"] * 2  # of a new process, too
        assert not desk.serves


def test_only_the_tools_own_code_scores_several_in_one_process(tmp_path: Path) -> None:
    program = tmp_path / "program"
    shutil.copytree(resource("scoring_programs") / "clarity2026", program / "clarity2026")
    (program / "program.json").write_text("{}")
    assert keeps_nothing(program)
    (program / "site").mkdir()
    assert keeps_nothing(program)
    (program / "site" / "other.py").write_text("")
    assert not keeps_nothing(program)
    (program / "site" / "other.py").unlink()
    (program / "clarity2026" / "submission.py").write_text("STATE = []\n")
    assert not keeps_nothing(program)


@pytest.mark.parametrize("foreign", ["no frame", "another command", "another's program", "not trusted"])
def test_other_programs_run_by_themselves(bundle: OpenedBundle, tmp_path: Path, foreign: str) -> None:
    scorer = bundle.scorers[0]
    if foreign == "another's program":
        program = Bundle().write(tmp_path / "bundle") / "program"
    else:
        program = tmp_path / "program"
        unpack(scorer.task.file("scoring_program"), program, BUNDLE)
        if foreign == "no frame":
            (program / FRAME).unlink()
        elif foreign == "another command":
            (program / "metadata.yaml").write_text("command: python3 /app/program/score.py /app/input /app/output -v")
    task = scorer.task.with_file("scoring_program", program)
    trusted = foreign != "not trusted"
    assert serve(replace(scorer, task=task, trusted=trusted), tmp_path / "kept", tmp_path) is None

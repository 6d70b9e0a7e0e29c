"""A package that keeps nothing: one fork scores many submissions, and each still ends as by itself."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scoring_kit.warm.job import RUNS_A_FORK
from tests.scoring_programs.scoring_kit.warm.test_isolation import ACTS, Case
from tests.scoring_programs.warm import Left, WarmWorker, score_alone, score_in_a_fork

pytestmark = pytest.mark.slow

REFUSED = b"id,label\nt1,happy\nt9,positive\n"
WHICH = "print(os.getpid())"


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    case = Case(tmp_path_factory.mktemp("case"))
    (case.package / "__init__.py").write_text('"""My task."""\n\nKEEPS_NOTHING = True\n', encoding="utf-8")
    return case.pack()


@pytest.fixture(scope="module")
def plain(case: Case) -> Left:
    """What a run by itself leaves that does nothing else."""
    return score_alone(case.program, case.job("plain"))


@pytest.fixture(scope="module")
def worker(case: Case) -> Iterator[WarmWorker]:
    with case.worker() as worker:
        worker.score(case.job("the first one, which imports what the worker had not"))
        yield worker


def _process(worker: WarmWorker, job: Path) -> int:
    """The process that scored a submission."""
    left = worker.score(job)
    assert left.exit_code == 0
    return int(left.stdout.splitlines()[0])


def test_a_fork_scores_many(case: Case, worker: WarmWorker) -> None:
    worker.score(case.job("the last one of the fork before", "sys.exit(5)"))
    processes = [_process(worker, case.job(f"many {number}", WHICH)) for number in range(2 * RUNS_A_FORK + 1)]
    assert [processes.count(one) for one in dict.fromkeys(processes)] == [RUNS_A_FORK, RUNS_A_FORK, 1]


@pytest.mark.parametrize("act", ["ends with a status", "crashes", "fails", "imports", "leaves a process"])
def test_what_is_not_plain_success_is_scored_as_by_itself(
    case: Case, worker: WarmWorker, plain: Left, act: str
) -> None:
    alone = score_in_a_fork(case.program, case.job(f"alone {act}", ACTS[act]))
    for turn in range(2):
        assert worker.score(case.job(f"before {act} {turn}")) == plain
        assert worker.score(case.job(f"warm {act} {turn}", ACTS[act])) == alone
        assert worker.score(case.job(f"after {act} {turn}")) == plain


def test_a_refused_submission_is_judged_in_a_new_fork(case: Case, worker: WarmWorker) -> None:
    alone = score_in_a_fork(case.program, case.job("refused alone", predicted=REFUSED))
    first = _process(worker, case.job("first", WHICH))
    assert worker.score(case.job("refused", predicted=REFUSED)) == alone
    assert _process(worker, case.job("second", WHICH)) != first


def test_a_failure_that_an_earlier_run_caused_does_not_count(case: Case, worker: WarmWorker) -> None:
    act = "STATE.append(1)\nassert len(STATE) == 1"
    alone = score_in_a_fork(case.program, case.job("state alone", act))
    assert alone.exit_code == 0
    assert [worker.score(case.job(f"state {number}", act)) for number in range(3)] == [alone] * 3


def test_each_run_is_warned(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCORING_DEBUG", "1")
    alone = score_alone(case.program, case.job("warned alone", ACTS["warns"]))
    assert "RuntimeWarning: odd" in alone.stderr
    with case.worker() as worker:
        assert [worker.score(case.job(f"warned {number}", ACTS["warns"])) for number in range(3)] == [alone] * 3


def test_the_limit_is_for_each_run(case: Case, worker: WarmWorker) -> None:
    for number in range(3):
        answer = worker.ask(case.job(f"in time {number}", "time.sleep(0.3)"), seconds=0.8)
        assert answer is not None
        assert (answer["exit_code"], answer["timed_out"]) == (0, False)
    began = time.monotonic()
    answer = worker.ask(case.job("late", "time.sleep(300)"), seconds=0.2)
    assert answer is not None
    assert (answer["exit_code"], answer["timed_out"]) == (None, True)
    assert time.monotonic() - began < 60
    assert worker.score(case.job("after the late one")).exit_code == 0

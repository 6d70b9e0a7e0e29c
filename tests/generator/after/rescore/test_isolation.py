"""Whatever a run does in a warm worker: it ends as in a process of its own, and the next run does not notice."""

import json
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gen_bundle.build.package.programs import program_members
from gen_bundle.build.package.resolve import resolve
from gen_bundle.ground.zips.writing import write_zip
from tests.generator.after.rescore.warm import Left, WarmWorker, score_alone, score_in_a_fork, write_job
from tests.generator.competition import small_competition

pytestmark = pytest.mark.slow

GOLD = "id,label\nt1,positive\nt2,negative\nt3,neutral\n"
NOWHERE = json.dumps(dict.fromkeys(("input", "output", "stdout", "stderr"), "/no/such") | {"seconds": 1})
PREDICTED = b"id,label\nt1,positive\nt2,negative\nt3,negative\n"
# What the scorer does before it scores, as the submission asks.
ACTING = """
import gc, json, os, random, resource, signal, subprocess, sys, threading, time, warnings
from pathlib import Path

STATE = []
CHANCE = random.Random(1)

def act(reference, submission):
    file = Path(sys.argv[1], "res", "act.txt")
    if file.exists():
        exec(file.read_text(), globals(), locals())
"""
ACTS = {
    "nothing": "",
    "ends the process": "os._exit(7)",
    "ends with a status": "sys.exit(5)",
    "ends with words": "sys.exit('my words')",
    "ends well without scores": "sys.exit()",
    "crashes": "os.kill(os.getpid(), signal.SIGSEGV)",
    "is killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "fails": "raise ValueError('GOLD')",
    "never returns": "def again(): again()\nagain()",
    "has no memory": "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))\n[0] * 2**40",
    "changes the gold": "reference.labels.update(t1='neutral')",
    "keeps state": "STATE.append(1)\nprint(len(STATE), CHANCE.random(), file=sys.stderr)",
    "breaks modules": "json.dumps = sys.modules['scoring_kit.frame'].run = None",
    "leaves its folder": "os.chdir('/')\nos.environ['SOURCE_DATE_EPOCH'] = '1'\nos.umask(0o777)\nsys.path.clear()",
    "warns": "warnings.warn('odd', RuntimeWarning)",
    "silences warnings": "warnings.simplefilter('ignore')\nwarnings.warn('odd', RuntimeWarning)",
    "prints past Python": "os.write(2, b'raw words\\n')\nos.system('echo said by a shell')",
    "reads": "print(repr(sys.stdin.read()), file=sys.stderr)",
    "closes files": "os.closerange(3, 200)",
    "writes into files": "for n in range(3, 40):\n    try: os.write(n, b'[1, {')\n    except OSError: pass",
    "imports": "import wave, colorsys\nprint('read', file=sys.stderr)",
    "sets limits": "sys.setrecursionlimit(150)\ngc.disable()\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)",
    "leaves a process": "subprocess.Popen(['sleep', '300'])",
    "leaves a thread": "threading.Thread(target=time.sleep, args=(300,), daemon=True).start()",
}


class Case:
    """A packed program of a package that does what a submission asks, and its gold."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reference, self.program = folder / "reference", folder / "program"
        package = small_competition(folder) / "my_task"
        module = package / "classification.py"
        text = module.read_text(encoding="utf-8")
        text = text.replace("    ids = sorted", "    act(reference, submission)\n    ids = sorted")
        module.write_text(text.replace("METRICS =", f"{ACTING}\nMETRICS ="), encoding="utf-8")
        self.reference.mkdir()
        (self.reference / "gold.csv").write_text(GOLD, encoding="utf-8")
        self.package = package

    def pack(self) -> "Case":
        competition = resolve(self.package.parent)
        write_zip(self.folder / "program.zip", program_members(competition, competition.parts[0]))
        with zipfile.ZipFile(self.folder / "program.zip") as archive:
            archive.extractall(self.program)
        return self

    def job(self, name: str, act: str = "", predicted: bytes = PREDICTED) -> Path:
        files = {"predictions.csv": predicted, **({"act.txt": act.encode()} if act else {})}
        return write_job(self.folder / name, self.reference, files)

    def worker(self) -> WarmWorker:
        return WarmWorker(self.program, self.reference, log=self.folder / "log")


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(tmp_path_factory.mktemp("case")).pack()


@pytest.fixture(scope="module")
def worker(case: Case) -> Iterator[WarmWorker]:
    with case.worker() as worker:
        assert worker.first_line == '{"protocol": 1}\n'
        yield worker


@pytest.fixture(scope="module")
def plain(case: Case) -> Left:
    """What a run by itself leaves that does nothing else; a fork, which may stand for such a run, leaves the same."""
    left = score_alone(case.program, case.job("plain"))
    assert left.exit_code == 0
    assert score_in_a_fork(case.program, case.job("plain in a fork")) == left
    return left


@pytest.mark.parametrize("act", ACTS)
def test_a_run_ends_as_by_itself_and_the_next_one_does_not_notice(
    case: Case, worker: WarmWorker, plain: Left, act: str
) -> None:
    alone = score_in_a_fork(case.program, case.job(f"alone {act}", ACTS[act]))
    assert worker.score(case.job(f"warm {act}", ACTS[act])) == alone
    assert worker.score(case.job(f"next {act}")) == plain
    assert worker.score(case.job(f"again {act}", ACTS[act])) == alone


def test_a_refused_submission_ends_as_by_itself(case: Case, worker: WarmWorker) -> None:
    alone = score_in_a_fork(case.program, case.job("refused alone", predicted=b"id,label\nt1,happy\nt9,positive\n"))
    assert (alone.exit_code, list(alone.files)) == (1, ["detailed_results.html"])
    assert worker.score(case.job("refused", predicted=b"id,label\nt1,happy\nt9,positive\n")) == alone


def test_a_run_that_hangs_is_ended_at_its_limit_with_all_that_it_started(case: Case, worker: WarmWorker) -> None:
    act = "one = subprocess.Popen(['sleep', '300'])\nprint(one.pid, flush=True)\ntime.sleep(300)"
    began = time.monotonic()
    answer = worker.ask(case.job("hangs", act), seconds=1.5)  # to begin takes part of it on a busy machine
    assert answer is not None
    assert (answer["exit_code"], answer["timed_out"]) == (None, True)
    assert 1.5 <= answer["seconds"] <= time.monotonic() - began < 60
    _wait_for(lambda: not _runs(int((case.folder / "hangs" / "stdout").read_text())))
    assert worker.score(case.job("after a hang")).exit_code == 0


ENDS = (
    *("nothing", "ends the process", "ends with a status", "ends well without scores", "crashes", "is killed"),
    *("fails", "never returns", "has no memory"),
)


@pytest.mark.parametrize("together", [2, 3, 100])
def test_what_ends_a_process_of_several_submissions_is_put_down_to_the_right_one(
    case: Case, worker: WarmWorker, plain: Left, together: int
) -> None:
    expected = {act: score_in_a_fork(case.program, case.job(f"ends {together} {act}", ACTS[act])) for act in ENDS}
    expected[""] = plain
    acts = []
    for turn, act in enumerate([*ENDS, *reversed(ENDS)]):
        acts += [act, *[""] * (turn % 3)]
    for first in range(0, len(acts), together):
        some = acts[first : first + together]
        jobs = [case.job(f"{together} {first} {n} in turn", ACTS.get(act, "")) for n, act in enumerate(some)]
        assert worker.score_together(jobs) == [expected[act] for act in some]


def test_what_fails_after_others_is_scored_again_in_a_process_of_its_own(case: Case, worker: WarmWorker) -> None:
    act = "STATE.append(1)\nif len(STATE) > 1: os._exit(9)\nprint(os.getpid())"
    lefts = worker.score_together([case.job(f"own process {turn}", act) for turn in range(5)])
    assert [left.exit_code for left in lefts] == [0] * 5
    assert len({left.stdout.splitlines()[0] for left in lefts}) == 5


def test_a_limit_is_each_submissions_own(case: Case, worker: WarmWorker) -> None:
    acts = [*["time.sleep(0.7)"] * 3, "time.sleep(300)", ""]
    began = time.monotonic()
    worker.send([case.job(f"slow {number}", act) for number, act in enumerate(acts)], seconds=1.5)
    answers = json.loads(worker.answers.readline())
    assert [answer["exit_code"] for answer in answers] == [0, 0, 0, None, 0]
    assert [answer["timed_out"] for answer in answers] == [False, False, False, True, False]
    assert all(answer["seconds"] >= 0.7 for answer in answers[:3])
    assert time.monotonic() - began < 60


def test_one_process_scores_what_is_asked_for_together(case: Case, worker: WarmWorker) -> None:
    processes = []
    for together in (3, 1):
        jobs = [case.job(f"together {together} {number}", "print(os.getpid())") for number in range(together)]
        processes.append({left.stdout.splitlines()[0] for left in worker.score_together(jobs)})
    assert [len(some) for some in processes] == [1, 1]
    assert processes[0] != processes[1]


def test_what_a_run_left_running_is_ended(case: Case, worker: WarmWorker) -> None:
    left = worker.score(case.job("leaves", "print(subprocess.Popen(['sleep', '300']).pid, flush=True)"))
    assert left.exit_code == 0
    _wait_for(lambda: not _runs(int(left.stdout.splitlines()[0])))


def test_a_run_ends_with_the_worker(case: Case) -> None:
    with case.worker() as worker:
        job = case.job("with the worker", "print(os.getpid(), flush=True)\ntime.sleep(300)")
        worker.send([job], seconds=300)
        run = _text(job / "stdout")
        worker.process.kill()
        assert worker.answers.read() == ""
    _wait_for(lambda: not _runs(int(run)))


def test_what_loading_prints_every_run_prints(tmp_path: Path) -> None:
    case = Case(tmp_path)
    module = case.package / "reference.py"
    text = module.read_text(encoding="utf-8").replace(
        "    problems = Problems()\n", "    said()\n    problems = Problems()\n"
    )
    said = "import sys, os\ndef said():\n    print('to out')\n    os.write(2, b'to err')\n"
    module.write_text(text.replace("FILE = ", f"{said}\nFILE = "), encoding="utf-8")
    case.pack()
    alone = score_alone(case.program, case.job("alone"))
    assert alone.stderr == "to err"
    with case.worker() as worker:
        for number in range(3):
            assert worker.score(case.job(str(number))) == alone


def test_gold_that_is_wrong_ends_the_worker_before_it_answers(tmp_path: Path) -> None:
    case = Case(tmp_path).pack()
    (case.reference / "gold.csv").write_text("id,label\nt1,CANARY\n", encoding="utf-8")
    with case.worker() as worker:
        assert worker.first_line == ""
    assert worker.process.returncode == 1


def test_a_file_that_cannot_be_written_ends_the_worker(case: Case) -> None:
    with case.worker() as worker:
        worker.requests.write(NOWHERE + "\n")
        worker.requests.flush()
        assert worker.answers.read() == ""
    assert worker.process.returncode == 1


def test_memory_stays_flat_over_a_hundred_submissions(case: Case) -> None:
    with case.worker() as worker:
        job = case.job("over and over", "STATE.append(bytearray(10**5))")
        for number in range(100):
            answer = worker.ask(job)
            assert answer is not None
            assert answer["exit_code"] == 0
            if number == 20:
                before = _open_files_and_memory(worker.process.pid)
        after = _open_files_and_memory(worker.process.pid)
    assert after[0] == before[0]
    assert after[1] - before[1] < 14, "kB"


def _open_files_and_memory(process: int) -> tuple[int, int]:
    """How many files it has open, and its memory in kB."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return len(list(Path(f"/proc/{process}/fd").iterdir())), int(status.partition("VmRSS:")[2].split()[0])


def _text(path: Path) -> str:
    """What a run has written, as soon as it has."""
    _wait_for(lambda: path.exists() and path.stat().st_size > 0)
    return path.read_text(encoding="utf-8")


def _wait_for(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def _runs(process: int) -> bool:
    """Whether the process is there and not only its exit status."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"

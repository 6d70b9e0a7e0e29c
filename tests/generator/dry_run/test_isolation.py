"""What programs see where the kernel keeps them apart, and that nothing of them stays, kept apart or not."""

import ctypes
import errno
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from gen_bundle.codabench.versions import PlatformVersion
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.dry_run.engines import Ended, isolation
from gen_bundle.dry_run.engines.process import ProcessEngine, ProcessGroup
from gen_bundle.dry_run.report import Results
from gen_bundle.ground.errors import UserError
from tests.generator.dry_run.bundles import GOOD, Bundle, printed, replay_one, write_zip, writes
from tests.generator.dry_run.leftovers import STAYS, running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has namespaces, and orphans that are adopted"),
]
needs_namespaces = pytest.mark.skipif(bool(isolation.why_not()), reason=f"kept apart: {isolation.why_not()}")
NOBODY = 65534
SYSTEM_PYTHON = "/usr/bin/python3"
INGESTION = {
    "ingestion_program": "ingest",
    "input_data": "inputs",
}


def replay(bundle: Bundle, tmp_path: Path, *, keep_apart: bool | None = None, seconds: int = 60) -> Results:
    bundle.phase = {"execution_time_limit": seconds}
    return replay_one(bundle, tmp_path, ProcessEngine(keep_apart=keep_apart), trust=True)


# Where this Python and its packages are, which programs find at their places wherever the checkout is.
OWN = sorted({str(place) for path in (sys.prefix, sys.base_prefix) for place in (Path(path), Path(path).resolve())})
SEES = """
import ctypes, glob, json, os
libc = ctypes.CDLL(None, use_errno=True)

def foreign(pattern):
    return [name for name in glob.glob(pattern) if not any(own.startswith(name) for own in OWN)]

def opened(path, flags):  # which is all that it tries
    try:
        os.close(os.open(path, flags))
        return "opened"
    except OSError as error:
        return error.errno and "refused"

def settings():
    found = {opened(place, os.O_WRONLY) for place in glob.glob("/proc/sysrq-trigger")}
    for top in ("sys/kernel", "sys/vm", "sys/fs", "sys/net", "irq", "bus", "fs"):
        for parent, _, names in os.walk("/proc/" + top):
            found.update(opened(os.path.join(parent, name), os.O_WRONLY) for name in names)
    return sorted(found)

def keys():
    number = {"x86_64": 248, "aarch64": 217}[os.uname().machine]
    return [libc.syscall(number, b"user", b"gen-bundle-test", b"1", 1, -4), os.strerror(ctypes.get_errno())]

status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
print(json.dumps({
    "app": sorted(os.listdir("/app")),
    "tmp, home, var": [*foreign("/tmp/*"), *foreign("/home/*"), *foreign("/var/*")],
    "run, secrets": glob.glob("/run/*") + glob.glob("/etc/shadow*"),
    "opt": os.path.exists("/opt"),
    "variable": os.environ.get("HIDDEN"),
    "home": os.environ["HOME"],
    "processes": sorted(name for name in os.listdir("/proc") if name.isdigit()),
    "process 1": [libc.ptrace(16, 1, 0, 0), *(opened(f"/proc/1/{name}", os.O_RDONLY) for name in ("mem", "environ"))],
    "command of process 1": "submission" in open("/proc/1/cmdline").read(),
    "capabilities": int(status["CapBnd"], 16),
    "writable": [name for name in ("/usr", "/app/ingested_program", "/app/output") if os.access(name, os.W_OK)],
    "network": [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]],
    "settings": settings(),
    "keys": keys(),
    "user": open("/proc/self/uid_map").read().split()[1],
    "owners": [os.stat(os.__file__).st_uid, os.stat("/usr").st_uid, os.geteuid()],
    "name space": os.readlink("/proc/self/ns/uts"),
}))
truth, found = (open(f"/app/input/{name}").read() for name in ("ref/truth.txt", "res/pred.txt"))
open("/app/output/scores.txt", "w").write(f"acc: {float(truth == found)}")
"""


@needs_namespaces
def test_a_program_finds_its_folders_and_the_system_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIDDEN", "x")
    results = replay(Bundle(f"OWN = {OWN}\n{SEES}"), tmp_path)
    assert (results.good, results.runs[0].scores, results.notes) == (True, {"acc": 1.0}, [])
    seen = json.loads(printed(tmp_path))
    assert seen.pop("name space") != str(Path("/proc/self/ns/uts").readlink())
    assert seen == {
        "app": ["data", "ingested_program", "input", "output", "program", "shared"],
        "tmp, home, var": [],
        "run, secrets": [],
        "opt": any(own.startswith("/opt") for own in OWN),
        "variable": None,
        "home": "/root",
        "processes": ["1", "2"],
        "process 1": [-1, "refused", "refused"],
        "command of process 1": False,
        "capabilities": 0,
        "writable": ["/app/output"],
        "network": ["lo"],
        "settings": ["refused"],
        # The user's keys are in no namespace: what the session's keyring lacks could be linked to it by its number.
        "keys": [-1, os.strerror(errno.ENOSYS)],
        "user": str(os.geteuid() or NOBODY),
        "owners": [NOBODY] * 3,  # NLTK reads data of its own user and root alone
    }


SEARCHES_KEYRING = """
import ctypes, os
number = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
print(ctypes.CDLL(None).syscall(number, 10, -3, b"user", b"gen-bundle-test-secret", 0))
"""


@pytest.mark.parametrize("keep_apart", [pytest.param(True, marks=needs_namespaces), False])
def test_keys_of_the_session_are_out_of_reach(tmp_path: Path, keep_apart: bool) -> None:
    """A child of this process has a session keyring with a key in it, and starts the dry run."""
    libc = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 248, "aarch64": 217}.get(os.uname().machine)
    if number is None:
        pytest.skip("the numbers of its system calls are not known here")
    child = os.fork()
    if child == 0:
        status = 3
        try:
            libc.syscall(number + 2, 1, None)  # a session keyring of its own
            if libc.syscall(number, b"user", b"gen-bundle-test-secret", b"secret", 6, -3) == -1:
                os._exit(2)
            replay(Bundle(SEARCHES_KEYRING), tmp_path, keep_apart=keep_apart)
            status = int(printed(tmp_path) != "-1\n")
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == 2:
        pytest.skip("this kernel keeps no keys")
    assert status == 0


@needs_namespaces
def test_gold_other_results_and_other_submissions_are_out_of_sight(tmp_path: Path) -> None:
    """The ingestion program looks for the gold's word in every file that it can read."""
    searches = (
        "import os, sys\n"
        "for top in ('/app', '/tmp', '/root', '/home', '/var', '/mnt', '/srv', '/data', '/dev/shm'):\n"
        "    for parent, folders, names in os.walk(top):\n"
        "        python = (sys.prefix, sys.base_prefix)\n"
        "        folders[:] = [one for one in folders if os.path.join(parent, one) not in python]\n"
        "        for name in names:\n"
        "            try:\n"
        "                if 'GOLD' + 'WORD' in open(os.path.join(parent, name), errors='replace').read(100_000):\n"
        "                    print(os.path.join(parent, name))\n"
        "            except OSError:\n"
        "                pass\n"
    )
    folders = {
        "ingest": {"ingest.py": searches, "metadata.yaml": "command: python3 /app/program/ingest.py"},
        "inputs": {"x.txt": "1"},
        "gold": {"truth.txt": "GOLDWORD"},
    }
    (tmp_path / "out").mkdir()
    (tmp_path / "notes.txt").write_text("GOLDWORD")
    bundle = Bundle(writes('{"acc": 1}'), task=INGESTION, folders=folders)
    assert replay(bundle, tmp_path).good
    assert printed(tmp_path, "prediction-ingestion-stdout.txt") == ""


@pytest.mark.parametrize("keep_apart", [pytest.param(True, marks=needs_namespaces), False])
@pytest.mark.parametrize("ending", ["time.sleep(300)", "", "os.kill(os.getpid(), 9)"], ids=["limit", "end", "killed"])
def test_nothing_outlives_the_run(tmp_path: Path, ending: str, keep_apart: bool) -> None:
    word = secrets.token_hex(8)
    scorer = STAYS.replace("WORD", word) + f"time.sleep(0.3)\n{ending}\n"
    replay(Bundle(scorer), tmp_path, keep_apart=keep_apart, seconds=2)
    assert running(word) == []


@pytest.mark.parametrize("keep_apart", [pytest.param(True, marks=needs_namespaces), False])
def test_code_that_kills_the_program_above_it_ends_with_it(tmp_path: Path, keep_apart: bool) -> None:
    word = secrets.token_hex(8)
    kills = f"import os, time\nos.setsid()\nos.kill(os.getppid(), 9)\ntime.sleep(300)  # {word}\n"
    runs = f"import subprocess, sys, time\nsubprocess.run([sys.executable, '-c', {kills!r}])\n"
    folders = {"ingest": {"ingest.py": runs, "metadata.yaml": "command: python3 /app/program/ingest.py"}, "inputs": {}}
    (tmp_path / "bundle/inputs").mkdir(parents=True)
    results = replay(Bundle(task=INGESTION, folders=folders), tmp_path, keep_apart=keep_apart)
    assert any("ingestion program" in finding and "137" in finding for finding in results.findings), results
    assert running(word) == []


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user of this machine can read and write."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))  # pytest's own is closed to others
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user; the tests above run as an ordinary one")
@pytest.mark.skipif(not Path(SYSTEM_PYTHON).exists(), reason=f"there is no {SYSTEM_PYTHON}, which all users can run")
def test_an_ordinary_user_has_the_same(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "other_user", lambda: None)
    launcher = shutil.copy(isolation.LAUNCHER, open_folder)
    output = open_folder / "output"
    output.mkdir(mode=0o777)
    output.chmod(0o777)
    apart = isolation.Apart([isolation.Bind(output, "/app/output", writable=True)])
    program = f"ls /; id -u; touch here; touch /usr/there || echo refused; ls {open_folder} || echo hidden"
    reading, report = os.pipe()
    ended = subprocess.run(
        [SYSTEM_PYTHON, "-I", "-S", launcher, str(report)],
        input=isolation.asked(["sh", "-c", program], "/app/output", apart, SYSTEM_PYTHON),
        pass_fds=[report],
        capture_output=True,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        check=False,
    )
    os.close(report)
    with os.fdopen(reading) as told:
        reason = told.read()
    if reason:
        pytest.skip(f"this kernel keeps an ordinary user's programs together: {reason}")
    assert ended.stdout.decode().split()[-4:] == ["usr", str(NOBODY), "refused", "hidden"]
    assert [path.name for path in output.iterdir()] == ["here"]
    assert (output / "here").stat().st_uid == NOBODY


def test_where_the_kernel_refuses_the_reason_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = tmp_path / "launcher.py"
    launcher.write_text(
        "import os, sys\nos.write(int(sys.argv[1]), b'0 unshare: Operation not permitted')\nsys.exit(126)\n"
    )
    monkeypatch.setattr(isolation, "LAUNCHER", launcher)
    isolation.why_not.cache_clear()
    try:
        assert isolation.why_not() == "this system refuses it: unshare: Operation not permitted"
        assert ProcessEngine().together
    finally:
        isolation.why_not.cache_clear()


@pytest.mark.parametrize("argv", [["nowhere"], ["./data.txt"], ["/"]])
@pytest.mark.parametrize("keep_apart", [pytest.param(True, marks=needs_namespaces), False])
def test_what_cannot_be_run_is_an_error_at_once(tmp_path: Path, argv: list[str], keep_apart: bool) -> None:
    (tmp_path / "data.txt").touch()
    apart = isolation.Apart([isolation.Bind(tmp_path, "/app")]) if keep_apart else None
    with (tmp_path / "log").open("wb") as out, pytest.raises(OSError, match=r"No such file|Permission denied"):
        ProcessGroup(argv, "/app" if keep_apart else str(tmp_path), dict(os.environ), out, out, apart)


@pytest.mark.parametrize("keep_apart", [pytest.param(True, marks=needs_namespaces), False])
def test_a_module_that_is_missing_is_explained(tmp_path: Path, keep_apart: bool) -> None:
    results = replay(Bundle("import no_such_module_here\n"), tmp_path, keep_apart=keep_apart)
    assert (
        f"{sys.executable} has no module no_such_module_here, which the image may have: install it there, or name the "
        "interpreter that has the scorer's packages with --python" in results.runs[0].message
    )


@needs_namespaces
@pytest.mark.skipif(not Path(SYSTEM_PYTHON).exists(), reason=f"there is no {SYSTEM_PYTHON}")
def test_one_from_elsewhere_finds_its_own_folders_alone(tmp_path: Path) -> None:
    assert isolation.why_not(SYSTEM_PYTHON) == ""
    serves = (
        "import os, socket, sys\n"
        "with socket.create_server(('127.0.0.1', 0)) as s: socket.create_connection(s.getsockname())\n"
        "print(sys.executable, os.path.exists(sys.executable))\n"
    )
    assert replay_one(Bundle(serves + writes('{"acc": 1}')), tmp_path, ProcessEngine(python=Path(SYSTEM_PYTHON))).good
    assert printed(tmp_path) == f"{SYSTEM_PYTHON} True\n"


@needs_namespaces
def test_another_interpreter_is_run(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    site = next((tmp_path / "venv/lib").iterdir()) / "site-packages"
    (site / "of_the_scorer.py").write_text("value = 0.25\n")
    scorer = (
        "import subprocess, of_the_scorer\n"
        "subprocess.run(['python', '-c', 'import of_the_scorer'], check=True)\n"
        "open('/app/output/scores.txt', 'w').write(f'acc: {of_the_scorer.value}')\n"
    )
    results = replay_one(Bundle(scorer), tmp_path, ProcessEngine(python=tmp_path / "venv/bin/python"))
    assert results.runs[0].scores == {"acc": 0.25}


@pytest.mark.parametrize(
    ("takes_code", "files", "version", "asks"),
    [
        (False, GOOD, PlatformVersion.V1_32, False),
        (True, GOOD, PlatformVersion.V1_32, True),
        (False, GOOD, PlatformVersion.V1_25, False),
        (False, {"metadata": "command: true"}, PlatformVersion.V1_25, True),
        (False, {"metadata": "command: true"}, PlatformVersion.V1_32, False),
    ],
)
def test_code_of_others_asks_for_trust_where_it_is_not_kept_apart(
    takes_code: bool,
    files: dict[str, str],
    version: PlatformVersion,
    asks: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def idle(*_: object, stdout: Path, stderr: Path, **__: object) -> Ended:
        stdout.touch()
        stderr.touch()
        return Ended(0, 0.0)

    monkeypatch.setattr(ProcessEngine, "run", idle)
    folders = {"ingest": {"metadata": "command: python3 /app/program/i.py"}, "inputs": {"x": ""}}
    solution = {"solutions": [{"index": 0, "path": "own.zip", "tasks": [0]}]}
    folder = Bundle(task=INGESTION if takes_code else {}, folders=folders, top=solution).write(tmp_path / "bundle")
    write_zip(folder / "own.zip", files)
    theirs = [write_zip(tmp_path / "team.zip", files)]

    def runs(submissions: Sequence[Path], *, trust: bool = False, keep_apart: bool = False) -> int:
        request = DryRunRequest(folder, tmp_path / "out", submissions, version=version, trust=trust)
        return len(dry_run(request, ProcessEngine(keep_apart=keep_apart)).runs)

    assert (runs([]), runs(theirs, trust=True), runs(theirs, keep_apart=True)) == (1, 1, 1)
    if asks:
        with pytest.raises(UserError, match=r"^team.zip: programs of others, .* add --trust"):
            runs(theirs)
    else:
        assert runs(theirs) == 1

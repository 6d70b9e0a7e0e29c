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
from gen_bundle.dry_run.engines import isolation
from gen_bundle.dry_run.engines.process import ProcessEngine, ProcessGroup
from gen_bundle.dry_run.report import Results
from gen_bundle.ground.errors import UserError
from tests.generator.dry_run.bundles import GOOD, Bundle, write_zip, writes
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
    submission = write_zip(tmp_path / "team.zip", GOOD)
    request = DryRunRequest(bundle.write(tmp_path / "bundle"), tmp_path / "out", [submission], trust=True)
    return dry_run(request, ProcessEngine(keep_apart=keep_apart))


def printed(tmp_path: Path, log: str = "stdout.txt") -> str:
    return (tmp_path / "out/test/main/team" / log).read_text()


def shows(expression: str) -> str:
    return f"import glob, json, os, sys\nprint(json.dumps({expression}))\n" + writes('{"acc": 1}')


@needs_namespaces
def test_a_program_that_names_app_runs(tmp_path: Path) -> None:
    scorer = (
        "truth, found = (open(f'/app/input/{name}').read() for name in ('ref/truth.txt', 'res/pred.txt'))\n"
        "open('/app/output/scores.txt', 'w').write(f'acc: {float(truth == found)}')\n"
    )
    results = replay(Bundle(scorer), tmp_path)
    assert (results.good, results.runs[0].scores, results.notes) == (True, {"acc": 1.0}, [])


# Where this Python and its packages are, which programs find at their places wherever the checkout is.
OWN = sorted({str(place) for path in (sys.prefix, sys.base_prefix) for place in (Path(path), Path(path).resolve())})


@needs_namespaces
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("sorted(os.listdir('/app'))", ["data", "ingested_program", "input", "output", "program", "shared"]),
        (f"[name for name in glob.glob('/tmp/*') if not any(own.startswith(name) for own in {OWN})]", []),
        (f"[name for name in glob.glob('/home/*') if not any(own.startswith(name) for own in {OWN})]", []),
        (f"[name for name in glob.glob('/var/*') if not any(own.startswith(name) for own in {OWN})]", []),
        ("glob.glob('/run/*') + glob.glob('/etc/shadow*')", []),
        ("[name for name in os.listdir('/proc') if name.isdigit()]", ["1", "2"]),
        ("os.path.exists(os.environ['HIDDEN']) if 'HIDDEN' in os.environ else 'not in the environment'", None),
        ("open('/proc/1/cmdline').read().count('submission')", 0),
        ("open('/proc/self/status').read().split('CapBnd:')[1].split()[0]", "0" * 16),
        (
            "[os.access(place, os.W_OK) for place in ('/usr', '/app/ingested_program', '/app/output')]",
            [False, False, True],
        ),
        ("[line.split(':')[0].strip() for line in open('/proc/net/dev').readlines()[2:]]", ["lo"]),
        ("os.environ['HOME']", "/root"),
        ("os.path.exists('/opt')", any(own.startswith("/opt") for own in OWN)),
    ],
)
def test_it_finds_its_folders_and_the_system_alone(
    expression: str, expected: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIDDEN", str(tmp_path))
    found = replay(Bundle(shows(expression)), tmp_path)
    assert found.good
    assert json.loads(printed(tmp_path)) == ("not in the environment" if expected is None else expected)


# Each tries to do it, and prints what came of it; what is written is the value that is there.
ATTEMPTS = """
import ctypes, glob, json, os
libc = ctypes.CDLL(None, use_errno=True)

def opened(path, flags):
    try:
        os.close(os.open(path, flags))
        return "opened"
    except OSError as error:
        return error.errno and "refused"

def core_pattern():
    path = "/proc/sys/kernel/core_pattern"
    return opened(path, os.O_WRONLY)

def settings():
    found = set()
    for top in ("sys/kernel", "sys/vm", "sys/fs", "sys/net", "irq", "bus", "fs"):
        for parent, _, names in os.walk("/proc/" + top):
            for name in names[:50]:
                found.add(opened(os.path.join(parent, name), os.O_WRONLY))
    if os.path.exists("/proc/sysrq-trigger"):
        found.add(opened("/proc/sysrq-trigger", os.O_WRONLY))
    return sorted(found)

def process_1():
    attached = libc.ptrace(16, 1, 0, 0)
    return [attached, [opened(place, os.O_RDONLY) for place in ("/proc/1/mem", "/proc/1/environ")]]

def keyring():
    number = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
    return libc.syscall(number, 10, -3, b"user", b"gen-bundle-test-secret", 0)

def keys():
    number = {"x86_64": 248, "aarch64": 217}[os.uname().machine]
    return [libc.syscall(number, b"user", b"gen-bundle-test", b"1", 1, -4), os.strerror(ctypes.get_errno())]

def host_name():
    return os.readlink("/proc/self/ns/uts")

def user():
    return open("/proc/self/uid_map").read().split()[1]

print(json.dumps(ATTEMPT()))
"""


def attempted(name: str, tmp_path: Path) -> object:
    assert replay(Bundle(ATTEMPTS.replace("ATTEMPT()", f"{name}()") + writes('{"acc": 1}')), tmp_path).good
    return json.loads(printed(tmp_path))


@needs_namespaces
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Opening is all that they try: files below /proc/sys belong to the machine's root, capabilities or not.
        ("core_pattern", "refused"),
        ("settings", ["refused"]),
        ("process_1", [-1, ["refused", "refused"]]),
        ("user", str(os.geteuid() or NOBODY)),
        # The user's keys are in no namespace: what is not in the session's keyring could be linked to it by its number.
        ("keys", [-1, os.strerror(errno.ENOSYS)]),
    ],
)
def test_what_it_tries_is_refused(name: str, expected: object, tmp_path: Path) -> None:
    assert attempted(name, tmp_path) == expected


@needs_namespaces
def test_the_host_has_another_name_space(tmp_path: Path) -> None:
    assert attempted("host_name", tmp_path) != str(Path("/proc/self/ns/uts").readlink())


@needs_namespaces
def test_files_of_this_machine_look_like_its_own_users(tmp_path: Path) -> None:
    """NLTK reads data of its own user and root alone."""
    replay(Bundle(shows("[os.stat(os.__file__).st_uid, os.stat('/usr').st_uid, os.geteuid()]")), tmp_path)
    assert json.loads(printed(tmp_path)) == [NOBODY] * 3


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
            text = ATTEMPTS.replace("ATTEMPT()", "keyring()") + writes('{"acc": 1}')
            replay(Bundle(text), tmp_path, keep_apart=keep_apart)
            status = int(json.loads(printed(tmp_path)) != -1)
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
    submission = write_zip(tmp_path / "team.zip", GOOD)
    serves = (
        "import socket\nwith socket.create_server(('127.0.0.1', 0)) as s: socket.create_connection(s.getsockname())\n"
    )
    bundle = Bundle(serves + shows("[sys.executable, os.path.exists(sys.executable)]")).write(tmp_path / "bundle")
    request = DryRunRequest(bundle, tmp_path / "out", [submission])
    assert dry_run(request, ProcessEngine(python=Path(SYSTEM_PYTHON))).good
    assert json.loads(printed(tmp_path)) == [SYSTEM_PYTHON, True]


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
    submission = write_zip(tmp_path / "team.zip", GOOD)
    request = DryRunRequest(Bundle(scorer).write(tmp_path / "bundle"), tmp_path / "out", [submission])
    results = dry_run(request, ProcessEngine(python=tmp_path / "venv/bin/python"))
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
    takes_code: bool, files: dict[str, str], version: PlatformVersion, asks: bool, tmp_path: Path
) -> None:
    folders = {"ingest": {"i.py": "", "metadata": "command: python3 /app/program/i.py"}, "inputs": {"x": ""}}
    solution = {"solutions": [{"index": 0, "path": "own.zip", "tasks": [0]}]}
    bundle = Bundle(writes('{"acc": 1}'), task=INGESTION if takes_code else {}, folders=folders, top=solution)
    folder = bundle.write(tmp_path / "bundle")
    write_zip(folder / "own.zip", files)

    def run(number: int, submissions: Sequence[Path] = (), *, trust: bool = False, keep_apart: bool = False) -> Results:
        request = DryRunRequest(folder, tmp_path / f"{number}", submissions, version=version, trust=trust)
        return dry_run(request, ProcessEngine(keep_apart=keep_apart))

    theirs = [write_zip(tmp_path / "team.zip", files)]
    assert run(1).runs
    assert run(2, theirs, trust=True).runs
    if not isolation.why_not():
        assert run(3, theirs, keep_apart=True).runs
    if asks:
        with pytest.raises(UserError, match=r"^team.zip: programs of others, .* add --trust"):
            run(4, theirs)
    else:
        assert run(4, theirs).runs

"""What submitted code does wrong, in both versions of the platform and on every engine: how it ends, and what it reads.

The code is Python without packages, and so is the scoring program's metric, so that the base image runs both.
"""

import io
import json
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.codabench.versions import NEWEST, PlatformVersion
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.dry_run.engines import Engine
from gen_bundle.dry_run.engines.isolation import why_not
from gen_bundle.dry_run.engines.process import ProcessEngine
from gen_bundle.dry_run.report import Results
from gen_bundle.ground.resources import competitions
from tests.engine import PYTHON_IMAGE
from tests.generator.dry_run.bundles import write_files, write_zip
from tests.sweeps import sweep

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("kept_organisers"),
]  # each case runs two programs in each version

SECRET = "gold-canary-7f3a"
DECLARATION: dict[str, Any] = {
    "title": "Signs",
    "logo": "logo.png",
    "docker_image": PYTHON_IMAGE,
    "scoring_program": "declared",
    "pages": [{"title": "Overview", "file": "overview.md.j2"}],
    "terms": "overview.md.j2",
    "phases": [{"id": "test", "name": "Test", "start": "2096-02-02 AoE"}],
    "submission": {
        "kind": "code",
        "entry": "model.py",
        "memory": 128,
        "file": "predictions.csv",
        "key": "id",
        "fields": [
            {"field": "id", "type": "string", "required": True, "meaning": "Which."},
            {"field": "sign", "type": "label", "values": ["plus", "minus"], "required": True, "meaning": "Its sign."},
        ],
    },
    "reference": {"file": "gold.csv"},
    "tasks": [
        {
            "id": "signs",
            "name": "Signs",
            "columns": [
                {"key": "acc", "title": "Accuracy", "sort": "desc", "worst": 0, "metric": "metrics.py:accuracy"},
                {"key": "seconds", "measured": "seconds"},
            ],
        }
    ],
}
METRICS = """\
def accuracy(gold, predicted, **options):
    return sum(one["sign"] == two["sign"] for one, two in zip(gold, predicted)) / len(gold)
"""
NUMBERS = (3, -4, 5, -1, -9, 2)
RIGHT = "id,sign\n" + "".join(f"n{at},{'plus' if number > 0 else 'minus'}\n" for at, number in enumerate(NUMBERS))
GOOD = """\
import csv

def predict(input_folder, output_folder):
    with open(input_folder / "numbers.csv", newline="") as table:
        rows = list(csv.DictReader(table))
    lines = [f"{row['id']},{'plus' if int(row['number']) > 0 else 'minus'}\\n" for row in rows]
    (output_folder / "predictions.csv").write_text("id,sign\\n" + "".join(lines))
"""
PLUS = GOOD.replace("'minus'}", "'plus'}")
PLUS_ACCURACY = 0.5


def then(text: str, code: str = GOOD) -> str:
    """The good entry, which does something else at the end; `output_folder` and `input_folder` are its arguments."""
    return code + "".join(f"    {line}\n" for line in text.splitlines())


@dataclass(frozen=True)
class Case:
    """A submission, and how it ends."""

    files: Mapping[str, str]
    accuracy: float | None = None
    message: str = ""
    printed: str = ""
    seconds: float | None = None


def good(text: str, printed: str = "", code: str = GOOD) -> Case:
    """A submission that is scored all the same."""
    return Case({"model.py": text}, 1.0 if code is GOOD else PLUS_ACCURACY, printed=printed)


def failing(message: str, text: str, printed: str = "", **files: str) -> Case:
    """A submission that fails with these words."""
    return Case({"model.py": text, **files}, message=message, printed=printed)


CASES = {
    "all right": good(GOOD),
    "a module beside the entry": Case({"model.py": "from parts.rule import predict\n", "parts/rule.py": GOOD}, 1.0),
    "one folder around everything": Case({"mine/model.py": GOOD}, 1.0),
    "no entry": Case({"main.py": GOOD}, message="model.py: is missing. Expected: model.py at the top of the zip."),
    "predictions instead of code": Case({"predictions.csv": RIGHT}, message="model.py: is missing"),
    "no predict": failing("model.py: has no function predict", "def run(a, b): pass\n"),
    "not Python": failing("model.py:2: is not valid Python", "import csv\ndef predict(a, b:\n"),
    "a package that is not there": failing(
        "model.py:1: ended with exit code 1: ModuleNotFoundError: No module named 'nowhere'",
        "import nowhere\n" + GOOD,
    ),
    "an exception": failing(
        "rule.py:2: ended with exit code 1 (model.py): ValueError: no such sign",
        "import rule\ndef predict(a, b):\n    rule.apply()\n",
        'File "rule.py", line 2, in apply',
        **{"rule.py": "def apply():\n    raise ValueError('no such sign')\n"},
    ),
    "wrong predictions": failing(
        "predictions.csv:2",
        then("(output_folder / 'predictions.csv').write_text('id,sign\\nn0,zero\\n')"),
    ),
    "exits 0 without predictions": failing(
        "predictions: are missing: the code ended without writing a file", "def predict(a, b):\n    print('done')\n"
    ),
    "exits by itself": failing("model.py: ended with exit code 3", "import sys\ndef predict(a, b):\n    sys.exit(3)\n"),
    "too slow": Case(
        {"model.py": "import time\n" + then("while True:\n    time.sleep(1)")},
        message="model.py: was stopped after 0.3 s. Expected: an end within 0.3 s.",
        seconds=0.3,
    ),
    "memory": failing(
        "MiB of memory. Expected: at most 128 MiB together.",
        "import time\n" + then("taken = [bytearray(b'x' * 40_000_000) for _ in range(5)]\ntime.sleep(3)"),
    ),
    "memory of several processes": failing(
        "MiB of memory. Expected: at most 128 MiB together.",
        "import os, time\n"
        + then("for _ in range(4):\n    if os.fork() == 0:\n        break\ntaken = b'x' * 40_000_000\ntime.sleep(3)"),
    ),
    "prints 50 MB": good(
        then("import sys\nblock = 'x' * 99 + '\\n'\nfor _ in range(50):\n    sys.stdout.write(block * 10_000)"),
        "bytes left out",
    ),
    "forks and leaves them behind": good(
        "import os, time\n"
        + then(
            "place = input_folder.parent / 'output'  # of the ingestion program\n"
            "for _ in range(5):\n"
            "    if os.fork() == 0:\n"
            "        os.setsid()\n"
            "        if os.fork() == 0:\n"
            "            os.close(1), os.close(2)\n"
            "            for at in range(20):\n"
            "                time.sleep(0.05)\n"
            "                try:\n"
            "                    (place / f'stray-{os.getpid()}-{at}').write_text('here')\n"
            "                except OSError:\n"
            "                    pass\n"
            "        os._exit(0)"
        )
    ),
    "reads standard input": good(then("import sys\nprint('read', len(sys.stdin.read()))"), "read 0"),
    "changes what it reads": good(
        then(
            "for name in ('numbers.csv', 'new.txt'):\n"
            "    try:\n        (input_folder / name).write_text('x')\n    except OSError:\n        pass"
        )
    ),
    "writes in its own folder": good(then("open('cache.bin', 'w').write('x')\nimport os\nos.remove('model.py')")),
    "writes into the job's output": good(
        "import os\n"
        + then(
            "place = input_folder.parent / 'output'  # of the ingestion program\n"
            "(place / 'scores.json').write_text('{\"acc\": 1}')\n"
            "(place / 'metadata').write_text('exitCode: 0')\n"
            "(place / 'predictions.csv').write_text((output_folder / 'predictions.csv').read_text())\n"
            "os.symlink('/etc/passwd', place / 'link')\n"
            "os.symlink('../ingestion_program', place / 'program')\n"
            "(place / ('run-' + '0' * 64) / 'predictions').mkdir(parents=True)",
            PLUS,
        ),
        code=PLUS,
    ),
    "hands over links": failing(
        '"leak.csv": is a link. Expected: only regular files and folders.',
        "import os\n" + then("os.symlink('/etc/passwd', output_folder / 'leak.csv')"),
    ),
    "a pipe among the predictions": failing(
        "is not a regular file", "import os\n" + then("os.mkfifo(output_folder / 'pipe')")
    ),
    "a ready-made run": failing(
        "is a name that only the platform's own run may use",
        PLUS,
        **{f"run-{'0' * 64}/predictions/predictions.csv": RIGHT, f"run-{'0' * 64}/metadata.json": "{}"},
    ),
    "ready-made predictions": Case({"model.py": PLUS, "predictions.csv": RIGHT}, PLUS_ACCURACY),
}

OLDEST = PlatformVersion.V1_25
LOOK_AT_FOLDERS = ("all right", "changes what it reads", "writes in its own folder", "writes into the job's output")
"""What could end otherwise in an older version: it mounts other folders, and that is all."""
ENDS = [*((case, NEWEST) for case in CASES), *((case, OLDEST) for case in LOOK_AT_FOLDERS)]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The competition as an unpacked bundle."""
    work = tmp_path_factory.mktemp("signs")
    folder = work / "signs"
    numbers = "id,number\n" + "".join(f"n{at},{number}\n" for at, number in enumerate(NUMBERS))
    gold = RIGHT.replace("id,sign", f"id,{SECRET},sign").replace(",plus", ",,plus").replace(",minus", ",,minus")
    write_files(
        folder,
        {
            "bundle.yaml": yaml.safe_dump(DECLARATION),
            "overview.md.j2": "# Overview\n\n{{ metrics_table() }}\n",
            "metrics.py": METRICS,
            "data/test/gold.csv": gold,
            "data/input/test/numbers.csv": numbers,
        },
    )
    (folder / "logo.png").write_bytes((competitions()["clarity2026"] / "logo.png").read_bytes())
    build(BuildRequest(str(folder), work / "bundle.zip"))
    with zipfile.ZipFile(work / "bundle.zip") as opened:
        opened.extractall(work / "bundle")
    return work / "bundle"


def hasty(bundle: Path, seconds: float, copy: Path) -> Path:
    """The bundle with a shorter time for the code than can be declared."""
    shutil.copytree(bundle, copy)
    program = copy / "ingestion_programs" / "test.zip"
    with zipfile.ZipFile(program) as opened:
        members = {name: opened.read(name) for name in opened.namelist()}
    description = json.loads(members["program.json"]) | {"seconds": seconds}
    members["program.json"] = json.dumps(description).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    program.write_bytes(packed.getvalue())
    return copy


def replay(bundle: Path, files: Mapping[str, str], version: PlatformVersion, engine: Engine, tmp_path: Path) -> Results:
    submission = write_zip(tmp_path / "team.zip", files)
    return dry_run(DryRunRequest(bundle, tmp_path / "out", [submission], version=version, trust=True), engine)


def kept(tmp_path: Path, name: str) -> str:
    """One of the files that are kept of it."""
    return (tmp_path / "out/test/joint/team" / name).read_text(encoding="utf-8")


def handed_over(tmp_path: Path) -> set[str]:
    """The files of the prediction job's output."""
    output = tmp_path / "out/test/joint/team/prediction-output"
    return {path.relative_to(output).as_posix() for path in output.rglob("*") if not path.is_dir()}


@pytest.mark.parametrize("end", sweep(ENDS, ENDS[::3]), ids=lambda end: f"{end[0]}-{end[1].value}")
@pytest.mark.parametrize("engine", ["in-process"], indirect=True)
def test_how_it_ends(end: tuple[str, PlatformVersion], engine: Engine, bundle: Path, tmp_path: Path) -> None:
    case, version = end
    check_end(CASES[case], version, engine, bundle, tmp_path)


@pytest.mark.docker
@pytest.mark.parametrize(("case", "version"), ENDS)
@pytest.mark.parametrize("engine", ["docker"], indirect=True)
def test_how_it_ends_in_containers(
    case: str, version: PlatformVersion, engine: Engine, bundle: Path, tmp_path: Path
) -> None:
    check_end(CASES[case], version, engine, bundle, tmp_path)


@pytest.mark.parametrize("case", ["reads standard input", "forks and leaves them behind"])
def test_how_it_ends_where_each_program_is_a_process(case: str, bundle: Path, tmp_path: Path) -> None:
    check_end(CASES[case], PlatformVersion.V1_32, ProcessEngine(), bundle, tmp_path)


def check_end(case: Case, version: PlatformVersion, engine: Engine, bundle: Path, tmp_path: Path) -> None:
    bundle = hasty(bundle, case.seconds, tmp_path / "hasty") if case.seconds else bundle
    results = replay(bundle, case.files, version, engine, tmp_path)
    [run] = results.runs
    names = ("stderr.txt", "prediction-ingestion-stdout.txt", "prediction-ingestion-stderr.txt")
    stderr, log, errors = logs = [kept(tmp_path, name) for name in names]
    if case.accuracy is None:
        assert (run.status, run.exit_code, run.scores) == ("Failed", 1, None), stderr
        assert results.board == []
        assert case.message in stderr
        assert case.message in errors
        page = kept(tmp_path, "output/detailed_results.html")
        assert case.message.split("'")[0] in page.replace("&quot;", '"').replace("&#x27;", "'")
    else:
        assert (run.status, run.exit_code) == ("Finished", 0), stderr
        assert run.scores is not None
        assert run.scores["acc"] == case.accuracy
        assert 0 < run.scores["seconds"] < run.seconds
        check_handed_over(tmp_path)
    assert case.printed in log
    for text in logs:
        assert "ingestion_kit" not in text
        assert "call_predict" not in text
        assert SECRET not in text


def check_handed_over(tmp_path: Path) -> None:
    """Only the run, whatever else the code wrote and left running."""
    found = handed_over(tmp_path)
    [folder] = {name.partition("/")[0] for name in found} - {"metadata"}
    assert found == {"metadata", f"{folder}/metadata.json", f"{folder}/predictions/predictions.csv"}
    record = json.loads(kept(tmp_path, f"prediction-output/{folder}/metadata.json"))
    assert record["duration"] > 0
    assert record["exit_code"] == 0


# In all places but those that come with the system and with Python, which take a minute to read.
LOOKS_FOR_GOLD = """\
import os, pathlib, sys

SYSTEM = ("/dev/fd", "/proc", "/sys", "/usr", sys.prefix, sys.base_prefix)

def predict(input_folder, output_folder):
    secret = "-".join(("gold", "canary", "7f3a")).encode()
    job = input_folder.parent
    places = [pathlib.Path("/")] if str(job) == "/app" else [job]
    found = []
    for place in places:
        for parent, folders, names in os.walk(place):
            folders[:] = [one for one in folders if os.path.join(parent, one) not in SYSTEM]
            for name in names:
                path = os.path.join(parent, name)
                try:
                    if os.path.isfile(path) and os.path.getsize(path) < 1_000_000 and secret in open(path, "rb").read():
                        found.append(path)
                except OSError:
                    pass
    named = [name for name, value in os.environ.items() if "gold" in value]
    mounted = sorted(os.listdir("/app")) if str(job) == "/app" else []
    print("looked through", places, "found", found, "variables", named, "mounted", mounted)
"""


@pytest.mark.parametrize("version", PlatformVersion)
def test_gold_is_nowhere_in_its_reach(version: PlatformVersion, engine: Engine, bundle: Path, tmp_path: Path) -> None:
    replay(bundle, {"model.py": LOOKS_FOR_GOLD}, version, engine, tmp_path)
    log = kept(tmp_path, "prediction-ingestion-stdout.txt")
    assert "looked through" in log
    assert "found [] variables []" in log
    if engine.name == "docker":
        assert "mounted ['data', 'ingested_program', 'input_data', 'output', 'program']" in log


REACHES_OUT = """\
import socket

def predict(input_folder, output_folder):
    try:
        socket.create_connection(("192.0.2.1", 9), timeout=1)
    except OSError as error:
        print("network:", type(error).__name__, error.errno)
"""


@pytest.mark.docker
@pytest.mark.usefixtures("container_engine")
@pytest.mark.parametrize("engine", ["docker"], indirect=True)
def test_containers_have_no_network_and_the_platforms_do(engine: Engine, bundle: Path, tmp_path: Path) -> None:
    results = replay(bundle, {"model.py": REACHES_OUT}, PlatformVersion.V1_32, engine, tmp_path)
    assert "network: OSError 101" in kept(tmp_path, "prediction-ingestion-stdout.txt")  # unreachable
    assert any("without a network; the platform's workers leave it on" in note for note in results.notes)


FORGES = """\
import hashlib, json, os, pathlib, signal
here, found = pathlib.Path.cwd(), hashlib.sha256()
for path in sorted(path for path in here.rglob("*") if path.is_file()):
    found.update(os.fsencode(path.relative_to(here).as_posix()) + b"\\0" + hashlib.sha256(path.read_bytes()).digest())
run = pathlib.Path(WHERE) / f"run-{found.hexdigest()}"
(run / "predictions").mkdir(parents=True)
files = {}
for path in output_folder.iterdir():
    (run / "predictions" / path.name).write_bytes(path.read_bytes())
    files[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
record = {"fault": None, "errors": [], "warnings": [], "duration": 0.0, "files": files}
(run / "metadata.json").write_text(json.dumps(record))
os.kill(os.getppid(), signal.SIGKILL)
"""


@pytest.mark.skipif(bool(why_not()), reason=f"the code has to find /app/output: {why_not()}")
def test_a_forged_run_is_refused(bundle: Path, tmp_path: Path) -> None:
    """Code that leaves a record of its own and kills the program that runs it, before that can write another one."""
    code = then(FORGES.replace("WHERE", repr("/app/output")))
    results = replay(bundle, {"model.py": code}, PlatformVersion.V1_32, ProcessEngine(), tmp_path)
    [run] = results.runs
    assert any("ended with exit code 137" in note for note in results.notes)
    assert any(name.endswith("metadata.json") for name in handed_over(tmp_path))  # else nothing was forged
    assert run.status == "Failed"
    assert "the code: has not run to its end" in run.message

"""A site of our own for each test, with a folder of its own for tokens, logs and pseudonyms."""

import copy
import functools
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gen_bundle.cli import root
from gen_bundle.live.confirm import Confirmed, ConfirmRequest, confirm
from gen_bundle.live.connection import Connection, changes_log
from gen_bundle.live.credentials import Token
from gen_bundle.live.update import Update, look
from gen_bundle.live.upload import upload
from tests.generator.check.drafts import Draft, Edit, both, new
from tests.generator.dry_run.in_process import ScriptEngine
from tests.live_ports import site_here
from tests.live_server import TOKEN, Site, packed

Verb = Callable[..., Result]
Looked = Callable[..., Update]
Started = tuple[int, Path]
Start = Callable[..., Started]
Confirming = Callable[..., Confirmed]


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("CODABENCH_TOKEN", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1", prepend=",")  # also spares requests a look through all variables


@pytest.fixture
def site() -> Iterator[Site]:
    with site_here(Site()) as answering:
        yield answering


@pytest.fixture
def pauses() -> list[float]:
    """The seconds that a connection would have waited."""
    return []


@pytest.fixture
def connection(site: Site, pauses: list[float]) -> Iterator[Connection]:
    with Connection(site.address, Token("a test", TOKEN), pause=pauses.append) as connection:
        yield connection


@pytest.fixture
def verb(site: Site, monkeypatch: pytest.MonkeyPatch) -> Verb:
    """Runs a verb of the command line against the site, with the token in the environment."""
    monkeypatch.setenv("CODABENCH_TOKEN", TOKEN)
    monkeypatch.setattr("gen_bundle.live.connection.WAITS_S", (0.01, 0.01, 0.01))
    monkeypatch.setattr("gen_bundle.live.upload.FIRST_WAIT_S", 0.01)

    def run(*arguments: object, given: str | None = None) -> Result:
        return CliRunner().invoke(root, [*map(str, arguments), "--server", site.address], input=given)

    return run


def ready_draft() -> Draft:
    """A bundle that may be uploaded."""
    draft = new()
    draft.yaml["docker_image"] = "codalab/codalab-legacy:py39"
    draft.yaml["phases"][0] |= {"max_submissions_per_day": 3, "max_submissions": 30, "execution_time_limit": 900}
    return draft


SMALL_SCORER = b"""
import json, pathlib, sys
source, target = map(pathlib.Path, sys.argv[1:])
answer = source / "res" / "answer.txt"
if not answer.exists():
    sys.exit("no answer.txt")
points = float(answer.read_text())
print("signature: competition:small|tasks:a|reference:12")
print("scored in 0.01 s")
print(points)
(target / "scores.json").write_text(json.dumps({"points": points, "more": points / 2}))
"""


def confirmable_draft() -> Draft:
    """A bundle whose phase is open, with a solution, a starting kit, and a program that scores."""
    draft = ready_draft()
    draft.files |= {
        "scoring/metadata.yaml": b"command: python3 /app/program/score.py /app/input /app/output\n",
        "scoring/score.py": SMALL_SCORER,
        "good.zip": packed({"answer.txt": b"0.75"}),
        "kit.zip": packed({"README.md": b"Hello", "template/answer.txt": b"0"}),
    }
    draft.yaml["solutions"] = [{"index": 0, "path": "good.zip", "tasks": [0]}]
    draft.yaml["phases"][0] |= {"start": "2020-01-01 00:00:00", "end": "2099-01-01 00:00:00", "starting_kit": "kit.zip"}
    return draft


CONTENT = ("datasets", "files", "statuses", "competitions", "tasks", "edits")
FREE_NUMBERS = 1000  # far above those of an upload


def uploaded(site: Site, bundle: Path, *, force: bool = False) -> int:
    """Let an empty site be as after the upload of a bundle; the competition's id."""
    number, kept = _uploaded(bundle.read_bytes(), force)
    for name in CONTENT:
        setattr(site, name, copy.deepcopy(getattr(kept, name)))
    site.numbers = itertools.count(FREE_NUMBERS)
    return number


@functools.cache
def _uploaded(bundle: bytes, force: bool) -> tuple[int, Site]:
    with site_here(Site()) as site, tempfile.TemporaryDirectory() as folder:
        file, log = Path(folder) / "bundle.zip", Path(folder) / "changes.log"
        file.write_bytes(bundle)
        with Connection(site.address, Token("a test", TOKEN), log, lambda _: None) as connection:
            return upload(connection, file, force=force).id, site


@pytest.fixture
def start(site: Site, tmp_path: Path) -> Start:
    """The upload of a bundle that can be confirmed: the competition's id, and the bundle."""

    def started(*changes: Edit) -> Started:
        draft = confirmable_draft()
        for change in changes:
            change(draft)
        path = tmp_path / "bundle.zip"
        path.write_bytes(draft.as_zip())
        return uploaded(site, path, force=bool(changes)), path

    return started


@pytest.fixture
def quick_confirm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits are short, and scripts run within the test."""
    monkeypatch.setattr(import_module("gen_bundle.dry_run.engines.choose"), "ProcessEngine", ScriptEngine)
    for name in ("FIRST_WAIT_S", "LONGEST_WAIT_S", "OUTPUTS_S"):
        monkeypatch.setattr(f"gen_bundle.live.submissions.{name}", 0.01)


@pytest.fixture
def confirm_verb(verb: Verb, quick_confirm: None) -> Verb:
    """Confirms what was started by the command line, with options."""
    fixed = ("--engine", "process", "--trust")
    return lambda started, *options: verb("confirm", started[0], "--bundle", started[1], *fixed, *options)


@pytest.fixture
def confirmed(connection: Connection, start: Start) -> Confirming:
    """Confirms what was started, or else what is started now, after changes."""

    def run(*changes: Edit, started: Started | None = None, **request: Any) -> Confirmed:
        return confirm(connection, ConfirmRequest(*(started or start(*changes)), **request), ScriptEngine())

    return run


PHASE, OTHER = 21, 22


def sent(text: str) -> bytes:
    return packed({"answers.csv": text.encode()})


@pytest.fixture
def running(site: Site) -> Site:
    """A competition with two phases and five submissions."""
    site.competitions[5] = {
        "id": 5,
        "title": "A small task",
        "published": True,
        "phases": [
            {"id": OTHER, "index": 1, "name": "Final phase", "start": None, "end": None, "tasks": []},
            {"id": PHASE, "index": 0, "name": "Test", "start": None, "end": None, "tasks": []},
        ],
    }
    site.participants = [
        {"id": 1, "username": "eagle", "email": "e@site.org", "status": "approved", "is_bot": False},
        {"id": 2, "username": "owl", "email": "o@site.org", "status": "pending", "is_bot": False},
    ]
    site.add_submission(PHASE, "eagle", sent("first"), organization={"id": 1, "name": "Eagles"})
    site.add_submission(PHASE, "eagle", sent("second"), on_leaderboard=True)
    site.add_submission(PHASE, "owl", sent("bad"), status="Failed", logs={"scoring_stderr": "line 3: no label"})
    site.add_submission(PHASE, "owl", sent("good"), scores=[{"index": 0, "column_key": "points", "score": "0.2500"}])
    site.add_submission(OTHER, "owl", sent("final"))
    site.boards[PHASE] = {
        "id": 1,
        "title": "Results",
        "primary_index": 0,
        "tasks": [{"id": 1, "name": "Task", "columns": []}],
        "submissions": [{"id": 102, "owner": "eagle", "scores": [], "organization": "Eagles", "created_when": "2030"}],
    }
    return site


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    path = tmp_path / "bundle.zip"
    path.write_bytes(ready_draft().as_zip())
    return path


def two_phases(draft: Draft) -> None:
    """Give a bundle a second phase with a task and gold of its own."""
    draft.yaml["tasks"].append({"index": 1, "name": "Final", "scoring_program": "scoring", "reference_data": "ref2"})
    second = {"index": 1, "name": "Test", "start": "2032-01-01 00:00:00", "end": "2032-12-31 23:59:59", "tasks": [1]}
    draft.yaml["phases"].append(draft.yaml["phases"][0] | second)
    draft.files["ref2/truth.txt"] = b"c\nd\nc\n"


def changed(folder: Path, *changes: Edit) -> Path:
    """The bundle with some changes."""
    draft = ready_draft()
    both(*changes)(draft)
    path = folder / "next.zip"
    path.write_bytes(draft.as_zip())
    return path


def held(site: Site) -> Any:
    """What the site holds of competitions and tasks, as it is now."""
    return copy.deepcopy((site.competitions, site.tasks))


def bodies(site: Site, beginning: str) -> list[Any]:
    """What was sent with the requests that begin so, as `METHOD path`."""
    return [json.loads(body) for _, method, path, _, body in site.asked if f"{method} {path}".startswith(beginning)]


def task_of(site: Site) -> dict[str, Any]:
    """The first task."""
    return next(iter(site.tasks.values()))


def competition_of(site: Site) -> dict[str, Any]:
    """The first competition."""
    return next(iter(site.competitions.values()))


def run_in_c_locale(*arguments: object) -> "subprocess.CompletedProcess[str]":
    """Run Python where the locale's encoding is ASCII."""
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "CODABENCH_TOKEN": TOKEN}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def close_log() -> None:
    """Let the log of changes be one that cannot be written any more."""
    log = changes_log()
    if log.is_file():
        log.unlink()
    log.mkdir(parents=True, exist_ok=True)


@pytest.fixture
def number(site: Site, tmp_path: Path) -> int:
    """A competition with two phases."""
    return uploaded(site, changed(tmp_path, two_phases))


@pytest.fixture
def looked(connection: Connection, number: int, tmp_path: Path) -> Iterator[Looked]:
    """Compares that competition with its bundle after some changes."""
    with ExitStack() as kept:
        yield lambda *edits: look(connection, number, changed(tmp_path, two_phases, *edits), kept)

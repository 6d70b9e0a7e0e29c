"""Settings for all tests: the same examples every time, temporary files in memory, and no reaching out."""

import atexit
import csv
import gc
import itertools
import os
import re
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.browser import browser as browser
from tests.forks import forked_python as forked_python
from tests.generator.after.report.unwritten import unwritten_figures as unwritten_figures
from tests.generator.dry_run.in_process import runs_in_forks as runs_in_forks
from tests.organisers import kept_organisers as kept_organisers
from tests.organisers import known_verdicts as known_verdicts
from tests.organisers import running_organisers as running_organisers

# The tests write some gigabytes in small files: to memory, where there is enough of it and programs may be run from it.
MEMORY = Path("/dev/shm")
if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 6 * 2**30 and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
    tempfile.tempdir = os.environ.setdefault("TMPDIR", str(MEMORY))

# What gen-bundle remembers, it remembers for the tests alone.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="state-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
# For small matrices and tiny models: further threads would wait for work longer than they work.
for library in ("OMP", "OPENBLAS"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

settings.register_profile(
    "seeded", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("seeded")

# Collecting the tests makes many objects that all live to the end: looking for cycles among them takes a quarter of it.
gc.set_threshold(50_000, 20, 100)

TEMPORARY_FOLDERS = itertools.count()

LONGEST = ("test_readme.py", "test_wheel.py")

# As a module is imported, not within a test: all its tests need a model's packages.
NEEDS_MODELS = re.compile(r"^pytest\.importorskip\(", re.MULTILINE)

# The reason of a test that was skipped for want of a program, which ends with the command that installs it.
MISSING_PROGRAM = re.compile(r"no \w+ here: (?P<command>.+)")


def pytest_configure(config: pytest.Config) -> None:
    """Start children with the default dispositions of signals, also where we were started with some ignored.

    As `nohup make test &` starts us. An ignored signal stays ignored in all children; one that a handler ignores does
    not. The process that shares the tests out among others starts only them, and leaves it to them.
    """
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        return
    for number in (signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist, which not every environment has
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: many tests wait for the programs that they start."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Say at the very end which tests lacked a program, and how to install it."""
    yield
    missing: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        reason = str(report.longrepr[2]).removeprefix("Skipped: ")
        if MISSING_PROGRAM.fullmatch(reason):
            missing[reason] += 1
    for reason, number in sorted(missing.items()):
        terminalreporter.write_line(f"skipped {number}: {reason}", yellow=True)


@pytest.fixture(autouse=True)
def process_as_found() -> Iterator[None]:
    """Begin and end alike, in whatever order: what programs set for their whole process is put back."""
    longest_cell, thresholds, environment = csv.field_size_limit(), gc.get_threshold(), dict(os.environ)
    yield
    if os.environ != environment:
        os.environ.clear()
        os.environ.update(environment)
    csv.field_size_limit(longest_cell)
    gc.set_threshold(*thresholds)


@pytest.fixture(autouse=True)
def no_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds download nothing: what the platform's image lacks stays lacking."""
    monkeypatch.setattr(
        import_module("gen_bundle.build.package.libraries"), "_download", lambda *_: "tests download nothing"
    )


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each test, as pytest has it; which looks through all earlier ones for the next number."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}{next(TEMPORARY_FOLDERS)}"
    folder.mkdir(mode=0o700)
    return folder


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave modules of models unread where these are not wanted: importing torch takes seconds a worker."""
    unwanted = "not models" in config.getoption("markexpr") and collection_path.match("test_*.py")
    return (unwanted and _needs_models(collection_path)) or None


def _needs_models(module: Path) -> bool:
    return NEEDS_MODELS.search(module.read_text(encoding="utf-8")) is not None


def pytest_collection_finish() -> None:
    """Leave what was collected out of every later search for cycles."""
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, lest a worker has it left at the end; see that only what may be is left unread."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
    unmarked = {item.path for item in items if item.get_closest_marker("models") is None}
    for path in sorted(unmarked):
        if _needs_models(path):
            raise pytest.UsageError(f"{path} needs models, but not all of its tests are marked so")

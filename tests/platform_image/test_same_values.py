"""Every program without a model gives the same scores under the platform image's versions as under ours.

`make test-platform-image` makes the interpreter that these tests need: Python 3.12 where there is one, else ours, with
exactly the packages of the platform's own image (`codabench/worker.py`).
"""

import json
import random
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from gen_bundle.author.new.project import real_tasks
from gen_bundle.build.package import libraries
from gen_bundle.cli import root
from gen_bundle.codabench import worker
from gen_bundle.codabench.worker import PACKAGES, PLATFORM_IMAGE
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.dry_run.engines import Container, Ended, LineListener
from gen_bundle.dry_run.engines.process import _place_here, program_environment
from gen_bundle.ground.resources import REAL_TASKS, resource
from tests.generator.after.report.declared_task import declared_task
from tests.generator.author.new.likes import assert_scores_of_maker, made_like
from tests.generator.dry_run.in_process import InProcessEngine
from tests.platform_image.further_tasks import FURTHER
from tests.scoring_programs.framed import write_files

pytestmark = [pytest.mark.platform, pytest.mark.usefixtures("kept_organisers", "forked_python")]
really_downloaded = libraries._download

PYTHON = Path(__file__).resolve().parents[2] / ".venv-platform" / "bin" / "python"
FORK_SERVER = Path(__file__).with_name("fork_server.py")
WITHOUT_MODELS = ("are2007", "clarity2026", "process2025", "seedev2016")
NEED_MODELS = {"bertscore"}
SECONDS = "seconds"
"""A column of helpdesk, the time that the submitted code took; it is another one in each run."""


@pytest.fixture(autouse=True)
def programs_bring_what_the_image_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "_download", really_downloaded)
    libraries._site.cache_clear()


def gen_bundle(*arguments: object) -> None:
    done = CliRunner().invoke(root, list(map(str, arguments)))
    assert done.exit_code == 0, done.output


def boards(bundle: Path, folder: Path, *options: object) -> list[dict[str, Mapping[str, Any]]]:
    """The scores of each run of a bundle, by phase, task and submission: under our interpreter, and the platform's."""
    found = []
    for name, interpreter in (("ours", ()), ("platform", ("--python", PYTHON))):
        out = folder / name
        gen_bundle("dry-run", bundle, "--engine", "process", "--trust", *interpreter, *options, "--out", out)
        runs = json.loads((out / "dry-run.json").read_text(encoding="utf-8"))["runs"]
        found.append({f"{run['phase']} {run['task']} {run['submission']}": run["scores"] for run in runs})
    return found


class PlatformEngine(InProcessEngine):
    """Runs programs as they are packed in forks of one process of the platform's Python."""

    def __init__(self, server: "subprocess.Popen[str]") -> None:
        assert server.stdin
        assert server.stdout
        self._asked, self._answers = server.stdin, server.stdout

    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        arguments = [_place_here(part, container.mounts) for part in container.argv[1:]]
        seen = {**program_environment(), **container.environment}
        request = [arguments, str(container.program), seen, [str(stdout), str(stderr)]]
        print(json.dumps(request), file=self._asked, flush=True)
        return Ended(int(self._answers.readline()), 0.0)


@pytest.fixture(scope="session")
def platform() -> Iterator[PlatformEngine]:
    command = [PYTHON, FORK_SERVER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        yield PlatformEngine(server)


def replayed(bundle: Path, engine: InProcessEngine, *submissions: Path) -> dict[str, Mapping[str, Any]]:
    """As `boards`, by one engine."""
    request = DryRunRequest(bundle, bundle.with_name(type(engine).__name__), submissions)
    return {f"{run.phase} {run.task} {run.submission}": run.scores or {} for run in dry_run(request, engine).runs}


def assert_same(found: Sequence[Mapping[str, Mapping[str, Any]]]) -> None:
    ours, platform = found
    assert ours
    assert ours.keys() == platform.keys()
    for run, scores in ours.items():
        assert platform[run].keys() == scores.keys()
        told = {key: value for key, value in platform[run].items() if key != SECONDS}
        assert told == pytest.approx({key: scores[key] for key in told}, abs=1e-9), run


def platform_says(code: str, *arguments: str) -> list[str]:
    command = [str(PYTHON), "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_interpreter_has_the_images_packages() -> None:
    asked = ("numpy", "pandas", "scikit-learn", "scipy")
    code = "import importlib.metadata as m, sys; print(*map(m.version, sys.argv[1:]))"
    assert platform_says(code, *asked) == [PACKAGES[name] for name in asked]


def test_its_standard_library_is_the_one_that_is_known() -> None:
    version, *names = platform_says("import sys; print('%d.%d' % sys.version_info[:2], *sys.stdlib_module_names)")
    if version != worker.PYTHON:
        pytest.skip(f"the interpreter is Python {version}, and the image's {worker.PYTHON}")
    public = {name for name in names if not name.startswith("_")}
    assert public == {name for name in worker.STANDARD_LIBRARY if not name.startswith("_")}


@pytest.mark.parametrize("name", WITHOUT_MODELS)
def test_a_bundled_competition(name: str, tmp_path: Path) -> None:
    gen_bundle(name, "--out", tmp_path / "bundle.zip")
    assert_same(boards(tmp_path / "bundle.zip", tmp_path))


def test_clpsych_without_models(tmp_path: Path) -> None:
    gen_bundle("clpsych2025", "--layout", "separate", "--task", "a2", "--out", tmp_path / "bundle.zip")
    assert_same(boards(tmp_path / "bundle.zip", tmp_path))


def test_submitted_code(tmp_path: Path) -> None:
    gen_bundle("helpdesk", "--out", tmp_path / "bundle.zip")
    assert_same(boards(tmp_path / "bundle.zip", tmp_path, "--phase", "test"))


@pytest.mark.parametrize("name", real_tasks())
def test_a_real_task(name: str, tmp_path: Path, platform: "PlatformEngine") -> None:
    """Its competition also has the scores that libraries give the answers of its maker."""
    competition = made_like(name, tmp_path)
    gen_bundle(competition, "--out", tmp_path / "bundle.zip", "--set", f"docker_image={PLATFORM_IMAGE}", "--force")
    ours = replayed(tmp_path / "bundle.zip", InProcessEngine())
    assert_scores_of_maker(name, ours)
    assert_same([ours, replayed(tmp_path / "bundle.zip", platform)])


@pytest.mark.parametrize("name", FURTHER)
def test_a_further_task(name: str, tmp_path: Path, platform: "PlatformEngine") -> None:
    declaration, make = FURTHER[name]
    gold, answers, _ = make(random.Random(0))
    competition = tmp_path / "competition"
    further = {key: value for key, value in declaration.items() if key != "submission"}
    declared_task(competition, declaration["submission"], [], docker_image=PLATFORM_IMAGE, **further)
    write_files(competition / "data" / "test", gold)
    write_files(tmp_path / "team", answers)
    gen_bundle(competition, "--out", tmp_path / "bundle.zip", "--force")
    assert_same([replayed(tmp_path / "bundle.zip", one, tmp_path / "team") for one in (InProcessEngine(), platform)])


def test_every_metric_without_a_model_is_among_these() -> None:
    table = json.loads((resource("scoring_programs") / "declared" / "metrics" / "table.json").read_text())
    files = REAL_TASKS.glob("*/declaration.yaml")
    declared = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in files]
    used = set()
    for declaration in [*declared, *(declaration for declaration, _ in FURTHER.values())]:
        for task in declaration["tasks"]:
            metrics = [column["metric"] for column in task["columns"] if "metric" in column]
            used |= {metric if isinstance(metric, str) else metric["name"] for metric in metrics}
    assert set(table) - NEED_MODELS - used == set()

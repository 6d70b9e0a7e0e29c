"""What we start imports nothing from the current folder, and sees no secret of the environment."""

import os
import shlex
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from unittest.mock import patch

import pytest
from click.testing import CliRunner

from gen_bundle.build.package.client import ScoringPackage
from gen_bundle.cli import root
from gen_bundle.dry_run.engines.process import program_environment
from gen_bundle.ground import starting
from tests.generator.after.rescore.given import bundles, submissions
from tests.generator.competition import small_competition
from tests.generator.dry_run.bundles import write_zip

MODULES = {
    *(set(sys.stdlib_module_names) - set(sys.builtin_module_names)),
    *("click", "numpy", "sitecustomize", "sklearn", "usercustomize", "yaml"),
    *("gen_bundle", "ingestion_kit", "organise", "score", "scoring_kit"),
}
PACKAGES = ("clarity2026", "declared", "my_task", "pip")
SECRETS = ("CODABENCH_TOKEN", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK")
GEN_BUNDLE = (sys.executable, "-P", "-c", "from gen_bundle.cli import main; main()")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Competitions, bundles and submissions; in `traps/` every module says that it was imported."""
    place = tmp_path_factory.mktemp("place")
    traps = place / "traps"
    touched = f"open({str(place / 'touched')!r}, 'a').write(__file__ + '\\n')\n"
    for name in MODULES:
        (traps / f"{name}.py").parent.mkdir(exist_ok=True)
        (traps / f"{name}.py").write_text(touched, encoding="utf-8")
    for name in PACKAGES:
        (traps / name).mkdir()
        for module in ("__init__.py", "__main__.py", "organiser.py", "submission.py"):
            (traps / name / module).write_text(touched, encoding="utf-8")
    small_competition(place, name="my-task")
    small_competition(place, lambda declared: declared.update(requirements=["nowhere==1.2"]), name="needy")
    base = "{name: 'python:3.11-slim-bookworm', digest: 'sha256:0'}"
    (place / "models.yaml").write_text(f"{{models: {{}}, punkt: {{files: null}}, base_image: {base}}}")
    (place / "details.json").write_text('{"signature": "1", "warnings": [], "tasks": {"task": {"f1": {"value": 1}}}}')
    bundles(place)
    submissions(place, {"ant": "1 0 1 1"})
    write_zip(place / "team.zip", {"pred.txt": "1 0 1 1"})
    (place / "gold.csv").write_text("id,text,label\n" + "".join(f"{n},t{n},{'ab'[n % 2]}\n" for n in range(40)))
    assert verb(place, "../my-task --out ../my-task.zip")[0] == 0  # only then do other verbs run its code
    return place


def verb(place: Path, arguments: str) -> tuple[int, str]:
    """Run a verb in the folder of traps, in this process; its exit status and what it prints."""
    environment = {"XDG_STATE_HOME": str(place / "state"), "PIP_NO_INDEX": "1"}
    with chdir(place / "traps"), patch.dict(os.environ, environment):
        done = CliRunner().invoke(root, shlex.split(arguments.replace("..", str(place))))
    return done.exit_code, done.output


def verb_by_itself(place: Path, arguments: str) -> tuple[int, str]:
    """As `verb`, in a process of its own, which nothing of the folder is imported by, either."""
    command = [*GEN_BUNDLE, *shlex.split(arguments.replace("..", str(place)))]
    environment = {**os.environ, "XDG_STATE_HOME": str(place / "state"), "PIP_NO_INDEX": "1"}
    done = subprocess.run(command, cwd=place / "traps", env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ("clarity2026 --out ../clarity.zip --force", 0),
        ("list", 0),
        ("new made --gold ../gold.csv", 0),
        ("check ../my-task", 0),
        ("check ../new", 1),
        ("preview ../new --out ../preview.html", 0),
        ("dry-run ../new --engine process --trust --submission ../team.zip --out ../dry", 0),
        ("rank ../my-task --data ../my-task/data --submissions ../teams --phase test", 2),
        ("diff ../my-task ../new", 1),
        ("verify ../details.json --bundle ../my-task --submission ../team.zip --phase test", 2),
        ("image lock ../needy --tag me/own:1 --manifest ../models.yaml", 2),
        ("status http://127.0.0.1:9/competitions/1", 2),
    ],
)
def test_nothing_of_the_current_folder_runs(place: Path, arguments: str, status: int) -> None:
    found, printed = verb(place, arguments)
    assert not (place / "touched").exists(), (place / "touched").read_text()
    assert found == status, printed
    assert "Traceback" not in printed


@pytest.mark.slow
def test_nothing_of_the_current_folder_runs_in_workers(place: Path) -> None:
    options = "--submissions ../teams --phase test --engine process --trust --workers 2 --out ../rescored"
    found, printed = verb_by_itself(place, f"rescore ../new {options}")
    assert not (place / "touched").exists(), (place / "touched").read_text()
    assert found == 0, printed


@pytest.mark.slow
def test_a_module_beside_the_package_replaces_none(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    for name in ("csv", "json", "random", "scoring_kit"):
        (folder / f"{name}.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    assert ScoringPackage("my_task", folder).call("columns", {"package": "my_task", "tasks": []}) == {}


@pytest.mark.slow
def test_no_secret_passes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in SECRETS:
        monkeypatch.setenv(name, "SECRET")
    monkeypatch.setenv("HF_HOME", "/models")
    folder = small_competition(tmp_path)
    code = folder / "my_task" / "organiser.py"
    known = "{'metrics': [], 'needs_model': False}"
    shown = f"import os\ndef columns(request):\n    return dict.fromkeys(os.environ, {known})\n"
    code.write_text(code.read_text(encoding="utf-8").replace("import csv\n", f"import csv\n{shown}"), encoding="utf-8")
    seen = ScoringPackage("my_task", folder).call("columns", {"package": "my_task", "tasks": []})
    for environment in (seen, program_environment(), starting.environment(), starting.pip_environment()):
        assert set(SECRETS).isdisjoint(environment)
        assert {"PATH", "HF_HOME"} <= set(environment)


def test_pip_gets_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {"PIP_INDEX_URL": "x", "HTTPS_PROXY": "y", "TOKEN": "z"})
    assert starting.pip_environment() == {"PIP_INDEX_URL": "x", "HTTPS_PROXY": "y"}

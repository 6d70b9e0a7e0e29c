"""The command line: exit status, streams, help."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from gen_bundle.cli import VERBS
from gen_bundle.cli.messages import say
from gen_bundle.declaration.read import read_competition
from gen_bundle.ground.resources import resource
from tests.children import child
from tests.generator.cli.running import gen_bundle
from tests.generator.competition import small_competition
from tests.generator.dry_run.bundles import ACCURACY, Bundle, write_zip

pytestmark = pytest.mark.usefixtures("kept_organisers")


@pytest.mark.parametrize("verb", [(), *([verb] for verb in VERBS)])
def test_every_verb_has_help_with_examples(verb: list[str]) -> None:
    done = gen_bundle(*verb, "--help")
    assert done.returncode == 0, done.stderr
    assert "Examples:" in done.stdout
    assert "gen-bundle" in done.stdout


def test_a_new_competition_has_the_name_of_no_verb(tmp_path: Path) -> None:
    for verb in VERBS:
        done = gen_bundle("new", verb, cwd=tmp_path)
        assert done.returncode == 2
        assert "is a verb already" in done.stderr
    assert not list(tmp_path.iterdir())


def test_what_new_prints_can_be_run(tmp_path: Path) -> None:
    done = gen_bundle("new", "film-reviews", "--package", "--in", "my tasks", cwd=tmp_path)
    printed = [shlex.split(line) for line in done.stderr.splitlines() if line.startswith("  ")]
    assert printed[0] == ["gen-bundle", "try", "my tasks/film-reviews"]
    assert printed[1] == [sys.executable, "-m", "unittest", "discover", "my tasks/film-reviews/tests"]


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colours_can_be_refused(
    environment: dict[str, str], coloured: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in {"TERM": "xterm", **environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda _, color: color is False)
    say("text", "red")
    assert ("\x1b[" in capsys.readouterr().err) is coloured


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_build_that_is_killed_leaves_no_gold(tmp_path: Path, number: signal.Signals) -> None:
    folder = small_competition(tmp_path)
    started = tmp_path / "started"
    code = folder / "my_task" / "organiser.py"
    slow = f"import os, time; os.path.exists({str(started)!r}) or (open({str(started)!r}, 'w').close(), time.sleep(60))"
    code.write_text(code.read_text(encoding="utf-8").replace("import csv", f"import csv; {slow}"), encoding="utf-8")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-m", "gen_bundle", str(folder), "--out", str(tmp_path / "b.zip")]
    with child(command, environment={**os.environ, "TMPDIR": str(temporary)}) as build:
        while not started.exists() and build.poll() is None:
            time.sleep(0.01)
        assert list(temporary.iterdir())
        build.send_signal(number)
        _, said = build.communicate(timeout=60)
        assert build.returncode == 128 + number
    assert not list(temporary.iterdir())
    assert not (tmp_path / "b.zip").exists()
    line = "Interrupted. Nothing was written. The same command starts again.\n"
    assert said == f"runs the code of ./my_task/\n{line if number == signal.SIGINT else ''}"


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is another thing there")
def test_an_interrupted_dry_run_says_that_its_folder_is_partial(tmp_path: Path) -> None:
    started = tmp_path / "started"
    wait = f"import time\nif '0 0' in open('../input/res/pred.txt').read():\n    open({str(started)!r}, 'w').close()\n"
    bundle = Bundle(f"{wait}    time.sleep(60)\n{ACCURACY}", sees=tmp_path).write(tmp_path / "bundle")
    teams = [write_zip(tmp_path / f"{name}.zip", {"pred.txt": text}) for name, text in (("a", "1 0"), ("b", "0 0"))]
    options = [word for team in teams for word in ("--submission", str(team))]
    command = [sys.executable, "-m", "gen_bundle", "dry-run", str(bundle), *options, "--engine", "process", "--trust"]
    with child(command, folder=tmp_path) as process:
        while not started.exists() and process.poll() is None:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    (line,) = [line for line in said.splitlines() if line.startswith("Interrupted.")]
    assert "--out holds the runs that ended; dry-run.json says that others are missing." in line
    runs = json.loads((tmp_path / "dry-run" / "dry-run.json").read_text())["runs"]
    assert [run["submission"] for run in runs] == ["a", "b"]
    assert (runs[1]["status"], runs[1]["message"]) == ("Failed", "the dry run was interrupted here")


def test_ctrl_c_at_a_question_ends_as_anywhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise click.Abort

    monkeypatch.setattr("gen_bundle.cli.login.can_answer", lambda: True)
    monkeypatch.setattr("click.prompt", interrupted)
    done = gen_bundle("login", "--server", "https://codabench.test")
    assert done.returncode == 130
    assert done.stderr.startswith("Interrupted. Nothing was written.")


def test_help_imports_nothing_that_is_not_needed() -> None:
    code = (
        "import sys; from gen_bundle.cli import root; root(['--help'], standalone_mode=False);"
        "late = {'rich', 'pydantic', 'yaml', 'jinja2', 'docker', 'cookiecutter', 'numpy'} & set(sys.modules);"
        "assert not late, late"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_build_prints_results_to_stdout_and_to_stderr_the_next_steps_with_what_was_set(tmp_path: Path) -> None:
    small_competition(tmp_path, lambda declared: declared.update(docker_image="gen-bundle/my-task:1"))
    given = ["--set", "phases.test.end=2099-12-31 AoE"]
    done = gen_bundle("my-task", *given, "--out", tmp_path / "b.zip", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (built,) = json.loads(done.stdout)
    assert built["path"] == str(tmp_path / "b.zip")
    assert "draft, not ready to publish" in done.stderr
    assert "\x1b[" not in done.stdout + done.stderr, "no colour where nobody looks"
    build, push = [shlex.split(line)[1:] for line in done.stderr.splitlines() if "  gen-bundle " in line]
    assert build == ["image", "build", "my-task", *given]
    assert push[:5] == ["image", "push", "my-task", *given]
    assert f"again with --set docker_image={push[-1]}" in done.stderr


@pytest.mark.slow
def test_what_force_writes_is_no_good_news(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    shutil.copy(folder / "data" / "test" / "gold.csv", folder / "data" / "public" / "test" / "labels.csv")
    refused = gen_bundle(str(folder), "--out", str(tmp_path / "b.zip"), "--json")
    assert (refused.returncode, json.loads(refused.stdout)) == (2, [])
    assert "2 errors" not in refused.stderr, "that nothing was written is no error of its own"
    forced = gen_bundle(str(folder), "--out", str(tmp_path / "b.zip"), "--json", "--force")
    assert forced.returncode == 1
    assert "error: " in forced.stderr
    assert "DO NOT UPLOAD" in forced.stderr
    assert "ready to upload" not in forced.stderr
    assert "labels.csv" in json.loads(forced.stdout)[0]["errors"][0]


def test_who_would_lose_a_file_is_not_sent_to_force(tmp_path: Path) -> None:
    (tmp_path / "thesis.zip").write_text("precious", encoding="utf-8")
    done = gen_bundle(str(small_competition(tmp_path)), "--out", str(tmp_path / "thesis.zip"))
    assert done.returncode == 2
    assert "remove the file" in done.stderr
    assert "--force" not in done.stderr
    assert (tmp_path / "thesis.zip").read_text() == "precious"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("my-task", "Did you mean 'title'?"),
        ("preview", "Missing argument 'BUNDLE'"),
        ("--nonsense", "No such option"),
        ("", "Usage: "),
    ],
)
def test_wrong_use_and_faults_end_with_2(arguments: str, said: str, tmp_path: Path) -> None:
    small_competition(tmp_path, lambda declaration: declaration.update(titel="x"))
    done = gen_bundle(*arguments.split(), cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_shell_asks_for_completions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_GEN_BUNDLE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "gen-bundle pre")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert "preview" in gen_bundle().stdout


@pytest.mark.slow
def test_list_names_the_competitions() -> None:
    rows = {row["name"]: row for row in json.loads(gen_bundle("list", "--json").stdout)}
    title = read_competition(resource("bundles") / "seedev2016").title
    expected = {"title": title, "tasks": ["binary", "full"], "phases": ["dev", "test"]}
    assert rows["seedev2016"] == {"name": "seedev2016", "package": "gen-bundle", **expected}

"""What is particular to processes: this machine's Python, its environment, and no /app."""

import json
import os
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gen_bundle.cli import root
from gen_bundle.dry_run.engines.process import ProcessEngine, program_environment
from gen_bundle.dry_run.engines.watching import end_of_log
from gen_bundle.dry_run.report import Results
from tests.generator.dry_run.bundles import GOOD, Bundle, printed, replay_one, write_files, write_zip, writes
from tests.generator.dry_run.hasty import HastyEngine

SCORED = writes('{"acc": 1}')


def replay(bundle: Bundle, tmp_path: Path, *, keep_apart: bool | None = None, **wishes: Any) -> Results:
    return replay_one(bundle, tmp_path, ProcessEngine(keep_apart=keep_apart), **wishes)


def test_environment_is_what_finds_interpreters_and_models(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = {"PATH": "/bin", "HOME": "/h", "NLTK_DATA": "/n", "HF_HOME": "/hf", "OMP_NUM_THREADS": "1"}
    monkeypatch.setattr(os, "environ", {**passed, "SECRET": "x", "HF_TOKEN": "x", "PYTHONPATH": "/p"})
    assert program_environment() == {
        **passed,
        "PYTHONUNBUFFERED": "1",
        "http_proxy": "",
        "https_proxy": "",
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["python", "python3"])
def test_python_is_the_running_one_and_arguments_are_mapped(tmp_path: Path, name: str) -> None:
    command = f"{name} /app/program/score.py /app/input --out=/app/output '/app/inputs x/app/input' /app"
    scorer = SCORED + "import sys\nprint(sys.executable)\nprint(*sys.argv[1:], sep='\\n')\n"
    assert replay(Bundle(scorer, metadata=f"command: {json.dumps(command)}"), tmp_path, keep_apart=False).good
    executable, read, written, other, bare = printed(tmp_path).splitlines()
    assert executable == sys.executable
    assert Path(read).name == "input"
    assert Path(read).parent == Path(written.removeprefix("--out=")).parent
    assert (other, bare) == ("/app/inputs x/app/input", "/app")


@pytest.mark.parametrize("keep_apart", [None, False])
def test_a_shell_text_is_mapped_too(tmp_path: Path, keep_apart: bool | None) -> None:
    scorer = "touch ran; cp scores ../output/scores.json"
    bundle = Bundle(
        program={"run.sh": scorer, "scores": '{"acc": 1}'},
        metadata="command: sh -c 'cd /app/program && sh run.sh > /app/output/log.txt'",
    )
    assert replay(bundle, tmp_path, keep_apart=keep_apart).good


def test_a_foreign_program_that_names_app_is_sent_to_docker(tmp_path: Path) -> None:
    scorer = "open('/app/input/res/pred.txt')\n"
    run = replay(Bundle(scorer), tmp_path, keep_apart=False).runs[0]
    assert "score.py names /app, which only containers have: use --engine docker (it was not asked for)" in run.message


@pytest.mark.slow
@pytest.mark.parametrize("place", ["os.path.join('/app', 'input')", "'/app/input'"])
def test_one_that_swallows_the_error_is_told_as_well(tmp_path: Path, place: str) -> None:
    scorer = f"import os\ntry:\n    os.listdir({place})\nexcept OSError:\n    pass\n"
    results = replay(Bundle(scorer), tmp_path, keep_apart=False)
    assert "Could not find scores file" in results.runs[0].message
    assert results.notes == [
        "score.py names /app, which only containers have: use --engine docker (it was not asked for)"
    ]


@pytest.mark.slow
def test_of_a_progress_bar_the_last_state_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    replay(Bundle("print('  0%\\r 50%\\r100%\\r', end='')\n" + writes('{"acc": 1}')), tmp_path, on_line=told.append)
    assert told == ["100%"]


@pytest.mark.slow
def test_our_own_program_is_not(tmp_path: Path) -> None:
    scorer = "# run as score.py /app/input /app/output\nraise SystemExit('row 3: no label')\n"
    run = replay(Bundle(scorer, program={"program.json": "{}"}), tmp_path).runs[0]
    assert run.message == (
        "Submission failed: Child task failed or non-zero return code. See logs for more details. (exit code 1)\n"
        "row 3: no label"
    )


def test_killed_by_a_signal_counts_as_in_a_container(tmp_path: Path) -> None:
    run = replay(Bundle("import os\nos.kill(os.getpid(), 9)\n"), tmp_path).runs[0]
    assert (run.status, run.exit_code) == ("Failed", 137)
    assert "killed by SIGKILL" in run.message


@pytest.mark.skipif(sys.platform != "linux", reason="what starts programs there")
def test_killed_before_it_has_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody reads then what was to be run, which is no fault of the program."""

    class Killed(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **more: Any) -> None:
            super().__init__(*arguments, **more)
            self.kill()
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)

    engine = ProcessEngine(keep_apart=False)
    monkeypatch.setattr(subprocess, "Popen", Killed)
    run = replay_one(Bundle(), tmp_path, engine).runs[0]
    assert "(exit code 137)\nkilled by SIGKILL" in run.message


@pytest.mark.slow
def test_memory_and_processor_are_measured(tmp_path: Path) -> None:
    scorer = (
        "x = bytearray(100_000_000)\nimport time\nt = time.process_time()\nwhile time.process_time() - t < 0.4: pass\n"
    )
    [measured] = replay(Bundle(scorer + SCORED), tmp_path).measured
    assert measured.usage.memory_bytes is not None
    assert measured.usage.cpu_seconds is not None
    assert measured.usage.memory_bytes > 90_000_000
    assert measured.usage.cpu_seconds > 0.3


@pytest.mark.slow
def test_nothing_steers_the_terminal(tmp_path: Path) -> None:
    told: list[str] = []
    scorer = "import sys\nprint('\\x1b[2Jgone\\r')\nsys.exit('\\x1b]0;title\\x07 ünïcode\\ttab')\n"
    run = replay(Bundle(scorer), tmp_path, on_line=told.append).runs[0]
    assert told[0] == "�[2Jgone"
    assert run.message.endswith("\n�]0;title� ünïcode\ttab")


@pytest.mark.slow
def test_no_container_engine_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = Bundle().write(tmp_path / "bundle")
    submission = write_zip(tmp_path / "team.zip", GOOD)
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:9")
    arguments = ["dry-run", bundle, "--submission", submission, "--out", tmp_path / "out"]
    for more, status, text in (
        ([], 0, "engine: process (no container engine answers); the image is not used"),
        (["--engine", "docker"], 2, "no container engine answers"),
        (["--pull"], 2, "no container engine answers"),
    ):
        ran = CliRunner().invoke(root, [*map(str, arguments), *more])
        assert ran.exit_code == status
        assert text in ran.stderr
        assert "Traceback" not in ran.output


@pytest.mark.slow
@pytest.mark.parametrize("smi", ["#!/bin/sh\nexec sleep 60\n", "#!/nowhere\n", "#!/bin/sh\nprintf '\\377'\n"])
def test_a_driver_that_hangs_or_is_broken_does_not_put_off_the_limit(
    smi: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path / "bin", {"nvidia-smi": smi})
    (tmp_path / "bin" / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(import_module("gen_bundle.dry_run.engines.watching"), "DRIVER_SECONDS", 0.2)
    bundle = Bundle("import time\ntime.sleep(60)\n", phase={"execution_time_limit": 1})
    began = time.monotonic()
    run = replay_one(bundle, tmp_path, HastyEngine(gpu=True)).runs[0]
    assert time.monotonic() - began < 30
    assert run.status == "Failed"
    assert "Time Limit exceeded" in run.message


def test_the_end_of_a_log_begins_with_a_whole_line(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"line {number}\n" for number in range(100)), encoding="utf-8")
    assert end_of_log(log, 20) == "…\nline 98\nline 99\n"
    assert end_of_log(log, 10_000).startswith("line 0\n")
    log.write_text("x" * 100, encoding="utf-8")
    assert end_of_log(log, 20) == "x" * 20

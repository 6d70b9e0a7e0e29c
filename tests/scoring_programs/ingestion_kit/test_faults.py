"""What becomes of code that fails, misbehaves or brings its own predictions: words for its author, and no score.

More of it is dry-run, and tested there.
"""

import json
import time
from pathlib import Path

import pytest

from ingestion_kit import entry, ingestion
from scoring_kit.base import submissions
from scoring_kit.code_submission import run_folder_name
from tests.generator.code_competition import PREDICT
from tests.scoring_programs.ingestion_kit.steps import Steps, Version
from tests.sweeps import sweep

pytestmark = pytest.mark.slow  # each test runs three programs
VERSIONS: tuple[Version, Version] = ("1.25", "1.32")
FIRST = "def predict(input_folder, output_folder):\n"


def code(body: str, head: str = "") -> dict[str, str]:
    """A submission whose `predict` is `body`."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return {"model.py": f"{head}{FIRST}{lines}"}


def good(*before: str) -> dict[str, str]:
    """A submission that answers well, after some statements of its own."""
    body = "".join(f"    {line}\n" for line in before)
    return {"model.py": PREDICT.replace(FIRST, FIRST + body)}


FAULTS: dict[str, tuple[dict[str, str], str]] = {  # the code, the message
    "entry in a folder": (
        {"src/model.py": PREDICT, "README.md": "x"},
        'model.py: is not at the top of the zip; found "src/model.py".',
    ),
    "nothing at all": ({}, "submission: holds no files. Expected: model.py at the top of the zip."),
    "no function after all": (
        {"model.py": "predict = 1\ndel predict\n"},
        "model.py: ended with exit code 1: model.py: has no function predict(input_folder, output_folder).",
    ),
    "own exit code": (code("import os\nos._exit(7)"), "model.py: ended with exit code 7 without a message."),
    "killed": (
        code("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"),
        "model.py: was ended by SIGKILL, often because memory ran out",
    ),
    "exits 0 at once": (code("pass", "raise SystemExit(0)\n"), "predictions: are missing"),
    "too many files": (
        code("for number in range(51):\n    (output_folder / str(number)).touch()"),
        "predictions: are more than 50 files. Expected: at most 50.",
    ),
    "too much": (
        code("with open(output_folder / 'sparse', 'wb') as file:\n    file.truncate(1_000_000_001)"),
        "predictions: are more than 1000 MB. Expected: less.",
    ),
    "too deep": (code("(output_folder / '/'.join('a' * 60)).mkdir(parents=True)"), "is nested too deeply."),
    "link in place of the output folder": (
        code("import os\noutput_folder.rmdir()\noutput_folder.symlink_to(input_folder)"),
        "the output folder: is a link.",
    ),
    "no output folder": (code("output_folder.rmdir()"), "predictions: cannot be read (No such file or directory)."),
    "no UTF-8 name": (
        code("import os\nopen(os.fsencode(output_folder) + b'/\\xff', 'w').close()"),
        "has a name that is not UTF-8.",
    ),
}


@pytest.mark.parametrize("fault", sweep(FAULTS, list(FAULTS)[::3]))
def test_both_steps_report_a_fault(fault: str, parts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, message = FAULTS[fault]
    monkeypatch.setattr(ingestion, "MAX_FILES", 50)
    steps = Steps(parts, tmp_path, files)
    ingested = steps.ingest()
    assert ingested.exit_code == 1
    assert message in ingested.stderr
    assert steps.record["fault"] == "submission"
    assert steps.record["files"] == {}
    assert [path.name for path in steps.run_folder.iterdir()] == ["metadata.json"]
    for version in VERSIONS:
        scored = steps.score(version)
        assert scored.exit_code == 1
        assert message in scored.stderr
        assert not steps.scores.exists()
        assert "Traceback" not in scored.stderr


def test_predictions_have_at_most_as_many_files_as_a_submission() -> None:
    assert vars(ingestion)["MAX_FILES"] == submissions.MAX_FILES == 10_000


def test_the_log_names_the_participants_lines_and_none_of_ours(parts: Path, tmp_path: Path) -> None:
    files = {**code("import rules\nrules.answer()"), "rules.py": "\n\ndef answer():\n    raise ValueError('no rule')\n"}
    log = Steps(parts, tmp_path, files).ingest().stdout
    assert 'File "model.py", line 3, in predict' in log
    assert 'File "rules.py", line 4, in answer' in log
    assert not [word for word in ("call_predict", "importlib", "<string>", "ingestion-", str(tmp_path)) if word in log]


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_what_is_printed_cannot_steer_a_terminal(parts: Path, tmp_path: Path, stream: str) -> None:
    hostile = r"'\x1b[31mred\x1b]0;title\x07\r\u202eevil\x9b1m\tcafé\nnext'"
    step = Steps(parts, tmp_path, good("import sys", f"print({hostile}, file=sys.{stream})")).ingest()
    assert step.exit_code == 0
    assert "\n\\x1b[31mred\\x1b]0;title\\x07\\r\\u202eevil\\x9b1m\tcafé\nnext\n" in step.stdout


def test_nothing_that_it_started_lives_on(parts: Path, tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    daemon = (  # it multiplies, and then lives on in ever new processes, for two seconds
        "import os, time",
        "if not os.fork():",
        "    os.setsid()",
        "    os.close(1), os.close(2)",
        "    for at in range(100):",
        "        if os.fork() and at > 3: os._exit(0)",
        f"        open({str(mark)!r}, 'a').write('x')",
        "        time.sleep(0.02)",
        "    os._exit(0)",
        f"while not os.path.exists({str(mark)!r}): time.sleep(0.01)",
    )
    steps = Steps(parts, tmp_path, good(*daemon))
    assert steps.ingest().exit_code == 0
    size = mark.stat().st_size
    time.sleep(0.2)
    assert mark.stat().st_size == size


def test_a_flood_of_processes_is_stopped(parts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flood = good("import os, time", "for _ in range(9):", "    if not os.fork(): time.sleep(60)", "time.sleep(60)")
    monkeypatch.setattr(entry, "MOST_PROCESSES", 8)
    steps = Steps(parts, tmp_path, flood)
    assert steps.ingest().exit_code == 1
    assert "model.py: was stopped with 10 processes running. Expected: at most 8." in steps.record["errors"]


def test_a_name_that_the_platform_uses_itself_is_left_out(parts: Path, tmp_path: Path) -> None:
    ingested = Steps(parts, tmp_path, good("(output_folder / 'metadata').write_text('exitCode: 0')")).ingest()
    assert ingested.exit_code == 0, ingested.stderr
    assert "metadata: is a name that the platform uses itself; this file is left out" in ingested.stdout


def test_the_submission_itself_stays_as_it_was(parts: Path, tmp_path: Path) -> None:
    steps = Steps(parts, tmp_path, good("import os, pathlib", "pathlib.Path('notes.txt').write_text('mine')"))
    before = run_folder_name(steps.submission)
    assert steps.ingest().exit_code == 0
    assert run_folder_name(steps.submission) == before == steps.run_folder.name


def test_an_older_workers_copy_of_the_submission_is_not_scored(parts: Path, tmp_path: Path) -> None:
    steps = Steps(parts, tmp_path, {**good(), "predictions.csv": "id,label,strength\n"})
    steps.output.mkdir()
    (steps.output / "predictions.csv").write_text("id,label,strength\n")
    assert steps.ingest().exit_code == 0
    assert steps.score("1.25").exit_code == 0


READY_MADE = "id,label,strength\n" + "".join(f"test-{i},neutral,0.{i + 100}\n" for i in range(30))


@pytest.mark.parametrize("version", VERSIONS)
def test_ready_made_predictions_are_not_scored(version: Version, parts: Path, tmp_path: Path) -> None:
    """A run's folder in the submission, called as it would be without that folder."""
    name = run_folder_name(Steps(parts, tmp_path / "without", code("pass")).submission)
    record: dict[str, object] = {"fault": None, "errors": [], "warnings": [], "duration": 0.1, "files": {}}
    forged = {f"{name}/metadata.json": json.dumps(record), f"{name}/predictions/predictions.csv": READY_MADE}
    steps = Steps(parts, tmp_path / "with", {**code("pass"), **forged})
    assert steps.ingest().exit_code == 1
    scored = steps.score(version)
    assert scored.exit_code == 1
    assert f'"{name[:56]}' in scored.stderr or "has not run" in scored.stderr
    assert not steps.scores.exists()


@pytest.mark.parametrize("version", VERSIONS)
def test_predictions_of_another_submission_are_not_scored(version: Version, parts: Path, tmp_path: Path) -> None:
    other = Steps(parts, tmp_path / "other", good())
    assert other.ingest().exit_code == 0
    steps = Steps(parts, tmp_path / "mine", code("pass"))
    steps.ingest()
    other.run_folder.rename(steps.output / other.run_folder.name)
    scored = steps.score(version)
    assert scored.exit_code == 1
    assert not steps.scores.exists()


@pytest.mark.parametrize("version", VERSIONS)
def test_code_that_never_ran_is_not_scored(version: Version, parts: Path, tmp_path: Path) -> None:
    steps = Steps(parts, tmp_path, {**good(), "predictions.csv": READY_MADE})
    steps.output.mkdir()
    scored = steps.score(version)
    assert scored.exit_code == 1
    assert "the code: has not run to its end. See the log of the prediction step" in scored.stderr


def test_a_program_that_was_not_packed_as_a_whole_is_the_organisers_fault(parts: Path, tmp_path: Path) -> None:
    steps = Steps(parts, tmp_path, good())
    (steps.program / "program.json").write_text("{")
    assert steps.ingest().exit_code == 2
    scored = steps.score()
    assert scored.exit_code == 2
    assert "the ingestion program's description is missing or damaged" in scored.stderr


def test_the_entry_sees_an_allow_list_of_variables(parts: Path, tmp_path: Path) -> None:
    shown = good("import os", "print('SEEN', sorted(os.environ))")
    log = Steps(parts, tmp_path, shown).ingest(HF_TOKEN="x", HF_HOME="/models", AWS_KEY="y").stdout
    assert "'HF_HOME'" in log
    assert "HF_TOKEN" not in log
    assert "AWS_KEY" not in log

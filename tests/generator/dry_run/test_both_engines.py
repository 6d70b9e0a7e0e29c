"""One table of cases on which every engine must agree: status, exit code, scores, message and board."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.codabench.versions import NEWEST, PlatformVersion
from gen_bundle.dry_run.engines import Engine
from tests.generator.dry_run.bundles import (
    ACCURACY,
    COLUMN,
    COMMAND,
    GOOD,
    HALF,
    Bundle,
    printed,
    replay_one,
    write_files,
    writes,
)
from tests.sweeps import sweep

pytestmark = pytest.mark.slow

NO_SCORES = "Could not find scores file, did the scoring program output it?"
NON_ZERO = "Child task failed or non-zero return code"
PREDICT = "open('../output/pred.txt', 'w').write('1 0 1 1')\n"
INGEST = """\
import pathlib, runpy, sys
submission, inputs, output = map(pathlib.Path, sys.argv[1:])
model = runpy.run_path(str(submission / "model.py"))
items = (inputs / "items.txt").read_text().split()
(output / "pred.txt").write_text(" ".join(model["predict"](item) for item in items))
"""
RUN_INGEST = "command: python3 /app/program/ingest.py /app/ingested_program /app/input_data /app/output"
INGESTION: dict[str, Any] = {
    "task": {"ingestion_program": "ingestion", "input_data": "inputs"},
    "folders": {"ingestion": {"ingest.py": INGEST, "metadata.yaml": RUN_INGEST}, "inputs": {"items.txt": "a b a a"}},
}
SCORED: dict[str, Any] = {
    "status": "Finished",
    "exit_code": 0,
    "message": "",
    "scores": {"acc": 1.0},
    "cells": {"acc": "1.0"},
}
NOT_SCORED: dict[str, Any] = {"status": "Failed", "exit_code": 1, "message": NON_ZERO, "scores": None, "cells": None}
MODEL = {"model.py": "def predict(item):\n    return '1' if item == 'a' else '0'\n"}


@dataclass
class Case:
    """What goes in, and what must come out."""

    bundle: Bundle
    submission: Mapping[str, str] = field(default_factory=lambda: GOOD)
    status: str = "Finished"
    exit_code: int | None = 0
    scores: Mapping[str, Any] | None = None
    message: str = ""
    cells: Mapping[str, str] | None = None
    finding: str = ""
    note: str = ""
    newer: Mapping[str, Any] = field(default_factory=dict)  # what is otherwise in 1.32


def scored(bundle: Bundle, acc: float = 1.0, **more: Any) -> Case:
    return Case(bundle, scores={"acc": acc}, cells={"acc": str(float(acc))}, **more)


def failed(bundle: Bundle, message: str, exit_code: int | None = 0, **more: Any) -> Case:
    return Case(bundle, status="Failed", exit_code=exit_code, message=message, **more)


def refused(bundle: Bundle, message: str, newer: Mapping[str, Any] | None = None) -> Case:
    return Case(bundle, message=message, finding=message, newer=newer or {})


CRASH = {
    "status": "Failed",
    "message": "requests.exceptions.InvalidJSONError: Out of range float values are not JSON compliant",
    "finding": "",
}


CASES = {
    "all right": scored(Bundle(), acc=0.5, submission=HALF),
    "scores.txt is YAML": scored(Bundle(writes("acc: 0.25\n", "scores.txt")), acc=0.25),
    "both score files: json wins": scored(Bundle(writes('{"acc": 1}') + writes("acc: 0.25\n", "scores.txt"))),
    "scores.txt without a blank is one text": refused(Bundle(writes("acc:0.25\n", "scores.txt")), "a text"),
    "non-zero exit, although there are scores": failed(
        Bundle(writes('{"acc": 1}') + "import sys\nprint('rows missing', file=sys.stderr)\nsys.exit(3)\n"),
        "(exit code 3)\nrows missing",
        3,
    ),
    "no scores": failed(Bundle("print('done')\n"), NO_SCORES),
    "broken JSON": failed(Bundle(writes("{acc: 1}")), "Could not decode scores json properly, it contains an error.\n"),
    "NaN": refused(Bundle(writes('{"acc": NaN}')), "cannot be sent", CRASH),
    "infinity in a key that is no column": refused(Bundle(writes('{"acc": 1, "x": 1e999}')), "cannot be sent", CRASH),
    "a tag of Python in scores.txt": refused(
        Bundle(writes("acc: !!python/tuple [1]\n", "scores.txt")),
        "the scores file cannot be read",
        {**CRASH, "message": "yaml.constructor.ConstructorError: could not determine a constructor for the tag"},
    ),
    "null": refused(Bundle(writes('{"acc": null}')), "'acc' is null, expected a number"),
    "a list": refused(Bundle(writes("[1]")), "the scores are a list"),
    "too large": refused(Bundle(writes('{"acc": 1e10}')), "ten digits"),
    "unknown keys only": Case(
        Bundle(writes('{"accuracy": 1}')),
        scores={"accuracy": 1},
        cells={"acc": "n/a"},
        message="no score for acc: shown as n/a. The row comes first",
        finding="comes first",
        note="keys without a column, which the platform ignores: 'accuracy'",
    ),
    "hidden and computed columns": Case(
        Bundle(
            writes('{"acc": 0.123456, "time": 3}'),
            columns=(
                {**COLUMN, "precision": 4},
                {"title": "Seconds", "key": "time", "index": 1, "hidden": True},
                {"title": "Sum", "key": "sum", "index": 2, "computation": "sum", "computation_indexes": [0, 1]},
            ),
        ),
        scores={"acc": 0.123456, "time": 3},
        cells={"acc": "0.1235", "sum": "3.12"},
    ),
    "no such program": failed(Bundle(metadata="command: pyton3 score.py"), "pyton3", 127),
    "a variable in front": failed(Bundle(metadata=f"command: LANG=C {COMMAND}"), "LANG=C", 127),
    "no such script": failed(Bundle(metadata="command: python3 /app/program/nix.py"), NON_ZERO, 2),
    "permission to run is lost": failed(Bundle(metadata="command: /app/program/score.py"), NON_ZERO, 126),
    "no shell": scored(
        Bundle(
            "import json, pathlib, sys\npathlib.Path('../output/scores.json').write_text(json.dumps("
            "{'acc': len(sys.argv) - 1}))\n",
            metadata=f"command: '{COMMAND} > log.txt && $HOME \"a b\"'",
        ),
        acc=5,
    ),
    "placeholders of CodaLab": scored(
        Bundle(
            "import json, os, sys\njson.dump({'acc': float(os.path.isdir(sys.argv[1]))}, "
            "open(os.path.join(sys.argv[2], 'scores.json'), 'w'))\n",
            metadata="command: python3 $program/score.py $hidden $output",
        )
    ),
    "program without metadata": failed(
        Bundle(metadata=None), NO_SCORES, None, note="never started", newer={"message": NON_ZERO}
    ),
    "program without metadata, detailed results": failed(
        Bundle(metadata=None, top={"enable_detailed_results": True}), "Limit was 600 seconds", None
    ),
    "no detailed results, although they are on": scored(
        Bundle(top={"enable_detailed_results": True}), note="wrote no detailed_results.html"
    ),
    "metadata without command": failed(
        Bundle(metadata="Command: x"), NO_SCORES, None, note="has no `command`", newer={"message": NON_ZERO}
    ),
    "metadata is no YAML": failed(
        Bundle(metadata="command: [x"), NO_SCORES, None, note="is not valid YAML", newer={"message": NON_ZERO}
    ),
    "command with an open quotation": failed(
        Bundle(metadata="command: python3 'score.py"),
        NO_SCORES,
        None,
        note="No closing quotation",
        newer={"message": NON_ZERO},
    ),
    "no reference data": failed(Bundle(task={"reference_data": None}), NON_ZERO, 1),
    "result submission with a file named metadata": failed(
        Bundle(),
        "Bad or empty zip file",
        None,
        submission={**GOOD, "metadata": "x"},
        note="must not contain",
        newer={**SCORED, "note": "the submission's metadata replaced the file of that name"},
    ),
    "code submission": scored(
        Bundle(),
        submission={"predict.py": PREDICT, "metadata": "command: python3 /app/program/predict.py"},
        newer={**NOT_SCORED, "note": "the submission's command is not run"},
    ),
    "code submission that fails: only the scorer can tell": scored(
        Bundle(
            "import json, yaml_free\n"
            "told = open('../input/res/metadata').read()\n"
            "json.dump({'acc': float('exitCode: 7' in told)}, open('../output/scores.json', 'w'))\n",
            program={"yaml_free.py": ""},
        ),
        submission={"predict.py": "raise SystemExit(7)", "metadata": "command: python3 /app/program/predict.py"},
        note="exit code 7, which the platform does not look at",
        newer={"scores": {"acc": 0.0}, "cells": {"acc": "0.0"}, "note": "the submission's command is not run"},
    ),
    "a scorer that prints much": scored(
        Bundle(ACCURACY + "print('x\\n' * 300, flush=True)"),
        note="printed 301 lines, 601 bytes: with version 1.25 submissions fail at random",
    ),
    "ingestion program": scored(Bundle(**INGESTION), submission=MODEL),
    "the code lies among the predictions": scored(
        Bundle(
            "import json, os\njson.dump({'acc': float(os.path.exists('../input/res/model.py'))}, "
            "open('../output/scores.json', 'w'))\n",
            **INGESTION,
        ),
        submission=MODEL,
    ),
    "an ingestion program that fails, and scores of nothing": scored(
        Bundle(
            "import json\njson.dump({'acc': -1.0}, open('../output/scores.json', 'w'))\n",
            task=INGESTION["task"],
            folders={**INGESTION["folders"], "ingestion": {"ingest.py": "import torchh", "metadata.yaml": RUN_INGEST}},
        ),
        acc=-1.0,
        submission=MODEL,
        finding="No module named 'torchh'",
    ),
    "ingestion without metadata goes unnoticed": scored(
        Bundle(task={"ingestion_program": "ingestion"}, folders={"ingestion": {"ingest.py": INGEST}}),
        note="Program directory missing 'metadata.yaml/metadata'",
    ),
    "ingestion only during scoring without metadata, detailed results": scored(
        Bundle(
            task={"ingestion_program": "ingestion", "ingestion_only_during_scoring": True},
            folders={"ingestion": {"ingest.py": INGEST}},
            top={"enable_detailed_results": True},
        ),
        newer={"status": "Failed", "scores": None, "cells": None, "message": "Limit was 600 seconds"},
    ),
    "ready-made predictions beside the code": scored(
        Bundle(**INGESTION),
        submission={**MODEL, "pred.txt": "0 1 0 0"},
        newer={"scores": {"acc": 0.0}, "cells": {"acc": "0.0"}, "note": "a participant can hand in ready-made"},
    ),
    "a folder of the ingestion program where the submission has a file": scored(
        Bundle(
            "import json, os\njson.dump({'acc': float(os.path.isdir('../input/res/a') and os.path.isfile("
            "'../input/res/b'))}, open('../output/scores.json', 'w'))\n",
            task={"ingestion_program": "ingestion"},
            folders={
                "ingestion": {
                    "ingest.py": "import os\nos.mkdir('../output/a')\n",
                    "metadata.yaml": "command: python3 ingest.py",
                }
            },
        ),
        acc=0.0,
        submission={"a": "x", "b": "y", "metadata": "command: python3 -V"},
        newer={"scores": {"acc": 1.0}, "cells": {"acc": "1.0"}, "note": "not all of the submission could be copied"},
    ),
    "a file named metadata in the ingestion program's output": failed(
        Bundle(
            task={"ingestion_program": "ingestion"},
            folders={
                "ingestion": {
                    "ingest.py": "open('../output/metadata', 'w').write('x')\n",
                    "metadata.yaml": "command: python3 ingest.py",
                }
            },
        ),
        "the output directory already contains a metadata file",
        None,
        newer={"message": "Bad or empty zip file", "note": "already contains a metadata file"},
    ),
    "ingestion only during scoring starts after the scorer": scored(
        Bundle(
            "import json, os\n"
            "json.dump({'acc': float(os.path.exists('../shared/ready'))}, open('../output/scores.json', 'w'))\n",
            task={"ingestion_program": "ingestion", "ingestion_only_during_scoring": True},
            folders={
                "ingestion": {
                    "ingest.py": "open('../shared/ready', 'w')\n",
                    "metadata.yaml": "command: python3 /app/program/ingest.py",
                }
            },
            metadata="command: python3 score.py",
        ),
        acc=0.0,
        newer={"finding": "../shared/ready"},
    ),
    "$program with ingestion only during scoring is no folder": failed(
        Bundle(
            task={"ingestion_program": "ingestion", "ingestion_only_during_scoring": True},
            folders={"ingestion": {"metadata.yaml": "command: python3 -V"}},
            metadata="command: python3 $program/score.py",
        ),
        NON_ZERO,
        2,
    ),
    "a file named metadata in the output: Failed, and on the board": failed(
        Bundle(writes('{"acc": 1}') + writes("x", "metadata")),
        "the output directory already contains a metadata file",
        scores={"acc": 1},
        cells={"acc": "1.0"},
    ),
    "the scores are a link out of the output": failed(
        Bundle("import os\nos.symlink('/etc/passwd', '../output/scores.json')\n"), NO_SCORES, note="is a link to '/etc"
    ),
    "the scores are a link within the output": scored(
        Bundle(writes('{"acc": 1}', "real.json") + "import os\nos.symlink('real.json', '../output/scores.json')\n")
    ),
    "a pipe in the output": scored(
        Bundle(writes('{"acc": 1}') + "import os\nos.mkfifo('../output/pipe')\n"),
        note="'pipe' in the output is neither file nor folder",
    ),
    "forks and hangs": failed(
        Bundle(
            "import os, time\nif os.fork() == 0:\n    print('child', flush=True)\ntime.sleep(60)\n",
            phase={"execution_time_limit": 1},
        ),
        "Execution Time Limit exceeded. Limit was 1 seconds",
        None,
    ),
    "leaves a process behind": scored(
        Bundle(writes('{"acc": 1}') + "import os, time\nif os.fork() == 0:\n    time.sleep(60)\n    os._exit(0)\n")
    ),
    "the submission hangs": failed(
        Bundle(phase={"execution_time_limit": 5}),  # in 1.32 the scorer ends within it, also on a busy machine
        "Limit was 5 seconds",
        None,
        submission={"slow.py": "import time\ntime.sleep(60)\n", "metadata": "command: python3 slow.py"},
        newer={"message": NON_ZERO, "exit_code": 1},
    ),
    "keys of YAML that JSON sends as texts": Case(
        Bundle(writes("acc: 1\n2: 0.5\nno: 3\n", "scores.txt")),
        scores={"acc": 1, "2": 0.5, "false": 3},
        cells={"acc": "1.0"},
        note="keys without a column, which the platform ignores: '2', 'false'",
    ),
    "deep values under a key that is no column": scored(
        Bundle(
            "text = '[' * 700 + ']' * 700\n"
            """open('../output/scores.json', 'w').write('{"acc": 1, "deep": ' + text + '}')"""
        ),
        note="which the platform ignores: 'deep'",
    ),
    "a number beyond all reckoning": Case(
        Bundle(writes('{"acc": "1e1000001"}')),
        message="ten digits before the point are stored",
        finding="the server refuses the scores",
    ),
    "negative zero": Case(Bundle(writes('{"acc": -1e-12}')), scores={"acc": -1e-12}, cells={"acc": "0.0"}),
    "takes its own rights away": scored(
        Bundle(writes('{"acc": 1}') + "import os\nos.mkdir('../output/d', 0)\nos.chmod('../output/scores.json', 0)\n")
    ),
    "keys and file names that are no text": Case(
        Bundle(writes('{"acc": 1, "\\ud800": 2}') + "import os\nos.mkfifo(b'../output/\\xff')\n"),
        scores={"acc": 1, "\ud800": 2},
        cells={"acc": "1.0"},
        note="'\\udcff' in the output is neither file nor folder",
    ),
    "prints invalid UTF-8": scored(
        Bundle(writes('{"acc": 1}') + "import sys\nsys.stdout.buffer.write(b'\\xff\\xfe\\n')\n")
    ),
}


def test_links_that_leave_the_output_are_followed_after_no_ending(engine: Engine, tmp_path: Path) -> None:
    secret = write_files(tmp_path / "secret", {"key": "of this machine"})
    scorer = f"import os, time\nos.symlink({str(secret)!r}, '../output/all')\nos.symlink('.', '../output/self')\n"
    results = replay_one(Bundle(scorer + "time.sleep(60)\n", phase={"execution_time_limit": 5}), tmp_path, engine)
    assert "Limit was 5 seconds" in results.runs[0].message
    assert list((tmp_path / "out/test/main/team/output").iterdir()) == []
    assert sum("is a link to" in note for note in results.notes) == 2


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_outcome(case: Case, engine: Engine, tmp_path: Path) -> None:
    check_outcome(case, NEWEST, engine, tmp_path)


ENDS_OTHERWISE = {name: case for name, case in CASES.items() if case.newer}


@pytest.mark.parametrize("name", sweep(ENDS_OTHERWISE, []))
def test_outcome_in_an_older_version(name: str, engine: Engine, tmp_path: Path) -> None:
    """Where it ends otherwise; what files and exit codes mean is the same code."""
    check_outcome(CASES[name], PlatformVersion.V1_25, engine, tmp_path)


def check_outcome(case: Case, version: PlatformVersion, engine: Engine, tmp_path: Path) -> None:
    if version is NEWEST:
        case = replace(case, **case.newer)
    results = replay_one(case.bundle, tmp_path, engine, case.submission, version=version, trust=True)
    [run] = results.runs
    assert (run.status, run.exit_code, run.scores) == (case.status, case.exit_code, case.scores), run.message
    assert case.message in run.message
    assert bool(run.message) == bool(case.message)
    assert [row.cells for row in results.board] == ([case.cells] if case.cells else [])
    assert any(case.finding in finding for finding in results.findings) or not (case.finding or results.findings)
    assert any(case.note in note for note in results.notes) or not case.note
    assert results.good == (run.status == "Finished" and not case.finding)
    assert {path.name for path in (tmp_path / "out/test/main/team").iterdir()} >= {"output", "stdout.txt", "stderr.txt"}


def test_the_scoring_program_gets_the_variables_that_are_asked_for(engine: Engine, tmp_path: Path) -> None:
    scorer = writes('{"acc": 1}') + "import os\nprint(os.environ.get('SCORING_DETAILS'))\n"
    for asked, told in (({"SCORING_DETAILS": "all"}, "all\n"), ({}, "None\n")):
        replay_one(Bundle(scorer), tmp_path, engine, environment=asked)
        assert printed(tmp_path) == told


def test_of_what_is_printed_ten_mebibytes_are_kept(engine: Engine, tmp_path: Path) -> None:
    results = replay_one(Bundle(writes('{"acc": 1}') + "print(('y' * 999 + '\\n') * 30_000)\n"), tmp_path, engine)
    assert results.good
    kept = printed(tmp_path)
    assert 10 * 1024**2 <= len(kept) < 11 * 1024**2
    assert kept.endswith("more bytes are not kept.\n")
    assert any("stdout.txt is cut after 10 MiB" in note for note in results.notes)


def test_lines_are_told_while_the_program_runs(engine: Engine, tmp_path: Path) -> None:
    told: list[str] = []
    mark = tmp_path / "told"

    def tell(line: str) -> None:
        told.append(line)
        mark.touch()

    scorer = (
        "import os, time\nprint('first', flush=True)\nend = time.monotonic() + 30\n"
        f"while not os.path.exists({str(mark)!r}) and time.monotonic() < end: time.sleep(0.01)\n"
        f"print('last' if os.path.exists({str(mark)!r}) else 'too late')\n"
    )
    replay_one(Bundle(scorer + writes('{"acc": 1}'), sees=tmp_path), tmp_path, engine, on_line=tell)
    assert told == ["first", "last"]

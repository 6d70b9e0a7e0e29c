"""Ingestion programs in the shapes of public bundles: nothing is said of sound ones, and real faults are found."""

from pathlib import Path

import pytest

from gen_bundle.codabench.versions import PlatformVersion
from tests.generator.check.drafts import (
    OLD_FILES,
    Draft,
    Edit,
    both,
    drop,
    first_phase,
    first_task,
    new,
    old,
    packed,
    put,
    write,
)

VERSIONS = list(PlatformVersion)
FIXED_PATHS = b"""\
import sys
input_dir = '/app/input_data/'
output_dir = '/app/output/'
program_dir = '/app/program'
submission_dir = '/app/ingested_program'  # the submitted code
sys.path += [output_dir, program_dir, submission_dir]
from model import Model
"""
ARGUMENTS = b"import sys\ninput_dir, output_dir, program_dir, submission_dir = sys.argv[1:]\n"
PASS_THROUGH = b"import shutil\nshutil.copytree('/app/ingested_program', '/app/output', dirs_exist_ok=True)\n"
SWITCH = b"""\
import sys
from pathlib import Path
root = Path('/app' if '--codabench' in sys.argv else '..')
submission_dir = root / 'ingested_program'
"""
RUN_SH = b"""\
pip3 install -r $1/requirements.txt && \\
python3 /app/program/ingestion.py --dataset_dir=$2 --code_dir=/app/ingested_program/ --output_dir=/app/output/
"""
COMMAND = "command: python3 /app/program/ingestion.py /app/input_data/ /app/output/ /app/program /app/ingested_program"


def ingestion(
    metadata: str, code: bytes = ARGUMENTS, name: str = "metadata.yaml", script: str = "ingestion.py"
) -> Edit:
    """An ingestion program with data for the submitted code."""
    return both(
        first_task(ingestion_program="ingestion_program/", input_data="input_data/"),
        write(f"ingestion_program/{name}", f"{metadata}\n".encode()),
        write(f"ingestion_program/{script}", code),
        write("input_data/train.csv", b"id,text\n1,good\n"),
    )


def solution(files: dict[str, bytes]) -> Edit:
    """An example submission."""
    listed = put("solutions", [{"index": 0, "tasks": [0], "path": "solution/"}])
    return both(listed, *(write(f"solution/{name}", content) for name, content in files.items()))


SOUND = {
    "paths as arguments": ingestion(COMMAND),
    "a relative script": ingestion("command: python3 ingestion.py", FIXED_PATHS),
    "CodaLab's placeholders, metadata without ending": ingestion(
        "command: python $ingestion_program/ingestion.py $input $output $ingestion_program $submission_program",
        name="metadata",
    ),
    "placeholders after a literal path": ingestion(
        "command: python3 /app/program/ingestion.py $input $output $program $submission_program"
    ),
    "R, with a comment": ingestion(
        "command: Rscript $ingestion_program/ingestion.R $ingestion_program $input $output $submission_program\n"
        "## command: Rscript $ingestion_program/ingestion.R $input $output $submission_program $hidden $shared",
        b"args <- commandArgs()\n",
        "metadata",
        "ingestion.R",
    ),
    "switches alone": ingestion(
        "command: python3 run_ingestion.py --systematics-tes --num-of-sets 1 --codabench --parallel",
        SWITCH,
        script="run_ingestion.py",
    ),
    "options over several lines, further keys": ingestion(
        "title: ingestion\ndocker_image: codalab/codalab-legacy:py37\ncommand: >-\n  python3 ingestion.py\n"
        "  --data-dir /app/input_data\n  --output-dir /app/output\n  --submission-dir /app/ingested_program"
    ),
    "one command continued on the next line": ingestion(COMMAND.replace(" /app/ingested", "\n  /app/ingested")),
    "description and image": ingestion(f"{COMMAND}\nimage: someone/challenge:v2\ndescription: Runs what is submitted"),
    "an isolated interpreter": ingestion("command: python -I /app/program/ingestion.py", FIXED_PATHS),
    "a module": ingestion("command: python3 -m ingestion", FIXED_PATHS),
    "a program of the image": ingestion("command: python3 /opt/challenge/ingest.py /app/input_data /app/output"),
    "a script of the shell that installs packages": both(
        ingestion(
            "command: bash /app/program/run.sh /app/program /app/input_data /app/output", RUN_SH, script="run.sh"
        ),
        write("ingestion_program/requirements.txt", b"lightgbm\n"),
        write("ingestion_program/ingestion.py", ARGUMENTS),
    ),
    "a package beside the script": both(
        ingestion(COMMAND), write("ingestion_program/bench_utils/__init__.py", b"def load():\n    pass\n")
    ),
    "results, passed through": both(
        ingestion("command: python3 ingestion.py", PASS_THROUGH), solution({"predictions.csv": b"id,label\n1,b\n"})
    ),
    "no input data": both(ingestion(COMMAND), drop("tasks", 0, "input_data")),
    "input data that are also public": both(ingestion(COMMAND), first_phase(public_data="input_data/")),
    "a zipped program": both(
        ingestion(COMMAND),
        first_task(ingestion_program="ingestion.zip"),
        write("ingestion.zip", packed({"metadata.yaml": COMMAND.encode(), "ingestion.py": ARGUMENTS})),
    ),
    "one program for two tasks": both(
        ingestion(COMMAND),
        lambda draft: draft.yaml["tasks"].append({**draft.yaml["tasks"][0], "index": 1, "name": "Final"}),
        first_phase(tasks=[0, 1]),
    ),
    "a solution of code": both(ingestion(COMMAND), solution({"model.py": b"class Model:\n    pass\n"})),
    "a solution with metadata that only describe it": both(
        ingestion(COMMAND), solution({"model.py": b"", "metadata": b"description: Sample code submission\n"})
    ),
    "a solution with compiled files": both(
        ingestion(COMMAND), solution({"submission.py": b"", "submission.cpython-312.pyc": b"\xcb\r\r\n"})
    ),
    "a column of seconds": both(
        ingestion(COMMAND),
        put("leaderboards", 0, "columns", 1, {"title": "Duration", "key": "duration", "index": 1, "sorting": "asc"}),
    ),
}
FAULTY: dict[str, tuple[Edit, str]] = {  # and the rule, with words that it says
    "no metadata": (ingestion(COMMAND, name="metadata.yml"), "program-without-metadata: there is 'metadata.yml'"),
    "everything in a folder": (
        both(
            ingestion(COMMAND),
            first_task(ingestion_program="ingestion.zip"),
            write("ingestion.zip", packed({"ingestion_program/metadata.yaml": COMMAND.encode()})),
        ),
        "program-without-metadata: everything is in the folder 'ingestion_program'",
    ),
    "a list": (ingestion("command: [python3, ingestion.py]"), "program-without-command: not a text"),
    "a bare file": (
        both(ingestion(COMMAND), first_task(ingestion_program="ingestion.py"), write("ingestion.py", FIXED_PATHS)),
        "data-no-zip: is not a zip",
    ),
    "a missing script": (
        ingestion("command: python3 /app/program/ingest.py"),
        "command-script-missing: does not exist in the program",
    ),
    "the folder that the documentation names": (
        ingestion("command: python3 /app/ingestion_program/ingestion.py"),
        "command-script-missing: is never there: the program lies in /app/program",
    ),
    "a script of the submission folder": (
        ingestion("command: python3 /app/output/ingestion.py"),
        "command-script-missing: the program's ingestion.py lies in /app/program",
    ),
    "a placeholder that is a prefix": (
        ingestion("command: python ingestion.py --data-dir $input_data --output-dir $output"),
        "command-placeholder: $input_data becomes /app/input_data_data",
    ),
    "the ingestion program given as the submission": (
        ingestion("command: python ingestion.py --data-dir $input --output-dir $output --submission-dir $program"),
        "command-folder: --submission-dir is given /app/program, the ingestion program itself",
    ),
    "reference data in the prediction job": (
        ingestion(
            "command: python $ingestion_program/ingestion.py $input $output $hidden $submission_program",
            name="metadata",
        ),
        "command-folder: the ingestion program has no /app/input",
    ),
    "the folder of the two programs, in the prediction job": (
        ingestion("command: python3 ingestion.py $input $shared"),
        "command-folder: the ingestion program has no /app/shared",
    ),
    "folders at the root": (
        ingestion("command: python ingestion.py /input_data /output /app/program"),
        "command-folder: /input_data does not exist: all folders lie below /app",
    ),
    "only during scoring": (
        both(ingestion(COMMAND), first_task(ingestion_only_during_scoring=True)),
        "ingestion-only-during-scoring: runs only during scoring",
    ),
    "the program's folder, only during scoring": (
        both(ingestion("command: python3 $program/ingestion.py"), first_task(ingestion_only_during_scoring=True)),
        "command-placeholder: $program becomes /app/ingestion_program",
    ),
}


def faults(draft: Draft, version: PlatformVersion, folder: Path) -> list[tuple[str, str]]:
    """Id and words of all that is worse than a note."""
    draft.options["version"] = version
    return [(found.id, found.what) for found in draft.check(folder).findings if found.severity != "note"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("shape", SOUND)
def test_nothing_is_said_of_sound_shapes(shape: str, version: PlatformVersion, tmp_path: Path) -> None:
    assert faults(new(SOUND[shape]), version, tmp_path) == []


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("fault", FAULTY)
def test_faults_are_found_alone(fault: str, version: PlatformVersion, tmp_path: Path) -> None:
    edit, said = FAULTY[fault]
    rule_id, _, words = said.partition(": ")
    found = faults(new(edit), version, tmp_path)
    assert [what for found_id, what in found if found_id == rule_id and words in what]
    expected = {rule_id} | ({"ingestion-only-during-scoring"} if "only during scoring" in fault else set())
    assert {found_id for found_id, _ in found} == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_is_said_of_an_ingestion_program_of_the_old_format(version: PlatformVersion, tmp_path: Path) -> None:
    command = b"command: python $ingestion_program/ingestion.py $input $output $ingestion_program $submission_program"
    draft = old(put("phases", 1, "ingestion_program", "ingestion.zip"), put("phases", 1, "input_data", "input.zip"))
    draft.files |= {
        "ingestion.zip": packed({"metadata": command, "ingestion.py": ARGUMENTS}),
        "input.zip": packed({"train.csv": b"id,text\n1,good\n"}),
    }
    assert faults(draft, version, tmp_path) == faults(Draft(old().yaml, dict(OLD_FILES)), version, tmp_path)


@pytest.mark.parametrize(
    ("version", "metadata", "said"),
    [
        (PlatformVersion.V1_25, b"description: mine\n", "contains metadata without a command"),
        (PlatformVersion.V1_25, b"command: python3 predict.py\n", None),
        (PlatformVersion.V1_32, b"description: mine\n", None),
        (PlatformVersion.V1_32, b"command: python3 predict.py\n", "contains metadata whose command is never run"),
    ],
)
def test_a_submission_is_a_program_in_one_version_only(
    version: PlatformVersion, metadata: bytes, said: str | None, tmp_path: Path
) -> None:
    found = faults(new(solution({"predict.py": b"", "metadata": metadata})), version, tmp_path)
    assert [what.partition("'solution/' ")[2] for _, what in found] == ([said] if said else [])

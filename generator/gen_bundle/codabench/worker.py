"""The rules of the compute worker: which command runs, how a job ends, and in which image programs run.

Each rule names its place in Codabench's public source of 1.25, `compute_worker/compute_worker.py`; quoted
messages are the platform's own words. What later versions do otherwise is in `gen_bundle.codabench.versions`. What the
server then does with the scores is in `gen_bundle.codabench.board`.
"""

import json
import sys
import traceback
from pathlib import Path
from typing import Literal, NamedTuple

from gen_bundle.ground.yaml_document import MAX_BYTES, MAX_METADATA_BYTES, UnreadableYamlError, is_endless, read_yaml

ContainerKind = Literal["program", "ingestion"]

HOME = "/app/program"
# How the names of images begin that only this machine has; `gen-bundle image build` makes the first kind.
LOCAL_IMAGES = ("gen-bundle/", "localhost/", "localhost:", "127.0.0.1")
# Logs of 100 lines were kept whole in all trials; of 1,000 lines not in all.
LONG_LOG_LINES = 300
LONG_LOG_BYTES = 10 * 1024

TIME_LIMIT = "Execution Time Limit exceeded. Limit was {seconds} seconds"
NON_ZERO = "Child task failed or non-zero return code"
NO_SCORES = "Could not find scores file, did the scoring program output it?"
BAD_SCORES = "Could not decode scores json properly, it contains an error.\n{error}"
OWN_METADATA = (
    "Error, the output directory already contains a metadata file. This file is used to store exitCode and other data, "
    "do not write to this file manually."
)
BAD_ZIP = "Bad or empty zip file"
NOT_JSON = "requests.exceptions.InvalidJSONError"
METADATA_NAMES = ("metadata.yaml", "metadata")
"""The file with a program's command; the first that is there counts."""
NO_TEXT = "the command is not a text"
INGESTION_NO_METADATA = "Program directory missing 'metadata.yaml/metadata'"
INGESTION_NO_COMMAND = "Program directory missing 'command' in metadata"


class JobFailedError(Exception):
    """The worker sets the submission to Failed.

    Attributes:
        cause: In its own words.
        detail: What we know besides.
    """

    def __init__(self, cause: str, detail: str = "") -> None:
        super().__init__(f"{cause} {detail}".rstrip())
        self.cause = cause
        self.detail = detail


class WorkerCrashError(Exception):
    """The worker's task dies of an exception of its own after it had sent Finished, without scores.

    Attributes:
        last_line: Of the traceback, as far as it can be known.
    """

    def __init__(self, message: str, last_line: str = "") -> None:
        super().__init__(message)
        self.last_line = last_line or message


class Metadata(NamedTuple):
    """A program folder's metadata as the worker takes it.

    Attributes:
        file: The `metadata.yaml` or `metadata` at the root; empty where there is none.
        command: Its command, None where there is none to run.
        problem: Why there is none.
    """

    file: str = ""
    command: str | None = None
    problem: str = ""


def read_metadata(program: Path) -> Metadata:
    """Return the command of a program folder: `metadata.yaml` before `metadata`, YAML, only `command` counts.

    Source: `Run._run_program_directory`. A file that is not a mapping or not YAML counts as one without command; so
    does a command that is not a text, and what takes the parser beyond all bounds: both end there in an exception that
    is ignored.
    None of it is ever read without bounds, since a participant may have written it.
    """
    name = next((name for name in METADATA_NAMES if (program / name).exists()), "")
    if not name:
        return Metadata(problem="no metadata.yaml at the root of the program")
    try:
        return command_in(name, _beginning(program / name, MAX_METADATA_BYTES))
    except OSError as error:
        return Metadata(name, problem=f"{name} {' '.join(str(error).split())}")


def command_in(name: str, data: bytes) -> Metadata:
    """Return the command in a metadata file of a name."""
    try:
        content = read_yaml(data, MAX_METADATA_BYTES).value
    except UnreadableYamlError as error:
        return Metadata(name, problem=f"{name} {' '.join(str(error).split())}")
    if not isinstance(content, dict):
        return Metadata(name, problem=f"{name} is empty or not a mapping")
    command = content.get("command")
    if not command:
        return Metadata(name, problem=f"{name} has no `command`")
    if not isinstance(command, str):
        return Metadata(name, problem=f"{name}: {NO_TEXT}")
    return Metadata(name, command)


def _beginning(file: Path, most: int) -> bytes:
    """The file, or of a larger one just so much that its reader sees it."""
    with file.open("rb") as opened:
        return opened.read(most + 1)


def replace_placeholders(
    command: str, kind: ContainerKind, *, is_scoring: bool, ingestion_only_during_scoring: bool
) -> str:
    """CodaLab's placeholders, replaced as plain text in the worker's order.

    So `$input_data` becomes `/app/input_data_data` for an ingestion program, and with ingestion only during scoring
    `$program` becomes a folder that is never mounted. Source: `replace_legacy_metadata_command`.
    """
    program = HOME
    if ingestion_only_during_scoring and is_scoring:
        program = "/app/ingestion_program"
    for placeholder, path in (
        ("$input", "/app/input_data" if kind == "ingestion" else "/app/input"),
        ("$output", "/app/output"),
        ("$program", program),
        ("$ingestion_program", HOME),
        ("$hidden", "/app/input/ref"),
        ("$shared", "/app/shared"),
        ("$submission_program", "/app/ingested_program"),
        ("$tmp", "/app/output"),
        ("$predictions", "/app/input/res" if is_scoring else "/app/output"),
    ):
        command = command.replace(placeholder, path)
    return command


def is_long_log(lines: int, size: int) -> bool:
    """Return whether a log of so many lines and bytes is one that the platform does not keep safely."""
    return lines > LONG_LOG_LINES or size > LONG_LOG_BYTES


def read_scores(output: Path) -> object:
    """Return what the scoring program wrote: `scores.json`, else `scores.txt` as YAML. Source: `Run.push_scores`.

    Returns:
        Whatever the file holds, as it is sent: JSON, whose keys are texts. The server judges it.

    Raises:
        JobFailedError: There is neither, or the JSON is broken.
        WorkerCrashError: It cannot be read otherwise, or cannot be sent: the HTTP client refuses NaN and infinity.
    """
    as_json, as_text = output / "scores.json", output / "scores.txt"
    try:
        if as_json.is_file():
            scores: object = json.loads(as_json.read_text(encoding="utf-8"))
        elif as_text.is_file():
            scores = read_yaml(_beginning(as_text, MAX_BYTES)).value
            if is_endless(scores):
                raise WorkerCrashError("the scores repeat themselves through aliases without end or nearly so")
        else:
            raise JobFailedError(NO_SCORES)
    except json.JSONDecodeError as error:
        raise JobFailedError(BAD_SCORES.format(error=error.msg)) from error
    except (UnreadableYamlError, RecursionError, ValueError, OSError) as error:
        text = " ".join(str(error).split())
        raise WorkerCrashError(
            f"the scores file cannot be read: {text}",
            traceback.format_exception_only(error.__cause__ or error)[0].splitlines()[0],
        ) from error
    try:
        sent: object = json.loads(json.dumps(scores, allow_nan=False))
    except (ValueError, TypeError, RecursionError) as error:
        raise WorkerCrashError(f"the scores cannot be sent to the server: {error}", f"{NOT_JSON}: {error}") from error
    return sent


# The image in which every scoring program without a model runs, unless a competition names its own. Source:
# Dockerfiles/Dockerfile-py312 of the public repository codalab/codalab-dockers, commit dd2e27e (3 April 2026). It was
# read there, and the image itself not pulled. The tag may move: a program must not depend on exact versions, and its
# signature names what it met.
PLATFORM_IMAGE = "codalab/codalab-legacy:py312"
PYTHON = "3.12"
"""On Debian 12 (python:3.12-slim-bookworm), as root, with tini for an entry point, which passes the command on."""
PACKAGES = {
    "cython": "3.0.12",
    "imutils": "0.5.4",
    "matplotlib": "3.8.4",
    "numba": "0.61.2",
    "numpy": "1.26.4",
    "pandas": "2.2.3",
    "psutil": "7.0.0",
    "pyyaml": "6.0.2",
    "scikit-learn": "1.5.1",
    "scipy": "1.11.4",
    "threadpoolctl": "3.6.0",
}
"""Versions that its Dockerfile pins, by the names of the Python package index."""
MODULES = frozenset(
    {
        *("Cython", "PIL", "contourpy", "cycler", "dateutil", "fontTools", "imutils", "joblib", "kiwisolver"),
        *("llvmlite", "matplotlib", "mpl_toolkits", "numba", "numpy", "packaging", "pandas", "psutil", "pyparsing"),
        *("pytz", "scipy", "six", "sklearn", "threadpoolctl", "tzdata", "yaml"),
    }
)
"""Modules that can be imported from these and from what pip installs with them."""
CALLED_OTHERWISE = {"Cython": "cython", "sklearn": "scikit-learn", "yaml": "pyyaml"}
"""Modules of these packages by another name than theirs."""
UNTIL_312 = frozenset(
    {
        *("_crypt", "aifc", "audioop", "cgi", "cgitb", "chunk", "crypt", "imghdr", "lib2to3", "mailcap", "msilib"),
        *("nis", "nntplib", "ossaudiodev", "pipes", "sndhdr", "spwd", "sunau", "telnetlib", "uu", "xdrlib"),
    }
)
NOT_IN_312 = frozenset({"annotationlib", "asynchat", "asyncore", "compression", "distutils", "imp", "smtpd"})
STANDARD_LIBRARY = (sys.stdlib_module_names | UNTIL_312) - NOT_IN_312
"""Modules of the image's Python, whichever version this is: what other versions have no more, or not yet."""

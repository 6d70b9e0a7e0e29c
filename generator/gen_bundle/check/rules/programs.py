"""Scoring and ingestion programs, what makes them fail, and where they run: the queue and the docker image."""

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from gen_bundle.check.bundle import Bundle, once_a_bundle, read_program_json
from gen_bundle.check.registry import HOUSE, UNPACKER, WORKER, Problem, Topic
from gen_bundle.check.rules.shared import known_key
from gen_bundle.check.rules.tasks import where
from gen_bundle.codabench.commands import Role, Verdict, faults
from gen_bundle.codabench.competition import DEFAULT_IMAGE, DataUse, Task
from gen_bundle.codabench.runnable import PROGRAM_JSON
from gen_bundle.codabench.settings import Stage, shown
from gen_bundle.codabench.versions import DIFFERENCES
from gen_bundle.codabench.worker import (
    LOCAL_IMAGES,
    METADATA_NAMES,
    MODULES,
    NO_TEXT,
    PACKAGES,
    PLATFORM_IMAGE,
    STANDARD_LIBRARY,
    Metadata,
    command_in,
)
from gen_bundle.ground.yaml_document import MAX_METADATA_BYTES
from gen_bundle.ground.zips.tree import Node, Unpacked

PROGRAMS = Topic("Programs and their commands", f"{WORKER} (metadata and command)", reads="both")
MAX_SOURCE_BYTES = 1024 * 1024
DATA_FILE = re.compile(
    r"(?i)\.(?:csv|tsv|jsonl?|npy|npz|pkl|xml|h5|parquet|mat|nii|zip|gz|db|(?<!requirements\.)txt)\Z"
)
COMMENT = re.compile(rb"(?m)^[ \t]*#.*$")
NEVER_STARTED = (
    "Without its scoring program, every submission fails. An ingestion program is silently skipped: the scoring "
    "program gets the submission's own files instead of predictions."
)


class UnpackedProgram(NamedTuple):
    """A program that some phase runs, unpacked, with its metadata."""

    task: Task
    use: DataUse
    role: Role
    unpacked: Unpacked
    metadata: Metadata


def _metadata(unpacked: Unpacked) -> Metadata:
    """The metadata file that the worker reads, and the command in it."""
    for name in METADATA_NAMES:
        node = unpacked.tree.find(name)
        if isinstance(node, Node):
            if node.is_folder:
                return Metadata(name, problem=f"{name} is a folder")
            return command_in(name, node.read(MAX_METADATA_BYTES + 1))
    return Metadata()


@once_a_bundle
def programs(bundle: Bundle) -> Iterator[UnpackedProgram]:
    """The programs of tasks that are run, as far as they can be unpacked; each packed program once for each role."""
    seen: set[tuple[str, int, bool]] = set()
    roles: tuple[tuple[str, Role], ...] = (("scoring_program", "scoring"), ("ingestion_program", "ingestion"))
    for task in bundle.competition.used_tasks:
        for key, role in roles:
            use = task.files.get(key)
            unpacked = bundle.unpacked(use)
            if use is None or unpacked is None or unpacked.fault or unpacked.form == "server":
                continue
            identity = (role, id(unpacked), task.ingestion_only_during_scoring)
            if identity not in seen:
                seen.add(identity)
                yield UnpackedProgram(task, use, role, unpacked, _metadata(unpacked))


@PROGRAMS.broken(
    "a program without metadata at its root",
    f"{NEVER_STARTED} "
    "→ Put a file named exactly metadata.yaml, with a `command`, at the root, without a folder around it.",
)
def _program_without_metadata(bundle: Bundle) -> Iterator[Problem]:
    for program in programs(bundle):
        if not program.metadata.file:
            near = [name for name in program.unpacked.names if re.search(r"(?i)(^|/)metadata(\.\w+)?$", name)]
            hint = ""
            if program.unpacked.wrapping_folder:
                hint = f"; everything is in the folder {program.unpacked.wrapping_folder!r}"
            elif near:
                hint = f"; there is {near[0]!r}"
            yield Problem(f"{where(program.use)} has no metadata.yaml at its root{hint}", program.use.at)


@PROGRAMS.broken(
    "a program whose metadata has no command",
    f"{NEVER_STARTED} → Write `command: python3 /app/program/score.py`, with a blank after the colon.",
)
def _program_without_command(bundle: Bundle) -> Iterator[Problem]:
    for program in programs(bundle):
        if program.metadata.problem:
            yield Problem(f"{where(program.use)}: {program.metadata.problem}", program.use.at)


def _commands_with(verdict: Verdict, kind: str, bundle: Bundle) -> Iterator[Problem]:
    """The commands with one kind of fault, where the program cannot run (broken) or runs otherwise (trap)."""
    for program in programs(bundle):
        command, during_scoring = program.metadata.command, program.task.ingestion_only_during_scoring
        if not command:
            continue
        for fault in faults(command, program.role, during_scoring, program.unpacked.tree):
            if (fault.verdict, fault.kind) == (verdict, kind):
                yield Problem(f"{where(program.use)}: {fault.what}", program.use.at)


@PROGRAMS.broken("a command that only a shell understands")
def _command_needs_a_shell(bundle: Bundle) -> Iterator[Problem]:
    """There is no shell: operators, assignments and builtins are taken as programs or arguments, and nothing is run.
    → Call one program, or write `bash -c "…"` around the whole command.
    Example: not `cd /app/program && python3 score.py`, but `python3 /app/program/score.py`.
    """
    return _commands_with("broken", "shell", bundle)


@PROGRAMS.trap("shell syntax in a command that runs nevertheless")
def _command_with_shell_syntax(bundle: Bundle) -> Iterator[Problem]:
    """There is no shell: redirections, pipes, patterns and variables are passed to the program as arguments.
    → Remove them, or write `bash -c "…"` around the whole command.
    Example: not `python3 /app/program/score.py > log.txt`, but the command without `> log.txt`.
    """
    return _commands_with("trap", "shell", bundle)


@PROGRAMS.broken("a placeholder that becomes a path that does not exist")
def _command_placeholder(bundle: Bundle) -> Iterator[Problem]:
    """The program does not find its files.
    → Write the paths themselves: /app/program, /app/input, /app/input_data, /app/output.
    """
    return _commands_with("broken", "placeholder", bundle)


@PROGRAMS.broken("a command that starts a script that does not exist or cannot be run")
def _command_script_missing(bundle: Bundle) -> Iterator[Problem]:
    """Every submission fails; for an ingestion program, only because the scoring program finds no predictions.
    → Name a script of the program, with its interpreter: `python3 /app/program/score.py`.
    """
    return _commands_with("broken", "script", bundle)


@PROGRAMS.trap("a command with a folder that the program does not have")
def _command_folder(bundle: Bundle) -> Iterator[Problem]:
    """The program does not find what it looks for there.
    → An ingestion program has /app/program, /app/input_data, /app/ingested_program and /app/output; a scoring program
    has /app/program, /app/input and /app/output. An ingestion program never gets reference data.
    """
    return _commands_with("trap", "folder", bundle)


@PROGRAMS.trap("a program with a requirements.txt")
def _requirements_never_installed(bundle: Bundle) -> Iterator[Problem]:
    """It is not installed. → Put the packages into the docker image, and delete the file."""
    for program in programs(bundle):
        names = [name for name in program.unpacked.names if name.rpartition("/")[2].lower() == "requirements.txt"]
        if not names or "install" in (program.metadata.command or ""):
            continue
        sources = _sources(program.unpacked, b"install")
        if not any(b"requirements.txt" in source and b"install" in source for source in sources):
            yield Problem(f"{where(program.use)} contains {names[0]}", program.use.at)


def _sources(unpacked: Unpacked, text: bytes) -> Iterator[bytes]:
    """A program's code without comments, of each file with the text, which may be in a comment alone."""
    for name, node in unpacked.tree.files():
        if name.endswith((".py", ".sh", ".R", ".pl")) and node.size <= MAX_SOURCE_BYTES:
            source = node.read(MAX_SOURCE_BYTES)
            if text in source:
                yield COMMENT.sub(b"", source)


REFERENCE_PATH = re.compile(rb"""["']/app/input/ref(?:/([\w./-]*))?["']""")
# a program with one of these checks whether a file exists, or does without it
TOLERANT = re.compile(rb"exists\(|is_?file\(|is_?dir\(|FileNotFoundError|OSError")


@PROGRAMS.broken("a task without reference data", source=WORKER)
def _reference_data_absent(bundle: Bundle) -> Iterator[Problem]:
    """/app/input/ref does not exist, so that no submission can be compared with anything: every run fails.
    → Give the task `reference_data` with the answers. Nothing is said where the scoring program holds data itself, or
    where it reads nothing but what an ingestion program wrote.
    """
    for task in bundle.competition.used_tasks:
        use = task.files.get("scoring_program")
        unpacked = bundle.unpacked(use)
        if use is None or "reference_data" in task.files or unpacked is None or unpacked.fault:
            continue
        judges_runs = "ingestion_program" in task.files and not any(_sources(unpacked, b"ref"))
        if unpacked.form != "server" and not judges_runs and not any(DATA_FILE.search(name) for name in unpacked.names):
            yield Problem(f"the task of {where(use)} has no reference data", use.at)


PYTHON_3 = re.compile(r"(?:.*/)?python(?:3(?:\.\d+)?)?\Z")
LATER_SYNTAX = re.compile(r"""^\s*(?:type|lazy|except)\b|^\s*(?:async\s+)?(?:def|class)\s+\w+\[|\b[fFtT][rR]?["']""")
"""Syntax that a Python newer than this one may take; of `except A, B` the message says what is meant."""
OF_PYTHON_2 = ("Missing parentheses in call to", "multiple exception types must be parenthesized")


@PROGRAMS.broken("a program in Python that its interpreter cannot parse", source=HOUSE)
def _program_not_python_3(bundle: Bundle) -> Iterator[Problem]:
    """Every run ends with a SyntaxError, most often because the program is written in Python 2.
    → Write it in Python 3 (2to3 does most of it), or name an image with Python 2 and call `python2`.
    """
    for program in programs(bundle):
        for name, error in _sources_run(program, bundle.competition.image == DEFAULT_IMAGE):
            if isinstance(error, SyntaxError) and not _is_later_python(error):
                what = f"{where(program.use)}: {name}:{error.lineno or 1} is not Python 3: {error.msg}"
                yield Problem(what, program.use.at)


def _sources_run(program: UnpackedProgram, is_python_3: bool) -> Iterator[tuple[str, tuple[str, ...] | SyntaxError]]:
    """The files of a program that its command runs, or that these import: what each surely imports, or its fault."""
    interpreter, script, *_ = [*(program.metadata.command or "").split(), "", ""]
    if not PYTHON_3.match(interpreter) or not (is_python_3 or "3" in interpreter):
        return
    waiting = [script.removeprefix("$program/").removeprefix("/app/program/").removeprefix("./")]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        node = program.unpacked.tree.find(name)
        if name in seen or not isinstance(node, Node) or node.size > MAX_SOURCE_BYTES:
            continue
        seen.add(name)
        source = node.read(MAX_SOURCE_BYTES)
        try:
            imported = _imported(source)
        except SyntaxError as error:
            yield name, error
        except (ValueError, RecursionError, MemoryError):
            continue  # no text at all, or no program that people write
        else:
            yield name, imported
            folder = name.rpartition("/")[0]
            for module in imported:
                path = f"{folder}/{module.replace('.', '/')}".removeprefix("/")
                waiting += (f"{path}.py", f"{path}/__init__.py")


def _is_later_python(error: SyntaxError) -> bool:
    return not error.msg.startswith(OF_PYTHON_2) and LATER_SYNTAX.search(error.text or "") is not None


@lru_cache  # the programs of a competition's tasks have most files in common
def _imported(source: bytes) -> tuple[str, ...]:
    """The modules that a file surely imports, with those that it imports only names from.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it is not Python 3.
    """
    with warnings.catch_warnings(action="ignore"):
        tree = ast.parse(source)
    names: list[str] = []
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            names += [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            names.append(statement.module)
    return tuple(names)


@PROGRAMS.trap("a scoring program that reads a file that the reference data do not have", source=WORKER)
def _reference_data_missing(bundle: Bundle) -> Iterator[Problem]:
    """The file does not exist in /app/input/ref: every submission fails unless the program does without.
    → Give the task `reference_data` with the files that the program reads.
    """
    for program in programs(bundle):
        use = program.task.files.get("reference_data")
        unpacked = bundle.unpacked(use)
        if program.role != "scoring" or use is None or unpacked is None or unpacked.fault or not unpacked.names:
            continue
        named: set[str] = set()
        for source in _sources(program.unpacked, b"/app/input/ref"):
            if not TOLERANT.search(source):
                for path in REFERENCE_PATH.findall(source):
                    named.add(path.decode("ascii").strip("/"))
        for name in sorted(named):
            if unpacked.tree.find(name) is None:
                what = f"{where(program.use)} reads /app/input/ref/{name}, which is not in the reference data"
                yield Problem(what, use.at)


@PROGRAMS.trap("an example submission that contains a metadata file", reads="v2")
def _solution_with_metadata(bundle: Bundle) -> Iterator[Problem]:
    """Without an ingestion program, the scoring program gets no predictions. Up to 1.26 a submission with metadata is
    run as a program, and without a command in it nothing is copied; since 1.27 its command is never run.
    → Remove the file from submissions of results. For submissions of code, give the task an ingestion program.
    """
    if any("ingestion_program" in task.files for task in bundle.competition.tasks):
        return
    runs_submissions = DIFFERENCES[bundle.platform].submission_is_a_program
    for use in bundle.competition.solutions:
        unpacked = bundle.unpacked(use)
        if unpacked is None or unpacked.fault:
            continue
        metadata = _metadata(unpacked)
        has_command = metadata.problem == "" or metadata.problem.endswith(NO_TEXT)
        if metadata.file and has_command is not runs_submissions:
            what = "whose command is never run" if has_command else "without a command"
            yield Problem(f"{where(use)} contains {metadata.file} {what}", use.at)


@PROGRAMS.note("reference data in a folder of its own inside the zip", source=WORKER)
def _reference_data_wrapped(bundle: Bundle) -> Iterator[Problem]:
    """The scoring program finds /app/input/ref/<folder>/… instead of the files themselves.
    → Zip the files, not their folder, unless the program expects it.
    Example: not `ref.zip` with `ref/gold.csv` in it, but `ref.zip` with `gold.csv`.
    """
    for task in bundle.competition.used_tasks:
        use = task.files.get("reference_data")
        unpacked = bundle.unpacked(use)
        if not use or not unpacked or unpacked.form != "zip" or unpacked.fault:
            continue
        # a folder with the zip's own name, or the usual one, was zipped with its contents
        zip_name = str(use.path).rpartition("/")[2].removesuffix(".zip")
        if unpacked.wrapping_folder in (zip_name, "ref", "reference", "reference_data"):
            yield Problem(f"everything in {where(use)} is in the folder {unpacked.wrapping_folder!r}", use.at)


BROUGHT = re.compile(r"site/(?P<name>[^/-]+?)(-(?P<version>[^/]+))?\.dist-info/")
"""A package of a program; what was published as source alone has no version in its folder's name."""
WORKERS = Topic("The queue and the docker image", f"{WORKER} (pull)", reads="both", stage=Stage.QUEUE)
PART = r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*"
LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
# a first part without dot, port or "localhost" belongs to the path, which is in lower case
HOST = rf"(?:(?:{LABEL}(?:\.{LABEL})+|\[[a-fA-F0-9:]+\])(?::\d+)?|{LABEL}:\d+|localhost)"
DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
REFERENCE = re.compile(
    rf"(?:{HOST}/)?(?P<path>{PART}(?:/{PART})*)(?P<tag>:[\w][\w.-]{{0,127}})?(?P<digest>@{DIGEST})?",
    re.ASCII,
)
NEWEST = "Each run takes the newest image: scores may change from one day to the next."


@WORKERS.refused(
    "a queue that cannot be assumed to exist",
    "The upload ends with `The specified Queue does not exist!`, with an error that the value is not a UUID, or "
    "with `You do not have access to the specified queue!` "
    f"→ Give the queue's vhost, a UUID, and not its name. {known_key('queue')}",
    source=f"{UNPACKER}/base_unpacker.py (queue)",
)
def _queue_unknown(bundle: Bundle) -> Iterator[Problem]:
    queue = bundle.yaml.get("queue")
    if queue and str(queue) not in bundle.known_keys:
        yield Problem(f"queue is {shown(queue)}", ("queue",))


@WORKERS.broken(
    "a docker image with an invalid name",
    source=f"{WORKER} (pull); the reference grammar of github.com/distribution/reference",
)
def _docker_image_name(bundle: Bundle) -> Iterator[Problem]:
    """The pull fails for every submission. → Write registry/owner/name:tag in lower case, without https://.
    Example: not `https://example.org/Team/Scorer`, but `example.org/team/scorer:1.0`.
    """
    image = bundle.competition.image
    if image and not REFERENCE.fullmatch(image):
        yield Problem(f"{shown(image)} is not a valid image name", bundle.competition.image_at)


@WORKERS.trap("a docker image without a tag", f"{NEWEST} → Add a tag, or better a digest.")
def _docker_image_without_tag(bundle: Bundle) -> Iterator[Problem]:
    parts = REFERENCE.fullmatch(bundle.competition.image)
    if parts and not parts["digest"] and not parts["tag"]:
        yield Problem(f"{parts.group()} has no tag: `latest` is taken", bundle.competition.image_at)


@WORKERS.note("a docker image with the tag latest", f"{NEWEST} → Use a tag that does not move, or better a digest.")
def _docker_image_latest(bundle: Bundle) -> Iterator[Problem]:
    parts = REFERENCE.fullmatch(bundle.competition.image)
    if parts and not parts["digest"] and parts["tag"] == ":latest":
        yield Problem(f"{parts.group()} has a tag that moves", bundle.competition.image_at)


@WORKERS.trap("a docker image of this machine, with a queue")
def _docker_image_local(bundle: Bundle) -> Iterator[Problem]:
    """Only workers that have the image and are set not to pull (`COMPETITION_ALLOW_IMAGE_PULL=False`, since 1.31) can
    use it; on all others every submission fails.
    → Load it on every worker of the queue and set them so, or push it to a registry.
    """
    image = bundle.competition.image
    if bundle.yaml.get("queue") and image.startswith(LOCAL_IMAGES):
        yield Problem(f"{image} is the name of an image of your own machine", bundle.competition.image_at)


@WORKERS.broken("a docker image that no registry has")
def _docker_image_unpublished(bundle: Bundle) -> Iterator[Problem]:
    """No worker can pull it, and every submission fails. → Publish it (gen-bundle image push, or docker push to a
    registry) and name it by the name that it has there.
    """
    image = bundle.competition.image
    if not bundle.yaml.get("queue") and image.startswith(LOCAL_IMAGES):
        yield Problem(f"{image} is the name of an image of your own machine", bundle.competition.image_at)


@WORKERS.broken("a package that neither image nor program has")
def _library_missing(bundle: Bundle) -> Iterator[Problem]:
    """The scoring program ends with an error, and every submission fails.
    → Lock `requirements` of your own (gen-bundle image lock), and build where pip reaches a package index, which puts
    packages into the program; or publish an image that has them (gen-bundle image build, gen-bundle image push) and
    name that.
    """
    if bundle.competition.image != PLATFORM_IMAGE:
        return
    for program in programs(bundle):
        held: dict[str, str | None] = {**PACKAGES}
        for name in program.unpacked.names:
            if found := BROUGHT.match(name):
                held[found["name"].lower().replace("_", "-")] = found["version"]
        needed = read_program_json(program.unpacked.tree.find(PROGRAM_JSON)).get("needs")
        absent: dict[str, None] = {}
        for one in needed if isinstance(needed, list) else ():
            if not _is_held(str(one), held):
                absent[str(one)] = None
        absent |= dict.fromkeys(_found_nowhere(program))
        if absent:
            what = f"{where(program.use)} needs {', '.join(absent)}, which {PLATFORM_IMAGE} has not"
            yield Problem(what, program.use.at)


ELSEWHERE = re.compile(rb"sys\.path|addsitedir|PYTHONPATH|\bpip3?\b")
"""Code that looks for modules in other places, or installs some."""


def _found_nowhere(program: UnpackedProgram) -> Iterator[str]:
    """The modules that a program surely imports and that neither image nor program has.

    None where it looks for modules in other places, as in the submission, or installs some.
    """
    present = MODULES | STANDARD_LIBRARY
    for path in program.unpacked.names:
        present |= {part.partition(".")[0] for part in path.split("/")}
    absent: dict[str, None] = {}
    for _, imported in _sources_run(program, is_python_3=True):
        if isinstance(imported, tuple):
            absent |= dict.fromkeys(module.partition(".")[0] for module in imported)
    found = [top for top in absent if top not in present]
    if found and not any(ELSEWHERE.search(source) for source in _sources(program.unpacked, b"")):
        yield from found


def _is_held(needed: str, held: Mapping[str, str | None]) -> bool:
    """Whether a package is there, of a requirement in its version."""
    written, _, version = needed.partition("==")
    name = written.partition("[")[0].lower().replace("_", "-").replace(".", "-")
    return name in held and (not version or held[name] in (None, version))

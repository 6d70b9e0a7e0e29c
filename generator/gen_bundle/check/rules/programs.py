"""Scoring and ingestion programs: their metadata, their command, and what else makes them fail."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gen_bundle.check.registry import WORKER, Effect, Problem, rule
from gen_bundle.check.rules.data_files import where
from gen_bundle.codabench.commands import Fault, Role, faults
from gen_bundle.codabench.competition import DataUse, Task
from gen_bundle.codabench.yaml_document import MAX_METADATA_BYTES, UnreadableYamlError, read_yaml
from gen_bundle.zips.packed import Package
from gen_bundle.zips.tree import Node

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle

METADATA = ("metadata.yaml", "metadata")
MAX_SOURCE_BYTES = 1024 * 1024
COMMAND = f"{WORKER} (metadata and command)"


@dataclass(frozen=True)
class Program:
    """A program that some phase runs, unpacked."""

    task: Task
    use: DataUse
    role: Role
    package: Package

    @property
    def metadata(self) -> tuple[str, Node] | None:
        """The metadata file that the worker reads."""
        for name in METADATA:
            found = self.package.tree.find(name)
            if isinstance(found, Node):
                return name, found
        return None

    def command(self) -> tuple[Any, str | None]:
        """The value of `command`, and why there is none."""
        found = self.metadata
        if found is None:
            return None, "there is no metadata file"
        name, node = found
        if node.is_folder:
            return None, f"{name} is a folder"
        try:
            value = read_yaml(node.read(MAX_METADATA_BYTES + 1), MAX_METADATA_BYTES).value
        except UnreadableYamlError as error:
            return None, f"{name} {error}"
        if not isinstance(value, Mapping):
            return None, f"{name} is empty or no mapping"
        command = value.get("command")
        return command, None if command else f"{name} has no `command`"


def programs(bundle: Bundle) -> Iterator[Program]:
    """The programs of all tasks that are run and that can be unpacked; each packed program once a role."""
    seen: set[tuple[str, int, bool]] = set()
    roles: tuple[tuple[str, Role], ...] = (("scoring_program", "scoring"), ("ingestion_program", "ingestion"))
    for task in bundle.competition.used_tasks:
        for key, role in roles:
            use = task.files.get(key)
            package = bundle.package(use) if use else None
            if use is None or package is None or package.fault or package.kind == "server":
                continue
            identity = (role, id(package), task.ingestion_only_during_scoring)
            if identity not in seen:
                seen.add(identity)
                yield Program(task, use, role, package)


@rule(
    "program-without-metadata",
    Effect.BROKEN,
    title="a program without metadata at its root",
    consequence="It is never started: every submission fails with `Could not find scores file, did the scoring program "
    "output it?`; an ingestion program is skipped without a word.",
    repair="Put a file called exactly metadata.yaml, with a `command`, at the root of the folder or zip, without a "
    "folder around it.",
    source=COMMAND,
    reads="both",
)
def _program_without_metadata(bundle: Bundle) -> Iterator[Problem]:
    for program in programs(bundle):
        if program.metadata is None:
            near = [name for name in program.package.names if re.search(r"(?i)(^|/)metadata(\.\w+)?$", name)]
            wrapped = program.package.wrapping_folder
            hint = (
                f"; everything lies in the folder {wrapped!r}" if wrapped else f"; there is {near[0]!r}" if near else ""
            )
            yield Problem(f"{where(program.use)} has no metadata.yaml at its root{hint}", program.use.at)


@rule(
    "program-without-command",
    Effect.BROKEN,
    title="a program whose metadata has no command",
    consequence="It is never started: every submission fails with `Could not find scores file, did the scoring program "
    "output it?`",
    repair="Write `command: python3 /app/program/score.py`, with a blank after the colon.",
    source=COMMAND,
    reads="both",
)
def _program_without_command(bundle: Bundle) -> Iterator[Problem]:
    for program in programs(bundle):
        command, missing = program.command()
        if program.metadata is None:
            continue
        if missing:
            yield Problem(f"{where(program.use)}: {missing}", program.use.at)
        elif not isinstance(command, str):
            yield Problem(f"{where(program.use)}: the command is no text", program.use.at)


def _faults(bundle: Bundle, verdict: str, *kinds: str) -> Iterator[tuple[Program, Fault]]:
    for program in programs(bundle):
        command, missing = program.command()
        if missing or not isinstance(command, str):
            continue
        during_scoring = program.task.ingestion_only_during_scoring
        for fault in faults(command, program.role, during_scoring, program.package.tree):
            if fault.verdict == verdict and fault.kind in kinds:
                yield program, fault


@rule(
    "command-needs-a-shell",
    Effect.BROKEN,
    title="a command that only a shell understands",
    consequence="There is no shell: operators, assignments and words of the shell are taken as programs or arguments, "
    "and the program does not run.",
    repair='Call one program, or write `bash -c "…"` around all of it.',
    source=COMMAND,
    reads="both",
)
def _command_needs_a_shell(bundle: Bundle) -> Iterator[Problem]:
    for program, fault in _faults(bundle, "broken", "shell"):
        yield Problem(f"{where(program.use)}: {fault.what}", program.use.at)


@rule(
    "command-with-shell-syntax",
    Effect.TRAP,
    title="shell syntax in a command that runs nevertheless",
    consequence="There is no shell: redirections, pipes, patterns and variables are passed to the program as "
    "arguments.",
    repair='Take them out, or write `bash -c "…"` around all of it.',
    source=COMMAND,
    reads="both",
)
def _command_with_shell_syntax(bundle: Bundle) -> Iterator[Problem]:
    for program, fault in _faults(bundle, "trap", "shell"):
        yield Problem(f"{where(program.use)}: {fault.what}", program.use.at)


@rule(
    "command-placeholder",
    Effect.BROKEN,
    title="a placeholder that becomes a path which does not exist",
    consequence="The program does not find its files.",
    repair="Write the paths themselves: /app/program, /app/input, /app/input_data, /app/output.",
    source=COMMAND,
    reads="both",
)
def _command_placeholder(bundle: Bundle) -> Iterator[Problem]:
    for program, fault in _faults(bundle, "broken", "placeholder"):
        yield Problem(f"{where(program.use)}: {fault.what}", program.use.at)


@rule(
    "command-script-missing",
    Effect.BROKEN,
    title="a command that starts a script which is not there or cannot be run",
    consequence="Every submission fails.",
    repair="Name a script of the program, through its interpreter: `python3 /app/program/score.py`.",
    source=COMMAND,
    reads="both",
)
def _command_script_missing(bundle: Bundle) -> Iterator[Problem]:
    for program, fault in _faults(bundle, "broken", "script"):
        yield Problem(f"{where(program.use)}: {fault.what}", program.use.at)


@rule(
    "requirements-never-installed",
    Effect.TRAP,
    title="a program with a requirements.txt",
    consequence="Nobody installs it: what the image lacks is missing.",
    repair="Put the packages into the docker image, and delete the file.",
    source=COMMAND,
    reads="both",
)
def _requirements_never_installed(bundle: Bundle) -> Iterator[Problem]:
    for program in programs(bundle):
        names = [name for name in program.package.names if name.rpartition("/")[2].lower() == "requirements.txt"]
        command, _ = program.command()
        if names and not (isinstance(command, str) and "install" in command):
            yield Problem(f"{where(program.use)} holds {names[0]}", program.use.at)


REFERENCE_PATH = re.compile(rb"""["']/app/input/ref(?:/([\w./-]*))?["']""")


COMMENT = re.compile(rb"(?m)^[ \t]*#.*$")
# what a program has that looks whether a file is there, or does without it
TOLERANT = re.compile(rb"exists\(|is_?file\(|is_?dir\(|FileNotFoundError|OSError")


def _reference_paths(program: Program) -> set[str]:
    """The paths below /app/input/ref that a program's sources name literally; empty text for the folder itself."""
    named: set[str] = set()
    for name, node in program.package.tree.root.files():
        if name.endswith((".py", ".sh", ".R", ".pl")) and node.size <= MAX_SOURCE_BYTES:
            source = COMMENT.sub(b"", node.read(MAX_SOURCE_BYTES))
            if TOLERANT.search(source):
                continue
            named |= {(found.group(1) or b"").decode("ascii").strip("/") for found in REFERENCE_PATH.finditer(source)}
    return named


@rule(
    "reference-data-missing",
    Effect.TRAP,
    title="a scoring program that reads reference data which its task does not have",
    consequence="/app/input/ref, or the file in it, is not there: every submission fails unless the program does "
    "without.",
    repair="Give the task `reference_data` with the files that the program reads.",
    source=WORKER,
    reads="both",
)
def _reference_data_missing(bundle: Bundle) -> Iterator[Problem]:
    for program in programs(bundle):
        if program.role != "scoring":
            continue
        named = _reference_paths(program)
        use = program.task.files.get("reference_data")
        if named and use is None:
            yield Problem(
                f"{where(program.use)} reads /app/input/ref, and the task has no reference data", program.use.at
            )
        package = bundle.package(use) if use else None
        if package is None or package.fault or package.kind == "server" or not package.names:
            continue
        for name in sorted(named):
            if package.tree.find(name) is None:
                yield Problem(
                    f"{where(program.use)} reads /app/input/ref/{name}, which is not in the reference data",
                    use.at if use else (),
                )


@rule(
    "solution-with-metadata",
    Effect.TRAP,
    title="an example submission that holds a metadata file",
    consequence="A submission with metadata is run as a program; without a command in it, nothing of it reaches the "
    "scoring program.",
    repair="Take the file out of result submissions.",
    source=COMMAND,
    reads="v2",
)
def _solution_with_metadata(bundle: Bundle) -> Iterator[Problem]:
    with_ingestion = any("ingestion_program" in task.files for task in bundle.competition.tasks)
    for use in bundle.competition.solutions:
        package = bundle.package(use)
        if package is None or package.fault or with_ingestion:
            continue
        program = Program(Task((), 0, "", {}), use, "scoring", package)
        if program.metadata is not None and program.command()[1]:
            yield Problem(f"{where(use)} holds {program.metadata[0]} without a command", use.at)


@rule(
    "reference-data-wrapped",
    Effect.NOTE,
    title="reference data in a folder of its own inside the zip",
    consequence="The scoring program finds /app/input/ref/<folder>/… instead of the files themselves.",
    repair="Zip the files, not their folder, unless the program expects it.",
    source=WORKER,
    reads="both",
)
def _reference_data_wrapped(bundle: Bundle) -> Iterator[Problem]:
    for task in bundle.competition.used_tasks:
        use = task.files.get("reference_data")
        package = bundle.package(use) if use else None
        if not use or not package or package.kind != "zip" or package.fault:
            continue
        # a folder with the zip's own name, or the usual one, was zipped with its contents
        zip_name = str(use.path).rpartition("/")[2].removesuffix(".zip")
        if package.wrapping_folder in (zip_name, "ref", "reference", "reference_data"):
            yield Problem(f"everything in {where(use)} lies in the folder {package.wrapping_folder!r}", use.at)

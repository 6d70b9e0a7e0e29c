"""A program's command as the worker runs it: placeholders replaced, split like a shell would, run without one."""

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

from gen_bundle.codabench.worker import HOME, ContainerKind, replace_placeholders
from gen_bundle.ground.zips.tree import Node

Role = Literal["scoring", "ingestion"]
KINDS: Mapping[Role, ContainerKind] = {"scoring": "program", "ingestion": "ingestion"}
OPERATORS = re.compile(r"(?:&&|\|\|?|;|&|\d?>>?(?:&\d)?.*|<<?.*|2>&1)\Z")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
BUILTINS = {"cd", "source", ".", "export", "set", "unset", "alias", "exec", "eval", "ulimit", "umask", "trap"}
BUILTINS |= {"if", "for", "while"}
COMMON_PROGRAMS = {"echo", "cat", "cp", "mv", "rm", "ls", "mkdir", "pip", "pip3", "conda", "apt-get", "unzip"}
PYTHON = re.compile(r"(?:.*/)?(?:python|pypy)(?:\d+(?:\.\d+)*)?\Z")
INTERPRETERS = re.compile(r"(?:.*/)?(?:bash|sh|dash|zsh|Rscript|perl|ruby|node|julia|php|octave)\Z")
SHELLS = re.compile(r"(?:.*/)?(?:bash|sh|dash|zsh)\Z")
OPTIONS_WITH_VALUE = {"-W", "-X", "-Q", "--check-hash-based-pycs", "-o", "+o", "-I", "-r"}
NEVER_MOUNTED = ("/app/ingestion_program", "/app/scoring_program", "/app/reference_data")
# `cd` to where the program is started anyway, as the word that follows it
STAYING = [[f"{folder}{end}"] for folder in (HOME, f"{HOME}/", ".") for end in ("", ";")]
# where a file of that name may come from elsewhere
MOUNTED = re.compile(r"/app/(?:data|input_data|input/ref|input/res|ingested_program|shared)/")
# Folders that people expect in a job, and that its container does not have, or that hold something else.
WITHOUT_APP = re.compile(r"(?<![\w./-])/(?:input_data|input|output|program|ingested_program|shared)(?![\w-])")
NEVER_GIVEN = {
    "scoring": re.compile(r"(?<![\w./-])/app/(?:ingestion_program|scoring_program|reference_data|input_data)(?![\w-])"),
    "ingestion": re.compile(
        r"(?<![\w./-])/app/(?:ingestion_program|scoring_program|reference_data|input|shared)(?![\w-])"
    ),
}
OWN_FOLDER_AS_SUBMISSION = re.compile(r"(?i)(?<!\S)(--?[\w-]*submi(?:ssion|tted)[\w-]*)[= ]+/app/program/?(?!\S)")
SHELL_MARKS = re.compile(r"\$\{?\w+|\$\(|`|\*|~/")
Verdict = Literal["broken", "trap"]


class Fault(NamedTuple):
    """A fault of a command, and whether the program can still run."""

    verdict: Verdict
    kind: Literal["shell", "placeholder", "script", "folder"]
    what: str


def faults(command: str, role: Role, during_scoring: bool, program: Node) -> list[Fault]:
    """Return everything that keeps a command from doing what it says."""
    given = command
    command = replace_placeholders(
        command,
        KINDS[role],
        is_scoring=role == "scoring" or during_scoring,
        ingestion_only_during_scoring=during_scoring,
    )
    try:
        words = shlex.split(command)
    except ValueError as error:
        return [Fault("broken", "shell", f"the command {given!r} cannot be split into words: {error}")]
    if not words:
        return [Fault("broken", "shell", "the command is blank")]
    found = list(_placeholder_faults(given, role, during_scoring))
    if shell_fault := _shell_fault(given, words, program):
        found.append(shell_fault)
    first, is_broken = _first_part(words), any(fault.verdict == "broken" for fault in found)
    if first and not is_broken and (script_fault := _script_fault(first, program)):
        found.append(script_fault)
    return found or _folder_faults(command, role, during_scoring)


def _placeholder_faults(command: str, role: Role, during_scoring: bool) -> Iterator[Fault]:
    if role == "ingestion" and "$input_data" in command:
        yield Fault("broken", "placeholder", "$input_data becomes /app/input_data_data, which does not exist")
    if during_scoring and re.search(r"\$program\b", command):
        what = "$program becomes /app/ingestion_program, which does not exist when ingestion runs only during scoring"
        yield Fault("broken", "placeholder", what)


def _folder_faults(command: str, role: Role, during_scoring: bool) -> list[Fault]:
    """Folders in a command that is otherwise sound, placeholders replaced.

    What an ingestion program sees during scoring depends on the version, and is a rule of its own.
    """
    if role == "ingestion" and during_scoring:
        return []
    found: list[str] = []
    for match in WITHOUT_APP.finditer(command):
        found.append(f"{match[0]} does not exist: all folders lie below /app")
    for match in NEVER_GIVEN[role].finditer(command):
        found.append(f"the {role} program has no {match[0]}")
    for match in OWN_FOLDER_AS_SUBMISSION.finditer(command) if role == "ingestion" else ():
        own = "/app/program, the ingestion program itself"
        found.append(f"{match[1]} is given {own}: submissions lie in /app/ingested_program")
    return [Fault("trap", "folder", what) for what in dict.fromkeys(found)]


def _first_part(words: list[str]) -> list[str]:
    """The words up to the first shell operator."""
    for position, word in enumerate(words):
        if OPERATORS.match(word):
            return words[:position]
        if word.endswith(";") and len(word) > 1:
            return words[: position + 1]
    return words


def _shell_fault(command: str, words: list[str], program: Node) -> Fault | None:
    """Return what a shell would do with the command, and the worker, which uses none, does not."""
    if ASSIGNMENT.match(words[0]):
        return Fault("broken", "shell", f"the command runs without a shell: {words[0]} is taken for the program")
    if words[0] in BUILTINS:
        return Fault("broken", "shell", f"the command runs without a shell, and {words[0]} is a word of the shell")
    shell_string = _shell_string(words)
    if shell_string is None:
        return _operator_fault(words, program) or _line_fault(command, program) or _mark_fault(command, words)
    rest = words[words.index(shell_string) + 1 :]
    if any(OPERATORS.match(word) for word in rest):
        what = f"only {shell_string!r} is run: what follows -c needs quotes around all of it"
        return Fault("broken", "shell", what)
    return None


def _operator_fault(words: list[str], program: Node) -> Fault | None:
    for word in words:
        glued = word.endswith(";") and len(word) > 1
        if glued or OPERATORS.match(word):
            what = f"the command runs without a shell: {word} is passed on as an argument"
            return _passed_on(what, starts=not glued and _runs_program(_first_part(words), program))
    return None


def _passed_on(what: str, *, starts: bool) -> Fault:
    """A command of which the rest becomes arguments: a trap where the program starts all the same."""
    verdict: Verdict = "trap" if starts else "broken"
    return Fault(verdict, "shell", what)


def _line_fault(command: str, program: Node) -> Fault | None:
    """A command of several lines, of which a later one is meant as a command of its own."""
    first, *later = (line.split() for line in command.strip().splitlines())
    for line in later:
        # a word that begins a line is meant as a program
        if line and (_is_interpreter(line[0]) or line[0] in BUILTINS or line[0] in COMMON_PROGRAMS):
            what = f"the command runs without a shell: its lines are one command, and {' '.join(line)!r} is passed on"
            return _passed_on(what, starts=_runs_program(first, program))
    return None


def _mark_fault(command: str, words: list[str]) -> Fault | None:
    for word in words[1:]:
        if SHELL_MARKS.search(word) and f"'{word}'" not in command:
            return Fault("trap", "shell", f"the command runs without a shell: {word} is passed on as it stands")
    return None


def _is_interpreter(word: str) -> bool:
    return bool(PYTHON.match(word) or INTERPRETERS.match(word))


def _shell_string(words: list[str]) -> str | None:
    """Return what `bash -c` and the like run."""
    if not SHELLS.match(words[0]):
        return None
    for position, word in enumerate(words[1:], start=1):
        if re.fullmatch(r"-[a-z]*c", word):
            return next(iter(words[position + 1 :]), None)
        if not word.startswith("-"):
            return None
    return None


def _runs_program(words: list[str], program: Node) -> bool:
    """Whether the words start a script of the program."""
    if not words or not _is_interpreter(words[0]):
        return False
    script = _script(words)
    return script is not None and _inside(script) is not None and _script_fault(words, program) is None


def _script(words: list[str]) -> str | None:
    """The script that an interpreter is given; None for a module, inline code, or nothing."""
    position = 1
    while position < len(words) and words[position].startswith(("-", "+")) and len(words[position]) > 1:
        option = words[position]
        if option in ("-m", "-c", "-e", "-E") and not (option == "-E" and PYTHON.match(words[0])):
            return None
        position += 2 if option in OPTIONS_WITH_VALUE and not (option == "-I" and PYTHON.match(words[0])) else 1
    return next(iter(words[position:]), None)


def _inside(path: str) -> str | None:
    """A path relative to the program's folder; None when it lies elsewhere."""
    plain = posixpath.normpath(posixpath.join(HOME, path))
    if plain == HOME:
        return "."
    return plain.removeprefix(f"{HOME}/") if plain.startswith(f"{HOME}/") else None


def _exists(path: str, program: Node) -> bool:
    return isinstance(program.find(path), Node)


def _script_fault(words: list[str], program: Node) -> Fault | None:
    head = words[0]
    shell_string = _shell_string(words)
    if shell_string is not None:
        return _inner_fault(shell_string, program)
    if not _is_interpreter(head):
        return _direct_fault(head, program)
    script = _script(words)
    if len(words) == 1:
        return Fault("broken", "script", f"{head} is given no script to run")
    if script is None or script == "-":
        return _module_fault(words, program)
    # Python runs folders with a __main__.py.
    folders = PYTHON.match(head) is not None
    return _missing_script(
        script, program, lambda found: not found.is_folder or (folders and "__main__.py" in (found.children or {}))
    )


def _direct_fault(head: str, program: Node) -> Fault | None:
    """Return what is wrong with a program that no interpreter is given."""
    inside = _inside(head)
    if PYTHON.match(head.lower()):
        return Fault("broken", "script", f"{head} is not a program: case counts, it is called {head.lower()}")
    if head.startswith(NEVER_MOUNTED):
        return Fault("broken", "script", f"{head} is never there: the program lies in {HOME}")
    if inside is None:
        return None
    if _exists(inside, program):
        what = f"{head} is run directly, but unpacked files are not executable"
        if "/" not in head:
            what = f"{head} is in no PATH"
        return Fault("broken", "script", f"{what}: call it through its interpreter")
    return Fault("broken", "script", f"{head} does not exist in the program") if "/" in head else None


def _missing_script(script: str, program: Node, fits: Callable[[Node], bool]) -> Fault | None:
    if script.startswith(NEVER_MOUNTED):
        return Fault("broken", "script", f"{script} is never there: the program lies in {HOME}")
    inside = _inside(script)
    if inside is None:
        return _misplaced_script(script, program)
    found = program.find(inside)
    if isinstance(found, Node) and found.is_link:
        return Fault("broken", "script", f"{script} is a symbolic link, which is unpacked as a text with its target")
    if isinstance(found, Node) and fits(found):
        return None
    near = program.nearest(inside)
    hint = f"; there is {near!r}" if near else ""
    return Fault("broken", "script", f"the script {script} does not exist in the program{hint}")


def _misplaced_script(script: str, program: Node) -> Fault | None:
    """A script of the program that is looked for where only other things are mounted."""
    name = script.rpartition("/")[2]
    if not name or MOUNTED.match(script) or not _exists(name, program):
        return None
    return Fault("broken", "script", f"{script} is not there: the program's {name} lies in {HOME}")


def _module_fault(words: list[str], program: Node) -> Fault | None:
    """A script given to `python -m`, which takes a module's name without .py."""
    if "-m" in words and words.index("-m") + 1 < len(words) and PYTHON.match(words[0]):
        module = words[words.index("-m") + 1]
        if module.endswith(".py") and _exists(module, program):
            return Fault("broken", "script", f"-m takes a module: {module.removesuffix('.py')}, not {module}")
    return None


def _inner_fault(text: str, program: Node) -> Fault | None:
    """A script that a shell's own command line starts, and that the program lacks."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        return Fault("broken", "shell", f"the shell cannot read {text!r}: {error}")
    moved = False
    for position, word in enumerate(words):
        stays = word == "cd" and words[position + 1 : position + 2] in STAYING
        moved |= word in ("cd", "pushd", "cp", "mv", "git", "unzip", "tar", "wget", "curl") and not stays
        if PYTHON.match(word):
            script = _script(words[position:])
            if script is None or SHELL_MARKS.search(script) or (moved and not script.startswith("/")):
                continue
            return _missing_script(script.rstrip(";"), program, lambda _: True)
    return None

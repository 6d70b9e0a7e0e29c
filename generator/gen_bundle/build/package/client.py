"""Runs a scoring package's organiser verbs in a process of its own, so that the press never imports a scorer.

What the verbs answer is read strictly: a wrong answer is named by verb and field.
"""

import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Generic, NotRequired, Required, TextIO, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, with_config
from typing_extensions import TypedDict

from gen_bundle.ground import starting
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import resource
from scoring_kit.base.lines_to_press import RECORD
from scoring_kit.base.submissions import is_junk

TRACEBACK = "Traceback (most recent call last)"
FRAMES = 5
FIELD = re.compile(r" \(((?:field|key|column) [^)]+)\)")
"""A field, a key or a column that a message names, whose place is put there."""
STRICT = ConfigDict(extra="forbid", strict=True)
T = TypeVar("T")


@with_config(STRICT)
class VerbProgress(TypedDict):
    """How far a verb is: the step, and how much of it is done; and a line that people should read before it."""

    step: str
    done: int
    total: int
    line: NotRequired[str]


class Reply(BaseModel, Generic[T]):
    """A line of the organiser process: what a verb answers, what the organiser must fix, a bug, or progress."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)  # not every verb is called

    answer: Annotated[T, Field(default=None)]  # left out, not null, where there is none
    messages: list[str] | None = None
    traceback: str | None = None
    progress: VerbProgress | None = None


@with_config(STRICT)
class DataRemarks(TypedDict):
    """Of `prepare` and `check_reference`: what the organiser should know of the data."""

    warnings: list[str]


@with_config(STRICT)
class SecretFile(TypedDict, total=False):
    """A reference file that participants must not have, and what in it must not be found anywhere else.

    `name` may hold `*`. `columns` are the secret columns of its table, or the fields of its JSON, and `key` those that
    identify a row (of JSON, if left out, the key of the object); `public` are columns that participants may have. With
    `choice` it is secret which rows there are, and with `lines` every line. `texts` are the columns whose texts are
    looked for within others; where that is not said, those whose values are mostly sentences.
    """

    name: Required[str]
    key: list[str]
    columns: list[str]
    public: list[str]
    choice: bool
    lines: bool
    texts: list[str]


@with_config(STRICT)
class SecretPlaces(TypedDict):
    """Of `secrets`: where in the reference data there is gold; these names travel in the scoring program."""

    files: list[SecretFile]


@with_config(STRICT)
class TaskColumns(TypedDict):
    """Of `columns`, for each task: the metrics that a column may show, if they are named; whether it needs a model."""

    metrics: list[str] | None
    needs_model: bool


@with_config(STRICT)
class Tried(TypedDict, total=False):
    """Of `trial`: task id → column key → score of the tasks that are entered, or the module that is missing.

    `refused` is why a check of the organisers' own refuses the template.
    """

    scores: dict[str, dict[str, float]]
    missing: str
    refused: str


@with_config(STRICT)
class Disclosed(TypedDict):
    """Of `disclosure`: how many gold values one participant can learn from the scores of a phase.

    `items` is how many there are, `decided` how many at least are learnt from `columns`, by the attacks that are known.
    `unmeasured` are the columns for which none is.
    """

    items: int
    decided: int
    columns: list[str]
    unmeasured: list[str]


@with_config(ConfigDict(extra="allow", strict=True))
class Ranked(TypedDict):
    """Of `rank`: tables to be printed, remarks, and anything else that the package's rule gives."""

    tables: list[dict[str, Any]]
    notes: list[str]


REPLIES: dict[str, type[Reply[Any]]] = {
    "prepare": Reply[DataRemarks],
    "check_reference": Reply[DataRemarks],
    "manifest": Reply[dict[str, Any]],
    "template": Reply[Any],
    "secrets": Reply[SecretPlaces],
    "columns": Reply[dict[str, TaskColumns]],
    "trial": Reply[Tried],
    "disclosure": Reply[Disclosed | None],
    "rank": Reply[Ranked],
    "power": Reply[dict[str, dict[str, Any]]],
}


def read_reply(verb: str, line: str) -> Reply[Any]:
    """Return a reply to a call of `verb`.

    Raises:
        ValueError: every field of the answer that is wrong, and what is expected there.
    """
    try:
        return REPLIES[verb].model_validate_json(line)
    except ValidationError as error:
        faults = []
        for fault in error.errors(include_url=False):
            what = fault["msg"]
            faults.append(f"{'.'.join(map(str, fault['loc']))}: {what[:1].lower()}{what[1:]}")
        raise ValueError("; ".join(faults)) from error


@dataclass(frozen=True)
class ScoringPackage:
    """A scoring package by name, and the import root it lies in (the kit's own root is always searched, too).

    `option_places` has the places of options in the declaration, by their dotted names, for messages about them.
    """

    name: str
    root: Path
    option_places: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def folder(self) -> Path:
        return self.root / self.name

    @property
    def is_own(self) -> bool:
        """Whether the organiser wrote it: it does not come with the tool, so that its bugs are theirs to fix."""
        return self.root != resource("scoring_programs")

    @contextmanager
    def opened(self, site: Path | None = None) -> Iterator["Organiser"]:
        """The package's organiser process, which answers verbs until the block ends.

        What this Python has not it imports from the folder `site`.
        """
        organise = resource("scoring_programs") / "organise.py"
        sites = [site] if site else []
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr,
            subprocess.Popen(
                starting.python(organise, self.name, self.root, *sites, keeps_bytecode=not self.is_own),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                encoding="utf-8",
                env=starting.environment(),
            ) as process,
        ):
            organiser = Organiser(self, process, cast("TextIO", process.stdin), cast("TextIO", process.stdout), stderr)
            try:
                yield organiser
            finally:
                process.kill()
                with suppress(OSError):  # a call that was not yet written out has no reader any more
                    organiser.stdin.close()

    def call(self, verb: str, request: Mapping[str, Any]) -> Any:
        """Run a single verb; see `Organiser.call`."""
        with self.opened() as organiser:
            return organiser.call(verb, request)

    def placed(self, message: str) -> str:
        """Return a message with the place of the field that it names, or after that of its option or what holds it."""
        for named in FIELD.findall(message):
            place = f" ({self.option_places[named]})" if named in self.option_places else ""
            message = message.replace(f" ({named})", place)
        name = message.split(":")[0]
        while name and name not in self.option_places:
            name = name.rpartition(".")[0]
        return f"{self.option_places[name]}: {message}" if name else message


@dataclass(frozen=True)
class Organiser:
    """The running organiser process of a package (`scoring_kit.organiser`): a call a line, an answer a line."""

    package: ScoringPackage
    process: "subprocess.Popen[str]"
    stdin: TextIO
    stdout: TextIO
    stderr: TextIO

    def call(
        self, verb: str, request: Mapping[str, Any], advance: Callable[[VerbProgress], None] = lambda _: None
    ) -> Any:
        """Return what a verb of the package answers, as the types above describe it.

        `advance` is called with how far the verb is, where it reports that.

        Raises:
            UserError: what the organiser must fix (reference data, options; a bug in a package of their own).
            RuntimeError: a package that comes with the tool failed.
        """
        what = "score" if verb == "trial" else f"organiser.py {verb}"
        reply = self._reply(verb, f"{json.dumps({'verb': verb, 'request': request}, default=str)}\n")
        while reply.progress is not None:
            advance(reply.progress)
            reply = self._reply(verb)
        if reply.messages is not None:
            raise UserError(*[self.package.placed(message) for message in reply.messages])
        if reply.traceback is not None:
            raise self._bug(failure(self.package.name, what, reply.traceback), reply.traceback)
        return reply.answer

    def _reply(self, verb: str, line: str = "") -> Reply[Any]:
        """The next reply, after a call's `line` is sent, if there is any."""
        what = f"{self.package.name}/organiser.py {verb}"
        with suppress(BrokenPipeError):  # it has ended, and the answer that is not there says so
            self.stdin.write(line)
            self.stdin.flush()
        answer = self._record()
        if not answer:
            status = self.process.wait()
            self.stderr.seek(0)
            printed = self.stderr.read()
            if TRACEBACK in printed:
                raise self._bug(failure(self.package.name, f"organiser.py {verb}", printed), printed)
            raise self._bug(f"{what}: ended with exit status {status} and without an answer.", printed)
        try:
            return read_reply(verb, answer)
        except ValueError as error:
            raise self._bug(f"{what}: {error}. What it answers is described in scoring_kit/organiser.py.", "") from None

    def _record(self) -> str:
        """The next record of the process, without what the package prints besides; empty when it has ended."""
        while line := self.stdout.readline():
            _, mark, record = line.rpartition(RECORD)
            if mark:
                return record
        return ""

    def _bug(self, message: str, whole: str) -> Exception:
        """A bug in a package of their own is the organiser's to fix, any other is ours."""
        return UserError(message) if self.package.is_own else RuntimeError(f"{message}\n{whole}")


def failure(package: str, what: str, stderr: str) -> str:
    """Return a traceback in few lines: what failed with which error, and the frames that lie in the package."""
    frames = re.findall(rf'File ".*/({re.escape(package)}/[^"]+)", line (\d+)(?:, in (\S+))?', stderr)
    error = (stderr.strip().splitlines() or ["no message"])[-1]
    text = f"{package}/{what}: failed with {error}"
    for file, line, function in frames[-FRAMES:]:
        text += f"\n  {file}:{line}"
        if function:
            text += f" in {function}"
    return text


def find_package(name: str, beside: Path) -> ScoringPackage:
    """Return the scoring package `name`: one that comes with the tool, or a folder beside the bundle.yaml.

    Raises:
        UserError: there is none; or a folder beside bundle.yaml is called like a package of the tool.
    """
    ours = resource("scoring_programs")
    taken = []
    for path in sorted(ours.iterdir()):
        if path.is_dir() and not is_junk(path.name) and (beside / path.name).is_dir():
            taken.append(f"{beside / path.name}: a package of gen-bundle has this name. Rename the folder.")
    if taken:
        raise UserError(*taken, advice="The tool's own packages are never replaced by a folder beside bundle.yaml.")
    for root in (ours, beside):
        if (root / name / "submission.py").is_file():
            return ScoringPackage(name, root)
    raise UserError(
        f"scoring_program: no scoring package {name!r} found. Expected a folder {name}/ with submission.py, "
        f"reference.py, organiser.py and one module per task beside bundle.yaml ({beside})."
    )

"""The journey from a published result to the answer whether scoring again gives the same."""

import csv
import io
import json
import math
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gen_bundle.build.building import finished_bundle
from gen_bundle.codabench.competition import AVERAGE_RANK
from gen_bundle.codabench.runnable import open_bundle, program_description, read_competition
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.dry_run.engines.choose import choose_engine, refuse_strangers
from gen_bundle.dry_run.report import SIGNATURE, TOLERANCE, Run, allowance
from gen_bundle.ground.errors import UserError
from scoring_kit.base.submissions import allow_long_cells

MEANINGS = {
    "competition": "the competition",
    "tasks": "the tasks that were scored",
    "version": "the version of the scoring program",
    "program": "the code of the scoring program",
    "reference": "the reference data (gold)",
}  # the others are the scorers' settings and the versions of libraries
VERSION = re.compile(r"v?\d+(\.\d+)+\S*")
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
COARSEST = 0.01  # of a column's range: a claim with fewer digits says too little of it
UNBOUNDED = 1000.0  # a column whose `worst` is this or more has no range to speak of; its score takes the place
OF_RANK = re.compile(r"team|tied|not_scored|.*_rank")  # what `rank` says of a team beside its scores
FILES = "details.json, scores.json, or what `rank` prints with --format csv or json"


@dataclass(frozen=True)
class VerifyRequest:
    """A result, and what it is said to be the result of.

    Attributes:
        published: details.json, scores.json, or a ranking as CSV or JSON; None where `claims` are given.
        bundle: a bundle's zip or folder, or the name or folder of a declaration, which is built for it.
        submission: the zip, folder or file.
        phase: the id (or name) of the phase.
        claims: figures, each `KEY=VALUE`.
        signature: of the claims, or of a file that has none.
        data: the data with which a declaration is built.
        engine, trust: as for a dry run.
    """

    published: Path | None
    bundle: str
    submission: Path
    phase: str
    claims: Sequence[str] = ()
    signature: str | None = None
    data: Path | None = None
    engine: Literal["docker", "process"] | None = None
    trust: bool = False


@dataclass(frozen=True)
class Setting:
    """A part of the signature that differs; None where one of the two does not have it."""

    name: str
    old: str | None
    new: str | None

    @property
    def meaning(self) -> str:
        """The part in words."""
        if self.name in MEANINGS:
            return MEANINGS[self.name]
        if "." not in self.name and all(VERSION.fullmatch(value) for value in (self.old, self.new) if value):
            return f"the library {self.name}"
        return f"the setting {self.name}"


def differing_settings(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Setting]:
    """Yield the parts that differ: the common ones first, in the order of a signature, then scorers' and libraries'."""
    for name in dict.fromkeys([*MEANINGS, *old, *new]):
        if old.get(name) != new.get(name):
            yield Setting(name, old.get(name), new.get(name))


class Figure(NamedTuple):
    """A published figure, and how far it may be off; `written` by people, with digits that they chose."""

    name: str
    value: float
    allowed: float
    written: bool = False


@dataclass(frozen=True)
class Claim:
    """A published result.

    Attributes:
        figures: of details.json as `task/metric`, of others by column.
        signature: its parts; none where there is none.
        of_one_program: all figures come from one run of a scoring program.
    """

    figures: Sequence[Figure]
    signature: Mapping[str, str] = field(default_factory=dict)
    of_one_program: bool = True


@dataclass(frozen=True)
class DifferingFigure:
    """A figure that differs; `new` is None where the metric is undefined now."""

    name: str
    old: float
    new: float | None


@dataclass(frozen=True)
class Verdict:
    """How the published result compares with scoring again.

    Attributes:
        settings: the parts of the signature that differ, the weightiest first.
        figures: the figures that differ.
        compared: the names of the figures that were compared.
        not_compared: figures that were given, and ranking columns, that were not compared, each with the reason.
        failed: why the submission was not scored; empty when it was.
        signed: whether there was a signature to compare.
    """

    settings: tuple[Setting, ...] = ()
    figures: tuple[DifferingFigure, ...] = ()
    compared: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()
    failed: str = ""
    signed: bool = True

    @property
    def status(self) -> int:
        """0: every figure that was given and each task's ranking column are equal, 1: different, 2: not compared."""
        if self.settings or self.figures or self.failed:
            return 1
        return 0 if self.compared and not self.not_compared else 2


@dataclass(frozen=True)
class Scored:
    """The outcome of one run of a scoring program.

    Attributes:
        signature: its parts.
        metrics: by task, of those that the submission entered, and name.
        scores: what it wrote for the board.
        columns: the board's, as program.json has them.
    """

    signature: Mapping[str, str]
    metrics: Mapping[tuple[str, str], float | None]
    scores: Mapping[str, float]
    columns: Sequence[Mapping[str, Any]]


def verify(request: VerifyRequest) -> Verdict:
    """Score a submission again, and compare signature and figures with what was published.

    Raises:
        UserError: the result cannot be read or says too little, or bundle or submission cannot be used.
    """
    claim = read_claim(request)
    scored, failed = score_again(request)
    return Verdict(failed=failed) if failed else compare(claim, scored)


def read_claim(request: VerifyRequest) -> Claim:
    """Read what was published; raises UserError where it is not to be compared, with all reasons."""
    problems, figures = list[str](), list[Figure]()
    if (request.published is None) == (not request.claims):
        problems.append(f"expected one of the two: a file ({FILES}), or --claim KEY=VALUE with --signature")
    if request.claims and request.signature is None:
        problems.append("--claim: a figure is worth what its signature says. Expected --signature, too")
    for text in request.claims:
        name, equals, value = text.partition("=")
        name, value = name.strip(), value.strip()
        if NUMBER.fullmatch(value) and name:
            figures.append(Figure(name, float(value), max(TOLERANCE, allowance(value)), written=True))
        elif equals and NUMBER.fullmatch(value.replace(",", ".", 1)):
            problems.append(f"--claim {text}: a decimal comma? Expected {name}={value.replace(',', '.')}")
        else:
            problems.append(f"--claim {text}: expected KEY=VALUE with a column's key and a number, macro_f1=0.8123")
    signature = {} if request.signature is None else _signature("--signature", request.signature, problems)
    claim = Claim(figures, signature)
    if request.published is not None:
        claim = _of_file(request.published, request.submission, signature, problems)
    if problems:
        raise UserError(*problems)
    return claim


def _signature(where: str, line: str, problems: list[str]) -> dict[str, str]:
    """Return the parts by name, in their order; what is wrong with it becomes a problem."""
    if not SIGNATURE.fullmatch(line.strip()):
        problems.append(f"{where}: is no signature. Expected competition:NAME|tasks:…|program:…|reference:…")
        return {}
    parts = dict(part.split(":", 1) for part in line.strip().split("|"))
    if not parts.get("program"):
        problems.append(f"{where}: has no program:…, the digest of the scoring program's code. Expected the whole line")
    return parts


def _of_file(path: Path, submission: Path, signature: Mapping[str, str], problems: list[str]) -> Claim:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read ({error}). Expected {FILES}.") from error
    allow_long_cells()
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = {"teams": list(csv.DictReader(io.StringIO(text, newline="")))}
    try:
        if "signature" in content:
            if signature:
                problems.append(f"--signature: {path} has its own. Leave the option out")
            figures = _exact({"/".join(names): value for names, value in _metrics(content).items()})
            return Claim(figures, _signature(f"{path}: signature", content["signature"], problems))
        if "teams" not in content:
            return Claim(_exact(content), signature)
        rows = {str(row["team"]).removeprefix("'"): row for row in content["teams"]}
        # as `rank` calls teams: by the file, or by a folder of theirs that it is in
        names = (submission.stem, submission.name, *reversed(submission.absolute().parts))
        team = next((name for name in names if name in rows), "")
        own = {name: value for name, value in rows.get(team, {}).items() if not OF_RANK.fullmatch(str(name))}
        claim = Claim(_exact(own), signature, of_one_program=False)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path}: is no published result. Expected {FILES}; of a text, --claim.") from error
    if team not in rows:
        raise UserError(f"{path}: no row of {submission.stem}, as the submission is called. It has {', '.join(rows)}.")
    return claim


def _exact(values: Mapping[str, Any]) -> list[Figure]:
    """Return figures that a program wrote; raises TypeError or ValueError where one is none."""
    return [Figure(name, float(value), TOLERANCE) for name, value in values.items() if value not in (None, "")]


def _metrics(details: Mapping[str, Any]) -> dict[tuple[str, str], float | None]:
    """Return the values in details.json by task and metric."""
    tasks = details["tasks"].items()
    return {(task, name): metric["value"] for task, metrics in tasks for name, metric in metrics.items()}


def score_again(request: VerifyRequest) -> tuple[list[Scored], str]:
    """Score the submission for all figures, as `verify` does; beside it, why it was not scored."""
    chosen = closing(choose_engine(request.engine, lambda _: None))
    with tempfile.TemporaryDirectory() as name, chosen as engine:
        work = Path(name)
        bundle = finished_bundle(request.bundle, work, request.data, trust=request.trust)
        if request.data is not None and not bundle.is_relative_to(work):
            raise UserError("--data is for a declaration, which is built with it; a bundle has its own reference data.")
        refuse_strangers(bundle, engine, trust=request.trust)
        asked = DryRunRequest(bundle, work / "dry-run", [request.submission], phases=[request.phase])
        results = dry_run(replace(asked, environment={"SCORING_DETAILS": "all"}), engine)
        failed = [run.message for run in results.runs if run.status != "Finished"]
        if failed or not results.runs:
            return [], "; ".join(failed) or "no task of the phase takes it"
        competition = read_competition(open_bundle(bundle, work / "bundle"))
        programs = {task.id: program_description(task) for task in competition.tasks}
        return [_scored(run, asked.out, programs[run.task], request.bundle) for run in results.runs], ""


def _scored(run: Run, out: Path, program: Mapping[str, Any], bundle: str) -> Scored:
    try:
        details = json.loads((out / run.place / "output/details.json").read_bytes())
        signature = _signature(bundle, details["signature"], [])
        return Scored(signature, _metrics(details), run.scores or {}, program["columns"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise UserError(
            f"{bundle}: its scoring program writes no details.json with a signature, by which results are known. "
            "Compare scores instead: gen-bundle rescore --scores FILE."
        ) from None


def compare(claim: Claim, scored: Sequence[Scored]) -> Verdict:
    """Hold a claim against the run with the nearest signature, or else the nearest figures; a ranking against all."""
    if not claim.of_one_program and not claim.signature:
        return _compare(claim, scored)
    verdicts = [_compare(claim, [one]) for one in scored]
    return min(verdicts, key=lambda one: (len(one.settings), len(one.figures), len(one.not_compared)))


def _compare(claim: Claim, scored: Sequence[Scored]) -> Verdict:
    settings = tuple(differing_settings(claim.signature, scored[0].signature)) if claim.signature else ()
    columns = {column["key"]: column for column in scored[0].columns}
    again, wrong, compared, left = _figures(scored), list[DifferingFigure](), list[str](), list[str]()
    for figure in claim.figures:
        column = columns.get(figure.name, {})
        if figure.name not in again:
            if figure.written or column.get("computation") != AVERAGE_RANK:  # which `rank` alone can give
                left.append(f"{figure.name}: scoring a submission gives no such figure. Expected {', '.join(columns)}")
            continue
        new = again[figure.name]
        if new is None or not math.isclose(figure.value, new, rel_tol=0, abs_tol=figure.allowed):
            wrong.append(DifferingFigure(figure.name, figure.value, new))
        elif figure.written and figure.allowed > (most := COARSEST * _range(column, new)) and figure.value != new:
            left.append(
                f"{figure.name}: {figure.value:g} is too coarse: as it is written it may be off by "
                f"{figure.allowed:.1g}. Expected digits enough for {most:.1g}, 1 % of the column's range"
            )
            continue
        compared.append(figure.name)
    left += _ranking_columns(scored, {name.partition("/")[2] or name for name in compared})
    return Verdict(settings, tuple(wrong), tuple(compared), tuple(left), signed=bool(claim.signature))


def _figures(scored: Sequence[Scored]) -> dict[str, float | None]:
    """Return all figures: metrics as `task/metric`, columns by their key, each as its own task's program has it."""
    found: dict[str, float | None] = {}
    for one in scored:
        found |= one.scores
    for one in scored:
        own = {(column["task"], column["key"]) for column in one.columns}
        for (task, name), value in one.metrics.items():
            found[f"{task}/{name}"] = value
            if (task, name) in own:  # which the board has within its worst value
                found[name] = one.scores.get(name, value)
    return found


def _ranking_columns(scored: Sequence[Scored], compared: set[str]) -> Iterator[str]:
    """Yield that a task's ranking column, or what the platform computes it of, was not compared."""
    for one in scored:
        first: dict[str, Mapping[str, Any]] = {}
        for column in one.columns:
            if not column.get("hidden"):
                first.setdefault(column["task"], column)
        for task in dict.fromkeys(task for task, _ in one.metrics):
            own = first.get(task)
            if own and own["key"] not in compared and not (own.get("of") and compared.issuperset(own["of"])):
                yield f"{own['key']}: ranks {task}, and is not among what was compared"


def _range(column: Mapping[str, Any], score: float) -> float:
    """Return how far `worst` is from the best value, which is 0, 1 or 100; without such bounds, the score's size."""
    worst = column.get("worst") or 0.0
    best = 0.0
    if column.get("sort", "desc") == "desc":
        best = 1.0 if max(abs(score), abs(worst)) <= 1 else 100.0
    if abs(worst) >= UNBOUNDED or not min(worst, best) <= score <= max(worst, best):
        return abs(score)
    return abs(best - worst)

"""The journey from a published result to the answer whether scoring again gives the same."""

import json
import math
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from gen_bundle.build.building import finished_bundle
from gen_bundle.codabench.runnable import open_bundle, read_competition
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.dry_run.engines.choose import choose_engine, refuse_strangers
from gen_bundle.dry_run.report import SIGNATURE, TOLERANCE, allowance
from gen_bundle.ground.errors import UserError

# The parts that every signature has; the others are the scorers' settings and the versions of libraries.
MEANINGS = {
    "competition": "the competition",
    "tasks": "the tasks that were scored",
    "version": "the version of the scoring program",
    "program": "the code of the scoring program",
    "reference": "the reference data (gold)",
}
VERSION = re.compile(r"v?\d+(\.\d+)+\S*")
MAX_BYTES = 64 * 1024 * 1024
NUMBER = r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
FIGURE = re.compile(rf"(?<![\w.\-])({NUMBER})(?![\w|]|\.\d)(\s*%)?")
ASSIGNED = re.compile(r"([A-Za-z_][\w.-]*)\s*[=:]\s*$")
"""A name right before its figure, whether or not the program knows it."""
MARKUP = (
    (re.compile(r"\\(?:textbf|textit|emph|underline|mathbf|num|texttt)\s*\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\*\*|__|[`$]|\\(?=[_%&#])"), ""),
    (re.compile(r"\\\\|\\(?:hline|toprule|midrule|bottomrule)"), "\n"),
)
"""What Markdown and LaTeX put around figures and names, and what takes its place."""
BETWEEN = r"[\s=:,(]*(?:(?:of|is|was|score)\s+)*"
"""What may stand between a name that the program knows and its figure."""


@dataclass(frozen=True)
class VerifyRequest:
    """A result, and what it is said to be the result of.

    Attributes:
        details: a details.json, or a text such as a line or a table of an overview paper, with a signature.
        bundle: a bundle's zip or folder, or the name or folder of a declaration, which is built for it.
        submission: the zip, folder or file.
        phase: the id (or name) of the phase.
        data: the data with which a declaration is built.
        engine: None: docker where an engine answers, else process.
        trust: run code of others, too, on this machine without isolation.
    """

    details: Path
    bundle: str
    submission: Path
    phase: str
    data: Path | None = None
    engine: Literal["docker", "process"] | None = None
    trust: bool = False


def parse_signature(line: str) -> dict[str, str]:
    """The parts of a signature by name, in its order.

    Raises:
        ValueError: it is not a signature.
    """
    if not SIGNATURE.fullmatch(line.strip()):
        raise ValueError("expected a signature: competition:NAME|tasks:…|…|reference:…")
    return dict(part.split(":", 1) for part in line.strip().split("|"))


@dataclass(frozen=True)
class Setting:
    """A part of the signature that differs; None where one of the two does not have it."""

    name: str
    old: str | None
    new: str | None

    @property
    def meaning(self) -> str:
        """What the part is, in words."""
        if self.name in MEANINGS:
            return MEANINGS[self.name]
        if "." not in self.name and all(VERSION.fullmatch(value) for value in (self.old, self.new) if value):
            return f"the library {self.name}"
        return f"the setting {self.name}"


def differing_settings(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Setting]:
    """The parts that differ: the common ones first, in the order of a signature, then the scorers' and libraries'."""
    for name in dict.fromkeys([*MEANINGS, *old, *new]):
        if old.get(name) != new.get(name):
            yield Setting(name, old.get(name), new.get(name))


Figure = tuple[str, float, float]
"""Its name, its value, and how far it may be off."""


@dataclass(frozen=True)
class Claim:
    """What was published.

    Attributes:
        signature: its parts.
        figures: of a details.json.
        text: what else is written beside the signature; of any other file.
    """

    signature: Mapping[str, str]
    figures: Sequence[Figure] = ()
    text: str = ""


@dataclass(frozen=True)
class DifferingFigure:
    """A figure that differs; `new` is None where scoring again does not give it."""

    name: str
    old: float
    new: float | None


@dataclass(frozen=True)
class Verdict:
    """What scoring again gave.

    Attributes:
        settings: the parts of the signature that differ, the weightiest first.
        figures: the figures that differ.
        compared: how many figures were compared.
        failed: why the submission was not scored; empty when it was.
        not_taken: the numbers of the text that no figure was read from, as they are written.
        not_compared: the leaderboard's columns that scoring again gives and the result does not, the first one ranks.
    """

    settings: tuple[Setting, ...] = ()
    figures: tuple[DifferingFigure, ...] = ()
    compared: int = 0
    failed: str = ""
    not_taken: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()

    @property
    def verified(self) -> bool:
        """Anything was compared at all."""
        return bool(self.compared or self.failed)

    @property
    def equal(self) -> bool:
        return self.verified and not (self.settings or self.figures or self.failed)


@dataclass(frozen=True)
class Scored:
    """What scoring gave.

    Attributes:
        signatures: of each task of the phase.
        figures: of all of them.
        columns: the leaderboard's columns, key → title, in its order.
        failed: why it gave nothing.
    """

    signatures: tuple[Mapping[str, str], ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    failed: str = ""


def verify(request: VerifyRequest) -> Verdict:
    """Score a submission again, and compare signature and figures with what was published.

    Raises:
        UserError: the result cannot be read, or the bundle or the submission cannot be used.
    """
    return compare(read_claim(request.details), score_again(request))


def score_again(request: VerifyRequest) -> Scored:
    """Score the submission with the bundle's own programs, for all figures; raises as `verify`."""
    chosen = closing(choose_engine(request.engine, lambda _: None))
    with tempfile.TemporaryDirectory() as work, chosen as engine:
        out = Path(work) / "dry-run"
        bundle = _bundle(request, Path(work))
        refuse_strangers(bundle, engine, trust=request.trust)
        results = dry_run(
            DryRunRequest(
                bundle=bundle,
                out=out,
                submissions=[request.submission],
                phases=[request.phase],
                environment={"SCORING_DETAILS": "all"},
            ),
            engine,
        )
        failed = [run.message for run in results.runs if run.status != "Finished"]
        if failed or not results.runs:
            return Scored(failed="; ".join(failed) or "no task of the phase takes it")
        details = _details(out, request.bundle)
        competition = read_competition(open_bundle(bundle, Path(work) / "bundle"))
    figures: dict[str, float] = {}
    for one in details:
        figures |= _figures(one)
    columns = {column.key: column.title for column in competition.leaderboard.columns if not column.hidden}
    return Scored(tuple(parse_signature(one["signature"]) for one in details), figures, columns)


def _details(out: Path, bundle: str) -> list[dict[str, Any]]:
    """What our programs write in details.json; raises UserError for programs of others."""
    found = []
    for path in sorted(out.rglob("details.json")):
        with suppress(ValueError):
            found.append(json.loads(path.read_bytes()))
    if not found or not all(isinstance(one, dict) and "signature" in one for one in found):
        raise UserError(
            f"{bundle}: its scoring program writes no details.json with a signature, by which results are known. "
            "Compare scores instead: gen-bundle rescore --scores FILE."
        )
    return found


def _bundle(request: VerifyRequest, work: Path) -> Path:
    bundle = finished_bundle(request.bundle, work, request.data, trust=request.trust)
    if request.data is not None and not bundle.is_relative_to(work):
        raise UserError("--data is for a declaration, which is built with it; a bundle has its own reference data.")
    return bundle


def compare(claim: Claim, scored: Scored) -> Verdict:
    """Hold a claim against the nearest of the signatures, and against all figures."""
    if scored.failed:
        return Verdict(failed=scored.failed)
    differing = []
    for signature in scored.signatures:
        known = dict(signature)
        if "program" not in claim.signature:  # a result from before signatures had a digest of the code
            known.pop("program", None)
        differing.append(tuple(differing_settings(claim.signature, known)))
    written, left = written_figures(claim.text, scored)
    claimed = [*claim.figures, *written]
    wrong = []
    for name, value, allowed in claimed:
        again = scored.figures.get(name)
        if again is None or not math.isclose(value, again, rel_tol=0, abs_tol=allowed):
            wrong.append(DifferingFigure(name, value, again))
    names = {name for name, _, _ in claimed}
    return Verdict(
        settings=min(differing, key=len, default=()),
        figures=tuple(wrong),
        compared=len(claimed),
        not_taken=tuple(left),
        not_compared=tuple(key for key in scored.columns if key in scored.figures and key not in names),
    )


def read_claim(path: Path) -> Claim:
    """Read a details.json, or a text with a signature and figures; a UserError for anything else."""
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES).decode("utf-8-sig", "replace")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error
    try:
        details = json.loads(text)
    except (ValueError, RecursionError):
        plain = text.replace("\\_", "_")  # of a signature that LaTeX sets
        found = SIGNATURE.search(plain)
        if found is None:
            raise UserError(
                f"{path}: no signature in it. Expected details.json, or a text with competition:NAME|…|reference:…."
            ) from None
        return Claim(parse_signature(found.group()), text=plain.replace(found.group(), " "))
    try:
        figures = [(name, value, TOLERANCE) for name, value in _figures(details).items()]
        return Claim(parse_signature(details["signature"]), figures)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(
            f"{path}: not a details.json of a scoring program. Expected its `signature` and `tasks`."
        ) from error


def _figures(details: Mapping[str, Any]) -> dict[str, float]:
    """The figures of details.json that are shown."""
    found = {}
    for metrics in details["tasks"].values():
        for name, metric in metrics.items():
            if metric["value"] is not None:
                found[name] = float(metric["value"])
    return found


def written_figures(text: str, scored: Scored) -> tuple[list[Figure], list[str]]:
    """The figures of a text: behind a name, beside it in a row of a table, or below it in a table's column.

    A name is a figure's own, or a column's title; before `=` or `:` it is any word. A figure may be off by half a unit
    of its last digit. The other numbers are given as they are written.
    """
    for pattern, plain in MARKUP:
        text = pattern.sub(plain, text)
    names = {name.casefold(): name for name in scored.figures}
    names |= {title.casefold(): key for key, title in scored.columns.items() if key in scored.figures}
    found: list[Figure] = []
    left: list[str] = []
    for cell, in_table in _named_cells(text, names):
        for figure in FIGURE.finditer(cell):
            if name := _name_before(cell[: figure.start()], names) or in_table:
                number, per_cent = figure.groups()
                scale = 0.01 if per_cent else 1.0
                found.append((name, float(number) * scale, allowance(number) * scale))
            else:
                left.append(figure.group().strip())
    return found, left


def _named_cells(text: str, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Every cell, and the name that its table gives it: that of its column, or else that of the cell before it.

    A line without cells is a cell itself.
    """
    header: list[str] = []
    for line in filter(str.strip, text.splitlines()):
        cells = [cell.strip() for cell in re.split(r"[|&]", line.strip().strip("|"))]
        known = [names.get(cell.casefold(), "") for cell in cells]
        if len(cells) == 1:
            header = []
        elif any(known) and not any(map(FIGURE.fullmatch, cells)):
            header = known
            continue
        above = header if len(header) == len(cells) else [""] * len(cells)
        for cell, in_header, beside in zip(cells, above, ["", *known], strict=False):
            yield cell, in_header or beside


def _name_before(text: str, names: Mapping[str, str]) -> str:
    """The name that a figure belongs to which stands right behind `text`; empty without one."""
    for known in sorted(names, key=len, reverse=True):
        if re.search(rf"(?<![\w.-]){re.escape(known)}{BETWEEN}$", text.casefold()):
            return names[known]
    assigned = ASSIGNED.search(text)
    return assigned[1] if assigned else ""

"""The journey from a published result to the answer whether scoring again gives the same."""

import json
import math
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from gen_bundle.build import finished_bundle
from gen_bundle.difference.figures import allowance
from gen_bundle.difference.signatures import SIGNATURE, Setting, differing_settings, parse_signature
from gen_bundle.errors import UserError
from gen_bundle.twin.outcomes import TOLERANCE
from gen_bundle.twin.replay import DryRunRequest, dry_run

MAX_BYTES = 64 * 1024 * 1024
FIGURE = re.compile(r"(?<![\w.])([A-Za-z_][\w.-]*)\s*[=:]\s*([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.|])")


@dataclass(frozen=True)
class VerifyRequest:
    """A result, and what it is said to be the result of.

    Attributes:
        details: a details.json, or a text with a line such as `f1 = 0.53, competition:…|…|reference:…`.
        bundle: a bundle's zip or folder, or the name or folder of a declaration, which is built for it.
        submission: the zip, folder or file.
        phase: the id (or name) of the phase.
        data: the data with which a declaration is built.
        engine: None: docker where an engine answers, else process.
    """

    details: Path
    bundle: str
    submission: Path
    phase: str
    data: Path | None = None
    engine: Literal["docker", "process"] | None = None


@dataclass(frozen=True)
class Claim:
    """What was published: the signature's parts, and figures with how far each may be off."""

    signature: Mapping[str, str]
    figures: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Figure:
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
    """

    settings: tuple[Setting, ...] = ()
    figures: tuple[Figure, ...] = ()
    compared: int = 0
    failed: str = ""

    @property
    def equal(self) -> bool:
        return not (self.settings or self.figures or self.failed)


@dataclass(frozen=True)
class Scored:
    """What scoring gave: signatures and figures over all tasks of a phase; `failed` says why it gave nothing."""

    signatures: tuple[Mapping[str, str], ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)
    failed: str = ""


def verify(request: VerifyRequest) -> Verdict:
    """Score a submission again, and compare signature and figures with what was published.

    Raises:
        UserError: the result cannot be read, or the bundle or the submission cannot be used.
    """
    return compare(read_claim(request.details), score_again(request))


def score_again(request: VerifyRequest) -> Scored:
    """Score the submission with the bundle's own programs, for all figures.

    Raises:
        UserError: the bundle or the submission cannot be used.
    """
    with tempfile.TemporaryDirectory() as work:
        out = Path(work) / "dry-run"
        results = dry_run(
            DryRunRequest(
                bundle=_bundle(request, Path(work)),
                out=out,
                submissions=[request.submission],
                phases=[request.phase],
                environment={"SCORING_DETAILS": "all"},
            ),
            request.engine,
        )
        failed = [run.message for run in results.runs if run.status != "Finished"]
        if failed or not results.runs:
            return Scored(failed="; ".join(failed) or "no task of the phase takes it")
        details = [json.loads(path.read_bytes()) for path in sorted(out.rglob("details.json"))]
    figures = {name: value for one in details for name, (value, _) in _figures(one).items()}
    return Scored(tuple(parse_signature(one["signature"]) for one in details), figures)


def _bundle(request: VerifyRequest, work: Path) -> Path:
    bundle = finished_bundle(request.bundle, work, request.data)
    if request.data is not None and not bundle.is_relative_to(work):
        raise UserError("--data is for a declaration, which is built with it; a bundle has its own reference data.")
    return bundle


def compare(claim: Claim, scored: Scored) -> Verdict:
    """Hold a claim against the nearest of the signatures, and against all figures."""
    if scored.failed:
        return Verdict(failed=scored.failed)
    differing = [tuple(differing_settings(claim.signature, signature)) for signature in scored.signatures]
    wrong = []
    for name, (value, allowed) in claim.figures.items():
        again = scored.figures.get(name)
        if again is None or not math.isclose(value, again, rel_tol=0, abs_tol=allowed):
            wrong.append(Figure(name, value, again))
    return Verdict(min(differing, key=len, default=()), tuple(wrong), len(claim.figures))


def read_claim(path: Path) -> Claim:
    """Read a details.json, or a text with a signature and figures.

    Raises:
        UserError: it is neither.
    """
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES).decode("utf-8-sig", "replace")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error
    try:
        details = json.loads(text)
    except (ValueError, RecursionError):
        return _written_claim(path, text)
    try:
        return Claim(parse_signature(details["signature"]), _figures(details))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(
            f"{path}: not a details.json of a scoring program. Expected its `signature` and `tasks`."
        ) from error


def _figures(details: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """The figures of details.json that are shown, with the tolerance."""
    return {
        name: (float(metric["value"]), TOLERANCE)
        for metrics in details["tasks"].values()
        for name, metric in metrics.items()
        if metric["value"] is not None
    }


def _written_claim(path: Path, text: str) -> Claim:
    """A line of a paper: figures are right as far as they have digits."""
    found = SIGNATURE.search(text)
    if found is None:
        raise UserError(
            f"{path}: no signature in it. Expected details.json, or a text with competition:NAME|…|reference:…."
        )
    rest = text.replace(found.group(), " ")
    figures = {name: (float(number), allowance(number)) for name, number in FIGURE.findall(rest)}
    return Claim(parse_signature(found.group()), figures)

"""What the bert-score library ships for each model: the layer to use, and baselines to rescale with."""

import ast
import csv
import hashlib
import math
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from scoring_kit.errors import OrganiserError
from scoring_kit.models.files import ModelFiles


@dataclass(frozen=True)
class Baseline:
    """BERTScore of unrelated sentences, by which scores are rescaled, and the digest of the file that says so."""

    precision: float
    recall: float
    f1: float
    digest: str


def default_layer(files: ModelFiles) -> int:
    """The layer that bert-score uses for a hub model (its table `model2layers`).

    Raises:
        OrganiserError: the table does not know the model, or it is a folder.
    """
    layer = _layers().get(files.name) if files.from_hub else None
    if layer is None:
        raise OrganiserError(
            f"options.bertscore.num_layers: bert-score has no layer of its own for {files.name}, so set this option."
        )
    return layer


def read_baseline(files: ModelFiles, layer: int, file: str | None) -> Baseline:
    """The baseline of a layer, from `file`, or from bert-score's English tables for a hub model.

    Raises:
        OrganiserError: there is no such file, or it lacks the layer. Scores are never left unrescaled instead.
    """
    if file is None:
        path = _library() / "rescale_baseline" / "en" / f"{files.name}.tsv"
        if not files.from_hub or not path.is_file():
            raise OrganiserError(
                f"options.bertscore.baseline: bert-score has no baseline for {files.name}. "
                "Name a file of your own, or set options.bertscore.rescale to false."
            )
    else:
        path = Path(file)
    try:
        content = path.read_bytes()
        rows = list(csv.DictReader(content.decode("utf-8").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise OrganiserError(f"options.bertscore.baseline: {path} cannot be read: {error}") from error
    try:
        row = next(row for row in rows if int(row["LAYER"]) == layer)
        precision, recall, f1 = (float(row[column]) for column in ("P", "R", "F"))
    except (KeyError, TypeError, ValueError, StopIteration) as error:
        raise OrganiserError(
            f"options.bertscore.baseline: {path} has no row for layer {layer}. "
            "Expected comma-separated columns LAYER, P, R, F with numbers."
        ) from error
    if not all(math.isfinite(value) and value < 1 for value in (precision, recall, f1)):
        raise OrganiserError(f"options.bertscore.baseline: {path}, layer {layer}: a baseline must be below 1.")
    return Baseline(precision, recall, f1, hashlib.sha256(content).hexdigest())


def _library() -> Path:
    spec = find_spec("bert_score")
    if spec is None or spec.origin is None:
        raise OrganiserError("The package bert-score is not installed where the scoring program runs.")
    return Path(spec.origin).parent


def _layers() -> dict[str, int]:
    """bert-score's table, read and not imported: importing the library draws in pandas and matplotlib."""
    for statement in ast.parse((_library() / "utils.py").read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "model2layers":
            return dict(ast.literal_eval(statement.value))
    raise OrganiserError("The installed bert-score is not version 0.3.13: its table of layers was not found.")

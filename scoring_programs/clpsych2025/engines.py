"""The model engines with the options of CLPsych 2025, and what of these the scores depend on."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scoring_kit.metrics.bertscore import BertScorer
    from scoring_kit.metrics.nli import NliModel

PLACE = ("device", "precision", "batch_tokens", "cache")


def bert_scorer(options: Mapping[str, Any]) -> "BertScorer":
    """The BERTScore engine, made once in a process."""
    from scoring_kit.metrics.bertscore import BertScoreOptions, load_bert_scorer

    return load_bert_scorer(BertScoreOptions(**options["bertscore"], **{key: options[key] for key in PLACE}))


def nli_model(options: Mapping[str, Any]) -> "NliModel":
    """The NLI engine, made once in a process."""
    from scoring_kit.metrics.nli import NliOptions, load_nli_model

    return load_nli_model(NliOptions(**options["nli"], **{key: options[key] for key in PLACE}))


def settings(options: Mapping[str, Any], engine: str, resolved: Mapping[str, object] | None) -> dict[str, str]:
    """What a task's scores depend on, by dotted option name.

    Args:
        options: the competition's options.
        engine: `bertscore` or `nli`.
        resolved: the engine's own account of itself (revision, layer, …); None where no text needed it, and then only
            what is known without the model is given.
    """
    named = dict(_known_without_model(options[engine]) if resolved is None else resolved)
    named.pop("precision", None)
    if "rescale" in options[engine]:
        named["rescale"] = options[engine]["rescale"]
    values = {"profile": options["profile"], **{f"{engine}.{key}": value for key, value in named.items()}}
    values["precision"] = options["precision"]
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}


def summary_settings(options: Mapping[str, Any], model: "NliModel | None") -> dict[str, str]:
    """What the scores of summaries depend on: the NLI model and the data of the sentence splitter."""
    if model is None:
        return settings(options, "nli", None)
    from scoring_kit.metrics.sentences import punkt_digest

    return {**settings(options, "nli", model.signature()), "punkt": punkt_digest()}


def _known_without_model(given: Mapping[str, Any]) -> dict[str, object]:
    """The part of an engine's account that follows from the options alone, never with a path of the machine."""
    name, layers, baseline = given["model"], given.get("num_layers"), given.get("baseline")
    known: dict[str, object] = {"model": Path(name).resolve().name if Path(name).is_absolute() else name}
    if layers is not None:
        known["num_layers"] = layers
    if not given.get("rescale", True):
        known["baseline"] = None
    elif baseline is not None and Path(baseline).is_file():
        known["baseline"] = hashlib.sha256(Path(baseline).read_bytes()).hexdigest()
    return known

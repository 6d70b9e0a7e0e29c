"""The models that the tasks' scorers share, and what scores depend on of them.

Apart from the options, which every program reads: only programs of tasks that load a model hold the models' code.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scoring_kit.metrics.bertscore import BertScorer
    from scoring_kit.metrics.nli import NliModel


def _engine_options(options: Mapping[str, Any], engine: str) -> dict[str, Any]:
    """The options of an engine and those that say where models run."""
    where = ("device", "precision", "batch_tokens", "cache")
    return {**options[engine], **{key: options[key] for key in where}}


def bert_scorer(options: Mapping[str, Any]) -> "BertScorer":
    """Return the BERTScore engine, made once in a process."""
    from scoring_kit.metrics.bertscore import BertScoreOptions, load_bert_scorer

    return load_bert_scorer(BertScoreOptions(**_engine_options(options, "bertscore")))


def nli_model(options: Mapping[str, Any]) -> "NliModel":
    """Return the NLI engine, made once in a process."""
    from scoring_kit.metrics.nli import NliOptions, load_nli_model

    return load_nli_model(NliOptions(**_engine_options(options, "nli")))


def settings(options: Mapping[str, Any], engine: str, resolved: Mapping[str, object] | None) -> dict[str, str]:
    """Return what a task's scores depend on, by dotted option name.

    `resolved` is the account of itself of the `engine`, `bertscore` or `nli` (revision, layer, …); None where no text
    needed it, and then only what is known without the model is given.
    """
    if resolved is None:
        given = options[engine]
        name, layers, baseline = given["model"], given.get("num_layers"), given.get("baseline")
        if Path(name).is_absolute():  # a path of the machine is never shown
            name = Path(name).resolve().name
        known: dict[str, object] = {"model": name}
        if layers is not None:
            known["num_layers"] = layers
        if not given.get("rescale", True):
            known["baseline"] = None
        elif baseline is not None and Path(baseline).is_file():
            known["baseline"] = hashlib.sha256(Path(baseline).read_bytes()).hexdigest()
        resolved = known
    values = {"profile": options["profile"]}
    for key, value in resolved.items():
        if key != "precision":
            values[f"{engine}.{key}"] = value if isinstance(value, str) else json.dumps(value)
    if "rescale" in options[engine]:
        values[f"{engine}.rescale"] = json.dumps(options[engine]["rescale"])
    values["precision"] = options["precision"]
    return values


def summary_settings(options: Mapping[str, Any], model: "NliModel | None") -> dict[str, str]:
    """Return what the scores of summaries depend on: the NLI model and the data of the sentence splitter."""
    if model is None:
        return settings(options, "nli", None)
    from scoring_kit.metrics.sentences import punkt_digest

    return {**settings(options, "nli", model.signature()), "punkt": punkt_digest()}

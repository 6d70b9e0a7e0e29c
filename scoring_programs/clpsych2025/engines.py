"""The model engines with the options of CLPsych 2025, and what of these the scores depend on."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scoring_kit.metrics.bertscore import BertScorer
    from scoring_kit.metrics.nli import NliModel

PLACE = ("device", "precision", "batch_tokens", "cache")
SCORES_DEPEND_ON = {
    "bertscore": ("model", "revision", "num_layers", "baseline", "rescale"),
    "nli": ("model", "revision", "labels"),
}


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
        resolved: the engine's own account of itself (revision, layer, …); None where no text needed it.
    """
    named = {key: options[engine][key] for key in SCORES_DEPEND_ON[engine]}
    if Path(named["model"]).is_absolute():
        named["model"] = Path(named["model"]).name  # where a folder lies is the organisers' own affair
    named |= dict(resolved or {})
    named.pop("precision", None)
    values = {"profile": options["profile"], **{f"{engine}.{key}": value for key, value in named.items()}}
    values["precision"] = options["precision"]
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}

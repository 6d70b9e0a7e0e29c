"""The options of CLPsych 2025, read strictly; every mistake at once."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scoring_kit.metrics.bertscore import BertScorer
    from scoring_kit.metrics.nli import NliModel

PROFILES = ("published", "as-run")
DEVICES = ("auto", "cpu", "cuda")
PRECISIONS = ("fp32", "bf16")
LABELS = ("entailment", "neutral", "contradiction")
REQUIRED = {"profile": PROFILES, "device": DEVICES, "precision": PRECISIONS}
MODEL_FIELDS = {
    "bertscore": ("model", "revision", "num_layers", "baseline", "rescale"),
    "nli": ("model", "revision", "labels"),
}
PLAIN_FIELDS = (*REQUIRED, "batch_tokens", "cache", "max_submission_mb")


def check_options(options: Mapping[str, Any]) -> list[str]:
    """Every mistake in the options, each beginning with `options.<name>: `."""
    checker = _OptionChecker(options)
    checker.check()
    return checker.messages


@dataclass
class _OptionChecker:
    options: Mapping[str, Any]
    messages: list[str] = field(default_factory=list)

    def check(self) -> None:
        for name, choices in REQUIRED.items():
            if self.options.get(name) not in choices:
                self._wrong(name, f"one of {', '.join(choices)}")
        self._positive("max_submission_mb", whole=False)
        if self.options.get("batch_tokens") is not None:
            self._positive("batch_tokens", whole=True)
        self._text_or_null(self.options, "cache", "cache", "a folder, or null for none")
        for group, fields in MODEL_FIELDS.items():
            values = self.options.get(group)
            if not isinstance(values, Mapping):
                self._wrong(group, f"the fields {', '.join(fields)}")
                continue
            self._unknown(values, fields, f"{group}.")
            self._model(values, group)
        self._unknown(self.options, (*PLAIN_FIELDS, *MODEL_FIELDS), "")

    def _model(self, values: Mapping[str, Any], group: str) -> None:
        if not isinstance(values.get("model"), str) or not values["model"]:
            self._wrong(f"{group}.model", "a model's name on the hub, or a folder")
        self._text_or_null(values, "revision", f"{group}.revision", "a commit of the model, or null")
        if group == "nli":
            self._labels(values.get("labels"))
            return
        layers = values.get("num_layers")
        if layers is not None and (not isinstance(layers, int) or isinstance(layers, bool) or layers < 1):
            self._wrong("bertscore.num_layers", "a whole number from 1, or null for bert-score's choice")
        self._text_or_null(values, "baseline", "bertscore.baseline", "a baseline file, or null for bert-score's own")
        if not isinstance(values.get("rescale"), bool):
            self._wrong("bertscore.rescale", "true or false")
        elif self.options.get("profile") == "as-run" and not values["rescale"]:
            self._wrong("bertscore.rescale", "true, because profile as-run always rescales")

    def _labels(self, labels: object) -> None:
        """A list in the order of the model's outputs, or a mapping from the model's own names."""
        meanings = list(labels.values()) if isinstance(labels, Mapping) else labels
        if labels is not None and (not isinstance(meanings, list) or sorted(map(str, meanings)) != sorted(LABELS)):
            self._wrong(
                "nli.labels",
                f"null, {', '.join(LABELS)} in the order of the model's outputs, or a mapping from its labels to these",
            )

    def _positive(self, name: str, *, whole: bool) -> None:
        value = self.options.get(name)
        kinds = int if whole else (int, float)
        expected = "a whole number above 0, or null" if whole else "a number above 0"
        if not isinstance(value, kinds) or isinstance(value, bool) or not 0 < value < math.inf:
            self._wrong(name, expected)

    def _text_or_null(self, values: Mapping[str, Any], key: str, name: str, expected: str) -> None:
        if values.get(key) is not None and (not isinstance(values[key], str) or not values[key]):
            self._wrong(name, expected)

    def _unknown(self, values: Mapping[str, Any], known: tuple[str, ...], prefix: str) -> None:
        for name in values:
            if name not in known:
                self.messages.append(f"options.{prefix}{name}: no such option. Expected: one of {', '.join(known)}.")

    def _wrong(self, name: str, expected: str) -> None:
        self.messages.append(f"options.{name}: not a valid value. Expected: {expected}.")


def _engine_options(options: Mapping[str, Any], engine: str) -> dict[str, Any]:
    """The options of an engine and those that say where models run."""
    where = ("device", "precision", "batch_tokens", "cache")
    return {**options[engine], **{key: options[key] for key in where}}


def bert_scorer(options: Mapping[str, Any]) -> "BertScorer":
    """The BERTScore engine, made once in a process."""
    from scoring_kit.metrics.bertscore import BertScoreOptions, load_bert_scorer

    return load_bert_scorer(BertScoreOptions(**_engine_options(options, "bertscore")))


def nli_model(options: Mapping[str, Any]) -> "NliModel":
    """The NLI engine, made once in a process."""
    from scoring_kit.metrics.nli import NliOptions, load_nli_model

    return load_nli_model(NliOptions(**_engine_options(options, "nli")))


def settings(options: Mapping[str, Any], engine: str, resolved: Mapping[str, object] | None) -> dict[str, str]:
    """What a task's scores depend on, by dotted option name.

    Args:
        options: the competition's options.
        engine: `bertscore` or `nli`.
        resolved: the engine's own account of itself (revision, layer, …); None where no text needed it, and then only
            what is known without the model is given.
    """
    if resolved is None:
        resolved = _known_without_model(options[engine])
    values = {"profile": options["profile"]}
    for key, value in resolved.items():
        if key != "precision":
            values[f"{engine}.{key}"] = value if isinstance(value, str) else json.dumps(value)
    if "rescale" in options[engine]:
        values[f"{engine}.rescale"] = json.dumps(options[engine]["rescale"])
    values["precision"] = options["precision"]
    return values


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

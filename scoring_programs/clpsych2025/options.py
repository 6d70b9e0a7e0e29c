"""The options of CLPsych 2025, read strictly; every mistake at once."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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

"""The engine of BERTScore: what a column, `options.bertscore` and the options of all models say of it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gen_bundle.declaration.overrides import nearest
from gen_bundle.declaration.source import Broken, Trail

DEFAULT = {
    "model": "microsoft/deberta-xlarge-mnli",
    "revision": "5b07a9086c1dbb79981ff7b05b4d1ad83b3af51c",
    "rescale": True,
}
"""What holds where nothing else is declared."""
TYPES: Mapping[str, tuple[type[Any], str]] = {
    "model": (str, "a model's name on the hub, or a folder"),
    "revision": (str, "a commit of the model"),
    "num_layers": (int, "a whole number from 1"),
    "baseline": (str, "a file of baselines beside bundle.yaml"),
    "rescale": (bool, "true or false"),
}
OF_ALL_MODELS = ("device", "precision", "batch_tokens", "cache")
PLACE: Trail = ("options", "bertscore")


def engine_of(options: Any, found: list[Broken]) -> dict[str, Any]:
    """The engine that a declaration's `options` describe; what is wrong is appended to `found`."""
    options = options if isinstance(options, dict) else {}
    group = options.get("bertscore")
    if group is not None and not isinstance(group, dict):
        found.append((PLACE, f"expected a mapping with some of {', '.join(TYPES)}."))
    given = group if isinstance(group, dict) else {}
    found += _faults(given)
    of_all = {name: options[name] for name in OF_ALL_MODELS if options.get(name) is not None}
    return {**of_all, **with_options(DEFAULT, given)}


def with_options(engine: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The engine's options with others in their place; another model has another revision, layer and baseline."""
    chosen = {name: value for name, value in given.items() if value is not None}
    kept = engine
    if chosen.get("model", engine["model"]) != engine["model"]:
        kept = {name: value for name, value in engine.items() if name not in ("num_layers", "baseline")}
        kept["revision"] = None
    return {**kept, **chosen}


def folder_faults(engine: Mapping[str, Any], folder: Path, trail: Trail) -> Iterator[Broken]:
    """What bert-score's tables do not say of a model that is a folder, so that the declaration must."""
    model = engine["model"]
    if not isinstance(model, str) or not (model.startswith(("/", ".", "~")) or (folder / model).is_dir()):
        return
    if engine.get("num_layers") is None:
        yield trail, f"bert-score knows no layer for the folder {model}. Expected options.bertscore.num_layers."
    if engine["rescale"] and engine.get("baseline") is None:
        what = f"bert-score knows no baseline for the folder {model}."
        yield trail, f"{what} Expected options.bertscore.baseline, or rescale: false."


def _faults(given: Mapping[str, Any]) -> Iterator[Broken]:
    for name, value in given.items():
        if name not in TYPES:
            yield (*PLACE, str(name)), f"unknown option. {nearest(str(name), list(TYPES))}"
            continue
        kind, expected = TYPES[name]
        is_layer = name == "num_layers"
        if value is not None and (type(value) is not kind or value == "" or (is_layer and value < 1)):
            yield (*PLACE, name), f"expected {expected} (found {value!r})."

"""Write docs/bundle-yaml.md and bundles/bundle.schema.json from the model: `python docs/make_bundle_yaml.py`."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter

from gen_bundle.declaration.model import DeclaredCompetition
from gen_bundle.declaration.ready_programs import PROGRAMS, ForeignCompetition
from gen_bundle.declaration.scoring.metrics import MetricOption, MetricRow, metrics

PAGE = Path(__file__).with_name("bundle-yaml.md")
SCHEMA = PAGE.parents[1] / "bundles" / "bundle.schema.json"
GIVEN_BY_METRICS = {
    "DeclaredColumn": ("title", "sort", "meaning"),
    "SubmissionField": ("type", "required", "meaning"),
    "DeclaredSubmission": ("file", "fields"),
}
"""Keys that may be left out with scoring_program: declared; the reader asks others for them."""
TEXTS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
EXAMPLES: Mapping[str, str] = TEXTS["examples"]
MINIMAL_FOREIGN: str = TEXTS["minimal"]
WHOLE_FOREIGN: str = TEXTS["whole"]


def page() -> str:
    """The whole page."""
    return "\n".join(_parts()) + "\n"


def _parts() -> Iterator[str]:
    yield TEXTS["preface"]
    shown: list[str] = []
    for top in (DeclaredCompetition, ForeignCompetition):
        schema = top.model_json_schema()
        yield from _section(top.__name__, schema)
        for name in _in_order_of_use(schema):
            if name not in shown:
                yield from _section(name, schema["$defs"][name])
                shown.append(name)


def _in_order_of_use(schema: Mapping[str, Any]) -> list[str]:
    """The models below the competition, each after the one that first names it."""
    found: list[str] = []
    waiting = _named(schema["properties"])
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found.append(name)
            waiting = _named(schema["$defs"][name]["properties"]) + waiting
    return found


def _named(properties: Mapping[str, Any]) -> list[str]:
    return re.findall(r'"#/\$defs/(\w+)"', json.dumps(properties))


def _section(name: str, model: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {_heading(name)}\n"
    yield f"{model['description'].splitlines()[0]}\n"
    yield "| key | type | default | meaning |"
    yield "|---|---|---|---|"
    for key, value in model["properties"].items():
        yield f"| `{key}` | {_type(value)} | {_default(name, key, value, model)} | {_cell(value['description'])} |"
    yield ""
    if name in TEXTS["notes"]:
        yield TEXTS["notes"][name].replace("MINIMAL\n", MINIMAL_FOREIGN).replace("WHOLE\n", WHOLE_FOREIGN)
    if name in EXAMPLES:
        yield f"```yaml\n{EXAMPLES[name]}```\n"


def _heading(name: str) -> str:
    """SubmissionField → Submission field."""
    if name == "DeclaredCompetition":
        return "The competition"
    if name == "ForeignCompetition":
        return "A competition with programs of others"
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.removeprefix("Declared")).capitalize()


KINDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "`true` or `false`"}


def _type(value: Mapping[str, Any]) -> str:
    if "$ref" in value:
        heading = _heading(value["$ref"].rsplit("/", 1)[-1]).lower()
        return f"[{heading}](#{heading.replace(' ', '-')})"
    if "anyOf" in value:
        return _any_of(value["anyOf"])
    if "enum" in value:
        return ", ".join(f"`{one}`" for one in value["enum"])
    if value.get("type") == "array":
        return f"list of {_plain(value['items'])}"
    if value.get("type") == "object":
        inner = value.get("additionalProperties")
        return f"mapping of names to {_plain(inner)}" if isinstance(inner, dict) else "mapping"
    return KINDS.get(value.get("type", ""), "anything") + _bounds(value)


def _any_of(choices: Sequence[Mapping[str, Any]]) -> str:
    kinds = dict.fromkeys(_type(one) for one in choices if one.get("type") != "null")
    if "whole number" in kinds and any(kind.startswith("number") for kind in kinds):
        del kinds["whole number"]
    return " or ".join(kinds)


def _plain(value: Mapping[str, Any]) -> str:
    return _type(value) if "$ref" in value else _type({**value, "maxLength": None})


def _bounds(value: Mapping[str, Any]) -> str:
    if value.get("maxLength"):
        return f", at most {value['maxLength']} characters"
    low, high = value.get("minimum"), value.get("maximum")
    if low is None:
        return ""
    return f", from {low:g}" if high is None or high == 2**31 - 1 else f", {low:g} to {high:g}"


def _default(name: str, key: str, value: Mapping[str, Any], model: Mapping[str, Any]) -> str:
    if key in model.get("required", []):
        return "required, unless declared" if key in GIVEN_BY_METRICS.get(name, ()) else "required"
    default = value.get("default")
    if default is None or default == "":
        return ""
    text = default if isinstance(default, str) else json.dumps(default)
    return f"`{_cell(text)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


# The schema


TEXT_OR_TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
SCALAR = {"type": ["string", "number", "boolean"]}
OWN_NAME = {"type": "string", "pattern": "^[^/:]+\\.py:[A-Za-z_]\\w*$"}
PLACES: dict[str, Any] = {
    "table": {"type": "string", "description": "The table that the metric reads, where there are several."},
    "field": {"type": "string", "description": "The field that the metric reads; left out where there is only one."},
    "fields": {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "Several fields."},
    "gold": {**TEXT_OR_TEXTS, "description": "Gold column to compare with, where it is not called like the field."},
    "by": {
        **TEXT_OR_TEXTS,
        "description": "Gold column, or columns: the metric in each of their groups, then the mean.",
    },
    "by_weight": {
        "type": "boolean",
        "description": "The mean over the groups of `by` is weighted by their numbers of scored keys.",
    },
    "mean_by": {
        "type": "string",
        "description": "Gold column: gold and answers are averaged in each of its groups before the metric.",
    },
    "undefined": {"type": "number", "description": "What counts where it is undefined, instead of the column's worst."},
    "weight": {"type": "string", "description": "Gold column of numbers from 0: how much each key counts."},
    "where": {
        "type": "object",
        "description": "Only keys whose gold row says so: {column: value}, {column: [values]} or {column: {min: 0.5}}.",
        "minProperties": 1,
        "additionalProperties": {
            "anyOf": [
                SCALAR,
                {"type": "array", "items": SCALAR, "minItems": 1},
                {
                    "type": "object",
                    "properties": {"min": {"type": "number"}, "max": {"type": "number"}},
                    "additionalProperties": False,
                    "minProperties": 1,
                },
            ]
        },
    },
}
SEPARATOR = {
    "type": "object",
    "properties": {"separator": {"type": "string", "minLength": 1}},
    "required": ["separator"],
    "additionalProperties": False,
}
TYPES: dict[str, Any] = {
    "boolean": {"type": "boolean"},
    "integer": {"type": "integer", "minimum": 0},
    "number": {"type": "number", "minimum": 0},
    "matrix": {
        "type": "object",
        "description": "Gold label: {answer's label: points}.",
        "minProperties": 1,
        "additionalProperties": {"type": "object", "additionalProperties": {"type": "number"}},
    },
    "threshold": {
        "anyOf": [
            {"type": "number", "minimum": 0, "maximum": 1},
            {
                "type": "object",
                "properties": {"above": {"type": "number", "minimum": 0, "maximum": 1}},
                "required": ["above"],
                "additionalProperties": False,
            },
        ]
    },
    "labels": {"type": "array", "items": SCALAR, "minItems": 1},
    "label": SCALAR,
    "text": SCALAR,
    "field": {"type": "string"},
    "column": {"type": "string"},
}


def _metric() -> dict[str, Any]:
    """The JSON Schema of a column's `metric`."""
    alone = [{"const": row.name, "description": row.definition} for row in metrics().values() if not row.required]
    own = {"name": OWN_NAME, "tables": TEXT_OR_TEXTS, **_places(("table", "where", "by", "by_weight", "undefined"))}
    return {
        "description": "A metric's name, or a mapping of its name, fields and options.",
        "anyOf": [
            {"anyOf": alone},
            {**OWN_NAME, "description": "An own function."},
            *(_mapping(metric) for metric in metrics().values()),
            {"type": "object", "properties": own, "required": ["name"]},
        ],
    }


def _place_definitions() -> dict[str, Any]:
    """The definitions that `_metric` refers to, by name."""
    return {f"metric_{name}": place for name, place in PLACES.items()}


def _places(names: Iterable[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/$defs/metric_{name}"} for name in names}


def _mapping(metric: MetricRow) -> dict[str, Any]:
    options = {name: _option(option) for name, option in metric.options.items()}
    return {
        "type": "object",
        "description": metric.definition,
        "properties": {"name": {"const": metric.name, "description": metric.definition}, **_places(PLACES), **options},
        "required": ["name", *metric.required],
        "additionalProperties": False,
    }


def _option(option: MetricOption) -> dict[str, Any]:
    kind = {"enum": list(option.choices)} if option.choices else TYPES[option.type]
    if option.type == "unit":
        kind = {"anyOf": [kind, SEPARATOR]}
    if option.type == "labels" and option.choices:
        kind = {"anyOf": [kind, TYPES["labels"]]}
    if option.min:
        kind = {**kind, "minimum": option.min}
    if option.max is not None:
        kind = {**kind, "maximum": option.max}
    return kind if option.default is None else {**kind, "default": option.default}


def schema() -> str:
    """The JSON Schema of bundle.yaml, for editors.

    With `programs` at the top another model holds than without. Of declared scoring editors know every metric and its
    options: completion and hover.
    """
    whole = TypeAdapter(DeclaredCompetition | ForeignCompetition).json_schema()
    declared, foreign = whole.pop("anyOf")
    whole |= {"title": "bundle.yaml", "if": {"required": [PROGRAMS]}, "then": foreign, "else": declared}
    for name, keys in GIVEN_BY_METRICS.items():
        model = whole["$defs"][name]
        model["required"] = [key for key in model["required"] if key not in keys]
    whole["$defs"]["DeclaredColumn"]["properties"]["metric"] = _metric()
    whole["$defs"].update(_place_definitions())
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    SCHEMA.write_text(schema(), encoding="utf-8")

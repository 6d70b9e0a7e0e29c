"""The JSON Schema of bundle.yaml, for editors: `python -m gen_bundle.declaration.schema` (`make schema`).

With `programs` at the top another model holds than without. Of declared scoring editors know every metric and its
options: completion and hover.
"""

import json
from collections.abc import Iterable
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from gen_bundle.declaration.declared.metrics import MetricOption, MetricRow, metrics
from gen_bundle.declaration.foreign import PROGRAMS, ForeignCompetition
from gen_bundle.declaration.model import DeclaredCompetition

TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
SCALAR = {"type": ["string", "number", "boolean"]}
OWN_NAME = {"type": "string", "pattern": "^[^/:]+\\.py:[A-Za-z_]\\w*$"}
PLACES: dict[str, Any] = {
    "table": {"type": "string", "description": "The table that the metric reads, where there are several."},
    "field": {"type": "string", "description": "The field that the metric reads; left out where there is only one."},
    "fields": {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "Several fields."},
    "gold": {**TEXTS, "description": "Gold column to compare with, where it is not called like the field."},
    "by": {**TEXTS, "description": "Gold column, or columns: the metric in each of their groups, then the mean."},
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
    "label": SCALAR,
    "text": SCALAR,
    "field": {"type": "string"},
    "column": {"type": "string"},
}


def metric_schema() -> dict[str, Any]:
    """The JSON Schema of a column's `metric`."""
    alone = [{"const": row.name, "description": row.definition} for row in metrics().values() if not row.required]
    own = {"name": OWN_NAME, "tables": TEXTS, **_places(("table", "where", "by", "undefined"))}
    return {
        "description": "A metric's name, or a mapping of its name, fields and options.",
        "anyOf": [
            {"anyOf": alone},
            {**OWN_NAME, "description": "An own function."},
            *(_mapping(metric) for metric in metrics().values()),
            {"type": "object", "properties": own, "required": ["name"]},
        ],
    }


def place_definitions() -> dict[str, Any]:
    """The definitions that `metric_schema` refers to, by name."""
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
    if option.type == "labels":
        kind = {"anyOf": [kind, {"type": "array", "items": SCALAR, "minItems": 1}]}
    if option.min:
        kind = {**kind, "minimum": option.min}
    if option.max is not None:
        kind = {**kind, "maximum": option.max}
    return kind if option.default is None else {**kind, "default": option.default}


GIVEN_BY_METRICS = {
    "DeclaredColumn": ("title", "sort", "meaning"),
    "SubmissionField": ("type", "required", "meaning"),
    "DeclaredSubmission": ("file", "fields"),
}
"""Keys that may be left out with scoring_program: declared; the reader asks others for them."""


@cache
def schema_text() -> str:
    """The schema as written to `bundles/bundle.schema.json`."""
    schema = TypeAdapter(DeclaredCompetition | ForeignCompetition).json_schema()
    declared, foreign = schema.pop("anyOf")
    schema |= {"title": "bundle.yaml", "if": {"required": [PROGRAMS]}, "then": foreign, "else": declared}
    for name, keys in GIVEN_BY_METRICS.items():
        model = schema["$defs"][name]
        model["required"] = [key for key in model["required"] if key not in keys]
    schema["$defs"]["DeclaredColumn"]["properties"]["metric"] = metric_schema()
    schema["$defs"].update(place_definitions())
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(schema_text(), end="")

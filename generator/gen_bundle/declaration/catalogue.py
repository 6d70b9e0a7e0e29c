"""All keys for reading: docs/bundle-yaml.md is what `python -m gen_bundle.declaration.catalogue` prints."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from gen_bundle.declaration.foreign import ForeignCompetition
from gen_bundle.declaration.model import DeclaredCompetition
from gen_bundle.declaration.schema import GIVEN_BY_METRICS

TEXTS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
EXAMPLES: Mapping[str, str] = TEXTS["examples"]
MINIMAL_FOREIGN: str = TEXTS["minimal"]
WHOLE_FOREIGN: str = TEXTS["whole"]


def catalogue() -> str:
    """The text of docs/bundle-yaml.md."""
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


if __name__ == "__main__":
    print(catalogue(), end="")

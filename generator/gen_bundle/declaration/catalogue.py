"""All keys for reading: docs/bundle-yaml.md is what `python -m gen_bundle.declaration.catalogue` prints."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gen_bundle.declaration.foreign import ForeignCompetition
from gen_bundle.declaration.model import DeclaredCompetition
from gen_bundle.declaration.schema import GIVEN_BY_METRICS

PREFACE = """\
# bundle.yaml, key by key

This page is generated: `python -m gen_bundle.declaration.catalogue > docs/bundle-yaml.md`. Unknown keys are errors, and
so is a value of another type. What has no default and is not required may be left out; "unless declared" means that
with `scoring_program: declared` other keys give it ([declared.md](declared.md)). `bundles/bundle.schema.json` says the
same to editors, for completion and hover texts:

```yaml
# yaml-language-server: $schema=../bundle.schema.json
```

`--set KEY.PATH=VALUE` changes any value for one build. Items of lists go by their id, key, title or name:
`phases.test.end`, `tasks.a1.columns.a1_recall.precision`, `pages.Overview.file`.
"""
EXAMPLES = {
    "DeclaredCompetition": """\
submission_rule: Add_And_Delete_Multiple
leaderboard: {title: "Test results", hidden: true}
milestones:
  - {name: System description papers due, date: "2025-03-19 AoE"}
""",
    "DeclaredPhase": """\
phases:
  - {id: dev, name: Development, start: "2025-01-13 AoE", end: "2025-03-04 AoE", tasks: [a2]}
  - {id: test, name: Test, start: "2025-03-05 AoE", end: "2025-03-11 AoE"}
  - {id: post, name: After the competition, start: "2025-04-01 AoE", data: test}
""",
}
"""Examples by the model whose keys they show."""
MINIMAL_FOREIGN = """\
title: Old task
logo: logo.png
pages: [{title: Overview, file: pages/overview.md}]
terms: pages/terms.md
programs: {scoring: programs/score}
tasks:
  - {id: main, name: Main task, columns: [{key: auc, title: AUC, sort: desc}]}
phases:
  - {id: test, name: Test, start: "2031-01-01 AoE"}
"""
WHOLE_FOREIGN = """\
title: Old task
logo: logo.png
docker_image: codalab/codalab-legacy:py37
raw: true
pages: [{title: Overview, file: pages/overview.html}]
terms: pages/terms.md
programs: {scoring: programs/score, ingestion: programs/ingest.zip}
tasks:
  - {id: small, name: Small model, reference_data: data/dev, input_data: data/input/dev}
  - {id: large, name: Large model, reference_data: data/large.zip, input_data: null, programs: {ingestion: null}}
phases:
  - {id: dev, name: Development, start: "2031-01-01", end: "2031-01-31 23:59:59", tasks: [small]}
  - {id: test, name: Test, start: "2031-02-01 12:00:00", max_submissions: 0, programs: {scoring: programs/final}}
solutions: [{path: solutions/baseline, tasks: [small, large], name: Baseline}]
leaderboard:
  primary_index: 1
  columns:
    - {key: seconds, title: Seconds, sort: asc, precision: 1}
    - {key: auc-1, title: AUC, sort: desc}
"""
NOTES = {
    "ForeignCompetition": f"""\
With `programs` at its top, bundle.yaml declares a competition whose scoring and ingestion programs are somebody else's,
in whatever language: they are packed as they are, and nothing of the tool goes into them. `gen-bundle import` writes
such a project of any bundle. By hand this is enough, with gold in `data/test/`:

```yaml
{MINIMAL_FOREIGN}```

The same with more of what may be said:

```yaml
{WHOLE_FOREIGN}```

- What programs, data, kits and solutions are packed from lies beside bundle.yaml: a folder, of which everything is
  zipped, or a file, which is packed byte for byte. What several tasks or phases name is one file of the bundle. A UUID
  where no such file lies is a data set that the server has. `--data DIR` takes the place of `data/`.
- A task is one Codabench task, unless its data or programs differ between its phases: then it is one for each.
- There is no scoring package, so there is no `reference`, `options`, `requirements` or `layout`, and columns need
  neither `worst` nor `meaning`. Pages that are templates know `competition`, `phases`, `tasks`, `columns`, `milestones`
  and `name` alone; `raw: true` takes pages as they are.
- `gen-bundle rank` takes the scores that `gen-bundle fetch` found (`--submissions downloads/1-test/submissions`), or a
  table of them (`--scores`); as nothing is scored, `--phase`, `--data` and `--report` do not work. `gen-bundle image`,
  `--layout`, `--task` and `--platform codalab` do not work, either. All of them say so.
- What the platform would refuse is not refused here but by the check at the end of the build.
""",
    "DeclaredPhase": """\
A phase with `tasks` runs these alone, in every layout: in `joint` its program writes the other columns at their
`worst`, in `tasks` it has no Codabench tasks of the others, and in `separate` the others' bundles lack the phase.

A phase with `data` has no folders of its own below the data folder. Its Codabench tasks name the other phase's
reference data file, so that the bundle holds no copy; its limits, programs and starting kit are its own.
""",
}
"""What holds of a model's keys together."""


def catalogue() -> str:
    """The text of docs/bundle-yaml.md."""
    return "\n".join(_parts()) + "\n"


def _parts() -> Iterator[str]:
    yield PREFACE
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
    if name in NOTES:
        yield NOTES[name]
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

"""The baseline of a competition that takes code: a program that reads the inputs and gives the constant answers."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gen_bundle.new.gold import Gold
from gen_bundle.new.propose import Proposal, token_column

ENTRY = "model.py"

PROGRAM = '''"""{about} Put your model in its place."""

{imports}
from pathlib import Path
from typing import Any
{fields}

def predict(input_folder: Path, output_folder: Path) -> None:
    """Read {inputs}, and write {predictions}."""
    write(output_folder / "{predictions}", answers(read(input_folder / "{inputs}")))


def answers(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The answer to every row."""
{answers}


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file."""
{read}


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write the answers to a file."""
{write}
'''
RANKED = """\
    places: Counter[tuple[Any, ...]] = Counter()
    found = []
    for row in rows:
        query = {query}
        places[query] += 1
        found.append({answer})
    return found"""


def baseline_program(
    proposal: Proposal, about: str, constants: Mapping[str, Any], inputs: str, predictions: str
) -> str:
    """The text of the baseline's `model.py`, which needs the standard library alone.

    Args:
        proposal: its gold and what the columns are for.
        about: what it answers, as a sentence.
        constants: column → the answer that it gives everywhere.
        inputs: the file that it reads.
        predictions: the file that it writes.
    """
    names = [*proposal.key, *(column.name for column in proposal.answers)]
    body, imports = _answers(proposal, constants)
    read, write, module = _files(proposal.gold)
    lines = [f"import {module}", *imports]
    return PROGRAM.format(
        about=about,
        imports="\n".join(lines),
        fields="" if proposal.gold.is_json else f"\nFIELDS = {_text(names)}\n",
        inputs=inputs,
        predictions=predictions,
        answers=body,
        read=_indented(read),
        write=_indented(write),
    )


def _answers(proposal: Proposal, constants: Mapping[str, Any]) -> tuple[str, Sequence[str]]:
    """The body of `answers`, and what it imports."""
    parts = {name: f"row[{_text(name)}]" for name in proposal.key}
    if proposal.item is not None:
        item, score = (column.name for column in proposal.answers)
        value = "1 / places[query]" if proposal.gold.is_json else 'f"{1 / places[query]:.4f}"'
        query = f"({', '.join(parts.values())},)"
        answer = _record({**parts, item: f"row[{_text(item)}]", score: value})
        return RANKED.format(query=query, answer=answer), ["from collections import Counter"]
    if proposal.many:
        return "    return []", []
    for column in proposal.answers:
        parts[column.name] = _tags(proposal) if column.type == "tags" else _text(constants[column.name])
    return f"    return [{_record(parts)} for row in rows]", []


def _tags(proposal: Proposal) -> str:
    """As many O as the row has tokens."""
    name = str(token_column(proposal))
    is_list = all(isinstance(value, list) for value in proposal.gold.column(name))
    tokens = f"row[{_text(name)}]" if is_list else f'row[{_text(name)}].split(" ")'
    return f'["O"] * len({tokens})' if proposal.gold.is_json else f'" ".join("O" for _ in {tokens})'


def _files(gold: Gold) -> tuple[str, str, str]:
    """The bodies of `read` and `write`, and the module that they need."""
    if gold.suffix == ".jsonl":
        return (
            'return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\\n") if line]',
            'lines = [json.dumps(row, ensure_ascii=False) + "\\n" for row in rows]\n'
            'path.write_text("".join(lines), encoding="utf-8")',
            "json",
        )
    if gold.suffix == ".json":
        return (
            'return list(json.loads(path.read_text(encoding="utf-8")))',
            'path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")',
            "json",
        )
    dialect = 'delimiter="\\t"' if gold.suffix == ".tsv" else 'delimiter=","'
    dialect += ", quoting=csv.QUOTE_NONE, quotechar=None" if gold.quoting == "none" else ""
    return (
        f'with path.open(encoding="utf-8", newline="") as table:\n    return list(csv.DictReader(table, {dialect}))',
        'with path.open("w", encoding="utf-8", newline="") as table:\n'
        f'    writer = csv.DictWriter(table, FIELDS, lineterminator="\\n", {dialect})\n'
        "    writer.writeheader()\n    writer.writerows(rows)",
        "csv",
    )


def _indented(lines: str) -> str:
    return "\n".join(f"    {line}" for line in lines.split("\n"))


def _record(parts: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{_text(name)}: {value}" for name, value in parts.items()) + "}"


def _text(value: Any) -> str:
    """A value as Python source."""
    return json.dumps(value)

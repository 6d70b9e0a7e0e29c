"""Writes a competition's data: gold and baseline of each phase, and what participants are given."""

import inspect
import json
import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from typing import Any

from gen_bundle.new.columns import GoldColumn
from gen_bundle.new.drawn import Drawn, drawn, place_of
from gen_bundle.new.gold import GoldRows, Quoting, by_columns, text_of
from gen_bundle.new.key_and_answers import Key
from gen_bundle.new.propose import Proposal, token_column, tokens_in
from scoring_kit.base.fields import Field

ENTRY = "model.py"
ABOUT = {
    "majority": "Gives every row the most frequent label",
    "random": "Gives every row a number drawn at random",
    "alphabetical": "Ranks the items by the alphabet",
    "constant": "Gives every key one row, the same everywhere",
    "empty": "Gives empty answers",
}
"""Baseline → what it answers."""
EMPTY_CELLS = {"spans": "[]", "offsets": "[]", "labels": ""}
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
    found: list[dict[str, Any]] = []
    for row in rows:
        query = {query}
        places[query] += 1
        found.append({answer})
    return found"""
KEYS = 8
ROWS_OF_KEY = 3
TOKENS = 5
"""How much of each there is in made-up data."""
MADE_UP_NAMES = ("one", "two")
"""Of labels, and of types of tags, where the gold names none."""
Columns = Mapping[str, Sequence[Any]]
"""Cells or JSON values by the columns' names."""


def gold_file(gold: GoldRows) -> str:
    """The gold's name in each phase's folder."""
    return f"gold{gold.suffix}"


def submission_file(gold: GoldRows) -> str:
    """The name of the participants' file."""
    return f"predictions{gold.suffix}"


def inputs_file(gold: GoldRows) -> str:
    """The name of the file that participants are given."""
    return f"inputs{gold.suffix}"


def write_data(folder: Path, proposal: Proposal, phases: Mapping[str, Sequence[int]]) -> None:
    """Write `<phase>/gold.*`, `public/<phase>/inputs.*` and `baselines/<phase>/<name>/predictions.*` below `folder`.

    For code, `input/<phase>/inputs.*` and `baselines/<phase>/<name>/model.py`, and no public data.
    """
    gold = proposal.gold
    answers = baseline_answers(proposal, phases)
    for phase, rows in phases.items():
        own = gold.picked(rows)
        _write(folder / phase / gold_file(gold), own.columns, gold)
        inputs = given(proposal, own)
        baseline = folder / "baselines" / phase / baseline_name(proposal) / submission_file(gold)
        if proposal.code:
            _write(folder / "input" / phase / inputs_file(gold), inputs, gold)
            baseline.parent.mkdir(parents=True)
            baseline.with_name(ENTRY).write_text(_program(proposal, answers), encoding="utf-8")
            continue
        if inputs:
            _write(folder / "public" / phase / inputs_file(gold), inputs, gold)
        _write(baseline, _baseline(proposal, own, answers), gold)


def write_sample(folder: Path, proposal: Proposal, rows: Sequence[int]) -> None:
    """Write what code reads, and its gold, to `input/` and `gold/` of a folder that participants get."""
    gold = proposal.gold.picked(rows)
    _write(folder / "input" / inputs_file(gold), given(proposal, gold), gold)
    _write(folder / "gold" / gold_file(gold), gold.columns, gold)


def gives_inputs(proposal: Proposal) -> bool:
    """Whether participants, or their code, are given more than the template has; code has none."""
    return not proposal.of_lines and bool(proposal.public or proposal.many or proposal.code)


def given(proposal: Proposal, gold: GoldRows) -> Columns:
    """What participants, or their code, are given of a phase with this gold: each key once."""
    if not gives_inputs(proposal):
        return {}
    names = [*proposal.key, *proposal.public]
    if has_candidates(proposal):
        names.append(str(proposal.item))
        keys = gold.keys((*proposal.key, names[-1]))
        # The order of a ranking's items would show which are relevant.
        gold = gold.picked(sorted(range(len(gold)), key=keys.__getitem__))
    elif proposal.many:
        gold = _each_key_once(gold, proposal.key)
    return {name: gold.column(name) for name in names}


def _each_key_once(gold: GoldRows, key: Key) -> GoldRows:
    """The first row of each key."""
    first: dict[Key, int] = {}
    for at, one in enumerate(gold.keys(key)):
        first.setdefault(one, at)
    return gold.picked(list(first.values()))


def has_candidates(proposal: Proposal) -> bool:
    """Whether these are a ranking's items that can be given: each query has some that are not relevant."""
    if proposal.item is None:
        return False
    gold = proposal.gold
    keys = gold.keys(proposal.key)
    irrelevant = set()
    for key, relevance in zip(keys, gold.texts(str(proposal.relevance)), strict=True):
        if not int(relevance or 0):
            irrelevant.add(key)
    return irrelevant == set(keys)


def baseline_name(proposal: Proposal) -> str:
    """What the baseline answers everywhere."""
    if has_candidates(proposal):
        return "alphabetical"
    if proposal.many:
        return "constant"
    names = {"label": "majority", "ordinal": "majority", "number": "random", "probability": "random"}
    return names.get(proposal.answers[0].type, "empty")


def baseline_answers(proposal: Proposal, phases: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """Column of the submission → what the baseline answers: the most frequent label, a `Drawn` number, or nothing.

    Labels and the distribution are those of the first phase, since participants see the baseline; the numbers of two
    digits, so that they do not give a single value away. Tags are as many O as there are tokens; they are left out.
    """
    if proposal.many:
        is_json = proposal.gold.is_json
        return {column.name: _made_up_answer(column, 0, is_json=is_json) for column in proposal.answers}
    rows = next(iter(phases.values()))
    answers: dict[str, Any] = {}
    for column in proposal.answers:
        if column.type != "tags":
            answers |= dict.fromkeys(column.in_answers, _baseline_answer(proposal.gold, column, rows))
    return answers


def _baseline_answer(gold: GoldRows, column: GoldColumn, rows: Sequence[int]) -> Any:
    name = column.in_gold[0]
    if column.columns:
        return next(value for value in gold.column(name) if text_of(value) == column.binary[0])
    if column.type in ("label", "ordinal"):
        counts = Counter(map(gold.texts(name).__getitem__, rows))
        return min(counts, key=lambda label: (-counts[label], str(label)))
    if column.type == "probability":
        return Drawn(0.5, 0.2, within_one=True)
    if column.type == "number":
        written = Counter(map(gold.column(name).__getitem__, rows))
        numbers, times = list(map(float, written)), list(written.values())
        mean = statistics.fmean(numbers, times)
        distances = [(number - mean) * math.sqrt(often) for number, often in zip(numbers, times, strict=True)]
        deviation = math.hypot(*distances) / math.sqrt(len(rows))
        return Drawn(float(f"{mean:.2g}"), float(f"{deviation:.2g}"), column.within_one)
    if column.type in EMPTY_CELLS:
        return [] if gold.is_json else EMPTY_CELLS[column.type]
    return ""


def _baseline(proposal: Proposal, gold: GoldRows, answers: Mapping[str, Any]) -> Columns:
    """The baseline of a phase with this gold: the key's columns, and an answer for each."""
    if has_candidates(proposal):
        return _ranked(proposal, gold)
    if proposal.many:
        gold = _each_key_once(gold, proposal.key)
    columns: dict[str, Sequence[Any]] = {}
    if not proposal.of_lines:
        columns |= {name: gold.column(name) for name in proposal.key}
    for name in _answered(proposal):
        answer: Any = answers.get(name)
        if name not in answers:
            columns[name] = list(map(_no_tags, gold.column(name)))
        elif isinstance(answer, Drawn):
            columns[name] = answer.numbers(gold.keys(proposal.key), as_text=not gold.is_json)
        else:
            columns[name] = [answer] * len(gold)
    return columns


def _answered(proposal: Proposal) -> list[str]:
    """The columns of a submission that hold answers."""
    return [name for column in proposal.answers for name in column.in_answers]


def _no_tags(value: Any) -> Any:
    """As many O as gold has tags, in its form."""
    tags = ["O"] * tokens_in(value)
    return tags if isinstance(value, list) else " ".join(tags)


def _ranked(proposal: Proposal, gold: GoldRows) -> Columns:
    """The items of each query in their order, with falling scores."""
    items = given(proposal, gold)
    columns = {name: items[name] for name in (*proposal.key, str(proposal.item))}
    places: Counter[tuple[Any, ...]] = Counter()
    scores: list[float] = []
    for query in zip(*map(columns.__getitem__, proposal.key), strict=True):
        places[query] += 1
        scores.append(1 / places[query])
    written = scores if gold.is_json else [f"{score:.4f}" for score in scores]
    return {**columns, proposal.answers[-1].name: written}


def _write(path: Path, columns: Columns, gold: GoldRows) -> None:
    """Write a table in the format of the gold."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_table_text(columns, gold.suffix, gold.quoting), encoding="utf-8", newline="")


def _table_text(columns: Columns, suffix: str, quoting: Quoting) -> str:
    """A table as a file of the format that `suffix` says."""
    if suffix in (".json", ".jsonl"):
        rows = zip(*columns.values(), strict=True)
        records = [json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) for row in rows]
        if suffix == ".jsonl":
            return "".join(record + "\n" for record in records)
        listed = ",\n".join(records)
        return f"[\n{listed}\n]\n" if records else "[]\n"
    if suffix == ".txt":
        *_, lines = columns.values()
        return "".join(f"{line}\n" for line in lines)
    delimiter = "\t" if suffix == ".tsv" else ","
    cells: list[Sequence[str]] = [[name, *values] for name, values in columns.items()]
    if quoting != "none":
        cells = [_quoted(column, delimiter) for column in cells]
    return "\n".join(map(delimiter.join, zip(*cells, strict=True))) + "\n"


def _quoted(cells: Sequence[str], delimiter: str) -> Sequence[str]:
    """Cells as RFC 4180 has them; `csv` takes five times as long."""
    special = re.compile(f'[{delimiter}"\r\n]')
    if not special.search(" ".join(cells)):
        return cells
    found = []
    for cell in cells:
        if special.search(cell):
            doubled = cell.replace('"', '""')
            cell = f'"{doubled}"'
        found.append(cell)
    return found


def _program(proposal: Proposal, answers: Mapping[str, Any]) -> str:
    """The baseline of a competition that takes code: `model.py`, which needs the standard library alone."""
    gold = proposal.gold
    names = [*proposal.key, *_answered(proposal)]
    body, imports = _answers(proposal, answers)
    read, write, module = _files(gold)
    fields = "" if gold.is_json else f"\nFIELDS = {_source(names)}\n"
    return PROGRAM.format(
        about=f"{ABOUT[baseline_name(proposal)]}.",
        imports="\n".join(_sorted_imports([f"import {module}", *imports])),
        fields=fields,
        inputs=inputs_file(gold),
        predictions=submission_file(gold),
        answers=body,
        read=indent(read, "    "),
        write=indent(write, "    "),
    )


def _answers(proposal: Proposal, answers: Mapping[str, Any]) -> tuple[str, Sequence[str]]:
    """The body of `answers`, after it the function that it calls, if any, and what they import."""
    parts = {name: f"row[{_source(name)}]" for name in proposal.key}
    if proposal.item is not None:
        item, score = (column.name for column in proposal.answers)
        value = "1 / places[query]" if proposal.gold.is_json else 'f"{1 / places[query]:.4f}"'
        query = f"({', '.join(parts.values())},)"
        record = _record({**parts, item: f"row[{_source(item)}]", score: value})
        return RANKED.format(query=query, answer=record), ["from collections import Counter"]
    key = ", ".join(parts.values())
    below, imports = "", []
    for name in _answered(proposal):
        answer: Any = answers.get(name)
        if name not in answers:
            source = _tags(proposal)
        elif isinstance(answer, Drawn):
            below = f"\n\n\n{inspect.getsource(place_of)}\n\n{inspect.getsource(drawn).rstrip()}"
            imports = ["import statistics", "import zlib"]
            source = answer.source(key)
            if not proposal.gold.is_json:
                source = f'format({source}, "g")'
        else:
            source = _source(answer)
        parts[name] = source
    return f"    return [{_record(parts)} for row in rows]{below}", imports


def _sorted_imports(lines: Iterable[str]) -> list[str]:
    return sorted(lines, key=lambda line: (line.startswith("from "), line))


def _tags(proposal: Proposal) -> str:
    """As many O as the row has tokens."""
    name = str(token_column(proposal))
    is_list = all(isinstance(value, list) for value in proposal.gold.column(name))
    tokens = f"row[{_source(name)}]" if is_list else f'row[{_source(name)}].split(" ")'
    return f'["O"] * len({tokens})' if proposal.gold.is_json else f'" ".join("O" for _ in {tokens})'


def _files(gold: GoldRows) -> tuple[str, str, str]:
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


def _record(parts: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{_source(name)}: {value}" for name, value in parts.items()) + "}"


def _source(value: Any) -> str:
    """A value as Python source: texts as JSON writes them, and of JSON's constants those of Python."""
    return repr(value) if isinstance(value, bool) else json.dumps(value)


def example(proposal: Proposal, phases: Sequence[str]) -> tuple[Proposal, dict[str, list[int]]]:
    """The proposal with made-up rows, and the rows of each phase.

    Of the gold only the names of columns, labels and types are taken.
    """
    tokens = token_column(proposal)
    rows_of_key = ROWS_OF_KEY if proposal.many else 1
    records: list[dict[str, Any]] = []
    found: dict[str, list[int]] = {}
    for phase in phases:
        found[phase] = list(range(len(records), len(records) + KEYS * rows_of_key))
        for key in range(KEYS):
            for item in range(rows_of_key):
                records.append(_made_up_row(proposal, tokens, phase, key, item))
    columns = by_columns(list(records[0]), [list(record.values()) for record in records])
    old = proposal.gold
    gold = GoldRows(old.file, old.suffix, columns, range(1, len(records) + 1), old.quoting)
    return replace(proposal, gold=gold, secret=()), found


def _made_up_row(proposal: Proposal, tokens: str | None, phase: str, key: int, item: int) -> dict[str, Any]:
    """The key of a row, what is given, what it belongs to, and its answers; each row has them in the same order."""
    is_json = proposal.gold.is_json
    row: dict[str, Any] = dict.fromkeys(proposal.key, str(key + 1))
    row[proposal.key[0]] = f"{phase}-{key + 1}"
    for name in proposal.public:
        row[name] = f"Example {name} {key + 1}"
        column = proposal.columns[name]
        if column.type in ("label", "ordinal") and column.values:
            row[name] = column.values[key % len(column.values)]
    if tokens is not None:
        made_up = [f"token-{key + 1}-{place + 1}" for place in range(TOKENS)]
        row[tokens] = made_up if is_json else " ".join(made_up)
    if proposal.cluster is not None:
        row.setdefault(proposal.cluster, f"{phase}-{key // 2 + 1}")
    if proposal.item is not None:
        relevance = int(item == key % ROWS_OF_KEY)
        return {
            **row,
            proposal.item: f"item-{item + 1}",
            str(proposal.relevance): relevance if is_json else str(relevance),
        }
    for column in proposal.answers:
        for place, name in enumerate(column.in_gold):
            row[name] = _made_up_answer(column, key + item + place, is_json=is_json)
    return row


def _made_up_answer(column: GoldColumn, at: int, *, is_json: bool) -> Any:
    """A made-up answer, different from row to row."""
    if column.columns:
        flag = column.binary[at % 2]
        return json.loads(flag.lower()) if is_json else flag
    values = column.values or MADE_UP_NAMES
    value = values[at % len(values)]
    kind = [value] if column.values else []
    outside = ["O"] * TOKENS
    made_up: dict[str, Any] = {
        "text": f"An example answer, number {at + 1}",
        "string": f"answer-{at + 1}",
        "number": round((at % KEYS + 1) / (KEYS + 2), 2),
        "labels": sorted({value, values[at // 2 % len(values)]}),
        "tags": [*outside[: at % TOKENS], f"B-{value}", *outside[at % TOKENS + 1 :]],
        "texts": [f"example answer {at + 1}", f"another example answer {at + 1}"],
        "offsets": [at, at + 1, at + 2],
        "spans": [[at, at + 4, *kind]],
    }
    if column.type not in made_up:
        return value
    field = Field(column.name, column.type, separator=column.separator)
    answer = made_up[column.type]
    return answer if is_json else field.kind.to_cell(field, answer)

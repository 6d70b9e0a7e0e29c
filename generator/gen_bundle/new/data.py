"""Writes a competition's data: gold and baseline of each phase, and what participants are given."""

import csv
import inspect
import io
import json
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gen_bundle.new.columns import GoldColumn
from gen_bundle.new.drawn import Drawn, drawn
from gen_bundle.new.gold import GoldRows, Quoting, text_of
from gen_bundle.new.propose import Proposal, token_column

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
    found: list[Row] = []
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
MADE_UP_TEXTS = {"text": "An example answer, number {}", "string": "answer-{}"}
Row = Sequence[Any]
"""Cells or JSON values in the order of the columns' names."""


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
        _write(folder / phase / gold_file(gold), gold.names, [gold.rows[at] for at in rows], gold)
        names, inputs = given(proposal, rows)
        baseline = folder / "baselines" / phase / baseline_name(proposal) / submission_file(gold)
        if proposal.code:
            _write(folder / "input" / phase / inputs_file(gold), names, inputs, gold)
            baseline.parent.mkdir(parents=True)
            baseline.with_name(ENTRY).write_text(_program(proposal, answers), encoding="utf-8")
            continue
        if inputs:
            _write(folder / "public" / phase / inputs_file(gold), names, inputs, gold)
        names = _answered(proposal)
        if not proposal.of_lines:
            names = [*proposal.key, *names]
        _write(baseline, names, _baseline(proposal, rows, answers), gold)


def write_sample(folder: Path, proposal: Proposal, rows: Sequence[int]) -> None:
    """Write what code reads, and its gold, to `input/` and `gold/` of a folder that participants get."""
    gold = proposal.gold
    _write(folder / "input" / inputs_file(gold), *given(proposal, rows), gold)
    _write(folder / "gold" / gold_file(gold), gold.names, [gold.rows[at] for at in rows], gold)


def gives_inputs(proposal: Proposal) -> bool:
    """Whether participants, or their code, are given more than the template has; code has none."""
    return not proposal.of_lines and bool(proposal.public or proposal.many or proposal.code)


def given(proposal: Proposal, rows: Sequence[int]) -> tuple[Sequence[str], list[Row]]:
    """What participants, or their code, are given of a phase: names of columns, and rows; each key once."""
    gold = proposal.gold
    if not gives_inputs(proposal):
        return (), []
    names = [*proposal.key, *proposal.public]
    keys = gold.keys(proposal.key)
    if proposal.item is not None and has_candidates(proposal):
        names.append(proposal.item)
        keys = gold.keys((*proposal.key, proposal.item))
        # The order of a ranking's items would show which are relevant.
        rows = sorted(rows, key=keys.__getitem__)
    all_rows = list(zip(*map(gold.column, names), strict=True))
    found: dict[tuple[str, ...], Row] = {}
    for at in rows:
        found.setdefault(keys[at], all_rows[at])
    return names, list(found.values())


def has_candidates(proposal: Proposal) -> bool:
    """Whether a ranking's items can be given: each query has some that are not relevant."""
    gold = proposal.gold
    keys = gold.keys(proposal.key)
    irrelevant = set()
    for key, relevance in zip(keys, gold.texts(str(proposal.relevance)), strict=True):
        if not int(relevance or 0):
            irrelevant.add(key)
    return irrelevant == set(keys)


def baseline_name(proposal: Proposal) -> str:
    """What the baseline answers everywhere."""
    if proposal.item is not None:
        return "alphabetical" if has_candidates(proposal) else "constant"
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
        texts = gold.texts(name)
        counts = Counter(texts[at] for at in rows)
        return min(counts, key=lambda label: (-counts[label], str(label)))
    if column.type == "probability":
        return Drawn(0.5, 0.2, within_one=True)
    if column.type == "number":
        values = gold.column(name)
        numbers = [float(values[at]) for at in rows]
        mean = statistics.fmean(numbers)
        deviation = math.dist(numbers, [mean] * len(numbers)) / math.sqrt(len(numbers))
        return Drawn(float(f"{mean:.2g}"), float(f"{deviation:.2g}"), column.within_one)
    if column.type in EMPTY_CELLS:
        return [] if gold.is_json else EMPTY_CELLS[column.type]
    return ""


def _baseline(proposal: Proposal, rows: Sequence[int], answers: Mapping[str, Any]) -> list[Row]:
    """The rows of the baseline: the key's columns, and an answer for each."""
    if proposal.item is not None and has_candidates(proposal):
        return _ranked(proposal, rows)
    gold = proposal.gold
    keys = gold.keys(proposal.key)
    if proposal.many:
        rows = list({keys[at]: at for at in reversed(rows)}.values())[::-1]  # the first of each key
    columns = [] if proposal.of_lines else [_picked(gold, name, rows) for name in proposal.key]
    for name in _answered(proposal):
        answer: Any = answers.get(name)
        if name not in answers:
            answers_of_rows = list(map(_no_tags, _picked(gold, name, rows)))
        elif isinstance(answer, Drawn):
            answers_of_rows = answer.numbers([keys[at] for at in rows], as_text=not gold.is_json)
        else:
            answers_of_rows = [answer] * len(rows)
        columns.append(answers_of_rows)
    return list(zip(*columns, strict=True))


def _answered(proposal: Proposal) -> list[str]:
    """The columns of a submission that hold answers."""
    return [name for column in proposal.answers for name in column.in_answers]


def _picked(gold: GoldRows, name: str, rows: Sequence[int]) -> list[Any]:
    values = gold.column(name)
    return [values[at] for at in rows]


def _no_tags(value: Any) -> Any:
    """As many O as gold has tags, in its form."""
    if isinstance(value, list):
        return ["O"] * len(value)
    return " ".join("O" for _ in value.split(" ")) if value else ""


def _ranked(proposal: Proposal, rows: Sequence[int]) -> list[Row]:
    """The items of each query in their order, with falling scores."""
    names, items = given(proposal, rows)
    of_key = [names.index(name) for name in proposal.key]
    places: Counter[tuple[Any, ...]] = Counter()
    found: list[Row] = []
    for row in items:
        query = tuple(row[at] for at in of_key)
        places[query] += 1
        score = 1 / places[query]
        found.append([*query, row[-1], score if proposal.gold.is_json else f"{score:.4f}"])
    return found


def table_text(names: Sequence[str], rows: Iterable[Row], suffix: str, quoting: Quoting) -> str:
    """A table as a file of the format that `suffix` says."""
    if suffix in (".json", ".jsonl"):
        records = [json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in rows]
        if suffix == ".jsonl":
            return "".join(record + "\n" for record in records)
        listed = ",\n".join(records)
        return f"[\n{listed}\n]\n" if records else "[]\n"
    if suffix == ".txt":
        return "".join(f"{row[-1]}\n" for row in rows)
    delimiter = "\t" if suffix == ".tsv" else ","
    if quoting == "none":
        return "".join(delimiter.join(row) + "\n" for row in [names, *rows])
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return buffer.getvalue()


def _write(path: Path, names: Sequence[str], rows: Iterable[Row], gold: GoldRows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(table_text(names, rows, gold.suffix, gold.quoting), encoding="utf-8", newline="")


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
        read=_indented(read),
        write=_indented(write),
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
            below, imports = f"\n\n\n{inspect.getsource(drawn).rstrip()}", ["import hashlib", "import statistics"]
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


def _indented(lines: str) -> str:
    return "\n".join(f"    {line}" for line in lines.split("\n"))


def _record(parts: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{_source(name)}: {value}" for name, value in parts.items()) + "}"


def _source(value: Any) -> str:
    """A value as Python source."""
    return json.dumps(value)


def example(proposal: Proposal, phases: Sequence[str]) -> tuple[Proposal, dict[str, list[int]]]:
    """The proposal with made-up rows, and the rows of each phase.

    Of the gold only the names of columns, labels and types are taken.
    """
    cluster = [proposal.cluster] if proposal.cluster else []
    names = list(dict.fromkeys([*proposal.key, *proposal.public, *cluster, *_judged(proposal)]))
    tokens = token_column(proposal)
    rows: list[list[Any]] = []
    found: dict[str, list[int]] = {}
    rows_of_key = ROWS_OF_KEY if proposal.many else 1
    for phase in phases:
        start = len(rows)
        for key in range(KEYS):
            for item in range(rows_of_key):
                record: dict[str, Any] = dict.fromkeys(cluster, f"{phase}-{key // 2 + 1}")
                for name in proposal.public:
                    record[name] = _input(proposal.columns[name], key)
                if tokens:
                    record[tokens] = _made_up_tokens(key, is_json=proposal.gold.is_json)
                record |= _made_up_answers(proposal, key, item)
                record |= dict.fromkeys(proposal.key, str(key + 1))
                record[proposal.key[0]] = f"{phase}-{key + 1}"
                rows.append([record[name] for name in names])
        found[phase] = list(range(start, len(rows)))
    gold = GoldRows(
        proposal.gold.file, proposal.gold.suffix, names, rows, range(1, len(rows) + 1), proposal.gold.quoting
    )
    return replace(proposal, gold=gold, secret=()), found


def _judged(proposal: Proposal) -> list[str]:
    """The columns that only the gold has."""
    if proposal.item is not None:
        return [proposal.item, str(proposal.relevance)]
    return [name for column in proposal.answers for name in column.in_gold]


def _made_up_answers(proposal: Proposal, key: int, item: int) -> dict[str, Any]:
    is_json = proposal.gold.is_json
    if proposal.item is not None:
        relevance = int(item == key % ROWS_OF_KEY)
        return {proposal.item: f"item-{item + 1}", str(proposal.relevance): relevance if is_json else str(relevance)}
    found: dict[str, Any] = {}
    for column in proposal.answers:
        for place, name in enumerate(column.in_gold):
            found[name] = _made_up_answer(column, key + item + place, is_json=is_json)
    return found


def _input(column: GoldColumn, key: int) -> Any:
    if column.type in ("label", "ordinal") and column.values:
        return column.values[key % len(column.values)]
    return f"Example {column.name} {key + 1}"


def _made_up_tokens(key: int, *, is_json: bool) -> Any:
    tokens = [f"token-{key + 1}-{place + 1}" for place in range(TOKENS)]
    return tokens if is_json else " ".join(tokens)


def _made_up_answer(column: GoldColumn, at: int, *, is_json: bool) -> Any:
    """A made-up answer, different from row to row."""
    values = column.values or MADE_UP_NAMES
    value = values[at % len(values)]
    if column.columns:
        value = column.binary[at % 2]
        return json.loads(value.lower()) if is_json else value
    if column.type in ("label", "ordinal", "probability"):
        return value
    if column.type in MADE_UP_TEXTS:
        return MADE_UP_TEXTS[column.type].format(at + 1)
    if column.type == "number":
        number = round((at % KEYS + 1) / (KEYS + 2), 2)
        return number if is_json else f"{number:g}"
    listed = _made_up_list(column, value, at)
    return listed if is_json else _cell_of(column, listed)


def _cell_of(column: GoldColumn, listed: list[Any]) -> str:
    """A list as a cell of a table."""
    if column.type in ("labels", "tags"):
        return (column.separator if column.type == "labels" else " ").join(listed)
    return json.dumps(listed, ensure_ascii=False)


def _made_up_list(column: GoldColumn, value: str, at: int) -> list[Any]:
    if column.type == "labels":
        return sorted({value, (column.values or MADE_UP_NAMES)[at // 2 % len(column.values or MADE_UP_NAMES)]})
    if column.type == "tags":
        tags = ["O"] * TOKENS
        tags[at % TOKENS] = f"B-{value}"
        return tags
    if column.type == "texts":
        return [f"example answer {at + 1}", f"another example answer {at + 1}"]
    if column.type == "offsets":
        return [at, at + 1, at + 2]
    span = [at, at + 4]
    return [[*span, value]] if column.values else [span]

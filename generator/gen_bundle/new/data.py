"""Writes a competition's data: gold and baseline of each phase, and what participants are given."""

import csv
import io
import itertools
import json
import random
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gen_bundle.new.columns import GoldColumn
from gen_bundle.new.propose import Proposal, keys_of, token_column
from gen_bundle.new.table import GoldRows, Quoting, text_of

ENTRY = "model.py"
ABOUT = {
    "majority": "Gives every row the most frequent label",
    "random": "Gives every row a number drawn at random",
    "alphabetical": "Ranks the items by the alphabet",
    "empty": "Gives empty answers",
}
"""Baseline → what it answers."""
EMPTY_CELLS = {"spans": "[]", "labels": ""}
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
KEYS = 8
ROWS_OF_KEY = 3
TOKENS = 5
"""How much of each there is in made-up data."""
Record = dict[str, Any]
"""Column → cell or JSON value."""


@dataclass(frozen=True)
class Drawn:
    """Numbers of a normal distribution, different for each key and always the same for one."""

    mean: float
    deviation: float
    within_one: bool

    def number(self, key: Sequence[str]) -> float:
        drawn = random.Random("\t".join(key)).gauss(self.mean, self.deviation)  # noqa: S311 - answers, no secrets
        if self.within_one:
            drawn = min(1.0, max(0.0, drawn))
        return float(f"{drawn:.3g}")

    def source(self, key: str) -> str:
        """Python source of the number for the key that another source gives."""
        drawn = f"random.Random({key}).gauss({self.mean}, {self.deviation})"
        bounded = f"min(1.0, max(0.0, {drawn}))" if self.within_one else drawn
        return f'float(format({bounded}, ".3g"))'


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
        _write(folder / phase / gold_file(gold), gold.records(rows), gold.names, gold)
        inputs = given(proposal, rows)
        baseline = folder / "baselines" / phase / baseline_name(proposal) / submission_file(gold)
        if proposal.code:
            _write(folder / "input" / phase / inputs_file(gold), inputs, list(inputs[0]), gold)
            baseline.parent.mkdir(parents=True)
            baseline.with_name(ENTRY).write_text(_program(proposal, answers), encoding="utf-8")
            continue
        if inputs:
            _write(folder / "public" / phase / inputs_file(gold), inputs, list(inputs[0]), gold)
        names = [*([] if proposal.of_lines else proposal.key), *(column.name for column in proposal.answers)]
        _write(baseline, _baseline(proposal, rows, answers), names, gold)


def write_sample(folder: Path, proposal: Proposal, rows: Sequence[int]) -> None:
    """Write what code reads, and its gold, to `input/` and `gold/` of a folder that participants get."""
    gold, inputs = proposal.gold, given(proposal, rows)
    _write(folder / "input" / inputs_file(gold), inputs, list(inputs[0]), gold)
    _write(folder / "gold" / gold_file(gold), gold.records(rows), gold.names, gold)


def given(proposal: Proposal, rows: Sequence[int]) -> list[Record]:
    """What participants, or their code, are given of a phase: keys with the public columns, each once.

    Nothing where that is no more than what the template has; code has no template, and always gets the keys.
    """
    if proposal.of_lines or not (proposal.public or proposal.many or proposal.code):
        return []
    gold = proposal.gold
    keys = keys_of(gold, proposal.key)
    names = [*proposal.key, *proposal.public]
    if proposal.item is not None and has_candidates(proposal):
        names.append(proposal.item)
        items = gold.column(proposal.item)
        keys = [(*key, str(item)) for key, item in zip(keys, items, strict=True)]
        # The order of a ranking's items would show which are relevant.
        texts = gold.texts(proposal.item)
        rows = sorted(rows, key=lambda at: (*keys[at][:-1], texts[at]))
    records: dict[tuple[str, ...], Record] = {}
    for record, at in zip(gold.records(rows), rows, strict=True):
        records.setdefault(keys[at], {name: record[name] for name in names})
    return list(records.values())


def has_candidates(proposal: Proposal) -> bool:
    """Whether a ranking's items can be given: each query has some that are not relevant."""
    gold = proposal.gold
    irrelevant = set()
    for key, relevance in zip(keys_of(gold, proposal.key), gold.texts(str(proposal.relevance)), strict=True):
        irrelevant.add((key, int(relevance or 0) == 0))
    return all((key, True) in irrelevant for key, _ in irrelevant)


def baseline_name(proposal: Proposal) -> str:
    """What the baseline answers everywhere."""
    if proposal.item is not None:
        return "alphabetical" if has_candidates(proposal) else "empty"
    if proposal.many:
        return "empty"
    names = {"label": "majority", "number": "random", "probability": "random"}
    return names.get(proposal.answers[0].type, "empty")


def baseline_answers(proposal: Proposal, phases: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """Column → what the baseline answers: the most frequent label, a `Drawn` number, or nothing.

    Labels and the distribution are those of the first phase, since participants see the baseline; the numbers of two
    digits, so that they do not give a single value away. Tags are as many O as there are tokens; they are left out.
    """
    rows = next(iter(phases.values()))
    columns = () if proposal.many else [column for column in proposal.answers if column.type != "tags"]
    return {column.name: _baseline_answer(proposal.gold, column, rows) for column in columns}


def _baseline_answer(gold: GoldRows, column: GoldColumn, rows: Sequence[int]) -> Any:
    values = gold.column(column.name)
    if column.type == "label":
        counts = Counter(text_of(values[at]) for at in rows)
        return min(counts, key=lambda label: (-counts[label], str(label)))
    if column.type == "probability":
        return Drawn(0.5, 0.2, within_one=True)
    if column.type == "number":
        numbers = [float(values[at]) for at in rows]
        mean, deviation = statistics.fmean(numbers), statistics.pstdev(numbers)
        return Drawn(float(f"{mean:.2g}"), float(f"{deviation:.2g}"), column.within_one)
    if column.type in EMPTY_CELLS:
        return [] if gold.is_json else EMPTY_CELLS[column.type]
    return ""


def _baseline(proposal: Proposal, rows: Sequence[int], answers: Mapping[str, Any]) -> list[Record]:
    if proposal.item is not None and has_candidates(proposal):
        return _ranked(proposal, rows)
    if proposal.many:
        return []
    gold = proposal.gold
    keys = keys_of(gold, proposal.key)
    records = []
    for row, at in zip(gold.records(rows), rows, strict=True):
        record: Record = {} if proposal.of_lines else {name: row[name] for name in proposal.key}
        for column in proposal.answers:
            answer: Any = answers.get(column.name)
            if column.type == "tags":
                answer = _no_tags(row[column.name])
            elif isinstance(answer, Drawn):
                number = answer.number(keys[at])
                answer = number if gold.is_json else f"{number:g}"
            record[column.name] = answer
        records.append(record)
    return records


def _no_tags(value: Any) -> Any:
    """As many O as gold has tags, in its form."""
    if isinstance(value, list):
        return ["O"] * len(value)
    return " ".join("O" for _ in value.split(" ")) if value else ""


def _ranked(proposal: Proposal, rows: Sequence[int]) -> list[Record]:
    """The items of each query in their order, with falling scores."""
    item, score = (column.name for column in proposal.answers)
    places: Counter[tuple[Any, ...]] = Counter()
    records = []
    for record in given(proposal, rows):
        query = tuple(record[name] for name in proposal.key)
        places[query] += 1
        value = 1 / places[query]
        record[score] = value if proposal.gold.is_json else f"{value:.4f}"
        records.append({name: record[name] for name in (*proposal.key, item, score)})
    return records


def text_of_rows(records: Sequence[Record], names: Sequence[str], suffix: str, quoting: Quoting = "rfc4180") -> str:
    """Records as a file of the format that `suffix` says."""
    if suffix in (".json", ".jsonl"):
        lines = [json.dumps(record, ensure_ascii=False) for record in records]
        if suffix == ".jsonl":
            return "".join(f"{line}\n" for line in lines)
        return "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n"
    rows = [names, *([record[name] for name in names] for record in records)]
    if suffix == ".txt":
        return "".join(f"{row[-1]}\n" for row in rows[1:])
    delimiter = "\t" if suffix == ".tsv" else ","
    if quoting == "none":
        return "".join(f"{delimiter.join(row)}\n" for row in rows)
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def _write(path: Path, records: Sequence[Record], names: Sequence[str], gold: GoldRows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = text_of_rows(records, names, gold.suffix, gold.quoting)
    path.write_text(text, encoding="utf-8", newline="")


def _program(proposal: Proposal, answers: Mapping[str, Any]) -> str:
    """The baseline of a competition that takes code: `model.py`, which needs the standard library alone."""
    gold = proposal.gold
    names = [*proposal.key, *(column.name for column in proposal.answers)]
    body, imports = _answers(proposal, answers)
    read, write, module = _files(gold)
    fields = "" if gold.is_json else f"\nFIELDS = {_source(names)}\n"
    return PROGRAM.format(
        about=f"{ABOUT[baseline_name(proposal)]}.",
        imports="\n".join([f"import {module}", *imports]),
        fields=fields,
        inputs=inputs_file(gold),
        predictions=submission_file(gold),
        answers=body,
        read=_indented(read),
        write=_indented(write),
    )


def _answers(proposal: Proposal, answers: Mapping[str, Any]) -> tuple[str, Sequence[str]]:
    """The body of `answers`, and what it imports."""
    parts = {name: f"row[{_source(name)}]" for name in proposal.key}
    is_json = proposal.gold.is_json
    if proposal.item is not None:
        item, score = (column.name for column in proposal.answers)
        value = "1 / places[query]" if is_json else 'f"{1 / places[query]:.4f}"'
        query = f"({', '.join(parts.values())},)"
        record = _record({**parts, item: f"row[{_source(item)}]", score: value})
        return RANKED.format(query=query, answer=record), ["from collections import Counter"]
    if proposal.many:
        return "    return []", []
    key = "chr(9).join((" + "".join(f"str({part}), " for part in parts.values()) + "))"
    imports = set()
    for column in proposal.answers:
        answer: Any = answers.get(column.name)
        if column.type == "tags":
            parts[column.name] = _tags(proposal)
        elif isinstance(answer, Drawn):
            drawn = answer.source(key)
            parts[column.name] = drawn if is_json else f'format({drawn}, "g")'
            imports.add("import random")
        else:
            parts[column.name] = _source(answer)
    return f"    return [{_record(parts)} for row in rows]", list(imports)


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
    gold = proposal.gold
    cluster = [proposal.cluster] if proposal.cluster else []
    names = list(dict.fromkeys([*proposal.key, *proposal.public, *cluster, *_judged(proposal)]))
    rows: list[list[Any]] = []
    found: dict[str, list[int]] = {}
    rows_of_key = ROWS_OF_KEY if proposal.many else 1
    for phase in phases:
        start = len(rows)
        for key, item in itertools.product(range(KEYS), range(rows_of_key)):
            record = _made_up(proposal, phase, key, item)
            rows.append([record[name] for name in names])
        found[phase] = list(range(start, len(rows)))
    made_up = GoldRows(gold.file, gold.suffix, names, rows, range(1, len(rows) + 1), gold.quoting)
    return replace(proposal, gold=made_up, secret=()), found


def _made_up(proposal: Proposal, phase: str, key: int, item: int) -> Record:
    """A made-up row of a phase: which key, and which of its rows."""
    record: Record = {}
    if proposal.cluster:
        record[proposal.cluster] = f"{phase}-{key // 2 + 1}"
    for name in proposal.public:
        record[name] = _input(proposal.columns[name], key)
    if tokens := token_column(proposal):
        record[tokens] = _made_up_tokens(key, is_json=proposal.gold.is_json)
    record |= _made_up_answers(proposal, key, item)
    for at, name in enumerate(proposal.key):
        record[name] = f"{phase}-{key + 1}" if at == 0 else str(key + 1)
    return record


def _judged(proposal: Proposal) -> list[str]:
    """The columns that only the gold has."""
    if proposal.item is not None:
        return [proposal.item, str(proposal.relevance)]
    return [column.name for column in proposal.answers]


def _made_up_answers(proposal: Proposal, key: int, item: int) -> dict[str, Any]:
    is_json = proposal.gold.is_json
    if proposal.item is not None:
        relevance = int(item == key % ROWS_OF_KEY)
        return {proposal.item: f"item-{item + 1}", str(proposal.relevance): relevance if is_json else str(relevance)}
    return {column.name: _made_up_answer(column, key + item, is_json=is_json) for column in proposal.answers}


def _input(column: GoldColumn, key: int) -> Any:
    if column.type == "label" and column.values:
        return column.values[key % len(column.values)]
    return f"Example {column.name} {key + 1}"


def _made_up_tokens(key: int, *, is_json: bool) -> Any:
    tokens = [f"token-{key + 1}-{place + 1}" for place in range(TOKENS)]
    return tokens if is_json else " ".join(tokens)


def _made_up_answer(column: GoldColumn, at: int, *, is_json: bool) -> Any:
    """A made-up answer, different from row to row, in the form of the gold."""
    value = _made_up_value(column, at)
    if is_json:
        return value
    if column.type == "number":
        return f"{value:g}"
    if column.type == "labels":
        return column.separator.join(value)
    if column.type == "tags":
        return " ".join(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


def _made_up_value(column: GoldColumn, at: int) -> Any:
    values = column.values or ("one", "two")
    kinds = [column.values[at % len(column.values)]] if column.values else []
    match column.type:
        case "label" | "probability":
            return values[at % len(values)]
        case "number":
            return round((at % KEYS + 1) / (KEYS + 2), 2)
        case "labels":
            return sorted({values[at % len(values)], values[(at // 2) % len(values)]})
        case "spans":
            return [[at, at + 4, *kinds]]
        case "tags":
            tags = ["O"] * TOKENS
            tags[at % TOKENS] = f"B-{(kinds or ['X'])[0]}"
            return tags
        case "texts":
            return [f"example answer {at + 1}", f"another example answer {at + 1}"]
        case "string":
            return f"answer-{at + 1}"
    return f"An example answer, number {at + 1}"

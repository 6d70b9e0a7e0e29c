"""Writes a competition's data: gold and baseline of each phase, and what participants are given."""

import csv
import inspect
import io
import json
import math
import statistics
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jinja2 import Template

from gen_bundle.author.new.columns import GoldColumn, are_all
from gen_bundle.author.new.key_and_answers import Key
from gen_bundle.author.new.propose import Proposal, token_column, tokens_in
from gen_bundle.ground.resources import SCAFFOLD
from gen_bundle.ground.tables.table import DELIMITERS, FileTable, Quoting, text_of
from scoring_kit.base.field_types import Field

ENTRY = "model.py"
GOLD, INPUTS, PREDICTIONS = "gold", "inputs", "predictions"
"""Names of the files of a phase, before the suffix of the gold."""
ABOUT = {
    "majority": "Gives every row the most frequent label",
    "random": "Gives every row a number drawn at random",
    "alphabetical": "Ranks the items by the alphabet",
    "constant": "Gives every key one row, the same everywhere",
    "empty": "Gives empty answers",
}
"""Baseline → what it answers."""
LISTS = ("spans", "offsets", "labels")
"""Types whose empty answer is a list."""
KEYS = 8
ROWS_OF_KEY = 3
TOKENS = 5
"""How much of each there is in made-up data."""
MADE_UP_NAMES = ("one", "two")
"""Of labels, and of types of tags, where the gold names none."""
Columns = Mapping[str, Sequence[Any]]
"""Cells or JSON values by the columns' names."""


# Numbers that a baseline answers with: the same here and in the `model.py` that holds these functions, too


def place_of(*key: Any) -> int:
    """Return where in a distribution a key is, from 0 to 999; always the same."""
    return zlib.crc32("\t".join(str(one) for one in key).encode()) % 1000


def drawn(mean: float, deviation: float, within_one: bool, place: int) -> float:
    """The number at a place in a normal distribution."""
    number = mean + deviation * statistics.NormalDist().inv_cdf((place + 0.5) / 1000)
    if within_one:
        number = min(1.0, max(0.0, number))
    return float(f"{number:.3g}")


@dataclass(frozen=True)
class Drawn:
    """Numbers of a normal distribution, always the same for a key."""

    mean: float
    deviation: float
    within_one: bool

    def numbers(self, keys: Sequence[Sequence[str]], gold: FileTable) -> list[Any]:
        """A number for each key."""
        numbers = []
        written: dict[int, Any] = {}
        for key in keys:
            place = place_of(*key)
            if place not in written:
                number = drawn(self.mean, self.deviation, self.within_one, place)
                written[place] = _in_its_form(gold, "number", number)
            numbers.append(written[place])
        return numbers


# The files of a phase


def write_data(folder: Path, proposal: Proposal, phases: Mapping[str, Sequence[int]]) -> None:
    """Write `<phase>/gold.*`, `public/<phase>/inputs.*` and `baselines/<phase>/<name>/predictions.*` below `folder`.

    For code, `input/<phase>/inputs.*` and `baselines/<phase>/<name>/model.py`, and no public data.
    """
    gold = proposal.gold
    answers = baseline_answers(proposal, phases)
    for phase, rows in phases.items():
        own = gold.picked(rows)
        _write(folder / phase / f"{GOLD}{gold.suffix}", own.columns, gold)
        inputs = given(proposal, own)
        baseline = folder / "baselines" / phase / baseline_name(proposal) / f"{PREDICTIONS}{gold.suffix}"
        if proposal.code:
            _write(folder / "input" / phase / f"{INPUTS}{gold.suffix}", inputs, gold)
            baseline.parent.mkdir(parents=True)
            baseline.with_name(ENTRY).write_text(_program(proposal, answers), encoding="utf-8")
            continue
        if inputs:
            _write(folder / "public" / phase / f"{INPUTS}{gold.suffix}", inputs, gold)
        _write(baseline, _baseline(proposal, own, answers), gold)


def write_sample(folder: Path, proposal: Proposal, rows: Sequence[int]) -> None:
    """Write what code reads, and its gold, to `input/` and `gold/` of a folder that participants get."""
    gold = proposal.gold.picked(rows)
    _write(folder / "input" / f"{INPUTS}{gold.suffix}", given(proposal, gold), gold)
    _write(folder / "gold" / f"{GOLD}{gold.suffix}", gold.columns, gold)


def gives_inputs(proposal: Proposal) -> bool:
    """Return whether participants, or their code, are given more than the template has; code has none."""
    return not proposal.of_lines and bool(proposal.public or proposal.many or proposal.code)


def given(proposal: Proposal, gold: FileTable) -> Columns:
    """Return what participants, or their code, are given of a phase with this gold: each key once."""
    if not gives_inputs(proposal):
        return {}
    names = [*proposal.key, *proposal.public]
    if has_candidates(proposal):
        names.append(str(proposal.item))
        keys = gold.keys((*proposal.key, names[-1]))
        # The order of a ranking's items would show which are relevant.
        gold = gold.picked(sorted(range(len(gold)), key=lambda row: keys[row]))
    elif proposal.many:
        gold = _each_key_once(gold, proposal.key)
    return {name: gold.columns[name] for name in names}


def _each_key_once(gold: FileTable, key: Key) -> FileTable:
    """The first row of each key."""
    first: dict[Key, int] = {}
    for at, one in enumerate(gold.keys(key)):
        first.setdefault(one, at)
    return gold.picked(list(first.values()))


def has_candidates(proposal: Proposal) -> bool:
    """Return whether these are a ranking's items that can be given: each query has some that are not relevant."""
    if proposal.item is None:
        return False
    keys = proposal.gold.keys(proposal.key)
    relevances = proposal.gold.texts(str(proposal.relevance))
    irrelevant = {key for key, relevance in zip(keys, relevances, strict=True) if not int(relevance or 0)}
    return irrelevant == set(keys)


def baseline_name(proposal: Proposal) -> str:
    """Return what the baseline answers everywhere."""
    if has_candidates(proposal):
        return "alphabetical"
    if proposal.many:
        return "constant"
    names = {
        "label": "majority",
        "ordinal": "majority",
        "number": "random",
        "numbers": "random",
        "probability": "random",
    }
    return names.get(proposal.answers[0].type, "empty")


def baseline_answers(proposal: Proposal, phases: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """Column of the submission → what the baseline answers: the most frequent label, a `Drawn` number, or nothing.

    Labels and the distribution are those of the first phase, since participants see the baseline; the numbers of two
    digits, so that they do not give a single value away. Tags are as many O as there are tokens; they are left out.
    """
    if proposal.many:
        return {column.name: _made_up_answer(proposal.gold, column, 0) for column in proposal.answers}
    rows = next(iter(phases.values()))
    answers: dict[str, Any] = {}
    for column in proposal.answers:
        if column.type == "numbers":
            for name in column.columns:
                answers[name] = _baseline_answer(proposal.gold, GoldColumn(name, "number"), rows)
        elif column.type != "tags":
            answers |= dict.fromkeys(column.in_answers, _baseline_answer(proposal.gold, column, rows))
    return answers


def _baseline_answer(gold: FileTable, column: GoldColumn, rows: Sequence[int]) -> Any:
    name = column.in_gold[0]
    if column.columns:
        return next(value for value in gold.columns[name] if text_of(value) == column.binary[0])
    if column.type in ("label", "ordinal"):
        texts = gold.texts(name)
        counts = Counter(texts[row] for row in rows)
        return min(counts, key=lambda label: (-counts[label], str(label)))
    if column.type == "probability":
        return Drawn(0.5, 0.2, within_one=True)
    if column.type == "number":
        numbers = [float(gold.columns[name][row]) for row in rows]
        mean = statistics.fmean(numbers)
        deviation = math.hypot(*(number - mean for number in numbers)) / math.sqrt(len(rows))
        return Drawn(float(f"{mean:.2g}"), float(f"{deviation:.2g}"), column.within_one)
    return _in_its_form(gold, column.type, []) if column.type in LISTS else ""


def _in_its_form(gold: FileTable, kind: str, value: Any, separator: str = "|") -> Any:
    """A value of a type as the gold's format writes it."""
    if gold.is_json:
        return value
    field = Field("", kind, separator=separator)
    return field.kind.to_cell(field, value)


def _baseline(proposal: Proposal, gold: FileTable, answers: Mapping[str, Any]) -> Columns:
    """The baseline of a phase with this gold: the key's columns, and an answer for each."""
    if has_candidates(proposal):  # the items of each query in their order, with falling scores
        items = given(proposal, gold)
        places: Counter[tuple[Any, ...]] = Counter()
        scores = []
        for query in zip(*(items[one] for one in proposal.key), strict=True):
            places[query] += 1
            scores.append(_in_its_form(gold, "number", round(1 / places[query], 4)))
        names = (*proposal.key, str(proposal.item))
        return {**{name: items[name] for name in names}, proposal.answers[-1].name: scores}
    if proposal.many:
        gold = _each_key_once(gold, proposal.key)
    columns: dict[str, Sequence[Any]] = {}
    if not proposal.of_lines:
        for name in proposal.key:
            columns[name] = gold.columns[name]
    for column in proposal.answers:
        for name in column.in_answers:
            answer: Any = answers.get(name)
            if isinstance(answer, Drawn):
                columns[name] = answer.numbers(gold.keys(proposal.key), gold)
            elif name in answers:
                columns[name] = [answer] * len(gold)
            else:
                columns[name] = [_in_its_form(gold, "tags", ["O"] * tokens_in(one)) for one in gold.columns[name]]
    return columns


def _write(path: Path, columns: Columns, gold: FileTable) -> None:
    """Write a table in the format of the gold."""
    if gold.is_json:
        records = []
        for row in zip(*columns.values(), strict=True):
            records.append(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False))
        text = _as_lines(records)
        if gold.suffix == ".json":
            text = "[\n" + ",\n".join(records) + "\n]\n"
    elif gold.suffix == ".txt":
        *_, lines = columns.values()
        text = _as_lines(lines)
    else:
        text = _cells_text(columns, DELIMITERS[gold.suffix], quoting=gold.quoting)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")


def _as_lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _cells_text(columns: Columns, delimiter: str, quoting: Quoting) -> str:
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    if quoting == "none":
        return _as_lines(delimiter.join(row) for row in rows)
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def _program(proposal: Proposal, answers: Mapping[str, Any]) -> str:
    """The baseline of a competition that takes code: `model.py`, which needs the standard library alone."""
    gold = proposal.gold
    number = "{}" if gold.is_json else 'format({}, ".12g")'  # as the gold's format writes it
    parts = {name: f"row[{_source(name)}]" for name in proposal.key}
    key = ", ".join(parts.values())
    functions: list[str] = []
    for column in proposal.answers:
        for name in column.in_answers:
            answer: Any = answers.get(name)
            if name == proposal.item:
                parts[name] = f"row[{_source(name)}]"
            elif proposal.item is not None:
                parts[name] = number.format("round(1 / places[query], 4)")
            elif isinstance(answer, Drawn):
                functions = [inspect.getsource(function).rstrip() for function in (place_of, drawn)]
                given = f"{answer.mean}, {answer.deviation}, {answer.within_one}, place_of({key})"
                parts[name] = number.format(f"drawn({given})")
            elif name in answers:
                parts[name] = _source(answer)
            else:
                parts[name] = _tags(proposal)
    record = ", ".join(f"{_source(name)}: {value}" for name, value in parts.items())
    dialect = f"delimiter={_source(DELIMITERS.get(gold.suffix))}"
    if gold.quoting == "none":
        dialect += ", quoting=csv.QUOTE_NONE, quotechar=None"
    text = (SCAFFOLD / "declared" / "model.py.j2").read_text(encoding="utf-8")
    template: Template = Template(text, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    return template.render(
        about=ABOUT[baseline_name(proposal)],
        answer=f"{{{record}}}",
        dialect=dialect,
        drawn=functions,
        fields=_source(list(parts)),
        inputs=f"{INPUTS}{gold.suffix}",
        is_json=gold.is_json,
        key=key,
        predictions=f"{PREDICTIONS}{gold.suffix}",
        ranked=proposal.item is not None,
        suffix=gold.suffix,
    )


def _tags(proposal: Proposal) -> str:
    """The source of as many O as the row has tokens."""
    name = str(token_column(proposal))
    tokens = f"row[{_source(name)}]"
    if not are_all(list, proposal.gold.columns[name]):
        tokens += '.split(" ")'
    if proposal.gold.is_json:
        return f'["O"] * len({tokens})'
    return f'" ".join("O" for _ in {tokens})'


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
    old = proposal.gold
    rows = [(number, list(record.values())) for number, record in enumerate(records, 1)]
    gold = FileTable.of_rows(old.file, old.suffix, list(records[0]), rows, quoting=old.quoting)
    return replace(proposal, gold=gold, secret=()), found


def _made_up_row(proposal: Proposal, tokens: str | None, phase: str, key: int, item: int) -> dict[str, Any]:
    """The key of a row, what is given, what it belongs to, and its answers; each row has them in the same order."""
    gold = proposal.gold
    row: dict[str, Any] = dict.fromkeys(proposal.key, str(key + 1))
    row[proposal.key[0]] = f"{phase}-{key + 1}"
    for name in proposal.public:
        row[name] = f"Example {name} {key + 1}"
        column = proposal.columns[name]
        if column.type in ("label", "ordinal") and column.values:
            row[name] = column.values[key % len(column.values)]
    if tokens is not None:
        row[tokens] = _in_its_form(gold, "tags", [f"token-{key + 1}-{place + 1}" for place in range(TOKENS)])
    if proposal.cluster is not None:
        row.setdefault(proposal.cluster, f"{phase}-{key // 2 + 1}")
    if proposal.item is not None:
        relevance = _in_its_form(gold, "number", int(item == key % ROWS_OF_KEY))
        return {**row, proposal.item: f"item-{item + 1}", str(proposal.relevance): relevance}
    for column in proposal.answers:
        for place, name in enumerate(column.in_gold):
            row[name] = _made_up_answer(gold, column, key + item + place)
    return row


def _made_up_answer(gold: FileTable, column: GoldColumn, at: int) -> Any:
    """A made-up answer, different from row to row."""
    if column.type == "numbers":
        return _made_up_answer(gold, GoldColumn(column.name, "number"), at)
    if column.columns:
        flag = column.binary[at % 2]
        return json.loads(flag.lower()) if gold.is_json else flag
    values = column.values or MADE_UP_NAMES
    value = values[at % len(values)]
    outside = ["O"] * TOKENS
    made_up: dict[str, Any] = {
        "text": f"An example answer, number {at + 1}",
        "string": f"answer-{at + 1}",
        "number": round((at % KEYS + 1) / (KEYS + 2), 2),
        "labels": sorted({value, values[at // 2 % len(values)]}),
        "tags": [*outside[: at % TOKENS], f"B-{value}", *outside[at % TOKENS + 1 :]],
        "texts": [f"example answer {at + 1}", f"another example answer {at + 1}"],
        "offsets": [at, at + 1, at + 2],
        "spans": [[at, at + 4, *column.values[at % len(values) :][:1]]],
    }
    if column.type not in made_up:
        return value
    return _in_its_form(gold, column.type, made_up[column.type], column.separator)

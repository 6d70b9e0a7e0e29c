"""Competitions as organisers have them, drawn by a number.

A task is what stands in its folder, and what must hold of it: the gold given back is the best submission.
"""

import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fixtures.own_package.forms import stored
from tests.generator.after.report.declared_task import declared_task
from tests.task_tables import SHARE, Data, Draw, Files, Table, cells
from tests.tasks_of_files import FILE_KINDS, file_table
from tests.tasks_of_rows import KINDS, TONES, row_table, rows_of_kind

OWN = '''
from pathlib import Path


def equal(gold, predicted, **options):
    """Return the share of keys with the gold's own answers."""
    return sum(map(same, gold, predicted)) / len(gold)


def same(gold, predicted):
    if isinstance(gold, list):
        return sorted(map(repr, map(answer, gold))) == sorted(map(repr, map(answer, predicted)))
    return all(gold[name] == most(gold[name], value) for name, value in answer(predicted).items() if name in gold)


def answer(row):
    return {name: value for name, value in row.items() if name in %r}


def most(label, value):
    return %r[value.index(max(value))] if isinstance(label, str) and isinstance(value, tuple) else value


def same_files(gold, predicted, **options):
    """Return 1 where all files of a key hold what the gold's do, or of the one answer that there is."""
    if isinstance(gold, list):
        (gold,), (predicted,) = gold, predicted
    return float(all(content(gold[name]) == content(value) for name, value in answer(predicted).items()))


def content(value):
    return value.read_bytes() if isinstance(value, Path) else value.tolist()
'''


PHASES = [
    {"id": "dev", "name": "Development", "start": "2095-01-01 AoE", "end": "2095-02-01 AoE"},
    {"id": "test", "name": "Test", "start": "2096-01-01 AoE"},
]
LAYOUTS = ("joint", "tasks", "separate")


PACKAGES = {"package of texts": ["csv", "json"], "package of bytes": ["db", "json.gz", "bin"]}
ALL_KINDS = [*KINDS, *FILE_KINDS, *PACKAGES]


@dataclass
class Task:
    """A task in its folder; by phase, `answers` are the best there is, and `gold` are the names of its files."""

    folder: Path
    answers: Mapping[str, Files]
    gold: Mapping[str, Sequence[str]]
    traits: Sequence[str]


def ordinary_task(number: int, folder: Path) -> Task:
    """Write the task of a number into a new folder; equal numbers are equal tasks."""
    draw = random.Random(f"ordinary {number}")
    phases = PHASES if draw.random() < 0.3 else PHASES[1:]
    ids = [str(phase["id"]) for phase in phases]
    # the kinds in turn, so that some hundred tasks have each of them with each reader
    turn, place = divmod(number, len(ALL_KINDS))
    kinds = [ALL_KINDS[place]]
    if draw.random() < 0.25 and kinds[0] not in PACKAGES:
        kinds.append(draw.choice([*KINDS, *FILE_KINDS]))
    tables = []
    traits = [str(len(phases))]
    for place, kind in enumerate(kinds):
        name = "ab"[place] if len(kinds) > 1 else "table"
        reader = ("metric", "own", "none")[(turn + place) % 3]
        if kind in PACKAGES:
            tables.append(_package_table(draw, kind, traits, ids))
        elif kind in FILE_KINDS:
            tables.append(file_table(draw, kind, name, reader, traits, ids))
        else:
            tables.append(row_table(draw, kind, name, reader, traits, ids))
    columns = [table.columns for table in tables]
    if kinds[0] in PACKAGES:
        columns = [[one] for one in columns[0]][: draw.randint(1, 2)]
    elif len(columns) > 1 and draw.random() < 0.4:
        columns = [[*columns[0], *columns[1]]]
    tasks = [{"id": "tu"[place], "name": "TU"[place], "columns": own} for place, own in enumerate(columns)]
    layout = draw.choice(LAYOUTS)
    more = {"phases": phases, "tasks": tasks, "layout": layout}
    traits.append(layout)
    if len(tables) > 1:
        named = {"ab"[place]: {**one.declared, "reference": one.reference} for place, one in enumerate(tables)}
        declared_task(folder, {"tables": named}, [], **more)
    elif kinds[0] in PACKAGES:
        declared_task(folder, tables[0].declared, [], **more, scoring_program="own_package")
        shutil.copytree(Path(__file__).parent / "fixtures/own_package", folder / "own_package")
    else:
        declared_task(folder, tables[0].declared, [], **more, reference=tables[0].reference)
    answers: dict[str, Files] = {one: {} for one in ids}
    gold: dict[str, list[str]] = {one: [] for one in ids}
    for table in tables:
        for phase, data in table.data.items():
            data.written(folder, phase)
            answers[phase] |= data.answers
            gold[phase] += data.gold
    fields = [one["field"] for table in tables for one in table.declared["fields"]]
    (folder / "metrics.py").write_text(OWN % (fields, TONES), encoding="utf-8")
    return Task(folder, answers, gold, traits)


def _package_table(draw: Draw, kind: str, traits: list[str], phases: Sequence[str]) -> Table:
    """The labels of texts in a form that a package of the organisers' own reads."""
    suffix, size, balance = draw.choice(PACKAGES[kind]), draw.choice([12, 40, 300]), draw.choice(list(SHARE))
    traits += [kind, suffix, str(size), balance]
    data = {}
    for phase in phases:
        rows, inputs = rows_of_kind(draw, "label", size, balance, False, phase[0])
        gold = stored({row["id"]: row["answer"] for row in rows}, suffix)
        answers, texts = {f"answers.{suffix}": gold}, cells(["id", "text"], inputs, ",", {}, has_header=True)
        data[phase] = Data({f"gold.{suffix}": gold}, answers, {"inputs.csv": texts.encode()})
    of_field = {"field": "labels", "type": "one of negative, neutral, positive", "required": True, "meaning": "All."}
    columns = []
    for key, sort, worst in (("right", "desc", 0), ("wrong", "asc", 1)):
        columns.append({"key": key, "title": key, "sort": sort, "worst": worst, "meaning": f"How many are {key}."})
    return Table({"file": f"answers.{suffix}", "fields": [of_field]}, {}, columns, data)

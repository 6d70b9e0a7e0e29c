"""Gold of several phases as one, and gold whose rows are numbered."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.tables.table import LINE_KEY, NUMBERED, FileTable, one_after_another


def joined(files: Mapping[str, FileTable]) -> FileTable:
    """The gold of several phases as one; raises UserError where their columns or formats differ."""
    first, *others = files.values()
    faults = []
    for gold in others:
        if (gold.suffix, gold.quoting) != (first.suffix, first.quoting):
            what = f"is {gold.suffix}, and {first.file} is {first.suffix}"
            faults.append(f"{gold.file}: {what}. Expected one format for all phases.")
    phases: list[str] = []
    notes: dict[str, None] = {}
    for phase, gold in files.items():
        phases += [phase] * len(gold)
        notes |= dict.fromkeys(gold.notes)
    names = {phase: gold.file for phase, gold in files.items()}
    whole = one_after_another([first, *others], faults)
    return replace(whole, file=" and ".join(names.values()), notes=tuple(notes), phases=phases, files=names)


def numbered(gold: FileTable) -> FileTable:
    """The gold with a column `id` that numbers its rows, in each phase from 1."""
    if NUMBERED in gold.names:
        raise UserError(f"--key {LINE_KEY}: {gold.file} has a column {NUMBERED!r} already. Expected --key {NUMBERED}.")
    seen: Counter[str] = Counter()
    numbers = []
    for phase in gold.phases or [""] * len(gold):
        seen[phase] += 1
        numbers.append(str(seen[phase]))
    return replace(gold, columns={NUMBERED: numbers, **gold.columns})

"""Shapes of text that are no table: sentences with a token a line, and lines."""

import re
from typing import Any

from gen_bundle.new.table import LINE_KEY, NUMBERED, TAG, GoldRows

CONLL_COMMENT = re.compile(r"# |-DOCSTART-|#\w+ =")


def is_conll(text: str) -> bool:
    """Whether these are lines `token … tag`, with blank lines between sentences."""
    lines = [line.split() for line in text.strip().splitlines() if not CONLL_COMMENT.match(line)]
    tokens = [cells for cells in lines if cells]
    tagged = all(len(cells) > 1 and TAG.fullmatch(cells[-1]) for cells in tokens)
    return tagged and len(tokens) < len(lines) and any(cells[-1].startswith("B-") for cells in tokens)


def read_conll(text: str, file: str) -> GoldRows:
    """Sentences with their tokens and tags."""
    sentences: list[list[Any]] = []
    numbers: list[int] = []
    is_new = True
    for number, line in enumerate(text.splitlines(), 1):
        cells = line.split()
        if not cells or CONLL_COMMENT.match(line):
            is_new = True
            continue
        if is_new:
            sentences.append([f"s{len(sentences) + 1}", [], []])
            numbers.append(number)
            is_new = False
        sentences[-1][1].append(cells[0])
        sentences[-1][2].append(cells[-1])
    note = f"{file}: columns as CoNLL has them; the sentences were numbered, and are written as JSON lines"
    return GoldRows(file, ".jsonl", [NUMBERED, "tokens", "tags"], sentences, numbers, notes=(note,))


def read_lines(text: str, file: str) -> GoldRows:
    """A text in each line."""
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    words = {len(line.split()) for line in lines}
    notes: tuple[str, ...] = ()
    if len(lines) > 2 and len(words) == 1 and words < set(range(2, 9)):
        notes = (f'{file}: each line has {words.pop()} words. If these are columns, give --delimiter " "',)
    numbers = range(1, len(lines) + 1)
    rows = list(zip(map(str, numbers), lines, strict=True))
    return GoldRows(file, ".txt", [LINE_KEY, "answer"], rows, numbers, notes=notes)

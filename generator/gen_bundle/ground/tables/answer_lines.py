"""Lines that are an answer each."""

import re

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.tables.table import LINE_KEY, FileTable, all_match
from gen_bundle.ground.tables.text_file import TextFile
from scoring_kit.base.field_types import NUMBER

ONE_WORD = re.compile(r"\s*\S+\s*")
WORDS_IN_LINE = range(2, 9)
BETWEEN_VALUES = re.compile(r"[\s,;\[\]()]+")
MOST_LABELS = 12
"""Lines of so few different words are labels of words."""


def read_lines(file: TextFile) -> FileTable | None:
    """Return lines that are an answer each: of a .txt file, or where each is one word.

    Raises:
        UserError: the lines hold several values each, and are no texts.
    """
    are_words = len(file.beginning) > 1 and all_match(ONE_WORD, file.beginning)
    what = several_values(file)
    if what:
        raise UserError(
            f"{file.name}: each line holds {what}, which is neither a text nor one answer. Expected a table with "
            'column names; if blanks separate its cells, say so: --delimiter " "; or a row for each value, such as '
            "line,position,label."
        )
    if file.suffix != ".txt" and not are_words:
        return None
    lines = file.text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    words = {len(line.split()) for line in lines}
    notes: tuple[str, ...] = ()
    if len(lines) > 2 and len(words) == 1 and words < set(WORDS_IN_LINE):
        notes = (f'{file.name}: each line has {words.pop()} words. If these are columns, give --delimiter " "',)
    numbers = range(1, len(lines) + 1)
    columns = {LINE_KEY: [str(number) for number in numbers], "answer": lines}
    return FileTable(file.name, ".txt", columns, numbers, notes=notes)


def several_values(file: TextFile) -> str:
    """Return what each line holds several of, numbers or labels, in words; empty where lines may be texts."""
    if len(file.beginning) < 2:
        return ""
    widths: set[int] = set()
    values: list[str] = []
    for line in file.beginning:
        parts = BETWEEN_VALUES.split(line.strip(" \t,;[]()\r"))
        widths.add(len(parts))
        values += parts
    numbers = [value for value in values if NUMBER.fullmatch(value)]
    if min(widths) > 1 and 2 * len(numbers) >= len(values):
        return "several numbers"
    labels = set(values)
    if 1 < len(labels) <= MOST_LABELS and len(set(file.beginning)) > len(labels) and len(widths) > 1:
        return "the labels of several words"
    return ""

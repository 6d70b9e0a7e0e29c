"""Folders of text files whose lines are rows of numbers, without a header: boxes, events or tracks of each document."""

from collections.abc import Sequence
from dataclasses import replace

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.tables.answer_lines import several_values
from gen_bundle.ground.tables.delimited import RECOGNISED, no_header, read_delimited, separates
from gen_bundle.ground.tables.table import FileTable
from gen_bundle.ground.tables.text_file import TextFile
from scoring_kit.base.field_types import NUMBER

BLANK = " "


def read_number_rows(files: Sequence[TextFile]) -> list[FileTable] | None:
    """Return the rows of each file; None where the lines are no such rows, but texts.

    Raises:
        NoHeaderError: nobody names their columns.
        UserError: the lines have not as many cells.
    """
    lines: list[str] = []
    for file in files:
        lines += file.beginning
    given = files[0].delimiter
    what = several_values(replace(files[0], text="\n".join(lines)))
    if given is None and not what:
        return None
    marks = [given] if given else [*RECOGNISED, BLANK]
    mark = next((one for one in marks if separates(one, lines)), None)
    if mark is None:
        expected = "as many cells in each line; where each answer is such a file, begin with --recipe files"
        raise UserError(f"{files[0].name}: each line holds {what or 'cells'}, not as many in all. Expected {expected}.")
    if not files[0].columns:
        rows = [line.split(mark) for line in lines]
        evidence = next((cell for cell in rows[0] if NUMBER.fullmatch(cell)), rows[0][0])
        raise no_header(f"{files[0].name}:1", rows[0], rows[1:] or rows, evidence)
    return [read_delimited(replace(file, delimiter=mark)) for file in files]

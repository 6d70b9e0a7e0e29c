"""Judgements as TREC has them."""

import re

from gen_bundle.ground.errors import UserError, raise_all
from gen_bundle.ground.tables.table import FileTable, all_match
from gen_bundle.ground.tables.text_file import TextFile

QRELS = re.compile(r"(\S+)[ \t]+(?:0|Q0)[ \t]+(\S+)[ \t]+(-?[0-9]+)\s*")
"""A judgement as TREC has it: query, iteration, item, relevance."""
RUN = re.compile(r"\S+[ \t]+Q0[ \t]+\S+[ \t]+[0-9]+[ \t]+\S+[ \t]+\S+\s*")
RANKED = ("query", "item", "relevance")


def read_judgements(file: TextFile) -> FileTable | None:
    """Return judgements, a judged item a row; a table whose columns are named is read as such."""
    are_judgements = len(file.beginning) > 1 and all_match(QRELS, file.beginning)
    if file.columns or not are_judgements:
        return None
    rows = []
    problems = []
    for number, line in enumerate(file.text.split("\n"), 1):
        if found := QRELS.fullmatch(line):
            rows.append((number, found.groups()))
        elif line.strip():
            expected = "Expected a query, 0, an item and its relevance, as in the first lines."
            problems.append(f"{file.name}:{number}: is another kind of line. {expected}")
    raise_all(problems)
    note = f"{file.name}: judgements as TREC has them; their second column is left out"
    return FileTable.of_rows(file.name, ".tsv", RANKED, rows, [note])


def refuse_run(file: TextFile) -> None:
    """Raise UserError where these are rankings of a system, as TREC has them."""
    if all_match(RUN, file.beginning):
        raise UserError(
            f"{file.name}: is a run (query, Q0, item, rank, score, name), which is what participants hand in. Expected "
            "the judgements: query, 0, item and relevance in each line."
        )

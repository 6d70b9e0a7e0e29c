"""A token a line, with its tag or other labels, and blank lines between sentences, as CoNLL has them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gen_bundle.ground.errors import UserError, raise_all
from gen_bundle.ground.tables.table import NUMBERED, FileTable, all_match
from gen_bundle.ground.tables.text_file import TextFile

CONLL_COMMENT = re.compile(r"# |-DOCSTART-|#\w+ =")
CONLL_TAG = re.compile(r"O|[BIESLU]-.+")
CONLL_U = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
ONE_SCHEME = {"E": "I", "L": "I", "S": "B", "U": "B"}
"""Ends and entities of one token, as IOBES and BILOU mark them → the same in IOB2."""
FEWEST_BLOCKS = 2
Sentence = tuple[int, list[list[str]]]
"""The number of its first line, and the cells of each line."""


def _sentences(lines: Sequence[str]) -> Iterator[Sentence]:
    """Blocks of lines."""
    start = 0
    sentence: list[list[str]] = []
    for number, line in enumerate(lines, 1):
        cells = line.split()
        if "\t" in line.strip():
            cells = line.split("\t")
        if line.strip() and not CONLL_COMMENT.match(line):
            if not sentence:
                start = number
            sentence.append([cell.strip() for cell in cells])
        elif sentence:
            yield start, sentence
            sentence = []
    if sentence:
        yield start, sentence


def read_tagged_tokens(file: TextFile) -> FileTable | None:
    """Return the sentences of a file that has a token a line and blank lines between sentences; None for any other.

    The rows are sentences with their tokens and tags, or tokens where the last column has labels of another kind.
    """
    width = _width(file)
    if width < 2:
        return None
    sentences = list(_sentences(file.text.split("\n")))
    problems: list[str] = []
    last: set[str] = set()
    for start, sentence in sentences:
        for number, cells in enumerate(sentence, start):
            last.add(cells[-1])
            if len(cells) != width:
                what = f"has {len(cells)} columns. Expected {width} columns, as in the first line."
                problems.append(f"{file.name}:{number}: {what}")
    raise_all(problems)
    if all_match(CONLL_TAG, last) and last != {"O"} and not file.columns:
        return _with_tags(file, sentences)
    return _with_token_rows(file, sentences, width)


def _width(file: TextFile) -> int:
    """Return how many columns each token of the first lines has; 0 where these are no tokens in sentences."""
    blocks = list(_sentences(file.head))
    widths = [len(cells) for _, sentence in blocks for cells in sentence]
    if file.suffix == ".csv" or not FEWEST_BLOCKS <= len(blocks) < len(widths) or len(set(widths)) > 1:
        return 0
    return widths[0]


def _with_tags(file: TextFile, sentences: Sequence[Sentence]) -> FileTable:
    """Sentences with their tags in IOB2, where an `I-` that begins an entity is `B-`."""
    rows = []
    turned: set[str] = set()
    for at, (start, sentence) in enumerate(sentences, 1):
        tokens: list[str] = []
        tags: list[str] = []
        before = "O"
        for token, *_, tag in sentence:
            scheme = ONE_SCHEME.get(tag[0], tag[0])
            if scheme == "I" and before[1:] != tag[1:]:
                scheme = "B"
            before = scheme + tag[1:]
            tokens.append(token)
            tags.append(before)
            if before != tag:
                turned.add(f"{tag[0]}- as {scheme}-")
        rows.append((start, [f"s{at}", tokens, tags]))
    notes = [f"{file.name}: columns as CoNLL has them; the sentences were numbered, and are written as JSON lines"]
    if turned:
        notes.append(f"{file.name}: tags are written as IOB2 has them: {', '.join(sorted(turned))}")
    return FileTable.of_rows(file.name, ".jsonl", [NUMBERED, "tokens", "tags"], rows, notes)


def _with_token_rows(file: TextFile, sentences: Sequence[Sentence], width: int) -> FileTable:
    names: Sequence[str] = ["token", *(f"column{at}" for at in range(2, width)), "tag"]
    if width == len(CONLL_U):
        names = CONLL_U  # what nothing is said of is left out
    if file.columns:
        names = file.columns
    if len(names) != width:
        raise UserError(f"--columns: {file.name} has {width} columns. Expected as many names.")
    rows = []
    for at, (start, sentence) in enumerate(sentences, 1):
        for position, cells in enumerate(sentence, 1):
            rows.append((start + position - 1, [str(at), str(position), *cells]))
    note = f"{file.name}: a token a line; sentences and the positions in them were numbered, and each token is a row"
    table = FileTable.of_rows(file.name, ".tsv", ["sentence", "position", *names], rows, [note], "none")
    said = {name: values for name, values in table.columns.items() if set(values) != {"_"}}
    return replace(table, columns=said)

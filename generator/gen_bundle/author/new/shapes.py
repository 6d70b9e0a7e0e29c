"""Shapes of text that are no table with a header: judgements, tokens with tags, words with labels, and lines."""

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from gen_bundle.author.new.gold import LINE_KEY, NUMBERED, GoldFile, GoldRows, raise_all
from gen_bundle.ground.errors import UserError

QRELS = re.compile(r"(\S+)[ \t]+(?:0|Q0)[ \t]+(\S+)[ \t]+(-?[0-9]+)\s*")
"""A judgement as TREC has it: query, iteration, item, relevance."""
JUDGED_LIST = re.compile(r"(\S+) (\[[01](?:, ?[01])+\])\s*")
"""A query, and whether each of its items is relevant."""
RUN = re.compile(r"\S+[ \t]+Q0[ \t]+\S+[ \t]+[0-9]+[ \t]+\S+[ \t]+\S+\s*")
FASTTEXT = re.compile(r"((?:__label__\S+\s+)+)(.*)")
FASTTEXT_LABEL = re.compile(r"__label__(\S+)")
RANKED = ("query", "item", "relevance")
CONLL_COMMENT = re.compile(r"# |-DOCSTART-|#\w+ =")
CONLL_TAG = re.compile(r"O|[BIESLU]-.+")
CONLL_U = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
ONE_SCHEME = {"E": "I", "L": "I", "S": "B", "U": "B"}
"""Ends and entities of one token, as IOBES and BILOU mark them → the same in IOB2."""
FEWEST_BLOCKS = 2
MOST_LABELS_OF_WORDS = 12
WORDS_IN_LINE = range(2, 9)
Sentence = tuple[int, list[list[str]]]
"""The number of its first line, and the cells of each line."""


# Each returns the rows of a file of its shape, and None for any other


def read_qrels(file: GoldFile) -> GoldRows | None:
    """Judgements, a judged item a row; a table whose columns are named is read as such."""
    if file.columns or len(file.beginning) < 2 or not all(map(QRELS.fullmatch, file.beginning)):
        return None
    expected = "a query, 0, an item and its relevance, as in the first lines"
    rows = [(number, found.groups()) for number, found in _matches(file, QRELS, expected)]
    note = f"{file.name}: judgements as TREC has them; their second column is left out"
    return GoldRows.of_rows(file.name, ".tsv", RANKED, rows, [note])


def read_judged_lists(file: GoldFile) -> GoldRows | None:
    """Lines of a query and its list of judgements, a judged item a row; items are called by their places."""
    if len(file.beginning) < 2 or not all(map(JUDGED_LIST.fullmatch, file.beginning)):
        return None
    rows = []
    for number, found in _matches(file, JUDGED_LIST, "a query and a list of 0 and 1, as in the first lines"):
        for place, relevance in enumerate(json.loads(found[2]), 1):
            rows.append((number, [found[1], str(place), str(relevance)]))
    note = f"{file.name}: each number of a list is the relevance of an item, which is called by its place, from 1"
    return GoldRows.of_rows(file.name, ".tsv", RANKED, rows, [note])


def _matches(file: GoldFile, form: re.Pattern[str], expected: str) -> Iterator[tuple[int, re.Match[str]]]:
    """The lines of this form with their numbers; raises UserError for any other."""
    problems: list[str] = []
    for number, line in enumerate(file.text.split("\n"), 1):
        if found := form.fullmatch(line):
            yield number, found
        elif line.strip():
            problems.append(f"{file.name}:{number}: is another kind of line. Expected {expected}.")
    raise_all(problems)


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
            sentence.append(list(map(str.strip, cells)))
        elif sentence:
            yield start, sentence
            sentence = []
    if sentence:
        yield start, sentence


def read_tagged_tokens(file: GoldFile) -> GoldRows | None:
    """A token a line, with as many columns each, and blank lines between sentences.

    The rows are sentences with their tokens and tags, or tokens where the last column has labels of another kind.
    """
    blocks = [sentence for _, sentence in _sentences(file.head)]
    widths = list(map(len, itertools.chain.from_iterable(blocks)))
    if file.suffix == ".csv" or not FEWEST_BLOCKS <= len(blocks) < len(widths):
        return None
    width = widths[0]
    if width < 2 or set(widths) != {width}:
        return None
    sentences = list(_sentences(file.text.split("\n")))
    problems = []
    last: set[str] = set()
    for start, sentence in sentences:
        for at, cells in enumerate(sentence):
            last.add(cells[-1])
            if len(cells) != width:
                expected = f"{width} columns, as in the first line"
                problems.append(f"{file.name}:{start + at}: has {len(cells)} columns. Expected {expected}.")
    raise_all(problems)
    if all(map(CONLL_TAG.fullmatch, last)) and last != {"O"} and not file.columns:
        return _with_tags(file, sentences)
    return _with_token_rows(file, sentences, width)


def _with_tags(file: GoldFile, sentences: Sequence[Sentence]) -> GoldRows:
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
    return GoldRows.of_rows(file.name, ".jsonl", [NUMBERED, "tokens", "tags"], rows, notes)


def _with_token_rows(file: GoldFile, sentences: Sequence[Sentence], width: int) -> GoldRows:
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
    gold = GoldRows.of_rows(file.name, ".tsv", ["sentence", "position", *names], rows, [note], "none")
    said = {name: values for name, values in gold.columns.items() if set(values) != {"_"}}
    return replace(gold, columns=said)


def read_labelled_words(file: GoldFile) -> GoldRows | None:
    """Lines that hold the labels of a sentence's words, such as `OK BAD OK`, a word a row."""
    if file.suffix in (".csv", ".tsv") or "\t" in "\n".join(file.beginning):
        return None
    lines = list(map(str.split, file.beginning))
    labels = set(itertools.chain.from_iterable(lines))
    different = set(map(" ".join, lines))
    has_few = 1 < len(labels) <= MOST_LABELS_OF_WORDS and len(different) > len(labels)
    if not has_few or len(set(map(len, lines))) < 2:
        return None
    rows = []
    for number, line in enumerate(file.text.removesuffix("\n").split("\n"), 1):
        for position, label in enumerate(line.split(), 1):
            rows.append((number, [str(number), str(position), label]))
    note = (
        f"{file.name}: each line holds labels of words; each of them is a row, found by its line and position, from 1"
    )
    return GoldRows.of_rows(file.name, ".tsv", [LINE_KEY, "position", "label"], rows, [note])


def read_fasttext(file: GoldFile) -> GoldRows | None:
    """Lines that begin with their labels, as fastText marks them, a text a row."""
    if not all(map(FASTTEXT.match, file.beginning)):
        return None
    texts: list[str] = []
    labels: list[Any] = []
    for _, found in _matches(file, FASTTEXT, "__label__ and a label, then the text"):
        texts.append(found[2])
        labels.append(FASTTEXT_LABEL.findall(found[1]))
    name = "labels"
    if set(map(len, labels)) == {1}:
        name, labels = "label", list(itertools.chain.from_iterable(labels))
    note = f"{file.name}: labels before texts, as fastText has them; the rows are numbered from 1"
    numbers = range(1, len(texts) + 1)
    columns = {NUMBERED: list(map(str, numbers)), "text": texts, name: labels}
    return GoldRows(file.name, ".jsonl", columns, numbers, notes=(note,))


def refuse_run(file: GoldFile) -> None:
    """Raise UserError where these are rankings of a system, as TREC has them."""
    if all(map(RUN.fullmatch, file.beginning)):
        raise UserError(
            f"{file.name}: is a run (query, Q0, item, rank, score, name), which is what participants hand in. Expected "
            "the judgements: query, 0, item and relevance in each line."
        )


def read_lines(file: GoldFile) -> GoldRows | None:
    """Lines that are an answer each: of a .txt file, or where each is one word."""
    if file.suffix != ".txt" and (len(file.beginning) < 2 or max(map(len, map(str.split, file.beginning))) > 1):
        return None
    lines = [line.removesuffix("\r") for line in file.text.removesuffix("\n").split("\n")]
    words = set(map(len, map(str.split, lines)))
    notes: tuple[str, ...] = ()
    if len(lines) > 2 and len(words) == 1 and words < set(WORDS_IN_LINE):
        notes = (f'{file.name}: each line has {words.pop()} words. If these are columns, give --delimiter " "',)
    numbers = range(1, len(lines) + 1)
    columns = {LINE_KEY: list(map(str, numbers)), "answer": lines}
    return GoldRows(file.name, ".txt", columns, numbers, notes=notes)

"""WebAnno TSV 3, as INCEpTION exports it (INCEpTION's user guide, appendix "WebAnno TSV 3.3").

`#T_SP=layer|feature|…` declares the columns of a span layer; a token's line has its number, its places, the token, and
a value for each feature: `_` for none, `*` for no value, `PER[1]` for a token of the first entity, bars between values.
"""

import re

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.tables.table import NUMBERED, FileTable
from gen_bundle.ground.tables.text_file import TextFile

HEAD = "#FORMAT=WebAnno TSV 3"
LAYER = re.compile(r"#T_(SP|CH|RL)=([^|]+)\|?(.*)")
TOKEN = re.compile(r"[0-9]+-[0-9]+")
VALUE = re.compile(r"(.*?)(\[[0-9]+\])?")
NOTHING = ("_", "*", "")


def read_tokens(file: TextFile) -> FileTable | None:
    """Return the sentences with their tokens and the tags of the first span feature that has values, in IOB2."""
    if not file.beginning[0].startswith(HEAD):
        return None
    features = _features(file)
    sentences: list[tuple[int, list[list[str]]]] = []
    for number, line in enumerate(file.text.split("\n"), 1):
        cells = line.rstrip("\r").split("\t")
        if TOKEN.fullmatch(cells[0]) and len(cells) > 2:
            if cells[0].endswith("-1"):
                sentences.append((number, []))
            sentences[-1][1].append(cells)
    for feature, at in features:
        labels = {_value(cells, at)[0] for _, tokens in sentences for cells in tokens}
        if not labels <= {*NOTHING}:
            return _table(file, feature, at, sentences)
    raise UserError(f"{file.name}: WebAnno TSV in which no span has a label. Expected a layer of spans with labels.")


def _features(file: TextFile) -> list[tuple[str, int]]:
    """Return the features of span layers with the places of their columns, after the number, places and token."""
    found: list[tuple[str, int]] = []
    at = 3
    for line in file.beginning:
        if layer := LAYER.match(line.rstrip("\r")):
            names = layer[3].split("|") if layer[3] else [""]
            for place, name in enumerate(names):
                if layer[1] == "SP":
                    found.append((f"{layer[2].rpartition('.')[2]} {name}".strip(), at + place))
            at += len(names)
    return found


def _value(cells: list[str], at: int) -> tuple[str, str]:
    """Return the first value of a feature, and the mark of the entity that it belongs to."""
    value = VALUE.fullmatch(cells[at].partition("|")[0]) if len(cells) > at else None
    return (value[1], value[2] or "") if value else ("", "")


def _table(file: TextFile, feature: str, at: int, sentences: list[tuple[int, list[list[str]]]]) -> FileTable:
    rows = []
    several = 0
    for place, (number, tokens) in enumerate(sentences, 1):
        tags: list[str] = []
        before = ("", "")
        for cells in tokens:
            label, entity = _value(cells, at)
            several += "|" in "".join(cells[at : at + 1])
            if label in NOTHING:
                tags.append("O")
                before = ("", "")
                continue
            tags.append(f"{'I' if entity and before == (label, entity) else 'B'}-{label}")
            before = (label, entity)
        rows.append((number, [f"s{place}", [cells[2] for cells in tokens], tags]))
    notes = [f"{file.name}: WebAnno TSV; {feature} is read as tags in IOB2, and the sentences were numbered"]
    if several:
        notes.append(f"{file.name}: {several} tokens have several values of {feature}; the first of each counts")
    return FileTable.of_rows(file.name, ".jsonl", [NUMBERED, "tokens", "tags"], rows, notes)

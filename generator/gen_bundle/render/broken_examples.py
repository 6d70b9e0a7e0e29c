"""Submissions that are refused: a valid one, spoiled in the ways that participants spoil theirs."""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

MAX_BYTES = 5_000_000


@dataclass(frozen=True)
class Spoiled:
    """A submission with a mistake.

    Attributes:
        name: short name of the mistake.
        what: the mistake in words.
        files: the submission's files.
    """

    name: str
    what: str
    files: Mapping[str, bytes]


Spoil = Callable[[str], str]


def spoiled_submissions(files: Mapping[str, bytes], without_header: Collection[str] = ()) -> list[Spoiled]:
    """Copies of a valid submission with one mistake each; not every one need be refused by every competition.

    `without_header` names the files without a header line.
    """
    spoiled = [Spoiled("other-file", "the answers are not in it", {"notes.txt": b"The answers are elsewhere.\n"})]
    if not files or sum(map(len, files.values())) > MAX_BYTES:
        return spoiled
    name = max(files, key=lambda name: (len(files[name]), name))
    suffix = PurePosixPath(name).suffix.lower()
    if len(files) > 1:
        others = {other: content for other, content in files.items() if other != name}
        spoiled.append(Spoiled("missing-file", f"`{name}` is not in it", others))
    text = files[name].decode("utf-8-sig")
    for short, what, spoil in (*MISTAKES.get(suffix, ()), *EVERYWHERE):
        changed = spoil(text)
        if short == "other-column" and name in without_header:
            short, what = "unknown-id", "a row of the data has another id"  # the first cell is spoiled
        if changed != text:
            spoiled.append(Spoiled(short, what, {**files, name: changed.encode()}))
    spoiled.append(Spoiled("utf-16", "saved as UTF-16, not as UTF-8", {**files, name: text.encode("utf-16")}))
    return spoiled


def spoiled_code(files: Mapping[str, bytes], entry: str) -> list[Spoiled]:
    """Copies of a submission of code with one mistake each; not every one need be refused by every competition."""
    text = files[entry]
    others = {name: content for name, content in files.items() if name != entry}
    moved = {f"code/{name}": content for name, content in files.items()}
    return [
        Spoiled("predictions", "predictions in place of the code that makes them", {"predictions.csv": b"id,label\n"}),
        Spoiled("other-name", f"`{entry}` has another name", {**others, f"my_{entry}": text}),
        Spoiled("in-a-folder", f"`{entry}` is not at the top", {**moved, "notes.txt": b"Notes.\n"}),
        Spoiled("syntax", "a bracket is not closed", {**files, entry: text + b"\n(\n"}),
        Spoiled("no-predict", "there is no `predict`", {**files, entry: text.replace(b"predict(", b"run(")}),
        Spoiled("metadata", "a file that makes the platform run it by itself", {**files, "metadata": b"command: x\n"}),
    ]


def _without_last_entry(text: str) -> str:
    value = json.loads(text)
    if isinstance(value, dict) and value:
        value.pop(next(reversed(value)))
    return json.dumps(value, ensure_ascii=False)


def _text_for_list(text: str) -> str:
    value = json.loads(text)

    def change(node: Any) -> bool:
        items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, child in list(items):
            if isinstance(child, list) and isinstance(node, dict):
                node[key] = "a text where a list is expected"
                return True
            if change(child):
                return True
        return False

    change(value)
    return json.dumps(value, ensure_ascii=False)


def _lines(change: Callable[[list[str]], list[str]]) -> Spoil:
    def spoil(text: str) -> str:
        return "".join(change(text.rstrip("\n").splitlines(keepends=True)))

    return spoil


def _substituted(pattern: str, replacement: str) -> Spoil:
    return lambda text: re.sub(pattern, replacement, text, count=1)


EVERYWHERE: tuple[tuple[str, str, Spoil], ...] = (
    ("cut-off", "the upload was cut off", lambda text: text[: len(text) * 2 // 3]),
)
MISTAKES: Mapping[str, tuple[tuple[str, str, Spoil], ...]] = {
    ".json": (
        ("missing-entry", "the last entry is missing", _without_last_entry),
        ("text-for-list", "a text in the place of a list", _text_for_list),
    ),
    ".csv": (
        ("missing-row", "the last row is missing", _lines(lambda lines: lines[:-1])),
        ("repeated-row", "the last row is there twice", _lines(lambda lines: [*lines, "\n", lines[-1]])),
        ("other-column", "a column has another name", _lines(lambda lines: ["x_" + lines[0], *lines[1:]])),
        ("semicolons", "semicolons instead of commas", lambda text: text.replace(",", ";")),
    ),
    ".a2": (
        ("unknown-entity", "an argument is not an entity of the text", _substituted(r":T\d+", ":T99999")),
        ("blank-for-tab", "a blank in the place of a tab", _substituted(r"\t", " ")),
        ("unknown-type", "an event type that does not exist", _substituted(r"\t\w+", "\tNo_Such_Type")),
    ),
    ".xml": (
        ("unclosed", "an element is not closed", _substituted(r"</\w+>\s*$", "")),
        (
            "unknown-id",
            "an id that the text does not have",
            _substituted(r'(<antecedent[^>]*id=)"[^"]*"', r'\1"99999"'),
        ),
        ("doctype", "a document type declaration", _substituted(r"<(?=[A-Za-z])", "<!DOCTYPE answer>\n<")),
    ),
}

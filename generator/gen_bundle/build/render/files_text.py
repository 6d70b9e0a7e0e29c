"""Text of pages and starting kits on tables whose values are files."""

from collections.abc import Sequence

from gen_bundle.build.render.page_tables import markdown_table, page_text
from gen_bundle.declaration.model import SubmittedTable
from gen_bundle.declaration.scoring.tables import DeclaredTable
from scoring_kit.base.array_heads import FORMATS

EXAMPLE_KEYS = 3
KINDS = {"npy": "numpy", "npz": "numpy", "png": "PNG", "nii": "NIfTI", "nii.gz": "NIfTI"}


def files_table(table: SubmittedTable, declared: DeclaredTable) -> str:
    """Return the files of each key: what each holds, and of an array its numbers and its shape."""
    rows = []
    for row in table.fields:
        if row.field not in declared.file.files:
            continue
        required = "yes" if row.required and declared.reject_missing else "no"
        rows.append([_name(row.field, declared), _held(row.field, declared), required, row.meaning])
    text = markdown_table(["File", "Holds", "Required", "Meaning"], rows)
    if not declared.key:
        return text
    key = page_text(declared.key[0])
    return f"{text}\n\nThere is a file for each {key}, which stands in its name."


def _name(field: str, declared: DeclaredTable) -> str:
    name, member = page_text(declared.file.files[field][0]), declared.file.names.get(field)
    return f"{page_text(member)} in {name}" if member else name


def _held(field: str, declared: DeclaredTable) -> str:
    own, file_format = declared.field_of(field), declared.file.files[field][1]
    if own.type == "file":
        return f"a {file_format.upper()} file" if file_format in FORMATS else "a file"
    numbers = "numbers"
    if own.values:
        numbers = ", ".join(map(page_text, own.values))
    shape = "of any shape" if own.shape == "any" else "of the shape that it has in `template/`"
    return f"an array of {numbers}, {shape} ({KINDS.get(file_format, file_format)})"


def files_example(declared: DeclaredTable) -> str:
    """Return the names of the files of a few keys, made up."""
    keys = [""]
    if declared.key:
        keys = [f"{declared.key[0]}-{at + 1}" for at in range(EXAMPLE_KEYS)]
    names: list[str] = []
    for part in declared.file.parts:
        for key in keys:
            names.append(part.name_of(key))
    return "\n".join(sorted(names))


def either(words: Sequence[str]) -> str:
    """Return words as a sentence lists alternatives."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def files_rule(declared: DeclaredTable, whose: str) -> str:
    """Return how files are matched, and what becomes of those that are missing."""
    if not declared.key:
        return f"The answer{whose} is one file. Numbers within arrays are looked at when it is scored."
    key = page_text(declared.key[0])
    refused = ["missing"] if declared.reject_missing else []
    refused += ["repeated"] + ([] if declared.ignores_unknown else ["unknown"])
    listed = either(refused)
    text = (
        f"Files{whose} are matched by the {key} in their names. A {listed} file is refused, with all others together."
    )
    if not declared.reject_missing:
        text += " A missing file counts as no answer."
    if declared.ignores_unknown:
        text += f" Files of an unknown {key} are left out."
    return text


def files_gold(declared: DeclaredTable) -> str:
    """Return the gold's files, as an item of a list."""
    line = "- " + ", ".join(page_text(part.name) for part in declared.gold.parts)
    if declared.gold_keys:
        line += f"; and {page_text(declared.gold_keys.name)}, all keys"
    return line

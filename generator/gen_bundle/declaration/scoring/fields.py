"""The fields of declared tables, with what is wrong with them."""

from collections.abc import Iterator, Sequence
from typing import Any

from gen_bundle.declaration.scoring.usual_names import USUAL_TYPES
from gen_bundle.declaration.source import Section, items_of, nearest, text_of
from scoring_kit.base.field_types import FILE_TYPES, OPEN_TYPES, TYPES, Field, FieldError

FILE_KEYS = ("file", "format")
OF_FILES = "is for fields of type file or array."
ANY = "any"
"""As `values`: an open vocabulary."""
VALUES_OF = {"ordinal": "in their order, the lowest first", "probabilities": "that have a probability"}
"""Types that need `values`, and which these are."""


def read_fields(table: Section, keys: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name → the field as the scoring package gets it, defaults put in."""
    seen: set[str] = set()
    for item in table.sections("fields"):
        name = item.get("field")
        if name is None:
            continue  # the model reports it
        if name in seen:
            item.fault(f"{name!r} occurs twice. Expected each field once.", "field")
        seen.add(name)
        item.data.setdefault("type", "string")
        item.data.setdefault("required", True)
        if name in keys:
            item.data.setdefault("meaning", "What the row is about.")
        item.data.setdefault("meaning", "Your answer.")
        if (meant := USUAL_TYPES.get(str(item.get("type")))) is not None:
            item.fault(f"unknown value {item.get('type')!r}. Write {meant}.", "type")
        else:
            item.choice("type", tuple(TYPES), "string")
        if item.get("type") not in tuple(TYPES):  # nothing else can be said of it
            yield name, {"name": name, "type": "string", "required": True}
            continue
        kind = item.get("type")
        declared: dict[str, Any] = {"name": name, "type": kind, "required": item.get("required") is not False}
        check_place(item, is_file=kind in FILE_TYPES)
        declared.update(_of_type(item, kind, name))
        if item.get("default") is not None:
            declared["default"] = item.get("default")
        for key, text in list(_field_faults(declared, name in keys)):
            item.fault(text, key)
            declared.pop("default", None)  # it may be what is wrong
        yield name, declared


def check_place(item: Section, *, is_file: bool) -> None:
    """Note a file of its own of a field that is a part of a row."""
    for key in FILE_KEYS:
        if item.get(key) is not None and not is_file:
            item.fault(OF_FILES, key)


def _of_type(item: Section, kind: str, name: str) -> Iterator[tuple[str, Any]]:
    """The keys that a field of a type has, read; those of other types are noted."""
    for key in OF_TYPE:
        value = item.get(key)
        if value is None:
            continue
        if key == "values" and value == ANY and kind in OPEN_TYPES:
            yield "open", True
        elif key in TYPES[kind].keys:
            yield key, _read(item, key, value)
        else:
            kinds = ", ".join(one for one in TYPES if key in TYPES[one].keys)
            kinds = " or ".join(kinds.rsplit(", ", 1))
            item.fault(f"is for fields of type {kinds}; {name!r} is of type {kind}.", key)


def _field_faults(declared: dict[str, Any], is_key: bool) -> Iterator[tuple[str, str]]:
    """(key, what is wrong) of a field as a whole."""
    kind, values, columns = declared["type"], declared.get("values") or [], declared.get("columns")
    has_scheme = declared.get("scheme") is not None
    if kind == "tags" and has_scheme != bool(values):
        yield "type", "a list of labels has `scheme: none` and `values`. Expected both, or none of them."
        return
    if kind in VALUES_OF and not values:
        yield "type", f"values is missing. Expected the labels, {VALUES_OF[kind]}."
        return
    if kind == "probabilities":
        columns = declared.setdefault("columns", values)
    if kind == "labels" and columns:
        values = declared.setdefault("values", columns)
    low, high = declared.get("min"), declared.get("max")
    if low is not None and high is not None and low > high:
        yield "min", f"is {low:g}, above max, {high:g}. Expected the smaller one as min."
        return
    if kind == "numbers":
        values = columns or values
        if columns and declared.get("length") not in (None, len(columns)):
            yield "length", f"is {declared['length']}, and there are {len(columns)} columns. Expected no length."
            return
    if columns and len(columns) != len(values):
        what = f"names {len(columns)} columns for {len(values)} values. Expected one each, in their order."
        yield "columns", what
        return
    yield from _spelling_faults(Field.from_dict({**declared, "default": None}))
    if "default" not in declared:
        return
    if is_key:
        yield "default", "is for answers; a key has none."
        return
    field = Field.from_dict(declared)
    try:
        _ = field.empty
    except FieldError as error:
        yield "default", f"{error.rule}. Expected {error.expected.replace(field.expected, field.expected_in_json)}."


def _spelling_faults(field: Field) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with labels that count as the same, and with what aliases stand for."""
    values = list(field.values or ())
    folded = {field.folded(value) for value in values}
    if len(folded) < len(values):
        yield "values", "names a label twice, but for its case. Expected each label once."
    if not values or (field.type == "labels" and field.columns):
        return  # then aliases are of cells
    for alias, text in field.aliases.items():
        if field.folded(text) not in folded:
            yield "aliases", f"{alias!r} stands for {text!r}, which is none of the values. {nearest(text, values)}"


def _read(field: Section, key: str, value: Any) -> Any:
    """Return what a key of a field says: of labels and cells the texts, which YAML may take for numbers."""
    if key == "values":
        return _values(field, items_of(value))
    if key == "aliases":
        texts = {text_of(alias): text_of(text) for alias, text in value.items()}
        if not texts or None in texts or None in texts.values():
            field.fault("expected a mapping of spellings to values, such as {ok: OK}.", key)
            return {}
        return texts
    if key == "columns" and len(set(value)) < len(value):
        field.fault("names a column twice. Expected each once.", key)
    if key not in ("positive", "negative"):
        return value
    text = text_of(value)
    if text is None:
        field.fault(f"expected the text of a cell (found {value!r}).", key)
    return text or ""


def _values(field: Section, given: Sequence[Any]) -> list[str]:
    labels = []
    for one in given:
        text = text_of(one)
        if text is None:
            field.fault("expected a list of labels, or any.", "values")
        elif text != text.strip() or not text:
            field.fault(f"the label {text!r} is blank or has blanks around it.", "values")
        elif text in labels:
            field.fault(f"names the label {text!r} twice. Expected each label once.", "values")
        else:
            labels.append(text)
    if not given:
        field.fault("expected a list of labels, or any.", "values")
    return labels


OF_TYPE = (
    "values",
    "separator",
    "min",
    "max",
    "columns",
    "positive",
    "negative",
    "normalise",
    "length",
    "scheme",
    "shape",
    "case",
    "aliases",
)
"""Keys of fields of some types; a type says which it takes (`FieldType.keys`)."""

"""The fields of declared tables, with what is wrong with them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gen_bundle.declaration.scoring.usual_names import USUAL_TYPES
from gen_bundle.declaration.source import Section, items_of, mapping_of, nearest, text_of
from scoring_kit.base.field_types import FILE_TYPES, OPEN_TYPES, TYPES, Field, FieldError

PLACE_KEYS = ("column", "at")
FIELD_KEYS = ("field", "type", "required", "meaning", "default", *PLACE_KEYS)
FILE_KEYS = ("file", "format")
ANY = "any"
"""As `values`: an open vocabulary."""
VALUES_OF = {"ordinal": "in their order, the lowest first", "probabilities": "that have a probability"}
"""Types that need `values`, and which these are."""


def read_fields(table: Section, keys: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name → the field as the scoring package gets it, defaults put in."""
    seen: set[str] = set()
    for item in table.sections("fields"):
        name = item.get("field")
        if not isinstance(name, str):
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
        item.check_keys((*FIELD_KEYS, *OF_TYPE, *((*FILE_KEYS,) if kind in FILE_TYPES else ())))
        declared.update(_of_type(item, kind, name))
        if item.get("default") is not None:
            declared["default"] = item.get("default")
        for key, text in list(_field_faults(declared, name in keys)):
            item.fault(text, key)
            declared.pop("default", None)  # it may be what is wrong
        yield name, declared


def _of_type(item: Section, kind: str, name: str) -> Iterator[tuple[str, Any]]:
    """The keys that a field of a type has, read; those of other types are noted."""
    for key, read in OF_TYPE.items():
        value = item.get(key)
        if value is None:
            continue
        if key == "values" and value == ANY and kind in OPEN_TYPES:
            yield "open", True
        elif key in TYPES[kind].keys:
            yield key, read(item, key)
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


def _number(field: Section, key: str) -> Any:
    value = field.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        field.fault(f"expected a number (found {value!r}).", key)
        return None
    return value


def _separator(field: Section, key: str) -> str:
    value = field.get(key)
    if isinstance(value, str) and value:
        return value
    field.fault("expected a character that no label holds, such as '|' or ';'.", key)
    return "|"


def _values(field: Section, key: str) -> list[str]:
    texts = [text_of(one) for one in items_of(field.get(key))]
    if not texts or None in texts:
        field.fault("expected a list of labels, or any.", key)
    labels = [text for text in texts if text is not None]
    for text in labels:
        if text != text.strip() or not text:
            field.fault(f"the label {text!r} is blank or has blanks around it.", key)
    if len(set(labels)) < len(labels):
        again = next(text for at, text in enumerate(labels) if text in labels[:at])
        field.fault(f"names the label {again!r} twice. Expected each label once.", key)
    return list(dict.fromkeys(labels))


def _columns(field: Section, key: str) -> list[str]:
    names = field.names(key, "a list of columns")
    if len(set(names)) < len(names):
        field.fault("names a column twice. Expected each once.", key)
    return names


def _cell(field: Section, key: str) -> str:
    text = text_of(field.get(key))
    if text is None:
        field.fault(f"expected the text of a cell (found {field.get(key)!r}).", key)
    return text or ""


def _truth(field: Section, key: str) -> bool:
    value = field.get(key)
    if not isinstance(value, bool):
        field.fault(f"expected true or false (found {value!r}).", key)
    return value is True


def _length(field: Section, key: str) -> int | None:
    value = field.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        field.fault(f"expected a whole number from 1 (found {value!r}).", key)
        return None
    return value


def _scheme(field: Section, key: str) -> str | None:
    return field.choice(key, ("none",), "") or None


def _shape(field: Section, key: str) -> str:
    return field.choice(key, ("gold", "any"), "gold")


def _case(field: Section, key: str) -> str:
    value = field.get(key)
    if value == "ignore":
        return "ignore"
    field.fault(f"unknown value {value!r}. Expected ignore, or no such key.", key)
    return "exact"


def _aliases(field: Section, key: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    written = mapping_of(field.get(key))
    is_sound = bool(written)
    for alias, text in written.items():
        spelling, meant = text_of(alias), text_of(text)
        if spelling is None or meant is None:
            is_sound = False
        else:
            texts[spelling] = meant
    if not is_sound:
        field.fault("expected a mapping of spellings to values, such as {ok: OK}.", key)
    return texts


OF_TYPE: Mapping[str, Callable[[Section, str], Any]] = {
    "values": _values,
    "separator": _separator,
    "min": _number,
    "max": _number,
    "columns": _columns,
    "positive": _cell,
    "negative": _cell,
    "normalise": _truth,
    "length": _length,
    "scheme": _scheme,
    "shape": _shape,
    "case": _case,
    "aliases": _aliases,
}
"""Key of a field of some types → what reads its value; a type says which keys it takes (`FieldType.keys`)."""

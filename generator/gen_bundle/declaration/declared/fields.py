"""The fields of declared tables, with what is wrong with them; and how texts, names and choices are read."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gen_bundle.declaration.overrides import nearest
from gen_bundle.declaration.source import Broken, Trail, items_of, mapping_of, mappings, text_of
from scoring_kit.base.fields import TYPES, Field, FieldError

PLACE_KEYS = ("column", "at")
FIELD_KEYS = ("field", "type", "required", "meaning", "default", *PLACE_KEYS)
VALUES_OF = {"ordinal": "in their order, the lowest first", "probabilities": "that have a probability"}
"""Types that need `values`, and which these are."""
Found = list[Broken]


def read_fields(data: Any, keys: list[str], trail: Trail, found: Found) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name → the field as the scoring package gets it, defaults put in; what is wrong is appended to `found`."""
    seen: set[str] = set()
    for here, item in mappings(data, "fields", trail):
        name = item.get("field")
        if not isinstance(name, str):
            continue  # the model reports it
        if name in seen:
            found.append(((*here, "field"), f"{name!r} occurs twice. Expected each field once."))
        seen.add(name)
        item.setdefault("type", "string")
        item.setdefault("required", True)
        if name in keys:
            item.setdefault("meaning", "What the row is about.")
        item.setdefault("meaning", "Your answer.")
        kind = choice_of(item, "type", tuple(TYPES), "string", here, found)
        declared: dict[str, Any] = {"name": name, "type": kind, "required": item.get("required", True) is not False}
        found += unknown_keys(item, (*FIELD_KEYS, *OF_TYPE), here)
        for key, read in OF_TYPE.items():
            if item.get(key) is None:
                continue
            if key in TYPES[kind].keys:
                declared[key] = read(item[key], (*here, key), found)
            else:
                kinds = ", ".join(one for one in TYPES if key in TYPES[one].keys)
                kinds = " or ".join(kinds.rsplit(", ", 1))
                found.append(((*here, key), f"is for fields of type {kinds}; {name!r} is of type {kind}."))
        if item.get("default") is not None:
            declared["default"] = item["default"]
        for key, text in list(_field_faults(declared, name in keys)):
            found.append(((*here, key), text))
            declared.pop("default", None)  # it may be what is wrong
        yield name, declared


def _field_faults(declared: dict[str, Any], is_key: bool) -> Iterator[tuple[str, str]]:
    """(key, what is wrong) of a field as a whole."""
    kind, values, columns = declared["type"], declared.get("values") or [], declared.get("columns")
    if kind in VALUES_OF and not values:
        yield "type", f"values is missing. Expected the labels, {VALUES_OF[kind]}."
        return
    if kind == "probabilities":
        columns = declared.setdefault("columns", values)
    if kind == "labels" and columns:
        values = declared.setdefault("values", columns)
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
    """What is wrong with labels that count as the same, and with what aliases stand for."""
    values = list(field.values or ())
    folded = set(map(field.folded, values))
    if len(folded) < len(values):
        yield "values", "names a label twice, but for its case. Expected each label once."
    if not values or (field.type == "labels" and field.columns):
        return  # then aliases are of cells
    for alias, text in field.aliases.items():
        if field.folded(text) not in folded:
            yield "aliases", f"{alias!r} stands for {text!r}, which is none of the values. {nearest(text, values)}"


def _number(value: Any, trail: Trail, found: Found) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        found.append((trail, f"expected a number (found {value!r})."))
        return None
    return value


def _separator(value: Any, trail: Trail, found: Found) -> str:
    if isinstance(value, str) and value:
        return value
    found.append((trail, "expected a character that no label holds, such as '|' or ';'."))
    return "|"


def _values(value: Any, trail: Trail, found: Found) -> list[str]:
    texts = list(map(text_of, items_of(value)))
    if not texts or None in texts:
        found.append((trail, "expected a list of labels."))
    labels = [text for text in texts if text is not None]
    for text in labels:
        if text != text.strip() or not text:
            found.append((trail, f"the label {text!r} is blank or has blanks around it."))
    if len(set(labels)) < len(labels):
        found.append((trail, "names a label twice. Expected each label once."))
    return list(dict.fromkeys(labels))


def _columns(value: Any, trail: Trail, found: Found) -> list[str]:
    names = names_of(value, trail, found, "a list of columns")
    if len(set(names)) < len(names):
        found.append((trail, "names a column twice. Expected each once."))
    return names


def _cell(value: Any, trail: Trail, found: Found) -> str:
    text = text_of(value)
    if text is None:
        found.append((trail, f"expected the text of a cell (found {value!r})."))
    return text or ""


def _truth(value: Any, trail: Trail, found: Found) -> bool:
    if not isinstance(value, bool):
        found.append((trail, f"expected true or false (found {value!r})."))
    return value is True


def _length(value: Any, trail: Trail, found: Found) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        found.append((trail, f"expected a whole number from 1 (found {value!r})."))
        return None
    return value


def _case(value: Any, trail: Trail, found: Found) -> str:
    if value == "ignore":
        return "ignore"
    found.append((trail, f"unknown value {value!r}. Expected ignore, or no such key."))
    return "exact"


def _aliases(value: Any, trail: Trail, found: Found) -> dict[str, str]:
    texts: dict[str, str] = {}
    written = mapping_of(value)
    is_sound = bool(written)
    for alias, text in written.items():
        spelling, meant = text_of(alias), text_of(text)
        if spelling is None or meant is None:
            is_sound = False
        else:
            texts[spelling] = meant
    if not is_sound:
        found.append((trail, "expected a mapping of spellings to values, such as {ok: OK}."))
    return texts


OF_TYPE: Mapping[str, Callable[[Any, Trail, Found], Any]] = {
    "values": _values,
    "separator": _separator,
    "min": _number,
    "max": _number,
    "columns": _columns,
    "positive": _cell,
    "negative": _cell,
    "normalise": _truth,
    "length": _length,
    "case": _case,
    "aliases": _aliases,
}
"""Key of a field of some types → what reads its value; a type says which keys it takes (`FieldType.keys`)."""


def names_of(value: Any, trail: Trail, found: Found, expected: str = "a name or a list of names") -> list[str]:
    """A name, or a list of names; what is wrong is appended to `found`."""
    if value is None:
        return []
    given = [value]
    if isinstance(value, list):
        given = value
    names = [name for name in given if isinstance(name, str)]
    if not names or len(names) < len(given):
        found.append((trail, f"expected {expected} (found {value!r})."))
    return names


def choice_of(
    data: dict[str, Any], key: str, choices: tuple[str, ...], default: str, trail: Trail, found: Found
) -> str:
    """One of the choices, or the default where none is given."""
    value = data.get(key)
    if value is None:
        return default
    if value in choices:
        return str(value)
    found.append(((*trail, key), f"unknown value {value!r}. {nearest(str(value), list(choices))}"))
    return default


def unknown_keys(data: dict[str, Any], known: tuple[str, ...], trail: Trail) -> list[Broken]:
    """The keys that are none of those known."""
    return [((*trail, str(key)), f"unknown key. {nearest(str(key), list(known))}") for key in data if key not in known]

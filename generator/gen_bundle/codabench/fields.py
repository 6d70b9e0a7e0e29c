"""How Django REST framework reads a value: what it takes, what it turns it into, and what it refuses.

Source: Django REST framework 3.16 serializer fields, with the types and lengths of Codabench 1.25's models.
"""

import math
import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Final, Literal
from uuid import UUID

from gen_bundle.zips.tree import is_encodable

TRUE: Final = frozenset(["t", "y", "yes", "true", "on", "1", 1, True])
FALSE: Final = frozenset(["f", "n", "no", "false", "off", "0", 0, 0.0, False])
MAX_INTEGER = 2_147_483_647
Fault = Literal["missing", "null", "blank", "long", "text", "nul", "boolean", "integer", "range", "choice", "email"]


class Missing:
    """The one value that stands for a key that is not there."""


MISSING: Final = Missing()


def as_boolean(value: Any) -> bool | None:
    """The truth value of a YAML value, or None when it is none."""
    wanted = value.lower() if isinstance(value, str) else value
    if not isinstance(wanted, Hashable):
        return None
    if wanted in TRUE:
        return True
    return False if wanted in FALSE else None


def as_integer(value: Any) -> int | None:
    """The integer that a YAML value stands for (texts and 5.0 do too), or None when it is none."""
    if isinstance(value, bool):
        return None
    text = str(value)
    if len(text) > 1000:
        return None
    try:
        return int(re.sub(r"\.0*\s*$", "", text))
    except ValueError:
        return None


def as_text(value: Any) -> str | None:
    """The stored text of a YAML value (numbers become text, outer blanks go), or None when it is none."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    return str(value).strip()


@dataclass(frozen=True)
class Text:
    """A text field."""

    limit: int | None = None
    null: bool = False
    blank: bool = False


@dataclass(frozen=True)
class Email(Text):
    """A text field that holds an e-mail address."""


@dataclass(frozen=True)
class Boolean:
    """A truth value."""

    null: bool = False


@dataclass(frozen=True)
class Integer:
    """A whole number within bounds."""

    low: int = 0
    high: int = MAX_INTEGER
    null: bool = False


@dataclass(frozen=True)
class Choice:
    """One of some texts."""

    choices: tuple[str, ...]
    null: bool = False
    blank: bool = False


Kind = Text | Boolean | Integer | Choice


def fault_of(kind: Kind, value: Any) -> Fault | None:
    """What the field refuses about a value, if anything."""
    if value is MISSING:
        return "missing"
    if value is None and kind.null:
        return None
    if value is None:
        return "null"
    if isinstance(kind, Text):
        return _text_fault(kind, value)
    if isinstance(kind, Boolean):
        return "boolean" if as_boolean(value) is None else None
    if isinstance(kind, Integer):
        return _integer_fault(kind, value)
    fits = (value == "" and kind.blank) or str(value) in kind.choices
    return None if fits else "choice"


def fault_words(kind: Kind, fault: Fault, value: Any) -> str:
    """A fault in words that follow the name of the field."""
    match kind, fault:
        case Text(limit=limit), "long":
            return f"has {len(as_text(value) or '')} characters, and at most {limit} fit"
        case Integer(low=low, high=high), "range":
            return f"is {shown(value)}, and must lie between {low} and {high}"
        case Choice(choices=choices), "choice":
            return f"is {shown(value)}; allowed are {', '.join(choices)}"
    words = {
        "missing": "is missing",
        "null": "has no value (null), and needs one",
        "blank": "is blank, and needs a text",
        "text": f"is read as {shown(value)}, which is not a text",
        "nul": "holds a NUL character or half of a surrogate pair",
        "boolean": f"is {shown(value)}, and must be true or false",
        "integer": f"is {shown(value)}, and must be a whole number",
        "email": f"is {shown(value)}, which is not an e-mail address",
    }
    return words[fault]


def shown(value: Any, limit: int = 60) -> str:
    """A value for a message, cut to a length that can be read."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "a mapping"
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _integer_fault(kind: Integer, value: Any) -> Fault | None:
    number = as_integer(value)
    if number is None:
        return "integer"
    return None if kind.low <= number <= kind.high else "range"


def _text_fault(kind: Text, value: Any) -> Fault | None:
    if str(value).strip() == "" and isinstance(value, str):
        return None if kind.blank else "blank"
    text = as_text(value)
    if text is None:
        return "email" if isinstance(kind, Email) else "text"
    if "\0" in text or not is_encodable(text):
        return "nul"
    if kind.limit is not None and len(text) > kind.limit:
        return "long"
    return "email" if isinstance(kind, Email) and not is_email(text) else None


LOCAL_PART = re.compile(
    r"[-!#$%&'*+/=?^_`{}|~0-9A-Z]+(\.[-!#$%&'*+/=?^_`{}|~0-9A-Z]+)*\Z"
    r'|"([\x01-\x08\x0b\x0c\x0e-\x1f!#-\[\]-\x7f]|\\[\x01-\x09\x0b\x0c\x0e-\x7f])*"\Z',
    re.IGNORECASE,
)
LETTER = r"A-Za-z\u00a1-\uffff"  # both cases: IGNORECASE on such a range takes 30 ms to compile
FIRST_LABEL = rf"[{LETTER}0-9](?:[{LETTER}0-9-]{{0,61}}[{LETTER}0-9])?"
LATER_LABEL = rf"\.(?!-)[{LETTER}0-9-]{{1,63}}(?<!-)"
TOP_LABEL = rf"\.(?!-)(?:[{LETTER}-]{{2,63}}|(?i:xn--[A-Z0-9]{{1,59}}))(?<!-)"
DOMAIN = re.compile(rf"{FIRST_LABEL}(?:{LATER_LABEL})*{TOP_LABEL}\Z")
ADDRESS = re.compile(r"\[([A-F0-9:.]+)\]\Z", re.IGNORECASE)


def is_email(text: str) -> bool:
    """Whether Django takes the text for an e-mail address (django.core.validators.EmailValidator, 5.2)."""
    local, at, domain = text.rpartition("@")
    if not at or len(text) > 320 or not LOCAL_PART.match(local):
        return False
    if domain == "localhost" or DOMAIN.match(domain):
        return True
    literal = ADDRESS.match(domain)
    if literal is None:
        return False
    from ipaddress import ip_address

    try:
        ip_address(literal.group(1))
    except ValueError:
        return False
    return True


def is_uuid(text: str) -> bool:
    """Whether the text is the key of something on the server."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def is_json(value: Any) -> bool:
    """Whether a YAML value can be written as JSON and stored by PostgreSQL (no dates, loops, NaN or NUL)."""
    seen: set[int] = set()
    done: set[int] = set()

    def good(part: Any) -> bool:
        if not isinstance(part, (dict, list)):
            return _is_json_scalar(part)
        if id(part) in done:
            return True
        if id(part) in seen:
            return False
        seen.add(id(part))
        children = part
        if isinstance(part, dict):
            if not all(key is None or isinstance(key, (str, int, float)) for key in part):
                return False
            children = list(part.values())
        fits = all(good(child) for child in children)
        seen.discard(id(part))
        done.add(id(part))
        return fits

    return good(value)


def _is_json_scalar(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, str):
        return "\0" not in value and is_encodable(value)
    return value is None or isinstance(value, int)

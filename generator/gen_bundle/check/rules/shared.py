"""Checks and words that rules of several topics share."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import Problem
from gen_bundle.codabench.settings import MISSING, shown
from gen_bundle.ground.yaml_document import Path, dotted

PATH_NOT_TEXT = "The upload ends with `join() argument must be str, …`."
NOT_SORTABLE = "The upload ends with `'<' not supported between instances of …`."
UNKNOWN_KEY = "which cannot be assumed to exist on the server"


def known_key(owner: str) -> str:
    """The end of the repair for a key that only the server can know."""
    return f"If a {owner} with this key exists on your server, pass it with --known-key."


def unknown_keys(bundle: Bundle, name: str, words: str) -> Iterator[Problem]:
    """Items of a list that stand for what is on the server, by a key that is not known to be there."""
    for entry in bundle.entries(name):
        key = entry.get("key")
        if "key" in entry.value and str(key) not in bundle.known_keys:
            what = f"{name}[{entry.position}] {words} {shown(key)}, {UNKNOWN_KEY}"
            yield Problem(what, (*entry.at, "key"), order=(entry.position, 0))


def as_found(value: Any) -> str:
    """A value of the wrong type for a message."""
    if value is MISSING:
        return "missing"
    return "empty" if value in ([], {}) else shown(value)


def list_faults(
    owner: Mapping[Any, Any],
    at: Path,
    *,
    accepted: Callable[[Any], bool] = lambda _: False,
    needs_item: bool = False,
    order: tuple[int, ...] = (),
) -> Iterator[Problem]:
    """Yield what is wrong with a list of mappings as such.

    Args:
        owner: the mapping that the list belongs to.
        at: where the list is; ends with its key.
        accepted: whether the platform takes a value that is not a list; MISSING where the key is missing.
        needs_item: whether an empty list is a fault.
        order: see `Problem`.
    """
    value = owner.get(at[-1], MISSING)
    is_list = isinstance(value, list)
    if (needs_item and value == []) or not (is_list or accepted(value)):
        needed = "a list with at least one item" if needs_item else "a list"
        yield Problem(f"{dotted(at)} is {as_found(value)}, and must be {needed}", at, order=order)
    for number, item in enumerate(value) if is_list else ():
        if not isinstance(item, Mapping):
            what = f"{dotted((*at, number))} is {shown(item)}, and must be a mapping"
            yield Problem(what, (*at, number), order=(*order, number))


def sorting_error(values: Iterable[Any]) -> str | None:
    """Why values cannot be sorted; None when they can."""
    try:
        sorted(values)
    except TypeError as error:
        return str(error)
    return None

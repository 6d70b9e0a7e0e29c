"""`--set key.path=value`: any value of the declaration, list items by their id or key."""

import difflib
from collections.abc import Collection, Iterable
from typing import Any

from gen_bundle.declaration.source import Source, Trail, parse_value

ADDRESS_KEYS = ("id", "key", "title", "field", "name")


def apply_overrides(source: Source, overrides: Iterable[str], known: Collection[str]) -> None:
    """Change `source.data` as each `KEY.PATH=VALUE` says; unknown paths are added to `source.problems`.

    The declaration's top may have the keys in `known`.
    Types and ranges are checked with the rest of the declaration afterwards, so an override cannot do more than the
    file could; its errors name the override.

    A revision belongs to its model: an option group that gets another `model` loses the `revision` of the one before,
    unless that is given, too.
    """
    models = {group: values.get("model") for group, values in _option_groups(source)}
    changed: set[Trail] = set()
    for override in overrides:
        path, equals, text = override.partition("=")
        label = f"--set {override}"
        if not equals or not path:
            source.problems.append(f'{label}: expected KEY.PATH=VALUE, for example phases.test.end="2025-03-11 AoE".')
            continue
        try:
            value = parse_value(text)
        except ValueError:
            source.problems.append(f"{label}: the value is not valid YAML. Quote texts with special characters.")
            continue
        try:
            trail = _set(source.data, _steps(path, known), value, ())
        except LookupError as error:
            source.problems.append(f"{label}: {error.args[0]}")
        else:
            changed.add(trail)
            source.give(trail, label)
    for group, values in _option_groups(source):
        given = changed.intersection([("options", group), ("options", group, "revision")])
        if "revision" in values and values.get("model") != models.get(group) and not given:
            values["revision"] = None


def _option_groups(source: Source) -> list[tuple[str, dict[str, Any]]]:
    options = source.data.get("options")
    return [(k, v) for k, v in options.items() if isinstance(v, dict)] if isinstance(options, dict) else []


def _steps(path: str, known: Collection[str]) -> list[str]:
    """The keys of a path. Raises LookupError where the first is not in `known`."""
    steps = path.split(".")
    if steps[0] not in known:
        raise LookupError(f"no key {steps[0]!r}. {nearest(steps[0], list(known))}")
    return steps


def _set(data: Any, path: list[str], value: Any, trail: Trail) -> Trail:
    """Set the value at `path` below `data`; returns its trail. Raises LookupError with what would be possible."""
    step, *rest = path
    here: str | int
    if isinstance(data, list):
        here = _index(data, step)
    else:
        if trail[:1] == ("options",) and step not in data:  # known by their defaults in the file
            raise LookupError(f"no option {step!r}. {nearest(step, list(data))}")
        here = step
    if not rest:
        data[here] = value
        return (*trail, here)
    if isinstance(data, dict):
        data.setdefault(here, None)
    inner = data[here]
    if inner is None:
        inner = data[here] = {}
    if isinstance(inner, dict | list):
        return _set(inner, rest, value, (*trail, here))
    raise LookupError(f"{'.'.join(map(str, (*trail, here)))} holds no further keys.")


def _index(items: list[Any], step: str) -> int:
    names = []
    for index, item in enumerate(items):
        for key in ADDRESS_KEYS:
            if isinstance(item, dict) and key in item:
                names.append(str(item[key]))
                if names[-1] == step:
                    return index
                break
    if step.isdecimal() and int(step) < len(items):
        return int(step)
    raise LookupError(f"no item {step!r}. {nearest(step, names)}")


def nearest(name: str, known: list[str]) -> str:
    """What to write instead of an unknown name."""
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    if not known:
        return "There are none."
    return f"Expected one of {', '.join(known[:30])}{' …' if len(known) > 30 else ''}."

"""Reads gold in JSON: objects, one a line or in a list, or one object whose names are the keys."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from gen_bundle.new.table import LINE_END, NUMBERED, GoldRows, raise_all


def read_json(text: str, file: str, suffix: str) -> GoldRows:
    """Objects, one a line or in a list; or one object whose names are the keys, of objects or of plain answers."""
    problems: list[str] = []
    read = _json_lines if suffix == ".jsonl" else _json_items
    found = read(text, file, problems)

    def place(number: int) -> str:
        return f"{file}:{number}" if suffix == ".jsonl" else f"{file}[{number}]"

    is_json = not problems
    names: dict[str, None] = {}
    rows = []
    for number, item in found:
        if isinstance(item, dict):
            rows.append((number, item))
            names.update(dict.fromkeys(item))
        elif is_json:
            problems.append(f"{place(number)}: is not an object. Expected {{name: value, …}}.")
    for number, item in rows:
        if not _is_unicode(item):
            problems.append(
                f"{place(number)}: holds half of a surrogate pair (\\ud800 to \\udfff). Expected whole characters."
            )
    what = "is empty, or has blanks around it or a line break in it"
    problems += [f"{file}: the name {name!r} {what}. Expected a plain name." for name in names if _is_odd(name)]
    raise_all(problems)
    columns = list(names)
    values = [list(map(item.get, columns)) for _, item in rows]
    return GoldRows(file, suffix, columns, values, [number for number, _ in rows])


def _is_odd(name: str) -> bool:
    return not name or name != name.strip() or LINE_END.search(name) is not None


def _json_lines(text: str, file: str, problems: list[str]) -> list[tuple[int, Any]]:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return [(number, _parsed(line, f"{file}:{number}", problems)) for number, line in lines]


def _json_items(text: str, file: str, problems: list[str]) -> list[tuple[int, Any]]:
    value = _parsed(text, file, problems)
    if isinstance(value, dict):
        of_objects = {isinstance(item, dict) for item in value.values()}
        if len(of_objects) > 1:
            expected = "objects alone, or plain answers alone"
            problems.append(
                f"{file}: is an object of which some values are objects, and others not. Expected {expected}."
            )
            return []
        named = (({"answer": item} if False in of_objects else item) for item in value.values())
        value = [{NUMBERED: key, **item} for key, item in zip(value, named, strict=True)]
    if not isinstance(value, list):
        if not problems:
            problems.append(f"{file}: is neither a list nor an object. Expected a list of objects, one for each row.")
        return []
    return list(enumerate(value))


def _is_unicode(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _parsed(text: str, where: str, problems: list[str]) -> Any:
    """The value of a JSON text; None, with the problem noted, where there is none."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        at = f"{where}:{error.lineno}" if "\n" in text else where
        problems.append(f"{at}:{error.colno}: not valid JSON ({error.msg}). Expected valid JSON.")
    except RecursionError:
        problems.append(f"{where}: is nested too deeply. Expected the fields of a row.")
    except ValueError as error:
        problems.append(f"{where}: {error}.")
    return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    times = Counter(name for name, _ in pairs)
    twice = [name for name, number in times.items() if number > 1]
    if twice:
        raise ValueError(f"the name {twice[0]!r} is there more than once. Expected each name once")
    return dict(pairs)


def _no_constant(name: str) -> Callable[[], None]:
    raise ValueError(f"{name} is not a JSON value. Expected a finite number, or null")

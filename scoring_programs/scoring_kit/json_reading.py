"""JSON read strictly: every duplicate key is seen, and no input ends in a traceback."""

import json
import os
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from scoring_kit.errors import Problems, shown

MEGABYTE = 1_000_000


class JsonObject(Dict[str, Any]):
    """A JSON object that remembers which of its keys occurred more than once (the last value is kept).

    >>> JsonObject([("a", 1), ("a", 2)]).duplicates
    ['a']
    """

    def __init__(self, pairs: List[Tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.duplicates: List[str] = []
        if len(self) < len(pairs):
            seen = set()
            for key, _ in pairs:
                if key in seen and key not in self.duplicates:
                    self.duplicates.append(key)
                seen.add(key)


def read_utf8(path: Path, name: str, max_megabytes: float, problems: Problems) -> Optional[str]:
    r"""Return the text of a file: UTF-8, a byte-order mark tolerated, at most `max_megabytes` million bytes; else None.

    >>> path = folder / "answers.txt"  # in a folder of yours
    >>> _ = path.write_bytes(b'\xff')
    >>> problems = Problems()
    >>> read_utf8(path, path.name, 1.0, problems)
    >>> problems.errors
    ['answers.txt:1: contains bytes that are not UTF-8. UTF-8 text is expected.']
    """
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if size > max_megabytes * MEGABYTE:
            problems.error(name, f"is {size / MEGABYTE:.1f} MB in size", f"at most {max_megabytes:g} MB")
            return None
        data = file.read()
    if data.startswith(b"PK\x03\x04"):
        problems.error(
            name, "is an Excel workbook or another zip", "UTF-8 text is expected; save the table as CSV UTF-8"
        )
        return None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        problems.error(name, "is encoded as UTF-16", "UTF-8 text is expected; save the file again as UTF-8")
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.error(f"{name}:{line}", "contains bytes that are not UTF-8", "UTF-8 text is expected")
        return None


def read_json(path: Path, name: str, max_megabytes: float, problems: Problems) -> Any:
    """Return the value of a JSON file, its objects as JsonObject; None, with the problem recorded, for no JSON.

    NaN and Infinity are read as floats, so that the caller can name the field that holds them.

    >>> path = folder / "answers.json"  # in a folder of yours
    >>> _ = path.write_text('{"label": "yes"}')
    >>> read_json(path, path.name, 1.0, Problems())
    {'label': 'yes'}
    """
    text = read_utf8(path, name, max_megabytes, problems)
    if text is None:
        return None
    try:
        return json.loads(text, object_pairs_hook=JsonObject)
    except json.JSONDecodeError as error:
        problems.error(f"{name}:{error.lineno}:{error.colno}", f"not valid JSON ({error.msg})", "one JSON object")
    except RecursionError:
        problems.error(name, "is nested too deeply", "nesting as in the template")
    except ValueError:  # a whole number of thousands of digits
        problems.error(name, "contains a number with too many digits", "numbers in the range that the format allows")
    return None


def report_duplicates(value: JsonObject, where: str, problems: Problems) -> None:
    """Record every key that an object holds twice: which of the two values is meant cannot be known.

    >>> problems = Problems()
    >>> report_duplicates(JsonObject([("a", 1), ("a", 2)]), "answers.json", problems)
    >>> problems.errors
    ['answers.json: the key "a" occurs more than once. Expected: each key once.']
    """
    for key in value.duplicates:
        problems.error(where, f"the key {shown(key)} occurs more than once", "each key once")

"""How an organiser's program speaks to the press: a JSON record a line, which nothing else that it prints looks like.

Each begins with a character of its own (RFC 7464). Runs on Python 3.9 with the standard library alone.
"""

import json
import re

RECORD = "\x1e"


def record_of(value: object) -> str:
    """JSON in which half a surrogate pair, as in a file's name that is not UTF-8, is escaped: readers refuse it."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda half: rf"\\u{ord(half[0]):x}", text)


def show_progress(step: str, done: int = 0, total: int = 0, line: str = "") -> None:
    """Tell the press how far a verb is: `step` is what is being done, `done` of `total` are finished.

    Before it begins there may be a `line` that people should read.
    """
    print(RECORD + record_of({"progress": {"step": step, "done": done, "total": total, "line": line}}), flush=True)

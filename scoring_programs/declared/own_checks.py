"""Checks of the organisers' own, `check(rows) -> problems`, called before anything is scored.

Runs on Python 3.9 with the standard library alone, because participants run it at home.
"""

import pkgutil
import threading
import traceback
from pathlib import Path
from typing import Any, Dict, List, Mapping, Sequence

from declared.answers import Answers, with_paths
from declared.tables import Key, Table
from scoring_kit.errors import OrganiserError, Problems

SECONDS = 60
"""A check may take."""
NOTHING: Mapping[str, Sequence[str]] = {}


def answered_rows(
    answers: Answers, table: Table, keys: Sequence[Key], further: Mapping[str, Sequence[str]] = NOTHING
) -> List[Any]:
    """Return the answers to each key: a dict of field → value, or a list of them; `further` has more fields.

    What other metrics read besides, or with another type, changes nothing: a field has its own type, all else is text.
    """
    columns: Dict[str, Sequence[Any]] = dict(further)
    of_rows = keys
    if table.many:
        of_rows = [keys[owner] for owner in answers.owners]
    for place, name in enumerate(table.key):
        columns[name] = [row[place] for row in of_rows]
    for (name, kind), column in answers.columns.items():
        field = table.by_name.get(name)
        if field is not None and (kind == field.type or (name, field.type) not in answers.columns):
            columns[name] = column
    rows: List[Any] = []
    for values in zip(*columns.values()):
        rows.append(dict(zip(columns, values)))
    if table.many:
        return answers.by_key(rows, len(keys))
    return rows


def run_check(check: Mapping[str, str], rows: Sequence[Any], name: str, problems: Problems) -> None:
    """Record what a check, its `file` and `function`, says of the rows (`answered_rows`) of a table's file.

    Raises:
        OrganiserError: it cannot be run, raises, takes too long, or gives something else than texts.
    """
    file = Path(check["file"]).name
    outcome: List[Any] = []

    def run() -> None:
        try:
            module = {"__name__": Path(file).stem, "__file__": file}
            if Path(check["file"]).is_file():
                source = Path(check["file"]).read_bytes()
            else:  # inside the validator
                source = pkgutil.get_data("scoring_kit", check["file"]) or b""
            exec(compile(source, file, "exec"), module)  # noqa: S102
            said: Any = NameError(f"it has no function {check['function']}")
            if check["function"] in module:
                said = module[check["function"]]([with_paths(row) for row in rows])  # type: ignore[operator]
            outcome.append(said)
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=run, daemon=True)  # one that never ends does not keep the program alive
    thread.start()
    thread.join(SECONDS)
    place = f" in {check['function']}"
    if not outcome:
        raise OrganiserError(f"{file}{place}: took more than {SECONDS} seconds. Expected a check that ends before.")
    found = outcome[0]
    if isinstance(found, BaseException):
        what = f"could not check {name} ({type(found).__name__}: {found})"
        expected = "a list of problems for any rows"
        if isinstance(found, ImportError):  # as of a file that holds metrics, too
            expected = "the standard library alone, as in a file of its own: check.py:check"
        raise OrganiserError(f"{file}{last_line(found, file)}{place}: {what}. Expected {expected}.")
    if not isinstance(found, (list, tuple)) or not all(isinstance(text, str) for text in found):
        raise OrganiserError(f"{file}{place}: gives {type(found).__name__}. Expected a list of problems, each a text.")
    where = "" if "{" in name else f"{name}: "  # a pattern is no file: the check knows which one it means
    for text in found:
        problems.repeat_error(where + text)


def last_line(error: BaseException, file: str) -> str:
    """`:LINE`, the last one of a file that ran before an exception; nothing where none did."""
    found = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == file:
            found = f":{frame.lineno}"
    return found

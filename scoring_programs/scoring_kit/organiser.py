"""The organiser's verbs of a scoring package, served by one process (`organise.py`).

The press runs it as a program; it is never packed. Standard input holds a call in each line, a JSON object with the
name of the `verb` and its `request`. Standard output gets a record for each (RFC 7464: the character RECORD before it,
a line end after it; anything else that is printed is passed over), a JSON object that holds one of

- `answer`: what the verb returns;
- `messages`: what the organiser must fix (OrganiserError, or SubmissionError with all its problems);
- `traceback`: a bug, whole, because only the organisers' own machine runs this.

Before it, a record may say how far a verb is: `progress`, an object of `step`, `done` and `total`.

The verbs that a package serves itself, each with the fields of its request
(`tasks`, `all_tasks`, `layout` and `options` in each) and its answer:

- `prepare`: `source`, the folder of a phase's data; `out`, the folder to write reference data to; `phases`, the folders
  of all phases' data. `{"warnings": […]}`.
- `check_reference`: `reference`, a folder that `prepare` wrote; in a build also `phases`, and the files that
  participants get, name → path: `given` in this phase, `given_to_all` in all phases. `{"warnings": […]}`.
- `template`: `reference`; `out`, the folder to write the empty submission to. `{}`.
- `secrets`: `reference`. `{"files": [{"name": …, "key": […], "columns": […]}, …]}`: the reference files that hold gold
  (`*` stands for any name), the titles of their secret columns or the names of their fields in JSON, and those of the
  columns that identify a row; also `public`, columns that participants may have, and `"lines": true` in place of
  columns, where every line is gold. These names travel in the scoring program, so that any check knows them.

Served for every package, unless its module has a function of that name itself: `manifest` (of `reference`, what the
module `reference` says), `rank`, `columns`, `trial`, and `disclosure` (of `reference`, the number of `submissions` and
the `decimals` of scores: how many gold values the scores give away, `declared.disclosure`; null where it is not known).
"""

import importlib
import json
import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Required, TypedDict, TypeVar

from scoring_kit.base.missing_packages import missing_package, what_is_missing
from scoring_kit.errors import OrganiserError, SubmissionError

RECORD = "\x1e"


class Request(TypedDict, total=False):
    """What the press asks of a verb; which of the paths are there depends on the verb."""

    tasks: Required[Sequence[str]]
    all_tasks: Required[Sequence[str]]
    layout: Required[str]
    options: Required[Mapping[str, Any]]
    source: str
    out: str
    reference: str
    phases: Sequence[str]
    given: Mapping[str, str]
    given_to_all: Mapping[str, str]
    submissions: int
    decimals: int | None


class Warned(TypedDict):
    """The answer of `prepare` and `check_reference`: what the organisers should know of their data."""

    warnings: Sequence[str]


class Secrets(TypedDict):
    """The answer of `secrets`; see above."""

    files: Sequence[Mapping[str, object]]


VERBS = ("prepare", "check_reference", "manifest", "template", "secrets", "rank", "columns", "trial", "disclosure")
Verb = Callable[[Mapping[str, Any]], object]
Gold = TypeVar("Gold")


def serve(module: Mapping[str, Any]) -> int:
    """Answer calls with the functions of a package's organiser module, its `globals()`, until standard input ends.

    Returns:
        The exit status.
    """
    package = str(module.get("__package__"))
    known: dict[str, Verb] = {
        "manifest": partial(_manifest, package),
        "rank": partial(_imported, "scoring_kit.ranking", "rank"),
        "columns": partial(_imported, "scoring_kit.trial", "columns"),
        "trial": partial(_imported, "scoring_kit.trial", "trial"),
        "disclosure": lambda _: None,
    }
    known |= {name: module[name] for name in VERBS if name in module}
    for line in sys.stdin:
        print(RECORD + _answered(known, json.loads(line)), flush=True)
    return 0


def read_reference(read: Callable[[Path, Sequence[str], Mapping[str, Any]], Gold], request: Request) -> Gold:
    """What a package's own `read` makes of the reference data that a request names."""
    return read(Path(request["reference"]), request["tasks"], request["options"])


def show_progress(step: str, done: int, total: int) -> None:
    """Tell the press how far a verb is: `step` is what is being done, `done` of `total` are finished."""
    print(RECORD + _json({"progress": {"step": step, "done": done, "total": total}}), flush=True)


def _answered(verbs: Mapping[str, Verb], call: Mapping[str, Any]) -> str:
    name = call["verb"]
    if name not in verbs:
        return _json({"messages": [f"no verb {name!r}. Expected one of {', '.join(sorted(verbs))}."]})
    try:
        return _json({"answer": verbs[name](call["request"])})
    except SubmissionError as error:
        return _json({"messages": error.report().splitlines()})
    except OrganiserError as error:
        return _json({"messages": error.messages})
    except ModuleNotFoundError as error:
        package = missing_package(error)
        return _json({"messages": [what_is_missing(package)]} if package else {"traceback": _traceback(error)})
    except Exception as error:
        return _json({"traceback": _traceback(error)})


def _json(record: object) -> str:
    """JSON in which half a surrogate pair, as in a file's name that is not UTF-8, is escaped: readers refuse it."""
    text = json.dumps(record, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda half: rf"\\u{ord(half[0]):x}", text)


def _traceback(error: Exception) -> str:
    return "".join(traceback.format_exception(error))


def _manifest(package: str, request: Any) -> object:
    from scoring_kit.package import reference_module

    module = reference_module(package)
    return module.manifest(read_reference(module.read, request), request["tasks"])


def _imported(module: str, name: str, request: Mapping[str, Any]) -> object:
    """The answer of a verb whose module is imported when it is asked for."""
    return getattr(importlib.import_module(module), name)(request)

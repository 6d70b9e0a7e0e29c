"""The organiser's verbs of a scoring package, served by one process: `python -m PACKAGE.organiser`.

The press runs it as a program; it is never packed. Standard input holds a call in each line, a JSON object with the
name of the `verb` and its `request`. Standard output gets a record for each (RFC 7464: the character RECORD before it,
a line end after it; anything else that is printed is passed over), a JSON object that holds one of

- `answer`: what the verb returns;
- `messages`: what the organiser must fix (OrganiserError, or SubmissionError with all its problems);
- `traceback`: a bug, whole, because only the organisers' own machine runs this.

The verbs that a package serves itself, each with the fields of its request
(`tasks`, `all_tasks`, `layout` and `options` in each) and its answer:

- `prepare`: `source`, the folder of a phase's data; `out`, the folder to write reference data to. `{"warnings": […]}`.
- `check_reference`: `reference`, a folder that `prepare` wrote. `{"warnings": […]}`.
- `manifest`: `reference`. The `expected` part of the manifest, an object of the package's own choice.
- `template`: `reference`; `out`, the folder to write the empty submission to. `{}`.
- `secrets`: `reference`. `{"texts": […], "labels": [[id, label], …], "files": [name or SHA-256, …]}`; also `published`,
  the names of reference files that participants may have, and `columns`, file → the titles of its secret columns.

`rank`, `columns` and `trial` are served for every package, unless it serves a verb of that name itself.
"""

import json
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from scoring_kit.errors import OrganiserError, SubmissionError
from scoring_kit.missing_packages import missing_package, what_is_missing

RECORD = "\x1e"
Verb = Callable[[Mapping[str, Any]], object]


def serve(verbs: Mapping[str, Verb]) -> int:
    """Answer calls until standard input ends; returns the exit status."""
    known = {"rank": _rank, "columns": _columns, "trial": _trial, **verbs}
    for line in sys.stdin:
        print(RECORD + _answered(known, json.loads(line)), flush=True)
    return 0


def _answered(verbs: Mapping[str, Verb], call: Mapping[str, Any]) -> str:
    """The line that answers a call."""
    name = call["verb"]
    if name not in verbs:
        return json.dumps({"messages": [f"no verb {name!r}. Expected one of {', '.join(sorted(verbs))}."]})
    try:
        return json.dumps({"answer": verbs[name](call["request"])})
    except SubmissionError as error:
        return json.dumps({"messages": error.report().splitlines()})
    except OrganiserError as error:
        return json.dumps({"messages": error.messages})
    except ModuleNotFoundError as error:
        package = missing_package(error)
        return json.dumps({"messages": [what_is_missing(package)]} if package else {"traceback": _traceback(error)})
    except Exception as error:
        return json.dumps({"traceback": _traceback(error)})


def _traceback(error: Exception) -> str:
    return "".join(traceback.format_exception(error))


def _rank(request: Mapping[str, Any]) -> object:
    from scoring_kit.ranking import rank

    return rank(request)


def _columns(request: Mapping[str, Any]) -> object:
    from scoring_kit.trial import columns

    return columns(request)


def _trial(request: Mapping[str, Any]) -> object:
    from scoring_kit.trial import trial

    return trial(request)

"""The organiser's verbs of a scoring package, as one small command: `python -m PACKAGE.organiser VERB`.

Every package answers `rank`, by its own rule or by the default one.

The press runs them as a program; they are never packed. A request comes as JSON on standard input, the answer goes as
JSON to standard output. Exit status 2 with messages on standard error where the organiser must mend something.
"""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from scoring_kit.errors import OrganiserError
from scoring_kit.failures import guarded

Verb = Callable[[Mapping[str, Any]], Any]


def serve(verbs: Mapping[str, Verb]) -> int:
    """Answer one request with the verb named on the command line; returns the exit status."""

    def answer() -> None:
        name = sys.argv[1] if len(sys.argv) > 1 else ""
        known = {"rank": _rank, **verbs}
        if name not in known:
            raise OrganiserError(f"no verb {name!r}. Expected one of {', '.join(sorted(known))}.")
        json.dump(known[name](json.load(sys.stdin)), sys.stdout, ensure_ascii=False)

    return guarded(answer)


def _rank(request: Mapping[str, Any]) -> Any:
    from scoring_kit.ranking import rank

    return rank(request)

"""What only the organisers of CLPsych 2025 need: preparing gold, checking it, the template, what is secret."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clpsych2025 import gold_files
from clpsych2025 import reference as gold
from clpsych2025.gold_checks import undefined_columns, weaknesses
from clpsych2025.options import check_options
from scoring_kit.errors import OrganiserError
from scoring_kit.organiser import Request, Secrets, Warned, read_reference, serve

TEMPLATE = "TEAM_SubmissionID.json"
PACKED_FILES = "files/"  # where a build puts files that options name, if they exist


def prepare(request: Request) -> Warned:
    """Turn a phase's folder, raw timelines or a prepared gold.json, into reference data.

    Returns:
        {"warnings": [...]} about annotations that look wrong but can be scored.

    Raises:
        OrganiserError: with every mistake, naming file, timeline, post and field.
    """
    source, out = Path(request["source"]), Path(request["out"])
    warnings = gold_files.prepare(source, out)
    gold.read_gold(out, request["tasks"], request["options"].get("profile", "published"))
    return {"warnings": warnings}


def check_reference(request: Request) -> Warned:
    """Validate prepared gold and the options.

    Returns:
        {"warnings": [...]}: what the organisers should know before they publish.

    Raises:
        OrganiserError: with every mistake, also a column that the gold leaves undefined under profile `published`.
    """
    tasks, options = request["tasks"], request["options"]
    messages = check_options(options)
    bertscore = options.get("bertscore")
    baseline = bertscore.get("baseline") if isinstance(bertscore, Mapping) else None
    if isinstance(baseline, str) and not baseline.startswith(PACKED_FILES):
        messages.append("options.bertscore.baseline: no such file. Expected: a file, to be copied into the program.")
    profile = options.get("profile", "published")
    try:
        reference = gold.read_gold(Path(request["reference"]), tasks, profile)
    except OrganiserError as error:
        raise OrganiserError(*messages, *error.messages) from error
    if profile == "published":
        messages += undefined_columns(reference, tasks)
    if messages:
        raise OrganiserError(*messages)
    return {"warnings": weaknesses(reference, tasks, options)}


def template(request: Request) -> dict[str, Any]:
    """Write the empty submission: every timeline and post, nothing answered."""
    given = gold.manifest(read_reference(gold.read, request), request["tasks"])
    answers = {
        timeline: {
            "timeline_level": {"summary": ""},
            "post_level": {
                post: {"adaptive_evidence": [], "maladaptive_evidence": [], "summary": "", "wellbeing_score": None}
                for post in posts
            },
        }
        for timeline, posts in given["timelines"].items()
    }
    (Path(request["out"]) / TEMPLATE).write_text(json.dumps(answers), encoding="utf-8")
    return {}


def secrets(request: Request) -> Secrets:
    """The gold that must not leak: annotated spans, summaries, and well-being scores by post."""
    return {"files": [{"name": gold.FILE, "columns": ["summary", "summary_sents", "text", "wellbeing_score"]}]}


if __name__ == "__main__":
    raise SystemExit(serve(globals()))

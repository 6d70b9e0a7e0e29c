"""The verbs that only the organisers of ARE need: prepare and check gold, manifest, template, secrets."""

from pathlib import Path
from typing import Any

from are2007 import reference
from are2007.answers import ROOT
from are2007.muc import links
from are2007.submission import ANSWERS, RESOLUTION
from scoring_kit.organiser import Request, Secrets, Warned, read_reference, serve, write_empty_answers
from scoring_kit.submission_files import copy_task_folders


def prepare(request: Request) -> Warned:
    """Copy the inputs and keys of the asked tasks; raises OrganiserError where a folder is missing."""
    copy_task_folders(Path(request["source"]), Path(request["out"]), request["tasks"], (reference.INPUT, reference.KEY))
    return {"warnings": []}


def check_reference(request: Request) -> Warned:
    """Check inputs and keys; raises OrganiserError with every fault.

    Warns of pronouns that are alone, and of tasks in which there is nothing to find.
    """
    gold = read_reference(reference.read, request)
    warnings = []
    for task, keys in gold.keys.items():
        if task not in RESOLUTION:
            if not any(links(key.chains) for key in keys.values()):
                warnings.append(f"{task}: no key has a chain of two mentions, so that every submission scores 0.")
            continue
        if not any(key.pronouns for key in keys.values()):
            warnings.append(f"{task}: no key lists an anaphoric pronoun, so that every submission scores 0.")
        for text, key in keys.items():
            alone = {chain[0] for chain in key.chains if len(chain) == 1}
            if count := len(alone.intersection(key.pronouns)):
                file = f"{task}/{text}{reference.KEY}"
                warnings.append(
                    f"{file}: pronouns that are alone in their chain cannot be resolved; there are {count}."
                )
    return {"warnings": warnings}


def template(request: Request) -> dict[str, Any]:
    """Write an answer without pairs or chains for each text."""
    nothing = f"<{ROOT}>\n</{ROOT}>\n"
    write_empty_answers(request, read_reference(reference.read, request).inputs, ANSWERS.suffix, nothing)
    return {}


def secrets(request: Request) -> Secrets:
    """Return the keys; they hold no text: a chain is a list of ids that many chains share in part."""
    return {"files": [{"name": f"{task}/*{reference.KEY}"} for task in request["tasks"]]}


if __name__ == "__main__":
    raise SystemExit(serve(globals()))

"""Packs the ingestion program of a competition that takes code, which runs the code and checks what it writes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gen_bundle.codabench.worker import time_limit
from gen_bundle.declaration.model import Phase
from gen_bundle.package.imports import imported_modules
from gen_bundle.package.resolve import Resolved
from gen_bundle.resources import resource

COMMAND = "python3 /app/program/ingest.py /app/input_data /app/ingested_program /app/output"


def entry_seconds(competition: Resolved, phase: Phase) -> int:
    """Wall-clock seconds that the code may run in a phase.

    The job's limit less a reserve for starting, checking the predictions and packing them: a tenth of the limit, at
    least 10 and at most 120 seconds.
    """
    limit = time_limit(phase.execution_time_limit, own_queue=competition.declaration.queue is not None)
    return limit - min(max(limit // 10, 10), 120)


def code_entry(competition: Resolved) -> dict[str, str] | None:
    """What is run of a submission (`scoring_kit.code_submission.CodeEntry`); None where submissions are predictions."""
    submission = competition.declaration.submission
    if not competition.takes_code:
        return None
    return {"file": str(submission.entry), "interface": submission.interface or "function"}


def ingestion_members(competition: Resolved, phase: Phase, manifest: Mapping[str, Any]) -> dict[str, bytes | Path]:
    """The files of a phase's ingestion program; `manifest` is what participants may know, without gold."""
    kit, package = resource("scoring_programs"), competition.package
    description = {
        "title": competition.declaration.title,
        "package": package.name,
        "entry": code_entry(competition),
        "seconds": entry_seconds(competition, phase),
        "memory_mib": competition.declaration.submission.memory,
        "manifest": {**manifest, "options": competition.public_options},
    }
    started = (f"{package.name}.submission", "ingestion_kit.ingestion")
    return {
        "metadata.yaml": f"command: {COMMAND}\n".encode(),
        "ingest.py": kit / "ingest.py",
        "program.json": json.dumps(description, indent=1, ensure_ascii=False, default=str).encode(),
        "scoring_kit/NOTICE": kit / "scoring_kit" / "NOTICE",
        "ingestion_kit/call_predict.py": kit / "ingestion_kit" / "call_predict.py",
        **imported_modules(started, (package.folder, kit / "scoring_kit", kit / "ingestion_kit")),
    }

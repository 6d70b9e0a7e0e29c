"""What a starting kit holds where participants hand in code: an example to begin with, and what runs it on a sample."""

from collections.abc import Mapping
from pathlib import Path

from gen_bundle.package.code_template import code_template
from gen_bundle.package.given_files import SAMPLE
from gen_bundle.package.ingestion import ingestion_members
from gen_bundle.package.phase_data import PhaseData
from gen_bundle.package.resolve import Resolved
from gen_bundle.render.validator import TEMPLATES


def first_entry(competition: Resolved, data: PhaseData) -> Mapping[str, bytes | Path]:
    """The submission to begin with: the first baseline, else code that writes the empty template."""
    if data.baselines:
        return next(iter(data.baselines.values()))
    return code_template(competition.declaration.submission, data.template)


def sample_members(data: PhaseData) -> dict[str, bytes | Path]:
    """The sample's files by their names in the kit; empty where the public data have none with input and gold."""
    members = {name: content for name, content in data.public.items() if name.startswith(f"{SAMPLE}/")}
    parts = {name.split("/")[1] for name in members if name.count("/") > 1}
    return members if {"input", "gold"} <= parts else {}


def running_members(competition: Resolved, data: PhaseData) -> dict[str, bytes | Path]:
    """`try.py`, the ingestion program that it calls, and the sample."""
    ingestion = ingestion_members(competition, data.phase, data.manifest)
    return {
        "try.py": TEMPLATES / "try.py",
        **{f"ingestion/{name}": content for name, content in ingestion.items()},
        **sample_members(data),
    }

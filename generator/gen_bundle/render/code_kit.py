"""What a starting kit holds where participants hand in code: what runs the example on a sample."""

from pathlib import Path

from gen_bundle.package.given_files import SAMPLE
from gen_bundle.package.ingestion import ingestion_members
from gen_bundle.package.phase_data import PhaseData
from gen_bundle.package.resolve import Resolved
from gen_bundle.render.validator import TEMPLATES


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

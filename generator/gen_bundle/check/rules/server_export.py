"""Bundles that the server itself wrote: exports ("dumps") of a competition, which lose some of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gen_bundle.check.registry import Effect, Problem, rule
from gen_bundle.codabench.versions import SOURCE

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle


@rule(
    "server-export",
    Effect.TRAP,
    title="an export of the server",
    consequence="It does not hold all of the competition: times of day, the primary column (0 again), public data, "
    "starting kits and `ingestion_only_during_scoring` are lost, and a task of several phases is there several times.",
    repair="Upload the original bundle where there is one (the server keeps it beside its exports), or put back what "
    "is lost: quoted times, `primary_index`, `public_data`, `starting_kit`.",
    source=f"{SOURCE}, src/apps/competitions/tasks.py (create_competition_dump)",
)
def _server_export(bundle: Bundle) -> Iterator[Problem]:
    tasks, phases = bundle.entries("tasks"), bundle.entries("phases")
    # keys that nobody else writes into each task and each phase
    if tasks and phases and all("is_public" in t.value for t in tasks) and all("solutions" in p.value for p in phases):
        yield Problem("the bundle is the server's own export", ("version",))

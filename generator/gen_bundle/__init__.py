"""Generates competition bundles for Codabench and CodaLab and runs them as the platform would.

The public API is what `__all__` lists; docs/api.md shows it at work. A name is imported when it is first used.
"""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gen_bundle.building import BuildRequest, Built, DraftError, build
    from gen_bundle.check import Finding, Report
    from gen_bundle.check import check_path as check
    from gen_bundle.codabench.versions import PlatformVersion
    from gen_bundle.errors import UserError
    from gen_bundle.ranking import RankRequest, rank
    from gen_bundle.render.rankings import Ranking
    from gen_bundle.twin.dry_run import DryRunRequest, dry_run
    from gen_bundle.twin.report import Results

__all__ = [
    "BuildRequest",
    "Built",
    "DraftError",
    "DryRunRequest",
    "Finding",
    "PlatformVersion",
    "RankRequest",
    "Ranking",
    "Report",
    "Results",
    "UserError",
    "build",
    "check",
    "dry_run",
    "rank",
]

_HOMES = {
    "building": ("BuildRequest", "Built", "DraftError", "build"),
    "check": ("Finding", "Report"),
    "codabench.versions": ("PlatformVersion",),
    "errors": ("UserError",),
    "ranking": ("RankRequest", "rank"),
    "render.rankings": ("Ranking",),
    "twin.dry_run": ("DryRunRequest", "dry_run"),
    "twin.report": ("Results",),
}
_PLACES = {name: (module, name) for module, names in _HOMES.items() for name in names}
_PLACES["check"] = ("check", "check_path")


# For `scoring_kit.base`, which the press shares with scorers: as `resource("scoring_programs")`, without pathlib.
_PACKAGED = f"{__path__[0]}/resources"
_ROOT = _PACKAGED if os.access(_PACKAGED, os.F_OK) else f"{__path__[0]}/../.."
sys.path.append(f"{_ROOT}/scoring_programs")

if not TYPE_CHECKING:  # a type checker would let every name pass
    # Loaded first, without what is in it: `check` is the function then, and no later import takes the name back.
    import_module(f"{__name__}.check")
    del globals()["check"]

    def __getattr__(name: str) -> Any:
        if name not in _PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module, attribute = _PLACES[name]
        return getattr(import_module(f"{__name__}.{module}"), attribute)


def __dir__() -> list[str]:
    return list(__all__)

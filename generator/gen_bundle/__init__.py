"""Generates competition bundles for Codabench and CodaLab and runs them as the platform would.

The public API is what `__all__` lists; docs/api.md shows it at work. A name is imported when it is first used.
"""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gen_bundle.after.ranking import RankRequest, rank
    from gen_bundle.build.building import BuildRequest, Built, DraftError, build
    from gen_bundle.build.render.rankings import Ranking
    from gen_bundle.check import Finding, Report
    from gen_bundle.check import check_path as check
    from gen_bundle.codabench.versions import PlatformVersion
    from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
    from gen_bundle.dry_run.report import Results
    from gen_bundle.ground.errors import UserError

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
    "build.building": ("BuildRequest", "Built", "DraftError", "build"),
    "check": ("Finding", "Report"),
    "codabench.versions": ("PlatformVersion",),
    "ground.errors": ("UserError",),
    "after.ranking": ("RankRequest", "rank"),
    "build.render.rankings": ("Ranking",),
    "dry_run.dry_run": ("DryRunRequest", "dry_run"),
    "dry_run.report": ("Results",),
}
_PLACES = {name: (module, name) for module, names in _HOMES.items() for name in names}
_PLACES["check"] = ("check", "check_path")


# For `scoring_kit.base`, which the press shares with scorers: as `resource("scoring_programs")`, without pathlib.
_PACKAGED = f"{__path__[0]}/resources"
_ROOT = _PACKAGED if os.access(_PACKAGED, os.F_OK) else f"{__path__[0]}/../.."
sys.path.append(f"{_ROOT}/scoring_programs")

if not TYPE_CHECKING:  # a type checker would let every name pass
    # Loaded first, without what is in them: the names are the functions' then, and no later import takes them back.
    for folder in ("build", "check", "dry_run"):
        import_module(f"{__name__}.{folder}")
        del globals()[folder]

    def __getattr__(name: str) -> Any:
        if name not in _PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module, attribute = _PLACES[name]
        return getattr(import_module(f"{__name__}.{module}"), attribute)


def __dir__() -> list[str]:
    return list(__all__)

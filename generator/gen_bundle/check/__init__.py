"""Predicts whether Codabench would accept a bundle, and what would happen afterwards."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gen_bundle.check.bundle import DryRun, Elsewhere
    from gen_bundle.check.report import Finding, Report
    from gen_bundle.check.run import check_path

__all__ = ["DryRun", "Elsewhere", "Finding", "Report", "check_path"]

_HOMES = {"DryRun": "bundle", "Elsewhere": "bundle", "Finding": "report", "Report": "report", "check_path": "run"}

if not TYPE_CHECKING:  # a type checker would let every name pass

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

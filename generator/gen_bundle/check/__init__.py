"""Predicts whether Codabench would accept a bundle, and what would happen afterwards."""

from gen_bundle.check.bundle import DryRun, Elsewhere
from gen_bundle.check.report import Finding, Report
from gen_bundle.check.run import check_path

__all__ = ["DryRun", "Elsewhere", "Finding", "Report", "check_path"]

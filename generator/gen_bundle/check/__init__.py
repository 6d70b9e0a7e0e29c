"""Says what Codabench would say of a bundle, and what would happen afterwards."""

from gen_bundle.check.report import Finding, Report
from gen_bundle.check.run import check_path
from gen_bundle.check.secrets import Secrets

__all__ = ["Finding", "Report", "Secrets", "check_path"]

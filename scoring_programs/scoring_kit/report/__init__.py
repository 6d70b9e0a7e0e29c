"""The pages that a run leaves, `detailed_results.html`: what they show, what they withhold, how they look."""

from scoring_kit.report.document import failure_page
from scoring_kit.report.page import ScoredRun, results_page

__all__ = ["ScoredRun", "failure_page", "results_page"]

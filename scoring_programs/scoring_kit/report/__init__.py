"""The pages that a run leaves, `detailed_results.html`: what they show, what they withhold, how they look."""

from scoring_kit.report.document import failure_page
from scoring_kit.report.page import RunFacts, results_page

__all__ = ["RunFacts", "failure_page", "results_page"]

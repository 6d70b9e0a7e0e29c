"""The results page of a run, `detailed_results.html`: what it shows, what it withholds, how it looks."""

from scoring_kit.report.page import results_page

__all__ = ["results_page"]

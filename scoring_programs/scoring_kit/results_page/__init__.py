"""The pages that a run leaves, `detailed_results.html`: what they show, what they withhold, how they look."""

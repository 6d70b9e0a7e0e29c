"""CLPsych 2025: evidence, well-being and summaries of self-states in social media timelines."""

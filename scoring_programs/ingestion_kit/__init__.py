"""Runs submitted code: in a process of its own, without gold, within its limits. See docs/code-submissions.md."""

"""All submissions to a phase scored again, here or on many machines, and what that changes: docs/rescore.md."""

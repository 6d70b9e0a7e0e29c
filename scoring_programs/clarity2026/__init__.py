"""CLARITY (SemEval-2026 Task 6): how clearly politicians answer, and how they evade."""

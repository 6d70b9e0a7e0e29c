"""Generates competition bundles for Codabench and CodaLab and runs them as the platform would."""

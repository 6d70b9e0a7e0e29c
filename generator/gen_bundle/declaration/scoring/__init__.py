"""Scoring without Python: from tables and columns of bundle.yaml to what the package `declared` gets of them."""

from gen_bundle.declaration.scoring.settle import DECLARED, DeclaredScoring, settle

__all__ = ["DECLARED", "DeclaredScoring", "settle"]

"""Scoring without Python: from tables and columns of bundle.yaml to the options of the scoring package `declared`."""

from gen_bundle.declaration.declared.settle import DECLARED, settle

__all__ = ["DECLARED", "settle"]

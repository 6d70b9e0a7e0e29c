"""Scoring without Python: tables, metrics and columns of bundle.yaml → what the scoring package `declared` is told."""

from gen_bundle.declaration.declared.settle import DECLARED, settle

__all__ = ["DECLARED", "settle"]

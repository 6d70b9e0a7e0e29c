"""The final report of a shared task: who won, by how much, and how sure that is. Written by `gen-bundle rank --report`.

What it says is computed by the scoring package (`scoring_kit.resampling`); this room makes pages, tables and figures.
"""

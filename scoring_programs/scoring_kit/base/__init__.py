"""Shared by scorers and the press: standard library alone, Python 3.9."""

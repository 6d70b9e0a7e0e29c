"""Metrics that know no competition."""

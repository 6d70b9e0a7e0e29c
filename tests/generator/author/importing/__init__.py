"""Bundles of others become projects."""

"""Bundles of others become projects: a bundle is opened, its files are put in places, and bundle.yaml is written."""

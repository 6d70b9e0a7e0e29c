"""Resolved competition → the files of a bundle: pages, tables, starting kit."""

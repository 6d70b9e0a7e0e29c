"""Zips and folders: writing, unpacking, looking inside without writing."""

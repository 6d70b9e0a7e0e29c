"""The scorer of competitions that need no Python: tables matched by key, metrics of well-kept libraries."""

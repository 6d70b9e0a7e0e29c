"""The rules of the check, one topic a module."""

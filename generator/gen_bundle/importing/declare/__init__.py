"""A foreign scorer as a declaration: recognised by its code and data, and held against it, value by value."""

"""The ground that every room stands on: archives, YAML with positions, local files, resources, errors."""

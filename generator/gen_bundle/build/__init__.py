"""From bundle.yaml to the zip."""

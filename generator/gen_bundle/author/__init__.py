"""What begins a project: new ones, and those made of existing bundles."""

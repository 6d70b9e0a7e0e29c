"""Projects begin here: new ones, and those made of existing bundles."""

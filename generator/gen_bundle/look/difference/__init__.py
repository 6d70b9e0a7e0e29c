"""The differences of two bundles in meaning, each with what it takes to bring it onto the platform."""

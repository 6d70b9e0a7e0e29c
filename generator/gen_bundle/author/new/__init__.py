"""Starts a competition: from gold data, from a recipe, from a bundled one, or with a scoring package of one's own."""

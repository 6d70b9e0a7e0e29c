"""A bundle as participants will meet it, as one static page."""

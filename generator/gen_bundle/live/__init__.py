"""The live platform: logging in, uploading a bundle, watching a competition, and fetching what participants sent."""

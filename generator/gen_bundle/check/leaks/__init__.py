"""The search for gold in what participants can read."""

"""Foreign scorers become declarations."""

"""How often intervals of the final report hold the true value."""

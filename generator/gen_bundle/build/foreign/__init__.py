"""Projects whose programs are somebody else's: packed as they are, and ranked by the scores that they gave."""

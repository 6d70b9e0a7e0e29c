"""A scoring package seen from outside: its organiser verbs, its programs, each phase's data."""

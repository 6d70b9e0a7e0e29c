"""A competition with its scoring package, seen from outside: organiser verbs, programs, each phase's data."""

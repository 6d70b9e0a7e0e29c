"""The platform's worker, replayed: what a submission's two jobs see, which rules decide, and what runs them."""

"""Whether a test set is large enough, before anybody has submitted."""

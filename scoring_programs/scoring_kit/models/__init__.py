"""Finding, loading and running transformer models: offline, on CPU or GPU, the same under transformers 4.57 and 5."""

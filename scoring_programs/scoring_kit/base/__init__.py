"""What scorers and the press share: standard library alone, Python 3.9."""

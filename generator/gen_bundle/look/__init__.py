"""Looking at a competition before it is uploaded: preview, differences, power."""

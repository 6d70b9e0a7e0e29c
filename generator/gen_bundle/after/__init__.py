"""After the competition: ranking, final report, rescoring, verifying."""

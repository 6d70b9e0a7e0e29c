"""Shared by all scoring programs: the frame, reading submissions, the results page and metrics.

Knows no competition. The modules that a `submission.py` imports (errors, manifest, submission_files, json_reading,
csv_reading) run on Python 3.9 with the standard library alone, because participants run them at home.
"""

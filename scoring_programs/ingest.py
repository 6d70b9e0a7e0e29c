#!/usr/bin/env python3
"""Runs a submission's code: `python3 ingest.py INPUT SUBMISSION OUTPUT`."""

import sys
from pathlib import Path

from ingestion_kit.ingestion import main

raise SystemExit(main(Path(__file__).resolve().parent, sys.argv[1:]))

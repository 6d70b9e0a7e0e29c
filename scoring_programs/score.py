#!/usr/bin/env python3
"""Scores one submission: `python3 score.py INPUT OUTPUT [--task ID]` (INPUT holds `ref/` and `res/`)."""

import sys
from pathlib import Path

from scoring_kit.frame import main

raise SystemExit(main(Path(__file__).resolve().parent, sys.argv[1:]))

#!/usr/bin/env python3
"""Scores one submission: `python3 score.py INPUT OUTPUT [--task ID]` (INPUT holds `ref/` and `res/`)."""

import os
import sys
import warnings
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))  # where Python puts it, except with -I
sys.path.append(str(FOLDER / "site"))  # packages that the image may lack; what it has goes before

from scoring_kit.frame import main  # noqa: E402

if os.environ.get("SCORING_DEBUG") != "1":
    # Participants read stderr: a library's warning has a path of this machine in it, and may quote gold.
    warnings.showwarning = lambda *_, **__: None
raise SystemExit(main(FOLDER, sys.argv[1:]))

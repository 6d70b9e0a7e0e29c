"""Speed and memory of the scoring programs, measured and printed, never asserted: `python -m research.benchmarks`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scoring_programs"))

#!/usr/bin/env python3
"""The validator under the name that the shared task's instructions use: `python submission_validator.py -f FILE`."""

import argparse
import runpy
import sys
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("-f", "--file", required=True, help="the submission: a JSON file, a zip or a folder")
sys.argv = ["validate.pyz", parser.parse_args().file]
runpy.run_path(str(Path(__file__).resolve().parent / "validate.pyz"), run_name="__main__")

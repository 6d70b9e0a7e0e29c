"""Write the table of docs/disclosure.md anew: `python -m tests.disclosure`."""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scoring_programs"))

from tests.disclosure.attacks import ATTACKS  # noqa: E402 - the scorers are no installed package
from tests.disclosure.table import row, write  # noqa: E402

with tempfile.TemporaryDirectory() as work:
    write({name: row(attack, Path(work) / name) for name, attack in ATTACKS.items()})

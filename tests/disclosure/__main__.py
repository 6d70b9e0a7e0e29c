"""Write the table of docs/disclosure.md anew: `python -m tests.disclosure`."""

import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scoring_programs"))

from tests.disclosure.attacks import ATTACKS  # noqa: E402 - the scorers are no installed package
from tests.disclosure.table import MEMORIES, best_sizes, row, write  # noqa: E402

with tempfile.TemporaryDirectory() as name:
    work = Path(name)
    sizes = {attack: best_sizes(ATTACKS[attack], work / attack / "sizes") for attack in ATTACKS}
    write({attack: row(ATTACKS[attack], sizes[attack], work / attack) for attack in ATTACKS})
MEMORIES.write_text(json.dumps(sizes, indent=1) + "\n", encoding="utf-8")

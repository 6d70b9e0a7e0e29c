"""Write the tables of docs/disclosure.md anew: `python -m tests.disclosure`."""

import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scoring_programs"))

from tests.disclosure import table  # noqa: E402 - the scorers are not an installed package
from tests.disclosure.attacks import ALONE, ATTACKS  # noqa: E402

with tempfile.TemporaryDirectory() as name:
    work = Path(name)
    sizes = {attack: table.best_sizes(ATTACKS[attack], work / attack / "sizes") for attack in ATTACKS}
    rows = {attack: table.row(ATTACKS[attack], sizes[attack], work / attack) for attack in ATTACKS}
    sizes |= {figure: table.best_sizes(ALONE[figure], work / figure, [table.FULL]) for figure in ALONE}
    table.MEMORIES.write_text(json.dumps(sizes, indent=1) + "\n", encoding="utf-8")
    table.write(table.ATTACKED, table.attack_table(rows))
    attacked = table.attacked()
    items = {attack: numbers[0] for attack, numbers in attacked.items()}
    table.write(table.BOUNDS, table.bound_table(items))
    table.write(table.FIGURES, table.figure_table(items, table.found_alone(attacked, sizes, work)))

"""Write the tables of README.md anew: `python -m research.disclosure [attack …]`, all attacks or those named.

Needs the models' packages, and NLTK_DATA to name a folder with Punkt, for the attacks on CLPsych's A.1, B and C.
"""

import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scoring_programs"))

from research.disclosure import table  # noqa: E402 - the scorers are not an installed package
from research.disclosure.attacks import ALONE, ATTACKS, COLUMNS, MODEL_ATTACKS  # noqa: E402

EVERY = {**MODEL_ATTACKS, **ATTACKS}
if unknown := set(sys.argv[1:]) - EVERY.keys():
    sys.exit(f"no such attack: {', '.join(sorted(unknown))}. Expected one of {', '.join(EVERY)}.")
named = sys.argv[1:] or list(EVERY)

with tempfile.TemporaryDirectory() as name:
    work = Path(name)
    sizes = json.loads(table.MEMORIES.read_text(encoding="utf-8"))
    sizes |= {
        attack: table.best_sizes(ATTACKS[attack], work / attack / "sizes") for attack in ATTACKS if attack in named
    }
    rows = {attack: table.row(EVERY[attack], sizes.get(attack, table.NO_MEMORY), work / attack) for attack in named}
    table.write(table.ATTACKED, table.attack_table(rows, EVERY))
    attacked = table.attacked()
    items = {attack: numbers[0] for attack, numbers in attacked.items()}
    table.write(table.BOUNDS, table.bound_table(items))
    found = {figure: cell for figure, cell, *_ in table.documented(table.FIGURES)[1:]}
    found |= {figure: str(attacked[attack][2]) for figure, attack in COLUMNS.items()}
    if named == list(EVERY):
        sizes |= {figure: table.best_sizes(ALONE[figure], work / figure, [table.FULL]) for figure in ALONE}
        found = {figure: str(decided) for figure, decided in table.found_alone(attacked, sizes, work).items()}
    table.MEMORIES.write_text(json.dumps(sizes, indent=1) + "\n", encoding="utf-8")
    table.write(table.FIGURES, table.figure_table(items, found))

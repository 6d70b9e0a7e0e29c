"""The table of docs/disclosure.md: how many gold items each attack decides in each setting."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tests.disclosure.attacks import Attack, Found
from tests.disclosure.oracle import Setting

SIZES = (40_000, 150_000, 400_000)
"""How many golds an attacker may keep in mind; with which he finds the most, he tries on gold that he makes up."""

MEMORIES = Path(__file__).with_name("memories.json")
"""Attack → with which size it finds the most, in each setting. Written with the table, so that tests try no other."""

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "disclosure.md"
# from all that can be shown to the least
SETTINGS: Mapping[str, Setting] = {
    "`full`": Setting("full"),
    "`headline`": Setting("headline"),
    "`headline`, 4 decimals": Setting("headline", 4),
    "`headline`, 2 decimals": Setting("headline", 2),
}
BEGIN, END = "<!-- attacks -->\n", "<!-- end of attacks -->\n"


def best_sizes(attack: Attack, work: Path) -> list[int]:
    """With which memory an attack finds the most, in each setting."""
    return [
        max(SIZES, key=lambda size: attack(work / f"{i}-{size}", replace(setting, memory=size)).items)
        for i, setting in enumerate(SETTINGS.values())
    ]


def row(attack: Attack, sizes: Sequence[int], work: Path) -> list[Found]:
    """What an attack finds in each setting; whoever sees more may look at what a weaker setting shows alone."""
    rows: list[Found] = []
    for setting, size in reversed(list(zip(SETTINGS.values(), sizes, strict=True))):
        found = attack(work / str(len(rows)), replace(setting, memory=size))
        assert found.all_true, "an attack claims only what follows"
        rows.insert(0, max([found, *rows[:1]], key=lambda one: one.items))
    return rows


def documented() -> dict[str, list[int]]:
    """Attack → how many items there are, and how many it decides in each setting, as the document says."""
    text = DOCUMENT.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    _, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line]
    return {name: list(map(int, cells)) for name, *cells in rows}


def write(rows: Mapping[str, list[Found]]) -> None:
    """Put the table in its place in the document: name of the attack → what it found in each setting."""
    lines = [f"| gold items | how many | {' | '.join(SETTINGS)} |", "|---|--:|" + "--:|" * len(SETTINGS)]
    for name, found in rows.items():
        lines.append(f"| {name} | {found[0].of} | {' | '.join(str(one.items) for one in found)} |")
    before, rest = DOCUMENT.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    DOCUMENT.write_text(before + BEGIN + "\n".join(lines) + "\n" + END + after, encoding="utf-8")

"""The tables of README.md: what the attacks decide in each setting, and what any decoder can at most."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from research.disclosure.attacks import ALONE, COLUMNS, Attack
from research.disclosure.found import Found
from research.disclosure.golds import golds
from research.disclosure.oracle import Setting

SIZES = (40_000, 150_000, 400_000)
"""How many golds an attacker may keep in mind; with which he finds the most, he tries on gold that he makes up."""

NO_MEMORY = [0] * 4
"""For an attack that keeps no golds in mind, in each setting."""

MEMORIES = Path(__file__).with_name("memories.json")
"""Attack → with which size it finds the most, in each setting. Written with the table, so that tests try no other."""

DOCUMENT = Path(__file__).with_name("README.md")
# from all that can be shown to the least
FULL = "`full`"
SETTINGS: Mapping[str, Setting] = {
    FULL: Setting("full"),
    "`headline`": Setting("headline"),
    "`headline`, 4 decimals": Setting("headline", 4),
    "`headline`, 2 decimals": Setting("headline", 2),
}
DECIMALS: Mapping[str, int | None] = {"exact": None, "4 decimals": 4, "2 decimals": 2}
ATTACKED, BOUNDS, FIGURES = "attacks", "bounds", "figures"
"""The tables, by the name of the comment before each."""

Table = Sequence[Sequence[str]]


def best_sizes(attack: Attack, work: Path, settings: Sequence[str] = tuple(SETTINGS)) -> list[int]:
    """With which memory an attack finds the most, in each setting."""
    return [
        max(SIZES, key=lambda size: attack(work / f"{i}-{size}", replace(SETTINGS[name], memory=size)).items)
        for i, name in enumerate(settings)
    ]


def row(attack: Attack, sizes: Sequence[int], work: Path) -> list[Found]:
    """What an attack finds in each setting; who sees more may look at only what a weaker setting shows."""
    rows: list[Found] = []
    for setting, size in reversed(list(zip(SETTINGS.values(), sizes, strict=True))):
        found = attack(work / str(len(rows)), replace(setting, memory=size))
        assert found.all_true, "an attack claims only what follows"
        rows.insert(0, max([found, *rows[:1]], key=lambda one: one.items))
    return rows


def attack_table(rows: Mapping[str, list[Found]], names: Iterable[str]) -> Table:
    """Name of the attack → how many items there are, and how many it decides in each setting.

    Attacks that are not among the rows keep what the document says of them.
    """
    known = {name: cells for name, *cells in documented(ATTACKED)[1:]}
    for name, found in rows.items():
        known[name] = [str(found[0].of), *(str(one.items) for one in found)]
    return [["gold items", "how many", *SETTINGS], *([name, *known[name]] for name in names)]


def bound_table(items: Mapping[str, int]) -> Table:
    """Gold → how many items there are, and how many any decoder decides at most, from all that a setting shows."""
    rows = [["gold items", "how many", "submissions", *SETTINGS]]
    for gold in golds(items):
        most = [str(gold.at_most(gold.bits(setting))) for setting in SETTINGS.values()]
        rows.append([gold.name, str(len(gold.items)), str(gold.submissions), *most])
    return rows


def figure_table(items: Mapping[str, int], found: Mapping[str, object]) -> Table:
    """Figure → how many items an attack on it alone decides, how many any attack can, and its bits a submission.

    Args:
        items: how many gold items the attack of this name is about.
        found: figure → what an attack decides that sees the exact figure alone.
    """
    rows = [["figure", "attack", *(f"at most, {name}" for name in DECIMALS), *(f"bits, {name}" for name in DECIMALS)]]
    for gold in golds(items):
        shown_alone = dict.fromkeys([*gold.board, *gold.full, *gold.follow])
        for shown in (one for one in shown_alone if one.name.startswith(gold.task)):
            one = replace(shown, number=1)
            bits = [one.bits([decimals] * gold.submissions) for decimals in DECIMALS.values()]
            most = [str(gold.at_most(every)) for every in bits]
            by_attack = str(found.get(shown.name, "–"))
            rows.append([shown.name, by_attack, *most, *(f"{every / gold.submissions:.1f}" for every in bits)])
    return rows


def found_alone(
    attacked: Mapping[str, Sequence[int]], sizes: Mapping[str, Sequence[int]], work: Path
) -> dict[str, int]:
    """Figure → how many items the attack decides that looks at it alone; those on columns are in the first table."""
    found = {figure: attacked[name][2] for figure, name in COLUMNS.items()}
    for number, (figure, attack) in enumerate(ALONE.items()):
        one = attack(work / f"alone{number}", replace(SETTINGS[FULL], memory=sizes[figure][0]))
        assert one.all_true, "an attack claims only what follows"
        found[figure] = one.items
    return found


def documented(table: str) -> Table:
    """A table as the document has it, with its header."""
    text = DOCUMENT.read_text(encoding="utf-8").split(_begin(table))[1].split(_end(table))[0]
    header, _, *rows = [line for line in text.splitlines() if line]
    return [list(map(str.strip, line.strip("|").split("|"))) for line in (header, *rows)]


def attacked() -> dict[str, list[int]]:
    """Attack → how many items there are, and how many it decides in each setting, as the document says."""
    return {name: list(map(int, cells)) for name, *cells in documented(ATTACKED)[1:]}


def write(table: str, rows: Table) -> None:
    """Put a table in its place in the document."""
    header, *body = rows
    lines = [_line(header), "|---|" + "--:|" * (len(header) - 1), *map(_line, body)]
    before, rest = DOCUMENT.read_text(encoding="utf-8").split(_begin(table))
    _, after = rest.split(_end(table))
    content = "".join(f"{line}\n" for line in lines)
    DOCUMENT.write_text(before + _begin(table) + content + _end(table) + after, encoding="utf-8")


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _begin(table: str) -> str:
    return f"<!-- {table} -->\n"


def _end(table: str) -> str:
    return f"<!-- end of {table} -->\n"

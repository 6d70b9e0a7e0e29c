"""What ruff has no rule for: nothing hard stands within another, and lines are not denser than a reader likes.

That functions have few paths is ruff's `C901`.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("docker", "generator", "scoring_programs")
MOST = 40
"""Comprehensions and calls of `CALLS` together, in 1,000 lines. It is to be lowered, and never raised."""
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
CALLS = frozenset({"map", "filter", "starmap", "partial", "itemgetter", "attrgetter", "methodcaller"})


@cache
def modules() -> dict[str, ast.Module]:
    """The modules of the product by their paths; a scaffold is none."""
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]
    names = {file.relative_to(ROOT).as_posix(): file for file in files if "scaffold" not in file.parts}
    return {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in names.items()}


def below(node: ast.AST, kinds: frozenset[type]) -> Iterator[tuple[ast.AST, frozenset[type]]]:
    """Every node, with the kinds of hard nodes that it stands within."""
    for child in ast.iter_child_nodes(node):
        yield child, kinds
        own = type(child)
        yield from below(child, kinds | {own} if own is ast.IfExp or own in COMPREHENSIONS else kinds)


def test_nothing_hard_is_nested() -> None:
    comprehensions = frozenset(COMPREHENSIONS)
    found: list[tuple[str, ast.expr]] = []
    for name, module in modules().items():
        for node, within in below(module, frozenset()):
            if isinstance(node, COMPREHENSIONS) and within & comprehensions:
                found.append((name, node))
            if isinstance(node, ast.IfExp) and ast.IfExp in within:
                found.append((name, node))
            if isinstance(node, ast.Call):
                given = [*node.args, *[keyword.value for keyword in node.keywords]]
                found += [(name, one) for one in given if isinstance(one, ast.IfExp)]
    assert [f"{name}:{node.lineno}" for name, node in found] == []


def test_lines_are_not_dense() -> None:
    lines = sum((ROOT / name).read_text(encoding="utf-8").count("\n") for name in modules())
    counted: Counter[str] = Counter()
    for module in modules().values():
        for node in ast.walk(module):
            if isinstance(node, COMPREHENSIONS):
                counted["comprehensions"] += 1
            elif isinstance(node, ast.Call):
                name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                counted[name] += name in CALLS
    assert 1000 * counted.total() / lines <= MOST, counted.most_common(8)

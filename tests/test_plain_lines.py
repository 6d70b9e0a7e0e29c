"""What ruff has no rule for: nothing hard stands within another, and lines are not denser than a reader likes.

That functions have few paths is ruff's `C901`.
"""

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("docker", "generator", "scoring_programs")
MOST = 28
"""Comprehensions and calls of `CALLS` together, in 1,000 lines. It is to be lowered, and never raised."""
COMPREHENSIONS = frozenset([ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp])
CALLS = frozenset({"map", "filter", "starmap", "partial", "itemgetter", "attrgetter", "methodcaller"})


def looked_at(text: str, counted: Counter[str]) -> list[int]:
    """Count what is dense in a module; returns the lines of what stands within another.

    That is a comprehension within one, a conditional expression within one, and one as an argument of a call.
    """
    nested: list[int] = []
    waiting: list[tuple[ast.AST, bool, bool]] = [(ast.parse(text), False, False)]
    while waiting:
        node, in_comprehension, in_conditional = waiting.pop()
        kind = type(node)
        if kind in COMPREHENSIONS:
            counted["comprehensions"] += 1
            if in_comprehension:
                nested.append(node.lineno)  # type: ignore[attr-defined]
            in_comprehension = True
        elif isinstance(node, ast.IfExp):
            if in_conditional:
                nested.append(node.lineno)
            in_conditional = True
        elif isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            counted[name] += name in CALLS
            given = [*node.args, *[keyword.value for keyword in node.keywords]]
            nested += [one.lineno for one in given if isinstance(one, ast.IfExp)]
        for child in ast.iter_child_nodes(node):
            waiting.append((child, in_comprehension, in_conditional))
    return nested


def test_nothing_hard_is_nested_and_lines_are_not_dense() -> None:
    counted: Counter[str] = Counter()
    lines, nested = 0, []
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            if "scaffold" in file.parts:
                continue  # it is no code of ours
            text = file.read_text(encoding="utf-8")
            lines += text.count("\n")
            nested += [f"{file.relative_to(ROOT)}:{line}" for line in looked_at(text, counted)]
    assert nested == []
    assert 1000 * counted.total() / lines <= MOST, counted.most_common(8)

"""Functions of the product and of scripts have few paths, and no comprehension or choice stands within another."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("bundles", "docker", "docs", "generator", "research", "scoring_programs")
MOST_PATHS = 12
"""Of a function: one, and one more for each branch, loop, handler, `and`, `or`, and clause of a comprehension."""
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.IfExp, ast.ExceptHandler, ast.Assert, ast.match_case)


@cache
def modules() -> dict[str, ast.Module]:
    """The modules of the product and of scripts by their paths; a scaffold is none."""
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    names = {file.relative_to(ROOT).as_posix(): file for file in files if "scaffold" not in file.parts}
    return {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in sorted(names.items())}


def paths(function: ast.AST) -> int:
    """The paths of a function, without those of functions within it."""
    found = 1
    todo = list(ast.iter_child_nodes(function))
    while todo:
        node = todo.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            continue
        found += isinstance(node, BRANCHES)
        if isinstance(node, ast.BoolOp):
            found += len(node.values) - 1
        if isinstance(node, ast.comprehension):
            found += 1 + len(node.ifs)
        todo += ast.iter_child_nodes(node)
    return found


def nested(module: ast.Module) -> Iterator[int]:
    """The lines of comprehensions and choices that are hard to read."""
    for node in ast.walk(module):
        if isinstance(node, COMPREHENSIONS) and _holds(node, COMPREHENSIONS):
            yield node.lineno
        if isinstance(node, ast.IfExp) and _holds(node, ast.IfExp):
            yield node.lineno
        if isinstance(node, ast.Call):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if any(isinstance(one, ast.IfExp) for one in given):
                yield node.lineno


def _holds(node: ast.AST, kinds: type[ast.AST] | tuple[type[ast.AST], ...]) -> bool:
    return any(isinstance(inner, kinds) for inner in ast.walk(node) if inner is not node)


def test_functions_have_few_paths() -> None:
    found = set()
    for name, module in modules().items():
        for node in ast.walk(module):
            if isinstance(node, FUNCTIONS) and paths(node) > MOST_PATHS:
                found.add(f"{name} {node.name}")
    assert found == set()


def test_nothing_hard_is_nested() -> None:
    found = {name for name, module in modules().items() if any(nested(module))}
    assert found == set()

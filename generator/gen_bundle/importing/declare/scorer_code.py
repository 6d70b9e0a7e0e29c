"""What the code of a scorer says of itself: the files and metrics that it names."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

LARGEST = 1_000_000
WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True)
class ScorerCode:
    """The code of a scoring program.

    Attributes:
        names: every name, attribute and word in it, in small letters.
        texts: the texts in it, whole.
    """

    names: frozenset[str]
    texts: frozenset[str]

    def names_metric(self, pattern: str) -> bool:
        """Whether a name in it, taken as a whole, is that of a metric."""
        return any(re.fullmatch(pattern, name) for name in self.names)

    def takes_any_name(self, file: str) -> bool:
        """Whether it looks for a file by its suffix, and never names it whole."""
        suffix = file.rpartition(".")[2]
        if "." not in file or any(text == file or text.endswith(f"/{file}") for text in self.texts):
            return False
        return any(text in (suffix, f".{suffix}") or text.endswith(f"*.{suffix}") for text in self.texts)


def read_code(program: Path) -> ScorerCode:
    """The code in a program's folder; of what is not Python 3, the words and quoted texts alone."""
    names: set[str] = set()
    texts: set[str] = set()
    for path in sorted(program.rglob("*")):
        if not path.is_file() or path.suffix.lower() not in (".py", ".r", ".sh", ".pl", ".rb") or _is_large(path):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            names |= set(re.findall(r"\w+", text.lower()))
            texts |= {quoted[1] or quoted[2] for quoted in re.finditer(r"""'([^'\n]*)'|"([^"\n]*)\"""", text)}
            continue
        for node in ast.walk(tree):
            names |= {name.lower() for name in _names(node)}
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
    return ScorerCode(frozenset(names), frozenset(texts))


def _is_large(path: Path) -> bool:
    return path.stat().st_size > LARGEST


def _names(node: ast.AST) -> list[str]:
    """The names that a node of the tree holds itself; of a short text its words."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.alias):
        return [node.name.rpartition(".")[2]]
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 100:
        return [node.value, *WORD.findall(node.value.lower())]
    return []

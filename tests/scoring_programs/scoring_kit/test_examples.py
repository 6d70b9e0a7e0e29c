"""The examples in the docstrings of the kit: they run, and what docs/packages.md imports has one."""

import ast
import doctest
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
KIT = ROOT / "scoring_programs" / "scoring_kit"
WITH_EXAMPLES = sorted(file for file in KIT.rglob("*.py") if ">>>" in file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", WITH_EXAMPLES, ids=lambda file: file.stem)
def test_examples_run(file: Path, tmp_path: Path) -> None:
    name = ".".join(file.relative_to(KIT.parent).with_suffix("").parts)
    done = doctest.testmod(importlib.import_module(name), extraglobs={"folder": tmp_path})
    assert (done.failed, done.attempted > 0) == (0, True)


def test_what_the_page_of_packages_imports_has_an_example() -> None:
    page = (ROOT / "docs" / "packages.md").read_text(encoding="utf-8")
    without = set()
    for module, names in re.findall(r"^\+?from (scoring_kit[\w.]*) import (.*)$", page, re.MULTILINE):
        source = ast.parse((KIT.parent / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
        for node in source.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and ">>>" not in (ast.get_docstring(node) or ""):
                without |= {node.name}.intersection(names.split(", "))
    assert without == set()

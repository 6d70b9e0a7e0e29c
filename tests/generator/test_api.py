"""The public Python API: what it lists is there, whatever was imported before, and docs/api.md is true."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gen_bundle

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"


def python(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_is_listed_is_the_public_api() -> None:
    source = ast.parse(Path(gen_bundle.__file__).read_text(encoding="utf-8"))
    (typed,) = (
        node for node in source.body if isinstance(node, ast.If) and not node.orelse and isinstance(node.test, ast.Name)
    )
    seen = {
        alias.asname or alias.name: getattr(importlib.import_module(str(node.module)), alias.name)
        for node in typed.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == {name: getattr(gen_bundle, name) for name in gen_bundle.__all__}
    assert list(gen_bundle.__all__) == sorted(gen_bundle.__all__)
    assert dir(gen_bundle) == gen_bundle.__all__
    for name in gen_bundle.__all__:
        assert inspect.getdoc(getattr(gen_bundle, name)), name
        assert re.search(rf"\b{name}\b", PAGE.read_text(encoding="utf-8")), name


def test_a_name_that_is_not_there_is_an_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'biuld'"):
        _ = gen_bundle.biuld  # type: ignore[attr-defined]


IMPORTED_FIRST = """
import importlib, sys
for first in ("build.building", "check", "after.ranking", "check.rules.leaderboard", "cli.check", "dry_run.dry_run"):
    for name in [name for name in sys.modules if name.partition(".")[0] == "gen_bundle"]:
        del sys.modules[name]
    importlib.import_module(f"gen_bundle.{first}")
    from gen_bundle import build, check, dry_run, rank
    assert all(map(callable, (build, check, dry_run, rank))), first
    from gen_bundle import *
    assert callable(build) and callable(check) and Built, first
    from gen_bundle.check import check_path
    assert check is check_path, first
"""


@pytest.mark.slow
def test_the_functions_are_never_their_modules() -> None:
    python(IMPORTED_FIRST)


def test_importing_the_package_imports_nothing_heavy() -> None:
    late = "{'click', 'rich', 'pydantic', 'yaml', 'jinja2', 'docker', 'cookiecutter', 'numpy', 'zipfile', 'pathlib'}"
    python(f"import sys; old = set(sys.modules); import gen_bundle; assert not {late} & (set(sys.modules) - old)")


@pytest.mark.parametrize("name", ["build", "check", "dry_run", "rank"])
def test_the_example_of_a_function_is_that_of_the_page(name: str) -> None:
    lines = re.findall(r"^ *(?:>>>|\.\.\.) (.*)$", inspect.getdoc(getattr(gen_bundle, name)) or "", re.MULTILINE)
    assert lines
    assert "\n".join(lines) in PAGE.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.usefixtures("kept_organisers", "forked_python")
def test_the_example_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, PAGE, "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out.splitlines()
    assert "True trap False" in printed, "its dates are past"
    assert "True" in printed, "the dry run is good"
    assert [line.split()[0] for line in printed[-2:]] == ["North", "South"]
    assert (tmp_path / "dry-run" / "dry-run.json").exists()

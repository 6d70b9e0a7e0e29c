"""docs/architecture.md is true: what it draws is what imports what, and what it names is there."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PRESS = ROOT / "generator" / "gen_bundle"
SCORERS = ROOT / "scoring_programs"
FLOORS = [text.split() for text in re.findall(r"subgraph \w+ \[.*?\]\n(.*?)\n    end", PAGE, re.DOTALL)]
ARROWS = re.findall(r"^    (\w+) --> (\w+)$", PAGE, re.MULTILINE)
QUESTIONS = re.findall(r"^\| [^|]+\? \| `([^`]+)` \| `([^`]+)` \|$", PAGE, re.MULTILINE)


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def modules_imported(file: Path) -> frozenset[str]:
    """The dotted names of all that a module imports, also within functions and for types alone."""
    return frozenset(_names_imported(parsed(file)))


def _names_imported(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rooms() -> dict[str, list[Path]]:
    """The files of each folder of the press, and of each module beside them."""
    found: dict[str, list[Path]] = {}
    for file in PRESS.rglob("*.py"):
        inside = file.relative_to(PRESS)
        if not {"scaffold", "templates"} & set(inside.parts) and inside.stem not in ("__init__", "__main__"):
            found.setdefault(inside.parts[0].removesuffix(".py"), []).append(file)
    return found


def imports() -> set[tuple[str, str]]:
    """Which room of the press imports from which other."""
    names = rooms()
    pairs = {
        (room, name.split(".")[1])
        for room, files in names.items()
        for file in files
        for name in modules_imported(file)
        if name.startswith("gen_bundle.")
    }
    return {(room, other) for room, other in pairs if other in names and other != room}


def test_every_folder_is_drawn() -> None:
    folders = {path.name for path in PRESS.iterdir() if (path / "__init__.py").exists()}
    assert folders <= {room for floor in FLOORS for room in floor}


def test_every_room_is_in_the_table() -> None:
    table = PAGE.partition("\n| Door |")[2].partition("\n\n")[0]
    named = {
        name for row in table.splitlines() for name in re.findall(r"^`(\w+)(?:/|\.py)`", row.split("|")[1].strip())
    }
    assert named == set(rooms())


@pytest.mark.slow
def test_no_arrow_points_up() -> None:
    height = {room: -number for number, floor in enumerate(FLOORS) for room in floor}
    upward = {
        (room, other)
        for room, other in imports()
        if room in height and other in height and height[other] >= height[room]
    }
    assert upward == {("check", "build")}
    assert {
        module
        for file in rooms()["check"]
        for module in modules_imported(file)
        if module.startswith("gen_bundle.build.")
    } == {"gen_bundle.build.package.libraries.kept_site"}


def imports_within(root: Path, top: str) -> dict[str, set[str]]:
    """Which module below a folder of code imports which others there, also for types and within functions."""
    names = {
        ".".join(file.relative_to(root).with_suffix("").parts): file
        for file in root.rglob("*.py")
        if "scaffold" not in file.parts
    }
    modules = {name.removesuffix(".__init__"): file for name, file in names.items() if name.startswith(top)}
    found: dict[str, set[str]] = {}
    for name, file in modules.items():
        imported = set(modules_imported(file))
        parents = {one.rpartition(".")[0] for one in imported}
        found[name] = (imported | parents) & set(modules) - {name}
    return found


def test_no_module_of_the_press_is_in_a_circle() -> None:
    graph = imports_within(PRESS.parent, "gen_bundle.")
    graph.pop("gen_bundle")  # the package itself, whose names are imported when they are first used
    assert len(graph) > 100
    order = TopologicalSorter({name: others - {"gen_bundle"} for name, others in graph.items()})
    assert len(list(order.static_order())) == len(graph)  # raises CycleError for a circle


@pytest.mark.slow
def test_no_module_of_the_scorers_is_in_a_circle() -> None:
    graph = imports_within(SCORERS, "")
    assert {"scoring_kit.frame", "scoring_kit.resampling.final_report"} <= set(graph)
    assert len(list(TopologicalSorter(graph).static_order())) == len(graph)  # raises CycleError for a circle


def test_the_check_has_five_floors() -> None:
    def part(module: str) -> str:
        return module.split(".")[2] if module.count(".") > 1 else "__init__"

    graph: dict[str, set[str]] = {}
    for module, others in imports_within(PRESS.parent, "gen_bundle.check.").items():
        graph.setdefault(part(module), set()).update(map(part, others))
    below = {name: others - {name} for name, others in graph.items()}
    floor: dict[str, int] = {}
    for name in TopologicalSorter(below).static_order():
        floor[name] = 1 + max((floor[other] for other in below[name]), default=0)
    assert set(floor) >= {"bundle", "leaks", "registry", "report", "rules", "run"}
    assert max(floor.values()) <= 5


def test_what_is_drawn_is_imported() -> None:
    assert len(ARROWS) > 15
    assert set(ARROWS) <= imports()


def test_press_scorers_kit_and_competitions_keep_apart() -> None:
    competitions = {folder.name for folder in SCORERS.iterdir() if folder.is_dir()} - {"scoring_kit", "__pycache__"}
    scorers = competitions | {"scoring_kit", "score"}
    for folder, forbidden in ((PRESS, scorers), (SCORERS, {"gen_bundle"}), (SCORERS / "scoring_kit", competitions)):
        for file in folder.rglob("*.py"):
            if not {"scaffold", "templates"} & set(file.parts):  # those run elsewhere
                names = {name for name in modules_imported(file) if not shared(name)}
                assert not {name.split(".")[0] for name in names} & forbidden, file


def test_what_press_and_scorers_share_imports_the_standard_library_alone() -> None:
    for file in (SCORERS / "scoring_kit" / "base").rglob("*.py"):
        names = {name for name in modules_imported(file) if not shared(name)}
        assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names, file


def shared(name: str) -> bool:
    return name.startswith("scoring_kit.base")


@pytest.mark.slow
def test_tables_are_read_whatever_the_process_read_before() -> None:
    for file in [*PRESS.rglob("*.py"), *SCORERS.rglob("*.py")]:
        if {"scaffold", "templates"} & set(file.parts):
            continue
        called = {ast.unparse(node.func) for node in ast.walk(parsed(file)) if isinstance(node, ast.Call)}
        if called & {"csv.reader", "csv.DictReader"} and file.stem != "bertscore":  # which reads a table of its own
            assert "allow_long_cells" in called, file
        assert "csv.field_size_limit" not in called or file.stem == "submissions", file


@pytest.mark.slow
def test_a_name_belongs_to_one_class() -> None:
    homes: dict[str, list[str]] = {}
    for folder in (PRESS, SCORERS, ROOT / "docker"):
        for file in folder.rglob("*.py"):
            if "scaffold" in file.parts:
                continue
            for node in ast.walk(parsed(file)):
                if isinstance(node, ast.ClassDef):
                    homes.setdefault(node.name, []).append(f"{file.relative_to(ROOT)}:{node.lineno}")
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_twenty_questions_have_answers() -> None:
    assert len(QUESTIONS) == 20


@pytest.mark.parametrize(("file", "name"), QUESTIONS)
def test_a_rule_is_where_the_page_says(file: str, name: str) -> None:
    assert re.search(rf"(?<!\w){re.escape(name)}", (ROOT / file).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "page", ["CONTRIBUTING.md", "README.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
)
def test_paths_that_a_page_names_are_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    tops = "bundles|docker|docs|generator|requirements|scoring_programs|tests"
    for name in re.findall(rf"`((?:{tops})/[\w./-]*)`", text):
        assert "NAME" in name or (ROOT / name).exists(), name

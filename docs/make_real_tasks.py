"""Write docs/real-tasks.md from the folders of real tasks: `python docs/make_real_tasks.py`.

The page with the declaration of each is made with the site (`make docs`) alone.

To add a task NAME (letters, digits and hyphens):

1. `generator/gen_bundle/scaffold/real_tasks/NAME/declaration.yaml`: `submission`, `reference` and `tasks` as in
   bundle.yaml; beside it `metrics.py`, if it has functions of its own, of at most 60 lines.
2. `about.yaml` beside it: `title`; `equal`: which values are those of the task; where it applies `differs`: what is
   otherwise, and why; `official`, where files and formulas are those of the task's own scoring script: `whole` (every
   value of it without Python), `gold` and `submission` (the file is taken as it is), each `true`, or a text that says
   what is missing.
3. A function `NAME`, its hyphens as underscores, in a module of `tests/scoring_programs/declared/real_tasks/`: it makes
   gold and answers as they look there, as texts or as bytes, and computes every value with a library or a formula,
   never with our scorer.
4. `python -m tests.scoring_programs.declared.real_tasks.data` writes the folder's data, and this program the page.

The tests find it by its folder: it is scored, and `gen-bundle new --like NAME` is built, checked and dry-run.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from gen_bundle.ground.resources import REAL_TASKS

PAGE = Path(__file__).with_name("real-tasks.md")
FILES = 4
LINES = 4
LONGEST = 110
"""How many files are shown, and how much of each."""
OFFICIAL = {"whole": "without Python", "gold": "its gold file", "submission": "its submission file"}

PREFACE = """\
# Which shared tasks fit a declaration

This page is generated from {number} real shared tasks: `python docs/make_real_tasks.py`, which says how to add one.
Each is a declaration, and made-up data in the files that the task has; a test scores submissions of four kinds (mixed,
perfect, random, always the same) and compares every value with a library called directly, or with a formula written for
the test. Begin with the one nearest to yours:

```sh
gen-bundle new my-task --like semeval2017-4a
gen-bundle try my-task --engine process
```

Then put your gold in place of the one in `my-task/data/test/`, answers to it (or nothing) in place of those in
`data/baselines/test/`, your inputs into `data/public/`, and change names and labels in `my-task/bundle.yaml`. {python}
of the {number} need a function of their own in Python. `make docs` makes a page of all their declarations, and
of what differs from the task's own script.

For {held} of them, files and formulas are those of the task's own scoring script: {whole} give every value of it
without Python, {gold} take its gold file and {submission} its submission file as it is.

"""
BEYOND = [
    ("Why", "For example", "What to do"),
    ("---", "---", "---"),
    (
        "trees, graphs, coreference, and the formats of a field: CoNLL-U, RTTM, XML, brat",
        "UD parsing, CoNLL-2019 MRP, CODI-CRAC 2021, DISRPT 2025, SeeDev",
        "a field of type `file`, and [a function that reads it](any-file.md#trees-a-format-of-your-own-and-its-check)",
    ),
    (
        "masks, volumes, images, arrays",
        "CVPR 2024 MedSAM, xView2; here `kits19`, `kitti-depth`",
        "a field of type `array`; `dice` and `iou` are metrics, [others functions](any-file.md#six-examples)",
    ),
    (
        "own formulas; vectors, hierarchies of labels, distributions as gold, answers compared with each other",
        "SemEval-2026 Task 5, CODWOE, SemEval-2024 Task 4, LeQua 2022, NLI4CT",
        "[a function](any-file.md#a-function) over rows; one with a [graph](any-file.md#six-examples) beside it",
    ),
    (
        "scoring runs something: SQL, Java, a service",
        "EHRSQL 2024, metrics of grammatical correction",
        "a package with an [image of its own](image.md#an-image-of-your-own). Services cannot be reached where the "
        "worker has no network",
    ),
    (
        "a model that is not in the list (COMET, BLEURT, a classifier)",
        "MedMTEval, MEDIQA-CORR 2024, RuDetox 2022",
        "a package and an image with the model",
    ),
    (
        "a final ranking over all participants",
        "PROCESS",
        "a package with the verb `rank`; the board shows what each submission gets",
    ),
    (
        "participants hand in code",
        "course projects, ClinIQLink 2025",
        "a declaration with `submission: {kind: code}` ([code-submissions.md](code-submissions.md)); a model that is "
        "served elsewhere is not",
    ),
]


def _abouts() -> dict[str, dict[str, Any]]:
    return {file.parent.name: _read(file) for file in sorted(REAL_TASKS.glob("*/about.yaml"))}


def each_task() -> str:
    """Return the page of the site with the declaration and the files of each task."""
    lines = ["# Each real task", "", "What `gen-bundle new --like NAME` begins with, and how near it is to the task."]
    for name, about in _abouts().items():
        lines += _section(name, about)
    return "\n".join([*lines, ""])


def page() -> str:
    """Return the whole page."""
    abouts = _abouts()
    held = {name: about["official"] for name, about in abouts.items() if "official" in about}
    kept = Counter(what for official in held.values() for what in OFFICIAL if official[what] is True)
    counts = {what: kept[what] for what in OFFICIAL}
    python = len(list(REAL_TASKS.glob("*/metrics.py")))
    rows = ["| Name | Task | Handed in | Metrics |", "| --- | --- | --- | --- |"]
    rows += [_row(name, about["title"]) for name, about in abouts.items()]
    beyond = ["", "## What no metric scores", "", *map(_table_row, BEYOND)]
    preface = PREFACE.format(number=len(abouts), python=python, held=len(held), **counts)
    return preface + "\n".join([*rows, *beyond, ""])


def _table_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _read(file: Path) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return read


def _lacking(official: dict[str, Any]) -> list[str]:
    return [what for what in OFFICIAL if official[what] is not True]


def _row(name: str, title: str) -> str:
    declaration = _read(REAL_TASKS / name / "declaration.yaml")
    submission = declaration["submission"]
    tables = list(submission.get("tables", {"": submission}).values())
    fields = [field for table in tables for field in table["fields"]]
    files = dict.fromkeys(one["file"] for one in (*tables, *fields) if "file" in one)
    metrics = dict.fromkeys(_metrics(declaration))
    return f"| `{name}` | {title} | {_codes(files)} | {_codes(metrics)} |"


def _metrics(declaration: dict[str, Any]) -> Iterator[str]:
    for task in declaration["tasks"]:
        for column in task["columns"]:
            metric = column.get("metric")
            if metric is not None:
                yield metric if isinstance(metric, str) else metric["name"]
            elif "expression" in column:
                yield "expression"


def _codes(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _section(name: str, about: dict[str, Any]) -> Iterator[str]:
    folder = REAL_TASKS / name
    yield from ("", f"## {name}", "", f"{about['title']}. Equal: {about['equal']}.")
    if "differs" in about:
        yield f"Otherwise: {about['differs']}."
    for what in _lacking(about.get("official", dict.fromkeys(OFFICIAL, True))):
        yield f"Missing, {OFFICIAL[what]}: {about['official'][what]}."
    yield from ("", "```yaml", (folder / "declaration.yaml").read_text(encoding="utf-8").rstrip("\n"), "```", "")
    for code in sorted(folder.glob("*.py")):
        yield from ("```python", code.read_text(encoding="utf-8").rstrip("\n"), "```", "")
    yield "```"
    for kind, place in (("gold", "data/test"), ("submission", "data/baselines/test/random")):
        files = sorted(file for file in (folder / place).rglob("*") if file.is_file())
        for file in files[:FILES]:
            yield from (f"# {kind}: {file.relative_to(folder / place)}", *_beginning(file))
        if len(files) > FILES:
            yield f"# and {len(files) - FILES} more"
    yield "```"


def _beginning(file: Path) -> Iterator[str]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        lines = [f"({file.stat().st_size} bytes)"]
    for line in lines[:LINES]:
        yield line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
    if len(lines) > LINES:
        yield "…"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

"""The journey from a foreign project to a declaration: recognise → hold against the original → write.

bundle.yaml becomes the declaration only where every value of the original scorer, and every failure, is the declared
one's as well. Otherwise it stays, and the declaration is written beside it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gen_bundle.building import BuildRequest, build
from gen_bundle.declaration.declared.metrics import metrics
from gen_bundle.declaration.read import FILE
from gen_bundle.errors import UserError
from gen_bundle.importing.declare.choosing import ChosenMetric
from gen_bundle.importing.declare.outcomes import Comparison
from gen_bundle.importing.declare.search import DeclarationSearch, Found, Progress
from gen_bundle.importing.declare.writing import DeclaredProject
from gen_bundle.importing.importing import declaration_text
from gen_bundle.twin.bundle import open_bundle, read_competition
from gen_bundle.twin.engines import Engine
from gen_bundle.twin.layout import scratch_folder
from gen_bundle.twin.strangers import StrangersError, refuse_strangers
from gen_bundle.yaml_document import read_core_yaml

ORIGINAL, BESIDE = "original.yaml", "declared.yaml"
"""Beside bundle.yaml: what it was, where it became the declaration; the declaration, where it did not."""
REMARK = "Found by gen-bundle import --declare, and compared with the program in programs/."


@dataclass
class Declared:
    """What became of a scorer.

    Attributes:
        recognised: what its files and columns are, a line each.
        compared: how many values were compared, and are equal; empty where none were.
        stricter: the first of each kind of submission that it scores and the declaration refuses.
        differs: the first of each other kind of difference.
        left: what the declaration does not say, a line each; with any of them it does not take the original's place.
        lost: what else it does not take over of the project.
        file: where the declaration is, beside the data; None: there is none.
    """

    recognised: list[str] = field(default_factory=list)
    compared: str = ""
    stricter: list[str] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    file: str | None = None

    @property
    def is_switched(self) -> bool:
        """Whether bundle.yaml is the declaration now, and `ORIGINAL` what it was."""
        return self.file == FILE


def declare(project: Path, engine: Engine, *, trust: bool = False, progress: Progress = lambda _: None) -> Declared:
    """Find a declaration that scores as a foreign project's program does, and write it into the project.

    Raises:
        UserError: the project cannot be built, or its programs would run without isolation, and `trust` is false.
    """
    declared = Declared()
    with scratch_folder() as work:
        build(BuildRequest(str(project), work / "bundle.zip", force=True))
        try:
            refuse_strangers(work / "bundle.zip", engine, trust=trust)
        except StrangersError as error:
            whose = "its programs are somebody else's, and would run on this machine without isolation"
            raise UserError(f"{project}: {whose}. If you trust their authors, add --trust.") from error
        competition = read_competition(open_bundle(work / "bundle.zip", work / "opened"))
        try:
            search = DeclarationSearch(competition, engine, work, progress)
            declared.recognised += [pair.said for pair in search.first.pairs]
            found = search.run()
        except UserError as error:
            declared.left += error.messages
            return declared
        _tell(declared, search, found)
        if not search.takes_code:
            _write(declared, project, found, work / "whole")
    return declared


def _tell(declared: Declared, search: DeclarationSearch, found: Found) -> None:
    """Say what was recognised, what was compared, and what is left."""
    choices = found.scoring.choices
    for column in search.columns:
        if column.key in choices:
            declared.recognised.append(f"{column.key}: {_in_words(choices[column.key])}")
        else:
            declared.left.append(f"{column.key}: no metric of this declaration gives its values")
        if column.key in choices and choices[column.key].form == "{}" and _sort(choices[column.key]) != column.sorting:
            declared.left.append(f"{column.key}: is sorted {column.sorting}, its metric the other way")
    for name in search.uncompared:
        declared.left.append(f"task {name}: nothing to compare by, no solution, and no gold like that of the others")
    if search.takes_code:
        declared.left.append(
            "the ingestion program: a declaration scores what it writes as its program does, and has no place for it"
        )
    comparison = found.comparison
    own = sum(run.own for run in comparison.runs)
    equal, values = comparison.equal()
    declared.compared = (
        f"{len(comparison.runs)} submissions, {own} of the bundle's own and {len(comparison.runs) - own} mutated: "
        f"{equal:,} of {values:,} values equal; {comparison.refused_by_both()} submissions refused by both"
    )
    for kind, line in _differences(comparison):
        (declared.stricter if kind == "stricter" else declared.differs).append(line)


def _sort(choice: ChosenMetric) -> str:
    return metrics()[choice.metric["name"]].sort


def _in_words(choice: ChosenMetric) -> str:
    """A choice as a declaration would say it."""
    options = ", ".join(f"{name}: {value}" for name, value in choice.metric.items() if name != "name")
    metric = f"{choice.metric['name']} ({options})" if options else str(choice.metric["name"])
    words = choice.form.format(metric)
    return words if choice.decimals is None else f"{words}, rounded to {choice.decimals} decimals"


def _differences(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """The first difference of each kind, as a line; refusals each with its reason."""
    told: set[str] = set()
    for run, column in comparison.differing():
        original, ours = run.original.value(column), run.declared.value(column)
        name = f"{run.name}, task {run.task}"
        if run.declared.scores is None and run.name not in told:
            told.add(run.name)
            yield "stricter", f"{name}: {column} {_text(original)}; refused: {run.declared.reason}"
        elif run.original.scores is None and "lenient" not in told:
            told.add("lenient")
            yield "lenient", f"{name}: fails ({run.original.reason}); the declaration gives {column} {_text(ours)}"
        elif run.is_scored_by_both and column not in told:
            told.add(column)
            yield column, f"{name}: {column} is {_text(original)}, the declaration gives {_text(ours)}"


def _text(value: float | None) -> str:
    return "no value" if value is None else f"{value:.12g}"


def _write(declared: Declared, project: Path, found: Found, work: Path) -> None:
    """Write the declaration: in the place of bundle.yaml where nothing speaks against it, else beside it."""
    foreign = read_core_yaml((project / FILE).read_bytes()).value
    written = DeclaredProject(project, foreign)
    try:
        scoring = found.scoring
        declaration = written.declaration(scoring.proposal, found.columns, scoring.decimals)
        text = declaration_text(declaration, f"{REMARK}\n# {declared.compared}.")
        written.try_out(text, work)
    except UserError as error:
        declared.left += error.messages
        return
    declared.lost = written.lost
    unlike = declared.left or declared.differs or declared.stricter
    declared.file = BESIDE if unlike else FILE
    written.add_pages(project)
    if declared.is_switched:
        (project / FILE).rename(project / ORIGINAL)
        written.add_baselines(project)
    (project / declared.file).write_text(text, encoding="utf-8")

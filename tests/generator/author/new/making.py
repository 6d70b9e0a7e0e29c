"""Gold files, what is made of them, and what their bundles score."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gen_bundle.author.new.project import Place, new_declared
from gen_bundle.author.new.propose import Choices, Proposal, propose
from gen_bundle.author.new.split import divide
from gen_bundle.build.building import BuildRequest, Built, build
from gen_bundle.cli import root
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.dry_run.engines import Engine
from gen_bundle.ground.tables.forms import as_they_are_meant
from gen_bundle.ground.tables.reading import read_table
from gen_bundle.ground.tables.table import FileTable
from tests.generator.dry_run.in_process import InProcessEngine

SENTIMENT = [("negative", "It was awful"), ("neutral", "It was there"), ("positive", "It was great")]


def read_gold(path: Path, *named: Any, **options: Any) -> FileTable:
    """The rows of a gold file as the command takes them: as their columns are meant."""
    return as_they_are_meant(read_table(path, *named, **options))


def rows_of(gold: FileTable) -> list[list[Any]]:
    return [list(row) for row in zip(*gold.columns.values(), strict=True)]


def gold_at(folder: Path, name: str, text: str | bytes) -> FileTable:
    """A gold file, written and read."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_gold(path)


def proposed(folder: Path, name: str, text: str | bytes, **choices: Any) -> Proposal:
    """What is proposed for a gold file."""
    return propose(gold_at(folder, name, text), Choices(**choices))


def made(folder: Path, name: str, text: str | bytes, split: str = "none", **choices: Any) -> Path:
    """The competition that is made of a gold file."""
    proposal = proposed(folder, name, text, **choices)
    return new_declared(Place("made", folder), proposal, divide(proposal, split))


def csv_text(names: str, rows: Sequence[Sequence[object]], delimiter: str = ",") -> str:
    """A CSV file with a header."""
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator="\n").writerows([names.split(","), *rows])
    return buffer.getvalue()


def sentiment(rows: int = 12) -> str:
    """A CSV file of texts and labels, of each label a third."""
    return csv_text(
        "id,text,label", [[f"t{i}", f"{SENTIMENT[i % 3][1]}, day {i}", SENTIMENT[i % 3][0]] for i in range(rows)]
    )


def bundled(folder: Path, **options: Any) -> Built:
    """The bundle of a competition; a leak or an error of the check would raise."""
    (built,) = build(BuildRequest(str(folder), folder.parent / f"{folder.name}.zip", **options))
    assert not built.errors
    return built


def scores(bundle: Path, engine: Engine | None = None) -> dict[tuple[str, str], Mapping[str, Any]]:
    """(phase, submission) → scores of a bundle's own baselines, run as the platform would."""
    runs = dry_run(DryRunRequest(bundle, bundle.with_suffix(".dry-run")), engine or InProcessEngine()).runs
    assert [run.message for run in runs if run.status != "Finished"] == []
    return {(run.phase, run.submission): run.scores or {} for run in runs}


def files(folder: Path) -> set[str]:
    """All files below a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def new(folder: Path, *arguments: str, answers: str | None = None) -> Result:
    """Run the command in `folder`; with `answers` as on a terminal."""
    runner = CliRunner()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        if answers is not None:
            patch.setattr("gen_bundle.cli.new.can_answer", lambda: True)
        return runner.invoke(root, ["new", "mine", *arguments], input=answers)

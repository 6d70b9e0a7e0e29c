"""SeeDev: 20,000 documents with 1,000,000 events, and single documents of 5,000 events of one type."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path

import scipy.optimize

from research.benchmarks.scaling import grow
from scoring_kit.errors import Problems
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles
from seedev2016 import full, reference, submission
from seedev2016.evaluation import evaluate
from seedev2016.reference import TaskGold
from seedev2016.standoff import Event

EVENTS = [100_000, 300_000, 1_000_000]
EVENTS_A_DOCUMENT = 50
ENTITIES = 60


def main() -> None:
    """Print what reading and scoring cost."""
    assert scipy.optimize, "imported beforehand, so that no measurement pays for it"
    grow("SeeDev-full, reading gold and submission", EVENTS, lambda events: _Corpus(events).read)
    grow("SeeDev-full, scoring", EVENTS, _scoring)
    for title, fillers, options in (
        ("one document, events of one type with other arguments", 200, 0),
        ("one document, the same arguments, no optional ones", 1, 0),
        ("one document, the same arguments, many optional ones (a dense block)", 1, 10),
    ):
        grow(title, [1_250, 2_500, 5_000], _one_document(fillers, options))


def _scoring(events: int) -> Callable[[], object]:
    gold, predicted = _Corpus(events).read()
    return lambda: full.score(gold, predicted, {})


class _Corpus:
    """Gold and a submission of so many events each, as files."""

    def __init__(self, events: int) -> None:
        self.folder = tempfile.TemporaryDirectory()
        gold, answer = self.root / "ref" / "full", self.root / "res" / "full"
        gold.mkdir(parents=True)
        answer.mkdir(parents=True)
        rng = random.Random(2016)
        kinds = ("Gene", "Protein", "Tissue")
        a1 = "".join(f"T{i}\t{kinds[i % 3]} {10 * i} {10 * i + 5}\tabcde\n" for i in range(ENTITIES))
        for number in range(events // EVENTS_A_DOCUMENT):
            lines = [_line(rng, i) for i in range(EVENTS_A_DOCUMENT)]
            predicted = [line if rng.random() < 0.7 else _line(rng, i) for i, line in enumerate(lines)]
            for path, text in (
                (gold / f"D{number}.txt", "x"),
                (gold / f"D{number}.a1", a1),
                (gold / f"D{number}.a2", "".join(lines)),
                (answer / f"D{number}.a2", "".join(predicted)),
            ):
                path.write_text(text, encoding="utf-8")

    @property
    def root(self) -> Path:
        return Path(self.folder.name)

    def read(self) -> tuple[reference.SeeDevReference, submission.SeeDevSubmission]:
        """Read both as the scoring program does."""
        gold = reference.read(self.root / "ref", ["full"], {})
        expected = reference.manifest(gold, ["full"])
        manifest = Manifest("seedev2016", ("full",), ("binary", "full"), "joint", {}, expected)
        problems = Problems()
        files = SubmissionFiles(self.root / "res", manifest.all_tasks, problems)
        predicted = submission.read(files, manifest, problems)
        problems.stop_if_any()
        assert predicted is not None
        return gold, predicted


def _line(rng: random.Random, number: int) -> str:
    genes, proteins, tissues = range(0, ENTITIES, 3), range(1, ENTITIES, 3), range(2, ENTITIES, 3)
    optional = f" Tissue:T{rng.choice(tissues)}" if rng.random() < 0.3 else ""
    if number % 2:
        return (
            f"E{number}\tBinding Functional_Molecule:T{rng.choice(proteins)} Molecule:T{rng.choice(genes)}{optional}\n"
        )
    return f"E{number}\tRegulation_Of_Expression Agent:T{rng.choice(proteins)} DNA:T{rng.choice(genes)}{optional}\n"


def _one_document(fillers: int, options: int) -> Callable[[int], Callable[[], object]]:
    def prepare(events: int) -> Callable[[], object]:
        rng = random.Random(events)
        gold = [_event(rng, fillers, options) for _ in range(events)]
        predicted = [event if rng.random() < 0.5 else _event(rng, fillers, options) for event in gold]
        return lambda: evaluate("full", ("f1",), TaskGold.of({"D": gold}), {"D": predicted})

    return prepare


def _event(rng: random.Random, fillers: int, options: int) -> Event:
    roles = ("Tissue", "Developmental_Stage", "Organism_Genotype", "Hormone") if options else ()
    optional = frozenset((role, f"T{rng.randrange(options)}") for role in roles if rng.random() < 0.5)
    first, second = (f"T{rng.randrange(fillers)}" for _ in range(2))
    return Event("Binding", first, second, optional, negated=bool(options) and rng.random() < 0.1)


if __name__ == "__main__":
    main()

"""Writes the synthetic data of SeeDev, always the same: `data/dev`, `data/test` (gold) and `data/public`.

Genes, proteins and findings in them are invented. Run it from anywhere: `python make_data.py`.
"""

import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).resolve().parent / "data"
SEED = 2016
DOCUMENTS = {"dev": 5, "test": 8}
SENTENCES = 16

SYLLABLES = ("KAR", "LUM", "VOR", "TES", "MIB", "ROL", "SAF", "NIX", "DUN", "PEL", "GOR", "HAV")
# What lies between bars belongs to the text and not to the entity, which is then discontinuous.
WORDS = {
    "Gene_Family": ("KLP-like genes", "the VORIN genes", "the seed storage genes"),
    "Box": ("the TTAGC box", "the R7 motif", "a double G-rich box"),
    "RNA": ("its messenger RNA", "the short transcript", "small RNAs of 24 bases"),
    "Protein_Family": ("VORIN proteins", "the PELT family", "the ring-hand proteins"),
    "Protein_Complex": ("the gate complex", "a trimer on the promoter", "the silencing complex"),
    "Protein_Domain": ("the B9 domain", "its acidic tail", "the ring-hand domain"),
    "Hormone": ("abscisic acid", "gibberellin", "auxin"),
    "Regulatory_Network": ("dormancy", "lipid storage", "the response to drought"),
    "Pathway": ("flavonoid synthesis", "starch breakdown", "oil synthesis"),
    "Tissue": (
        "the embryo",
        "the endosperm",
        "the seed coat",
        "young siliques",
        "nuclei | of the late | endosperm",
        "cotyledons",
    ),
    "Development_Phase": ("late maturation", "the torpedo stage", "germination", "early | and not late | desiccation"),
    "Environmental_Factor": ("cold", "red light", "high salinity"),
}

BINARY, FULL = "binary", "full"

# A sentence with its entities in braces, then what it says in each task: (type, arguments, negated). An argument
# names an entity of the sentence, or for Prerequisite_Event the number of an earlier event of the same list. An entity
# `b=a` repeats a under an id of its own, as some in the real data do.
TEMPLATES: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    (
        "{Protein a} binds {Box b} in {Tissue t}.",
        ("Binds_To Functional_Molecule:a Molecule:b", "Is_Localized_In Functional_Molecule:a Target_Tissue:t"),
        ("Binding Functional_Molecule:a Molecule:b Tissue:t",),
    ),
    (
        "We saw no sign that {Protein a} binds {Promoter b}.",
        ("Binds_To Functional_Molecule:a Molecule:b",),
        ("Binding Functional_Molecule:a Molecule:b !",),
    ),
    (
        "In {Genotype g}, {Protein a} activates the expression of {Gene b} during {Development_Phase d}.",
        ("Regulates_Expression Agent:a DNA:b", "Exists_In_Genotype Molecule:a Genotype:g"),
        ("Regulation_Of_Expression Agent:a DNA:b Organism_Genotype:g Developmental_Stage:d",),
    ),
    (
        "{Hormone h} represses {Gene b} under {Environmental_Factor e}.",
        ("Regulates_Expression Agent:h DNA:b",),
        ("Regulation_Of_Expression Agent:h DNA:b Environmental_Factor:e",),
    ),
    (
        "{Protein a} does not control {Regulatory_Network n} in {Genotype g}.",
        ("Regulates_Process Agent:a Process:n", "Occurs_In_Genotype Process:n Genotype:g"),
        (
            "Regulation_Of_Process Agent:a Process:n Organism_Genotype:g !",
            "Occurrence_In_Genotype Process:n Genotype:g",
        ),
    ),
    (
        "With {Hormone h}, {Protein a} controls {Pathway n}.",
        ("Regulates_Process Agent:a Process:n", "Regulates_Process Agent:h Process:n"),
        ("Regulation_Of_Process Agent:a Process:n Hormone:h",),
    ),
    (
        "{Protein a} and {Protein b} accumulate in {Tissue t} of {Genotype g}.",
        (
            "Is_Localized_In Functional_Molecule:a Target_Tissue:t",
            "Is_Localized_In Functional_Molecule:b Target_Tissue:t",
            "Exists_In_Genotype Element:t Genotype:g",
        ),
        (
            "Localization Functional_Molecule:a Target_Tissue:t Organism_Genotype:g",
            "Localization Functional_Molecule:b Target_Tissue:t Organism_Genotype:g",
            "Presence_In_Genotype Element:t Genotype:g",
        ),
    ),
    (
        "{Pathway n} takes place in {Tissue t}, where {RNA r} is found at {Development_Phase d}.",
        (
            "Is_Localized_In Process:n Target_Tissue:t",
            "Is_Localized_In Functional_Molecule:r Target_Tissue:t",
            "Exists_At_Stage Functional_Molecule:r Development:d",
            "Occurs_During Process:n Development:d",
        ),
        (
            "Localization Process:n Target_Tissue:t Developmental_Stage:d",
            "Presence_At_Stage Functional_Molecule:r Development:d Tissue:t",
            "Occurrence_During Process:n Development:d",
        ),
    ),
    (
        "{Gene a} encodes {Protein b}, a member of {Protein_Family f} with {Protein_Domain m}.",
        (
            "Transcribes_Or_Translates_To Source:a Product:b",
            "Is_Member_Of_Family Element:b Family:f",
            "Is_Protein_Domain_Of Domain:m Product:b",
        ),
        (
            "Transcription_Or_Translation Source:a Product:b",
            "Family_Membership Element:b Family:f",
            "Protein_Domain_Composition Domain:m Product:b",
        ),
    ),
    (
        "{Gene a}, one of {Gene_Family f}, has {Box b} upstream.",
        ("Is_Member_Of_Family Element:a Family:f", "Composes_Primary_Structure DNA_Part:b DNA:a"),
        ("Family_Membership Element:a Family:f", "Primary_Structure_Composition DNA_Part:b DNA:a"),
    ),
    (
        "{Protein a} joins {Protein_Complex c} and thereby interacts with {Protein b}.",
        ("Composes_Protein_Complex Amino_Acid_Sequence:a Protein_Complex:c", "Interacts_With Agent:a Target:b"),
        ("Protein_Complex_Composition Amino_Acid_Sequence:a Protein_Complex:c", "Interaction Agent:a Target:b"),
    ),
    (
        "{Protein a}{Protein b=a} pairs with itself in {Tissue t}.",
        ("Interacts_With Agent:a Target:b", "Is_Localized_In Functional_Molecule:a Target_Tissue:t"),
        ("Interaction Agent:a Target:b Tissue:t",),
    ),
    (
        "Once it interacts with {Protein b}, {Protein a} represses {Gene d} in {Tissue t}.",
        ("Interacts_With Agent:a Target:b", "Regulates_Expression Agent:a DNA:d"),
        (
            "Interaction Agent:a Target:b",
            "Regulation_Of_Expression Agent:a DNA:d Tissue:t Prerequisite_Event:1",
        ),
    ),
    (
        "{Protein_Domain m} of {Protein a} is identical to that of {Protein b}, and {Gene c} can replace {Gene d}.",
        (
            "Is_Protein_Domain_Of Domain:m Product:a",
            "Has_Sequence_Identical_To Element1:a Element2:b",
            "Is_Functionally_Equivalent_To Element1:c Element2:d",
        ),
        (
            "Protein_Domain_Composition Domain:m Product:a",
            "Sequence_Identity Element1:a Element2:b",
            "Functional_Equivalence Element1:c Element2:d",
        ),
    ),
    (
        "{Environmental_Factor e} reduces the level of {Protein a} and delays {Development_Phase d}.",
        ("Regulates_Accumulation Agent:e Functional_Molecule:a", "Regulates_Development_Phase Agent:e Development:d"),
        (
            "Regulation_Of_Accumulation Agent:e Functional_Molecule:a Developmental_Stage:d",
            "Regulation_Of_Development_Phase Agent:e Development:d",
        ),
    ),
    (
        "In {Genotype g}, {Tissue t} stays small, since {Gene a} shapes it together with {Hormone h}.",
        ("Regulates_Tissue_Development Agent:a Target_Tissue:t", "Is_Linked_To Agent1:a Agent2:h"),
        ("Regulation_Of_Tissue_Development Agent:a Target_Tissue:t Organism_Genotype:g Hormone:h",),
    ),
    (
        "{Hormone h} blocks {Protein a} through {Protein_Complex c}.",
        ("Regulates_Molecule_Activity Agent:h Molecule:a", "Regulates_Molecule_Activity Agent:c Molecule:a"),
        ("Regulation_Of_Molecule_Activity Agent:h Molecule:a", "Regulation_Of_Molecule_Activity Agent:c Molecule:a"),
    ),
    (
        "{Gene a} takes part in {Regulatory_Network n}, as does {Protein b}.",
        ("Is_Involved_In_Process Participant:a Process:n", "Is_Involved_In_Process Participant:b Process:n"),
        ("Involvement_In_Process Participant:a Process:n", "Involvement_In_Process Participant:b Process:n"),
    ),
    ("We grew {Genotype g} and collected {Tissue t} before {Development_Phase d}.", (), ()),
    ("Seeds were kept in the dark, and {Tissue t} was stained for {Protein a}.", (), ()),
)


class Entity(NamedTuple):
    """An entity: id, type, and (start, end) of each of its fragments."""

    id: str
    type: str
    fragments: list[tuple[int, int]]


class Document(NamedTuple):
    """A text, its entities, and the lines of its `.a2` files by task."""

    text: str
    entities: list[Entity]
    annotations: dict[str, list[str]]


class Writer:
    """Writes one document sentence by sentence."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.text = ""
        self.entities: list[Entity] = []
        self.annotations: dict[str, list[str]] = {BINARY: [], FULL: []}
        self.names = [_name(rng) for _ in range(4)]

    def add(self, template: tuple[str, tuple[str, ...], tuple[str, ...]]) -> None:
        """Add a sentence with what it says."""
        sentence, *said = template
        local: dict[str, Entity] = {}
        used: set[str] = set()
        for literal, kind, letter, repeated in re.findall(r"([^{]*)(?:\{(\w+) (\w)(?:=(\w))?\})?", sentence):
            self.text += literal
            if kind:
                fragments = local[repeated].fragments if repeated else self._written(self._words(kind, used))
                local[letter] = Entity(f"T{len(self.entities) + 1}", kind, fragments)
                self.entities.append(local[letter])
        self.text += "\n" if len(self.entities) % 4 == 0 else " "
        for task, events in zip((BINARY, FULL), said, strict=True):
            self._annotate(task, events, {letter: entity.id for letter, entity in local.items()})

    def _written(self, words: str) -> list[tuple[int, int]]:
        """Add the words of an entity to the text; returns its fragments."""
        if self.text.endswith((". ", "\n")) or not self.text:
            words = words[0].upper() + words[1:]
        fragments = []
        for number, part in enumerate(words.split(" | ")):
            self.text += " " if number else ""
            if number % 2 == 0:
                fragments.append((len(self.text), len(self.text) + len(part)))
            self.text += part
        return fragments

    def _words(self, kind: str, used: set[str]) -> str:
        """The words of an entity, other than those that the sentence has already."""
        while True:
            name = self.rng.choice(self.names)
            words = {
                "Gene": name.lower(),
                "Protein": name,
                "Promoter": f"the {name} promoter",
                "Genotype": self.rng.choice(
                    (f"{name.lower()} mutants", f"plants with extra {name}", "wild type plants")
                ),
            }.get(kind) or self.rng.choice(WORDS[kind])
            if words.upper() not in used:
                used.add(words.upper())
                return words

    def _annotate(self, task: str, events: Sequence[str], local: dict[str, str]) -> None:
        lines = self.annotations[task]
        first = sum(line.startswith("E") for line in lines) + 1
        for event in events:
            kind, *arguments = event.removesuffix(" !").split()
            filled = []
            for role, _, filler in (argument.partition(":") for argument in arguments):
                meant = f"E{first + int(filler) - 1}" if filler.isdigit() else local[filler]
                filled.append(f"{role}:{meant}")
            number = sum(line.startswith("E") for line in lines) + 1
            lines.append(f"E{number}\t{kind} {' '.join(filled)}")
            if event.endswith("!"):
                negations = sum(line.startswith("M") for line in lines)
                lines.append(f"M{negations + 1}\tNegation Annotation:E{number}")

    def finished(self) -> Document:
        """The document."""
        return Document(self.text.rstrip() + "\n", self.entities, self.annotations)


def _name(rng: random.Random) -> str:
    return rng.choice(SYLLABLES)[: rng.choice((2, 3))] + rng.choice(SYLLABLES)[0] + str(rng.randint(1, 9))


def _document(rng: random.Random, start: int) -> Document:
    writer = Writer(rng)
    for number in range(SENTENCES):
        writer.add(TEMPLATES[(start + number) % len(TEMPLATES)])
    return writer.finished()


def _entity_line(entity: Entity, text: str) -> str:
    offsets = ";".join(f"{start} {end}" for start, end in entity.fragments)
    words = " ".join(text[start:end] for start, end in entity.fragments)
    return f"{entity.id}\t{entity.type} {offsets}\t{words}\n"


def main() -> None:
    """Write gold and public data of both phases; the two tasks annotate the same texts."""
    rng = random.Random(SEED)  # noqa: S311 (invented data, no secret)
    start = 0
    for phase, count in DOCUMENTS.items():
        for number in range(1, count + 1):
            document = _document(rng, start)
            start += SENTENCES
            a1 = "".join(_entity_line(entity, document.text) for entity in document.entities)
            for task in (BINARY, FULL):
                name = f"Synthetic-{task}-{phase}-{number}"
                a2 = "".join(line + "\n" for line in document.annotations[task])
                _write(DATA / phase / task, name, {"txt": document.text, "a1": a1, "a2": a2})
                _write(DATA / "public" / phase / task, name, {"txt": document.text, "a1": a1})


def _write(folder: Path, name: str, contents: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for suffix, content in contents.items():
        (folder / f"{name}.{suffix}").write_text(content, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

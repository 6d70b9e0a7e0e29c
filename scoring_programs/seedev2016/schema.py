"""The annotation schema of SeeDev: entity types, event types and the roles of their arguments.

Source: BioNLP-ST 2016, SeeDev task, "Annotation schema" (entities, binary and full events with their constraints).
"""

from typing import Dict, FrozenSet, Mapping, NamedTuple, Optional, Tuple

TASKS = ("binary", "full")

DNA = frozenset({"Gene", "Gene_Family", "Box", "Promoter"})
AMINO_ACID_SEQUENCE = frozenset({"Protein", "Protein_Family", "Protein_Complex", "Protein_Domain"})
PRODUCT = AMINO_ACID_SEQUENCE | {"RNA"}
HORMONE = frozenset({"Hormone"})
FUNCTIONAL_MOLECULE = PRODUCT | HORMONE
MOLECULE = DNA | FUNCTIONAL_MOLECULE
PROCESS = frozenset({"Regulatory_Network", "Pathway"})
GENOTYPE = frozenset({"Genotype"})
TISSUE = frozenset({"Tissue"})
DEVELOPMENT_PHASE = frozenset({"Development_Phase"})
INTERNAL_FACTOR = TISSUE | DEVELOPMENT_PHASE | GENOTYPE
ENVIRONMENTAL_FACTOR = frozenset({"Environmental_Factor"})
ENTITY_TYPES = MOLECULE | PROCESS | INTERNAL_FACTOR | ENVIRONMENTAL_FACTOR

Fillers = Mapping[str, FrozenSet[str]]
"""Role → the types of entity that may fill it."""

PREREQUISITE = "Prerequisite_Event"


class Role(NamedTuple):
    """A role: the argument that it fills (0 and 1 are mandatory, None is optional) and what may fill it."""

    argument: Optional[int]
    fillers: FrozenSet[str]


_OPTIONAL = {
    "Tissue": Role(None, TISSUE),
    "Developmental_Stage": Role(None, DEVELOPMENT_PHASE),
    "Organism_Genotype": Role(None, GENOTYPE),
    "Environmental_Factor": Role(None, ENVIRONMENTAL_FACTOR),
    "Hormone": Role(None, HORMONE),
    PREREQUISITE: Role(None, frozenset()),
}

PREREQUISITE_TYPES = frozenset(
    {"Binding", "Interaction", "Protein_Domain_Composition", "Primary_Structure_Composition", "Localization"}
)
"""Types of event, not of entity, that may fill Prerequisite_Event."""

# Name in binary, name in full, roles of the first and of the second argument. Where an argument has two roles, exactly
# one of them is given; no entity type fits both, so the filler decides which.
_EVENTS: Tuple[Tuple[str, Optional[str], Fillers, Fillers], ...] = (
    (
        "Exists_In_Genotype",
        "Presence_In_Genotype",
        {"Molecule": MOLECULE, "Element": INTERNAL_FACTOR},
        {"Genotype": GENOTYPE},
    ),
    ("Occurs_In_Genotype", "Occurrence_In_Genotype", {"Process": PROCESS}, {"Genotype": GENOTYPE}),
    (
        "Exists_At_Stage",
        "Presence_At_Stage",
        {"Functional_Molecule": FUNCTIONAL_MOLECULE},
        {"Development": DEVELOPMENT_PHASE},
    ),
    ("Occurs_During", "Occurrence_During", {"Process": PROCESS}, {"Development": DEVELOPMENT_PHASE}),
    (
        "Is_Localized_In",
        "Localization",
        {"Functional_Molecule": FUNCTIONAL_MOLECULE, "Process": PROCESS},
        {"Target_Tissue": TISSUE},
    ),
    ("Is_Involved_In_Process", "Involvement_In_Process", {"Participant": MOLECULE}, {"Process": PROCESS}),
    (
        "Transcribes_Or_Translates_To",
        "Transcription_Or_Translation",
        {"Source": DNA | {"RNA"}},
        {"Product": PRODUCT},
    ),
    (
        "Is_Functionally_Equivalent_To",
        "Functional_Equivalence",
        {"Element1": ENTITY_TYPES},
        {"Element2": ENTITY_TYPES},
    ),
    (
        "Regulates_Accumulation",
        "Regulation_Of_Accumulation",
        {"Agent": ENTITY_TYPES},
        {"Functional_Molecule": FUNCTIONAL_MOLECULE},
    ),
    (
        "Regulates_Development_Phase",
        "Regulation_Of_Development_Phase",
        {"Agent": ENTITY_TYPES},
        {"Development": DEVELOPMENT_PHASE},
    ),
    ("Regulates_Expression", "Regulation_Of_Expression", {"Agent": ENTITY_TYPES}, {"DNA": DNA}),
    (
        "Regulates_Molecule_Activity",
        "Regulation_Of_Molecule_Activity",
        {"Agent": ENTITY_TYPES},
        {"Molecule": frozenset({"Protein", "Protein_Family", "Protein_Complex", "Hormone"})},
    ),
    ("Regulates_Process", "Regulation_Of_Process", {"Agent": ENTITY_TYPES}, {"Process": PROCESS}),
    (
        "Regulates_Tissue_Development",
        "Regulation_Of_Tissue_Development",
        {"Agent": ENTITY_TYPES},
        {"Target_Tissue": TISSUE},
    ),
    (
        "Composes_Primary_Structure",
        "Primary_Structure_Composition",
        {"DNA_Part": frozenset({"Box", "Promoter"})},
        {"DNA": DNA},
    ),
    (
        "Composes_Protein_Complex",
        "Protein_Complex_Composition",
        {"Amino_Acid_Sequence": AMINO_ACID_SEQUENCE},
        {"Protein_Complex": frozenset({"Protein_Complex"})},
    ),
    (
        "Is_Protein_Domain_Of",
        "Protein_Domain_Composition",
        {"Domain": frozenset({"Protein_Domain"})},
        {"Product": PRODUCT},
    ),
    (
        "Is_Member_Of_Family",
        "Family_Membership",
        {"Element": frozenset({"Gene", "Gene_Family", "Protein", "Protein_Domain", "Protein_Family", "RNA"})},
        {"Family": frozenset({"Gene_Family", "Protein_Family", "RNA"})},
    ),
    ("Has_Sequence_Identical_To", "Sequence_Identity", {"Element1": ENTITY_TYPES}, {"Element2": ENTITY_TYPES}),
    (
        "Interacts_With",
        "Interaction",
        {"Agent": MOLECULE | PROCESS | ENVIRONMENTAL_FACTOR},
        {"Target": MOLECULE | PROCESS | INTERNAL_FACTOR | ENVIRONMENTAL_FACTOR},
    ),
    ("Binds_To", "Binding", {"Functional_Molecule": FUNCTIONAL_MOLECULE}, {"Molecule": MOLECULE}),
    ("Is_Linked_To", None, {"Agent1": ENTITY_TYPES}, {"Agent2": ENTITY_TYPES}),
)

COMMUTATIVE = frozenset(
    {
        "Is_Linked_To",
        "Has_Sequence_Identical_To",
        "Is_Functionally_Equivalent_To",
        "Sequence_Identity",
        "Functional_Equivalence",
    }
)
"""Event types whose two arguments may be exchanged."""


class EventType(NamedTuple):
    """An event type and its roles by name."""

    name: str
    roles: Mapping[str, Role]

    def names(self, argument: int) -> str:
        """The roles that a mandatory argument may have, for messages."""
        return " or ".join(name for name, role in self.roles.items() if role.argument == argument)


def _event_types() -> Dict[str, Dict[str, EventType]]:
    types: Dict[str, Dict[str, EventType]] = {task: {} for task in TASKS}
    for binary, full, first, second in _EVENTS:
        mandatory = {name: Role(0, fillers) for name, fillers in first.items()}
        mandatory.update({name: Role(1, fillers) for name, fillers in second.items()})
        types["binary"][binary] = EventType(binary, mandatory)
        if full is not None:
            optional = {} if full == "Presence_In_Genotype" else _OPTIONAL
            types["full"][full] = EventType(full, {**mandatory, **optional})
    return types


EVENT_TYPES = _event_types()
"""Task → name of the event type → its roles."""

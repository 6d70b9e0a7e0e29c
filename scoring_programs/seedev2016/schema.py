"""The annotation schema of SeeDev: entity types, event types and the roles of their arguments.

Source: BioNLP-ST 2016, SeeDev task, "Annotation schema" (entities, binary and full events with their constraints).
"""

from typing import Dict, FrozenSet, Mapping, NamedTuple, Union

TASKS = ("binary", "full")

DNA = frozenset({"Gene", "Gene_Family", "Box", "Promoter"})
AMINO_ACID_SEQUENCE = frozenset({"Protein", "Protein_Family", "Protein_Complex", "Protein_Domain"})
PRODUCT = AMINO_ACID_SEQUENCE | {"RNA"}
FUNCTIONAL_MOLECULE = PRODUCT | {"Hormone"}
MOLECULE = DNA | FUNCTIONAL_MOLECULE
PROCESS = frozenset({"Regulatory_Network", "Pathway"})
INTERNAL_FACTOR = frozenset({"Tissue", "Development_Phase", "Genotype"})
ENTITY_TYPES = MOLECULE | PROCESS | INTERNAL_FACTOR | {"Environmental_Factor"}
GROUPS = {
    "DNA": DNA,
    "Amino_Acid_Sequence": AMINO_ACID_SEQUENCE,
    "Product": PRODUCT,
    "Functional_Molecule": FUNCTIONAL_MOLECULE,
    "Molecule": MOLECULE,
    "Process": PROCESS,
    "Internal_Factor": INTERNAL_FACTOR,
    "Any": ENTITY_TYPES,
}
"""Types of entity that fill the same roles, by the name that the table below has for them."""

PREREQUISITE = "Prerequisite_Event"
PREREQUISITE_TYPES = frozenset(
    {"Binding", "Interaction", "Protein_Domain_Composition", "Primary_Structure_Composition", "Localization"}
)
"""Types of event, not of entity, that may fill Prerequisite_Event."""


class Role(NamedTuple):
    """A role, and the types of entity that may fill it.

    Attributes:
        slot: what it fills: argument 0 or 1, which two roles may share, or the optional argument of its own name.
    """

    slot: Union[int, str]
    fillers: FrozenSet[str]


class EventType(NamedTuple):
    """An event type and its roles by name."""

    name: str
    roles: Mapping[str, Role]

    def names(self, slot: Union[int, str]) -> str:
        """Return the roles that fill a slot, for messages."""
        return " or ".join(name for name, role in self.roles.items() if role.slot == slot)


# Name in binary, name in full, roles of the first and of the second argument with what may fill them: types of entity
# or groups of them. Where an argument has two roles, exactly one of them is given; no entity type fits both, so the
# filler decides which.
_EVENTS = """
Exists_In_Genotype | Presence_In_Genotype | Molecule: Molecule, Element: Internal_Factor | Genotype: Genotype
Occurs_In_Genotype | Occurrence_In_Genotype | Process: Process | Genotype: Genotype
Exists_At_Stage | Presence_At_Stage | Functional_Molecule: Functional_Molecule | Development: Development_Phase
Occurs_During | Occurrence_During | Process: Process | Development: Development_Phase
Is_Localized_In | Localization | Functional_Molecule: Functional_Molecule, Process: Process | Target_Tissue: Tissue
Is_Involved_In_Process | Involvement_In_Process | Participant: Molecule | Process: Process
Transcribes_Or_Translates_To | Transcription_Or_Translation | Source: DNA RNA | Product: Product
Is_Functionally_Equivalent_To | Functional_Equivalence | Element1: Any | Element2: Any
Regulates_Accumulation | Regulation_Of_Accumulation | Agent: Any | Functional_Molecule: Functional_Molecule
Regulates_Development_Phase | Regulation_Of_Development_Phase | Agent: Any | Development: Development_Phase
Regulates_Expression | Regulation_Of_Expression | Agent: Any | DNA: DNA
Regulates_Molecule_Activity | Regulation_Of_Molecule_Activity \
    | Agent: Any | Molecule: Protein Protein_Family Protein_Complex Hormone
Regulates_Process | Regulation_Of_Process | Agent: Any | Process: Process
Regulates_Tissue_Development | Regulation_Of_Tissue_Development | Agent: Any | Target_Tissue: Tissue
Composes_Primary_Structure | Primary_Structure_Composition | DNA_Part: Box Promoter | DNA: DNA
Composes_Protein_Complex | Protein_Complex_Composition \
    | Amino_Acid_Sequence: Amino_Acid_Sequence | Protein_Complex: Protein_Complex
Is_Protein_Domain_Of | Protein_Domain_Composition | Domain: Protein_Domain | Product: Product
Is_Member_Of_Family | Family_Membership \
    | Element: Gene Gene_Family Protein Protein_Domain Protein_Family RNA | Family: Gene_Family Protein_Family RNA
Has_Sequence_Identical_To | Sequence_Identity | Element1: Any | Element2: Any
Interacts_With | Interaction \
    | Agent: Molecule Process Environmental_Factor | Target: Molecule Process Internal_Factor Environmental_Factor
Binds_To | Binding | Functional_Molecule: Functional_Molecule | Molecule: Molecule
Is_Linked_To | - | Agent1: Any | Agent2: Any
"""
# Of the full task alone; Presence_In_Genotype has none of them.
_OPTIONAL = {
    "Tissue": "Tissue",
    "Developmental_Stage": "Development_Phase",
    "Organism_Genotype": "Genotype",
    "Environmental_Factor": "Environmental_Factor",
    "Hormone": "Hormone",
}

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


def _event_types() -> Dict[str, Dict[str, EventType]]:
    types: Dict[str, Dict[str, EventType]] = {"binary": {}, "full": {}}
    optional = {name: Role(name, frozenset({filler})) for name, filler in _OPTIONAL.items()}
    optional[PREREQUISITE] = Role(PREREQUISITE, frozenset())
    for line in _EVENTS.strip().splitlines():
        binary, full, *arguments = line.split(" | ")
        mandatory: Dict[str, Role] = {}
        for argument, roles in enumerate(arguments):
            for role in roles.split(", "):
                name, _, fillers = role.partition(": ")
                groups = [GROUPS.get(filler, frozenset({filler})) for filler in fillers.split()]
                mandatory[name] = Role(argument, frozenset().union(*groups))
        binary, full = binary.strip(), full.strip()
        types["binary"][binary] = EventType(binary, mandatory)
        if full != "-":
            own = {} if full == "Presence_In_Genotype" else optional
            types["full"][full] = EventType(full, {**mandatory, **own})
    return types


EVENT_TYPES = _event_types()
"""Task → name of the event type → its roles."""

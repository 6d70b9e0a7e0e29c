"""The schema as the task's page gives it."""

from seedev2016.schema import COMMUTATIVE, ENTITY_TYPES, EVENT_TYPES, PREREQUISITE, PREREQUISITE_TYPES


def test_there_are_16_entity_types_and_22_and_21_event_types() -> None:
    assert len(ENTITY_TYPES) == 16
    assert len(EVENT_TYPES["binary"]) == 22
    assert len(EVENT_TYPES["full"]) == 21


def test_two_roles_of_one_argument_share_no_type_so_that_the_filler_tells_the_role() -> None:
    two_roles = []
    for types in EVENT_TYPES.values():
        for kind in types.values():
            for argument in (0, 1):
                fillers = [role.fillers for role in kind.roles.values() if role.slot == argument]
                assert sum(map(len, fillers)) == len(frozenset().union(*fillers))
                two_roles += [kind.name] * (len(fillers) - 1)
    assert two_roles == ["Exists_In_Genotype", "Is_Localized_In", "Presence_In_Genotype", "Localization"]


def test_all_fillers_are_entity_types() -> None:
    fillers = [
        role.fillers for types in EVENT_TYPES.values() for kind in types.values() for role in kind.roles.values()
    ]
    assert frozenset().union(*fillers) == ENTITY_TYPES


def test_optional_roles_are_those_of_the_full_task() -> None:
    for name, kind in EVENT_TYPES["full"].items():
        optional = [role for role, described in kind.roles.items() if described.slot == role]
        expected = [
            "Tissue",
            "Developmental_Stage",
            "Organism_Genotype",
            "Environmental_Factor",
            "Hormone",
            PREREQUISITE,
        ]
        assert optional == ([] if name == "Presence_In_Genotype" else expected)
    assert all(role.slot in (0, 1) for kind in EVENT_TYPES["binary"].values() for role in kind.roles.values())


def test_special_types_are_types() -> None:
    assert set(EVENT_TYPES["full"]) >= PREREQUISITE_TYPES
    assert len(COMMUTATIVE & set(EVENT_TYPES["binary"])) == 3
    assert len(COMMUTATIVE & set(EVENT_TYPES["full"])) == 2

"""Every malformed submission is refused with file, line and what was expected; everything sound is read."""

from pathlib import Path

import pytest

from scoring_kit.manifest import Manifest
from tests.scoring_programs.seedev2016.cases import manifest, read_submission

GOOD = "E1\tRegulates_Expression Agent:T2 DNA:T1\n"
FULL = "E1\tBinding Functional_Molecule:T2 Molecule:T1\n"

REGULATES, BINDING = "Regulates_Expression", "Binding Functional_Molecule:T2 Molecule:T1"
AN_ID, ROLES = "the id of an entity in the document's .a1", "one of the roles of"
MALFORMED = [
    # task, a line of its .a2 file, what is wrong in it, and how what is expected begins
    ("binary", "E9\tBinds Agent:T2 DNA:T1", 'unknown event type "Binds"', "one of Binds_To, Compos"),
    ("binary", f"E9\t{BINDING}", 'unknown event type "Binding"', "one of Binds_To"),
    ("full", "E9\tIs_Linked_To Agent1:T2 Agent2:T1", 'unknown event type "Is_Linked_To"', "one of Binding"),
    ("binary", f"E9\t{REGULATES} Theme:T2 DNA:T1", 'unknown role "Theme"', f"{ROLES} {REGULATES}: Agent, DNA."),
    ("binary", f"E9\t{REGULATES} Agent:T2 DNA:T1 Hormone:T10", 'unknown role "Hormone"', ROLES),
    ("full", "E9\tPresence_In_Genotype Genotype:T6 Tissue:T4", 'unknown role "Tissue"', f"{ROLES} Presence_In"),
    ("binary", f"E9\t{REGULATES} Agent:T2 DNA:T77", 'unknown entity "DNA:T77"', AN_ID),
    ("binary", f"E9\t{REGULATES} Agent:T2 DNA:E1", 'unknown entity "DNA:E1"', AN_ID),
    ("binary", f"E9\t{REGULATES} Agent:T2", f'missing mandatory argument "{REGULATES}"', "one DNA."),
    ("binary", f"E9\t{REGULATES}", "missing mandatory argument", "one Agent."),
    (
        "binary",
        "E9\tExists_In_Genotype Genotype:T6",
        'missing mandatory argument "Exists_In',
        "one Molecule or Element.",
    ),
    (
        "binary",
        "E9\tExists_In_Genotype Molecule:T1 Element:T4 Genotype:T6",
        'second filler of an argument "Element:T4"',
        "one Molecule or Element.",
    ),
    ("binary", f"E9\t{REGULATES} Agent:T2 Agent:T3 DNA:T1", 'second filler of an argument "Agent:T3"', "one Agent."),
    ("full", f"E9\t{BINDING} Tissue:T4 Tissue:T5", 'second filler of an argument "Tissue:T5"', "one Tissue."),
    ("binary", f"E1\t{REGULATES} Agent:T3 DNA:T1", 'repeated event id "E1"', "each id once."),
    (
        "binary",
        f"E9 {REGULATES} Agent:T2 DNA:T1",
        'a line without a tab, its first word "E9"',
        "a line E1<TAB>Type Role:T1",
    ),
    ("binary", "E9\t", 'a line without a tab, its first word "E9"', "a line E1<TAB>"),
    ("binary", "T9\tGene 0 3\tABC", 'a line that is not an event, its id "T9"', "a line E1<TAB>"),
    ("binary", f"X1\t{REGULATES} Agent:T2 DNA:T1", "a line that is not an event", "a line E1<TAB>"),
    ("binary", "*\tEquiv T1 T2", "a line that is not an event", "a line E1<TAB>"),
    ("binary", "M1\tNegation Annotation:E1", "a line that is not an event", "a line E1<TAB>"),
    ("full", "M1\tSpeculation Annotation:E1", 'not a negation "Speculation Annotation:E1"', "a line M1<TAB>Negation"),
    ("full", "M1\tNegation Annotation:E7", 'negation of an unknown event "E7"', "the id of an event of this file."),
    ("full", "M1\tNegation Annotation:T1", 'negation of an unknown event "T1"', "the id of an event of this file."),
    ("full", f"E9\t{BINDING} Prerequisite_Event:E7", 'unknown event "Prerequisite_Event:E7"', "the id of an event of"),
    ("full", f"E9\t{BINDING} Prerequisite_Event:T2", 'unknown event "Prerequisite_Event:T2"', "the id of an event of"),
]


@pytest.mark.parametrize(("task", "line", "rule", "expected"), MALFORMED)
def test_a_malformed_line_is_named_with_what_was_expected(
    tmp_path: Path, task: str, line: str, rule: str, expected: str
) -> None:
    first = GOOD if task == "binary" else FULL
    files = {"binary/D.a2": "", "binary/E.a2": "", "full/D.a2": "", f"{task}/D.a2": first + "\n" + line + "\n"}
    _, problems = read_submission(tmp_path, files, manifest())
    (error,) = problems.errors
    assert error.startswith(f"{task}/D.a2:3: {rule}")
    assert error.partition(". Expected: ")[2].startswith(expected)


@pytest.mark.parametrize(
    ("task", "line", "rule", "expected"),
    [
        (
            "binary",
            f"{REGULATES} Agent:T1 DNA:T3",
            'entity of a wrong type "DNA:T3 (Protein)"',
            "Box, Gene, Gene_Family, Promoter",
        ),
        ("full", f"{BINDING} Tissue:T1", 'entity of a wrong type "Tissue:T1 (Gene)"', "Tissue"),
        (
            "full",
            f"{BINDING} Prerequisite_Event:E2",
            'event of a wrong type "Prerequisite_Event:E2 (Sequence_Identity)"',
            "Binding, Interaction, Localization, Primary_Structure_Composition, Protein_Domain_Composition",
        ),
    ],
)
def test_a_filler_of_a_wrong_type_is_a_warning_and_the_event_is_scored(
    tmp_path: Path, task: str, line: str, rule: str, expected: str
) -> None:
    more = "E2\tSequence_Identity Element1:T2 Element2:T3\n" if task == "full" else ""
    files = {"D.a2": f"E9\t{line}\n{more}", "E.a2": ""} if task == "binary" else {"D.a2": f"E9\t{line}\n{more}"}
    read, problems = read_submission(tmp_path, files, manifest("separate", [task]))
    assert problems.errors == []
    kind = rule.partition(" ")[0]
    said = f"{rule}; this argument is scored as wrong. Expected: an {kind} of type {expected}."
    assert problems.warnings == [f"D.a2:1: {said}"]
    assert read is not None
    assert len(read.events[task]["D"]) == 1 + bool(more)


def test_two_negations_of_one_event_and_two_of_one_id_are_refused(tmp_path: Path) -> None:
    text = FULL + "M1\tNegation Annotation:E1\nM2\tNegation Annotation:E1\nM2\tNegation Annotation:E1\n"
    _, problems = read_submission(tmp_path, {"D.a2": text}, manifest("separate", ["full"]))
    assert problems.errors == [
        'D.a2:4: repeated modification id "M2". Expected: each id once.',
        'D.a2:3: second negation of one event "E1". Expected: at most one negation an event.',
    ]


def test_all_problems_are_found_together(tmp_path: Path) -> None:
    bad = "E1\tNo Agent:T2\nE2\tRegulates_Expression Agent:T99 DNA:T98\nE2\tRegulates_Expression Agent:T2 DNA:T1\n"
    _, problems = read_submission(
        tmp_path, {"binary/D.a2": bad, "binary/F.a2": GOOD, "full/D.a2": b"\xff\xfeE\x00"}, manifest()
    )
    starts = [error.split(" ")[0] for error in problems.errors]
    assert starts == [
        "binary/D.a2:1:",
        "binary/D.a2:2:",
        "binary/D.a2:2:",
        "binary/D.a2:3:",
        "binary/E.a2:",
        "binary/F.a2:",
        "full/D.a2:",
    ]


def test_a_faulty_event_that_others_refer_to_is_one_problem(tmp_path: Path) -> None:
    text = (
        "E1\tBinding Functional_Molecule:T99 Molecule:T1\n"
        "E2\tBinding Functional_Molecule:T2 Molecule:T1 Prerequisite_Event:E1\n"
        "M1\tNegation Annotation:E1\n"
    )
    _, problems = read_submission(tmp_path, {"D.a2": text}, manifest("separate", ["full"]))
    assert [error.split(": ")[0] for error in problems.errors] == ["D.a2:1"]


@pytest.mark.parametrize(
    ("files", "error"),
    [
        ({"binary/D.a2": GOOD}, "binary/E.a2: is missing. Expected: one .a2 file for each document"),
        ({"binary/D.a2": "", "binary/E.a2": "", "binary/F.a2": ""}, "binary/F.a2: is not a document of this task."),
        ({"binary/D.a2": b"E1\t\xe9\n", "binary/E.a2": ""}, "binary/D.a2:1: contains bytes that are not UTF-8."),
        ({"D.a2": GOOD, "E.a2": ""}, "D.a2: is in the wrong place. Expected: binary/NAME.a2 or full/NAME.a2."),
        ({"binary/D.a2": "", "binary/E.a2": "", "binary/old/D.a2": ""}, "binary/old/D.a2: is in the wrong place."),
    ],
)
def test_files_that_are_missing_too_many_or_misplaced_are_refused(
    tmp_path: Path, files: dict[str, str | bytes], error: str
) -> None:
    _, problems = read_submission(tmp_path, files, manifest())
    assert any(message.startswith(error) for message in problems.errors), problems.errors


def test_blank_lines_line_ends_order_and_a_byte_order_mark_do_not_matter(tmp_path: Path) -> None:
    text = "\ufeff\r\nE2\tRegulates_Expression DNA:T1 Agent:T2 \r\n\r\n  R1\tIs_Linked_To   Agent1:T1 Agent2:T1\r\n"
    read, problems = read_submission(tmp_path, {"D.a2": text, "E.a2": ""}, manifest("separate", ["binary"]))
    assert problems.errors == []
    assert read is not None
    assert [event[:3] for event in read.events["binary"]["D"]] == [
        ("Regulates_Expression", "T2", "T1"),
        ("Is_Linked_To", "T1", "T1"),
    ]
    assert read.events["binary"]["E"] == []


def test_a_prerequisite_may_stand_further_down_and_compares_by_type_and_arguments(tmp_path: Path) -> None:
    text = (
        "E1\tRegulation_Of_Expression Agent:T2 DNA:T1 Prerequisite_Event:E2\n"
        "E2\tBinding Functional_Molecule:T2 Molecule:T1 Tissue:T4\n"
        "M1\tNegation Annotation:E2\n"
    )
    read, problems = read_submission(tmp_path, {"D.a2": text}, manifest("separate", ["full"]))
    assert problems.errors == []
    assert read is not None
    regulation, binding = read.events["full"]["D"]
    assert regulation.optional == {("Prerequisite_Event", ("Binding", "T2", "T1"))}
    assert not regulation.negated
    assert binding.negated
    assert binding.optional == {("Tissue", "T4")}


@pytest.mark.parametrize(
    ("given", "files", "entered"),
    [
        (manifest(), {"binary/D.a2": "", "binary/E.a2": ""}, {"binary"}),
        (manifest(), {"full/D.a2": ""}, {"full"}),
        (manifest(), {"full/D.a2": "", "binary/D.a2": "", "binary/E.a2": ""}, {"binary", "full"}),
        (manifest("tasks", ["full"]), {"binary/D.a2": "no event"}, set()),
        (manifest("tasks", ["full"]), {"binary/D.a2": "no event", "full/D.a2": ""}, {"full"}),
        (manifest("separate", ["full"]), {"D.a2": ""}, {"full"}),
        (manifest("separate", ["full"]), {"full/D.a2": ""}, {"full"}),
        (manifest("separate", ["full"]), {"my run/D.a2": "", "__MACOSX/._D.a2": ""}, {"full"}),
        (manifest(), {"my run/full/D.a2": "", "my run/full/D.txt": "text", "metadata": "x"}, {"full"}),
    ],
)
def test_a_submission_enters_the_tasks_whose_folder_it_has(
    tmp_path: Path, given: Manifest, files: dict[str, str | bytes], entered: set[str]
) -> None:
    read, problems = read_submission(tmp_path, files, given)
    assert problems.errors == []
    assert read is not None
    assert read.entered == entered


@pytest.mark.parametrize(
    ("files", "errors"),
    [
        ({}, []),
        (
            {"notes.txt": "nothing", "mine.zip": b"PK"},
            ['submission: holds no .a2 file; found "mine.zip", "notes.txt". Expected: binary/NAME.a2 or full/NAME.a2.'],
        ),
    ],
)
def test_what_enters_nothing_is_no_submission(tmp_path: Path, files: dict[str, str | bytes], errors: list[str]) -> None:
    read, problems = read_submission(tmp_path, files, manifest())
    assert read is None
    assert problems.errors == errors

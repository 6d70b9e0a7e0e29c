"""The organiser's side: faults in the gold are named without the gold, and the verbs give what the press needs."""

from pathlib import Path
from typing import Any, cast

import pytest

from scoring_kit.errors import OrganiserError
from scoring_kit.organiser import Request
from seedev2016 import organiser, reference
from tests.scoring_programs.framed import write_files
from tests.scoring_programs.read_secrets import read_secrets

TEXT = "ABI3 binds the RY box in seeds.\n"
A1 = "T1\tProtein 0 4\tABI3\nT2\tBox 15 21\tRY box\nT3\tTissue 25 30\tseeds\n"
BINARY = "E1\tBinds_To Functional_Molecule:T1 Molecule:T2\n"
EVENT = "E1\tBinding Functional_Molecule:T1 Molecule:T2 Tissue:T3"
FULL = f"{EVENT}\nM1\tNegation Annotation:E1\n"
FILES = {
    "binary/D.txt": TEXT,
    "binary/D.a1": A1,
    "binary/D.a2": BINARY,
    "full/D.txt": TEXT,
    "full/D.a1": A1,
    "full/D.a2": FULL,
}


def request(folder: Path, **more: Any) -> Request:
    both = ["binary", "full"]
    asked = {"tasks": both, "all_tasks": both, "layout": "joint", "options": {}, "reference": str(folder), **more}
    return cast("Request", asked)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("binary/D.a2", "E1\tBinds_To Functional_Molecule:T1 Molecule:T9\n", "binary/D.a2:1: unknown entity."),
        ("binary/D.a2", "E1\tBinds_To Functional_Molecule:T1 Molecule:T3\n", "binary/D.a2:1: entity of a wrong type."),
        ("full/D.a1", "T1\tProtein 0 4\tABI3\nT1\tBox 15 21\tRY box\n", "full/D.a1:2: repeated entity id."),
        ("full/D.a1", "T1\tEnzyme 0 4\tABI3\n", "full/D.a1:1: unknown entity type."),
        ("full/D.a1", "T1 Protein 0 4 ABI3\n", "full/D.a1:1: not an entity."),
    ],
)
def test_a_fault_in_the_gold_is_named_without_the_gold(tmp_path: Path, name: str, content: str, message: str) -> None:
    folder = write_files(tmp_path, {**FILES, name: content})
    with pytest.raises(OrganiserError) as raised:
        reference.read(folder, ["binary", "full"], {})
    assert raised.value.messages[0] == f"{message} Look at this line of the reference data."


def test_missing_files_folders_and_unknown_options_are_named_together(tmp_path: Path) -> None:
    folder = write_files(tmp_path, {"binary/D.a2": BINARY, "binary/E.a1": A1, "binary/README": "x"})
    with pytest.raises(OrganiserError) as raised:
        reference.read(folder, ["binary", "full"], {"window": 3})
    assert [message.split(": ")[0] for message in raised.value.messages] == [
        "options.window",
        "binary/D.txt",
        "binary/D.a1",
        "binary/E.txt",
        "binary/E.a2",
        "full",
    ]


def test_only_the_asked_tasks_need_data(tmp_path: Path) -> None:
    folder = write_files(tmp_path, {name: text for name, text in FILES.items() if name.startswith("full")})
    gold = reference.read(folder, ["full"], {})
    assert list(gold.events) == ["full"]


def test_lines_of_entities_may_end_as_on_windows_and_have_no_text(tmp_path: Path) -> None:
    entities = A1.replace("\tABI3", "").replace("\n", "\r\n")
    folder = write_files(tmp_path, {**FILES, "binary/D.a1": entities.encode()})
    assert reference.read(folder, ["binary"], {}).events["binary"]


def test_entities_are_checked_against_the_text(tmp_path: Path) -> None:
    spoiled = A1.replace("15 21", "15 20").replace("25 30", "25 300")
    folder = write_files(tmp_path, {**FILES, "binary/D.a1": spoiled})
    with pytest.raises(OrganiserError, match=r"binary/D\.a1 T3: is outside the text"):
        organiser.check_reference(request(folder))
    folder = write_files(tmp_path, {**FILES, "binary/D.a1": A1.replace("15 21", "15 20")})
    assert organiser.check_reference(request(folder)) == {
        "warnings": ["binary/D.a1 T2: is not the text at these offsets."]
    }


def test_a_task_without_any_event_is_pointed_out(tmp_path: Path) -> None:
    folder = write_files(
        tmp_path, {**FILES, **{name: "" for name in FILES if name.startswith("full/") and ".a2" in name}}
    )
    assert organiser.check_reference(request(folder)) == {
        "warnings": ["full: no .a2 file holds an event, so that every submission gets an F1 of 0."]
    }


def test_manifest_tells_entities_and_secrets_tell_events(tmp_path: Path) -> None:
    folder = write_files(tmp_path, FILES)
    entities = {"T1": "Protein", "T2": "Box", "T3": "Tissue"}
    both = ["binary", "full"]
    assert reference.manifest(reference.read(folder, both, {}), both) == {task: {"D": entities} for task in both}
    found = read_secrets(folder, organiser.secrets(request(folder)))
    assert {*found.texts} >= {line.strip().lower() for line in (BINARY, EVENT)}
    assert found.files == ["binary/D.a2", "full/D.a2"]

"""The two readings of a YAML text: the platform's (YAML 1.1) and bundle.yaml's (the core schema of YAML 1.2)."""

import math
from typing import Any

import pytest

from gen_bundle.ground.yaml_document import Repeated, UnreadableYamlError, read_core_yaml, read_yaml

# text: what the platform reads, what bundle.yaml means
SCALARS: dict[str, tuple[Any, Any]] = {
    "no": (False, "no"),
    "12:30": (750, "12:30"),
    "010": (8, 10),
    "0o17": ("0o17", 15),
    "0x1F": (31, 31),
    "1_000": (1000, "1_000"),
    "1e3": ("1e3", 1000.0),
    "+.5": ("+.5", 0.5),
    "-.inf": (-math.inf, -math.inf),
    "TRUE": (True, True),
    "tRUE": ("tRUE", "tRUE"),
    "~": (None, None),
    "": (None, None),
    "'5'": ("5", "5"),
}


@pytest.mark.parametrize("text", SCALARS)
def test_a_scalar_in_both_versions(text: str) -> None:
    assert (read_yaml(f"a: {text}".encode()).value["a"], read_core_yaml(f"a: {text}".encode()).value["a"]) == SCALARS[
        text
    ]


def test_merge_keys_are_the_platforms_alone() -> None:
    text = b"x: &x {a: 1}\ny: {<<: *x, b: 2}\n"
    assert read_yaml(text).value["y"] == {"a": 1, "b": 2}
    assert read_core_yaml(text).value["y"] == {"<<": {"a": 1}, "b": 2}
    replaced = read_yaml(b"x: &x {a: 1}\ny: {<<: *x, a: 2}\n")
    assert (replaced.value["y"], replaced.repeated) == ({"a": 2}, [])


def test_merge_keys_that_double_from_line_to_line_are_refused_at_once() -> None:
    lines = ["l0: &l0 {a: 1}", *(f"l{at}: &l{at} {{<<: [*l{at - 1}, *l{at - 1}]}}" for at in range(1, 19))]
    with pytest.raises(UnreadableYamlError, match="merge keys multiply"):
        read_yaml("\n".join(lines).encode())


@pytest.mark.parametrize("read", [read_yaml, read_core_yaml])
def test_places_of_keys_items_and_what_is_missing(read: Any) -> None:
    document = read(b"a:\n  - b: 1\n  - c: 2\n    c: 3\n")
    places = {("a",): (1, 1), ("a", 1): (3, 5), ("a", 0, "b"): (2, 5), ("a", 0, "z"): (2, 5), ("z",): (1, 1)}
    assert {path: document.position(path) for path in places} == places
    assert document.repeated == [Repeated("c", (4, 5), (3, 5))]


@pytest.mark.parametrize(
    "text", [b"a: &a [*a]", b"? [a]\n: 1", b"a: \x07", b"\xff", b"[" * 500, b"a: !!python/name:os.x 1"]
)
def test_what_is_refused_as_bundle_yaml(text: bytes) -> None:
    with pytest.raises(UnreadableYamlError):
        read_core_yaml(text)

"""What may be meant for competition.yaml, where a bundle has none."""

from pathlib import Path

import pytest

from gen_bundle.codabench.reading import mistaken_for_yaml, no_yaml


@pytest.mark.parametrize(
    "name",
    [
        *("competition_9169.yaml", "competition.yml", "Competition.YAML", "competiton.yaml", "comptition.yml"),
        *("competition.yaml.txt", "competitions.yaml", "competition-v2.yaml", "bundle/competition.yaml"),
    ],
)
def test_a_near_miss_is_named(name: str) -> None:
    assert mistaken_for_yaml(["logo.png", "data/gold.csv", name, "program/metadata.yaml"]) == [name]
    assert f"There is {name}: " in no_yaml(Path("b"), [name])


@pytest.mark.parametrize(
    "name",
    [
        *("metadata.yaml", "bundle.yaml", "compose.yml", "__MACOSX/._competition.yaml", "competition", "mkdocs.yml"),
        *("competition.csv", "competition.html", "competition/readme.md", ".competition.yaml"),
    ],
)
def test_another_file_is_not(name: str) -> None:
    assert mistaken_for_yaml([name]) == []
    assert no_yaml(Path("b"), [name]) == "b: no competition.yaml at its root."


def test_the_nearest_to_the_root_is_named_first() -> None:
    names = ["a/b/competition.yaml", "a/competition.yaml", "competition_1.yaml"]
    assert mistaken_for_yaml(names) == names[::-1]

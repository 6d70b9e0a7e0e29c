"""Help and completion: rare options by themselves, verbs in the order of a competition's life, names to choose from."""

import json
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from gen_bundle.cli import STAGES, root
from tests.generator.cli.running import gen_bundle
from tests.generator.competition import small_competition

pytestmark = pytest.mark.usefixtures("kept_organisers")


def completed(*words: object, begun: str = "") -> list[str]:
    found = ShellComplete(root, {}, "gen-bundle", "_GEN_BUNDLE_COMPLETE").get_completions(list(map(str, words)), begun)
    return [item.value for item in found]


def test_the_verbs_stand_under_headings_in_their_order() -> None:
    printed = gen_bundle("--help").stdout
    places = []
    for stage, verbs in STAGES.items():
        places += [printed.index(f"\n{stage}:\n"), *(printed.index(f"\n  {verb} ") for verb in verbs)]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("verb", "usual", "rare"),
    [("check", "--strict", "--known-key"), ("dry-run", "--phase", "--print-command"), ("new", "--gold", "--at")],
)
def test_rare_options_stand_below_the_others(verb: str, usual: str, rare: str) -> None:
    options, _, advanced = gen_bundle(verb, "--help").stdout.partition("\nAdvanced options:\n")
    assert f"  {usual} " in options
    assert f"  {rare} " not in options
    assert f"  {rare} " in advanced


def test_verbs_options_ids_and_names_are_completed(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    assert completed(begun="pre") == ["preview"]
    assert completed(begun="clp") == ["clpsych2025"]
    assert completed(folder, begun="--la") == ["--layout"]
    assert completed("rank", folder, "--phase") == ["dev", "test"]
    assert completed("rank", folder, "--phase", begun="t") == ["test"]
    assert completed("build", folder, "--task") == ["classification"]
    assert completed("rank", tmp_path / "nothing", "--phase") == []
    assert completed("new", "x", "--from", begun="clp") == ["clpsych2025"]
    assert completed("new", "x", "--from", "clpsych2025", "--tasks", begun="a") == ["a1", "a2"]
    assert completed("new", "x", "--like", begun="semeval2017") == ["semeval2017-4a"]


@pytest.mark.slow
def test_new_says_what_it_understood_as_json(tmp_path: Path) -> None:
    rows = "".join(f"r{i},text {i} of many,{'ab'[i % 2]}\n" for i in range(20))
    (tmp_path / "gold.csv").write_text("id,text,label\n" + rows, encoding="utf-8")
    said = json.loads(gen_bundle("new", "mine", "--gold", "gold.csv", "--yes", "--json", cwd=tmp_path).stdout)
    assert said["folder"] == "mine"
    assert said["understood"]["key"] == "id"
    assert said["understood"]["answers"] == "label: label (a, b)"
    assert all(isinstance(note, str) for note in said["notes"])
    said = json.loads(gen_bundle("new", "other", "--package", "--json", cwd=tmp_path).stdout)
    assert said == {"folder": "other", "understood": {}, "notes": []}

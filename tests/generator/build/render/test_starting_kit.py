"""The starting kit, used as a participant uses it."""

import json
from pathlib import Path

import pytest

from gen_bundle.build.render import starting_kit
from gen_bundle.build.render.starting_kit import spoiled_submissions
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import resource
from tests.generator.build.looking import check_promises, first_kit, run_in
from tests.generator.competition import small_competition


@pytest.fixture(scope="module")
def competition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = small_competition(tmp_path_factory.mktemp("competition"))
    extra = folder / "starting_kit" / "check_ids.py"
    extra.parent.mkdir()
    extra.write_text('"""Checks ids only."""\n')
    extra.with_name("of_python_2.py").write_text('print "ids"\n')
    extra.with_name("latin_1.py").write_bytes("# für\n".encode("latin-1"))
    return folder


@pytest.fixture(scope="module")
def kit(competition: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kit, unpacked."""
    return first_kit(competition, tmp_path_factory.mktemp("kit"))


@pytest.mark.slow
def test_holds_what_its_readme_names(kit: Path) -> None:
    readme = (kit / "README.md").read_text(encoding="utf-8")
    names = "FORMAT.md template/ examples/valid.zip examples/invalid/ validate.pyz score_locally.py "
    for name in f"{names}requirements.txt scorer/ check_ids.py".split():
        assert f"`{name}`" in readme
        assert (kit / name).exists()
    assert "Checks ids only." in readme
    assert "{{" not in readme
    assert "organisers@example.org" in readme


@pytest.mark.slow
@pytest.mark.parametrize(("name", "lock", "torch"), [("process2025", "score", False), ("clpsych2025", "models", True)])
def test_the_scorers_packages_are_those_of_the_image(name: str, lock: str, torch: bool, tmp_path: Path) -> None:
    kit = first_kit(resource("bundles") / name, tmp_path)
    locked = (resource("requirements") / f"{lock}.txt").read_text(encoding="utf-8")
    entries = [line for line in locked.splitlines() if line[:1].isalnum()]
    packages = (kit / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in packages if line[:1].isalnum()] == entries
    readme = (kit / "README.md").read_text(encoding="utf-8")
    assert "python -m pip install -r requirements.txt" in readme
    assert ("PyTorch" in readme) == torch


@pytest.mark.slow
@pytest.mark.parametrize("name", ["template", "examples/valid.zip"])
def test_template_and_example_are_valid(kit: Path, name: str) -> None:
    done = run_in(kit, "validate.pyz", name)
    assert (done.returncode, done.stderr) == (0, "")
    assert " is valid." in done.stdout


@pytest.mark.slow
def test_invalid_examples_get_the_message_that_is_promised(kit: Path) -> None:
    examples = sorted((kit / "examples" / "invalid").glob("*.zip"))
    assert len(examples) >= 5
    said = check_promises(kit, examples)
    alone = run_in(kit, "validate.pyz", examples[0].relative_to(kit))
    assert (alone.returncode, alone.stdout) == (1, said[0])


@pytest.mark.slow
def test_an_answer_is_packed_and_scored_at_home(kit: Path, competition: Path, tmp_path: Path) -> None:
    packed = tmp_path / "submission.zip"
    assert run_in(kit, "validate.pyz", "template", "--pack", str(packed)).returncode == 0
    gold = competition / "data" / "dev"
    done = run_in(
        kit, "score_locally.py", "--gold", str(gold), "--submission", str(packed), "--out", str(tmp_path / "out")
    )
    assert done.returncode == 0, done.stderr
    assert "signature: " in done.stdout
    assert json.loads((tmp_path / "out" / "scores.json").read_text())
    assert (tmp_path / "out" / "detailed_results.html").exists()


@pytest.mark.slow
def test_clpsych_is_checked_and_scored_from_raw_timelines(tmp_path: Path) -> None:
    source = resource("bundles") / "clpsych2025"
    kit = first_kit(source, tmp_path)
    answer = next((kit / "template").iterdir())
    done = run_in(kit, "submission_validator.py", "-f", str(answer))
    assert done.returncode == 0, done.stderr
    given = ["--gold", str(source / "data" / "dev"), "--submission", str(answer), "--task", "a2"]
    done = run_in(kit, "score_locally.py", *given, "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out" / "scores.json").read_text())["a2_mse"] == 81
    (tmp_path / "empty").mkdir()
    done = run_in(kit, "score_locally.py", "--gold", str(tmp_path / "empty"), "--submission", str(answer))
    assert done.returncode == 2
    assert "holds no timeline" in done.stderr


@pytest.mark.slow
def test_scoring_at_home_says_what_is_wrong(kit: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.zip").write_bytes(b"no zip")
    done = run_in(kit, "score_locally.py", "--gold", str(tmp_path), "--submission", str(tmp_path / "bad.zip"))
    assert done.returncode == 1
    assert "bad.zip: cannot be read as a zip" in done.stderr
    done = run_in(kit, "score_locally.py", "--gold", str(tmp_path / "none"), "--submission", "template")
    assert done.returncode == 2
    assert "no such folder" in done.stderr


@pytest.mark.slow
def test_a_baseline_that_is_no_submission_is_refused(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    (folder / "data" / "baselines" / "dev" / "majority" / "predictions.csv").write_text("id,label\nno,such\n")
    with pytest.raises(UserError, match="baselines/dev/majority: is not a valid submission"):
        first_kit(folder, tmp_path / "work")


def test_of_a_large_submission_only_the_beginning_is_spoiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting_kit, "MAX_BYTES", 10)
    monkeypatch.setattr(starting_kit, "BEGINNING", 12)
    spoiled = {one.name: one.files for one in spoiled_submissions({"answers.csv": b"id,label\na,x\nb,y\n"})}
    assert spoiled == {"other-file": spoiled["other-file"], "cut-off": {"answers.csv": b"id,label\na,x"}}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("answers.csv", "id,label\na,x\nb,y\n", {"missing-row", "repeated-row", "other-column", "semicolons"}),
        ("T_1.json", '{"a": {"spans": ["x"]}, "b": {}}', {"missing-entry", "text-for-list"}),
        ("d.a2", "E1\tBinds_To Agent:T1 Target:T2\n", {"unknown-entity", "blank-for-tab", "unknown-type"}),
        ("t.xml", '<document><antecedent id="4"/></document>\n', {"unclosed", "unknown-id", "doctype"}),
    ],
)
def test_every_format_is_spoiled_in_its_own_ways(name: str, text: str, expected: set[str]) -> None:
    spoiled = {one.name: one.files for one in spoiled_submissions({name: text.encode()})}
    assert set(spoiled) == expected | {"other-file", "cut-off", "utf-16"}
    assert all(files.get(name) != text.encode() for files in spoiled.values())


def test_of_several_files_one_is_left_out() -> None:
    spoiled = {one.name: one.files for one in spoiled_submissions({"a.a2": b"", "b.a2": b"E1\tX A:T1\n"})}
    assert set(spoiled["missing-file"]) == {"a.a2"}

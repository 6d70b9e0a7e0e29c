"""A published result scored again: equal, or the first setting that differs and the figures that it moves."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gen_bundle.after.verify import (
    Claim,
    Scored,
    VerifyRequest,
    compare,
    differing_settings,
    parse_signature,
    read_claim,
    score_again,
    written_figures,
)
from gen_bundle.build.building import BuildRequest, build
from gen_bundle.cli import root
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from tests.generator.competition import small_competition
from tests.generator.foreign_project import foreign_project

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers", "forked_python")]

Details = dict[str, Any]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a bundle, a submission to its test phase, and the details.json of scoring it."""
    folder = tmp_path_factory.mktemp("published")
    competition = small_competition(folder)
    build(BuildRequest(str(competition), out=folder / "bundle.zip"))
    baseline = next(path for path in sorted((competition / "data").glob("baselines/test/*")))
    (folder / "submission").symlink_to(baseline)
    request = DryRunRequest(folder / "bundle.zip", folder / "run", [folder / "submission"], phases=["test"])
    dry_run(request, "process")
    (found,) = (folder / "run").rglob("details.json")
    (folder / "details.json").write_bytes(found.read_bytes())
    return folder


@pytest.fixture(scope="module")
def scored(published: Path) -> Scored:
    """The submission scored again, once."""
    details, bundle = published / "details.json", str(published / "bundle.zip")
    return score_again(VerifyRequest(details, bundle, published / "submission", "test", engine="process"))


def verified(published: Path, details: Path, *more: str) -> Result:
    fixed = ["--bundle", str(published / "bundle.zip"), "--submission", str(published / "submission")]
    return CliRunner().invoke(root, ["verify", str(details), *fixed, "--phase", "test", "--engine", "process", *more])


def changed(published: Path, folder: Path, change: Callable[[Details], object]) -> Path:
    details = json.loads((published / "details.json").read_text(encoding="utf-8"))
    change(details)
    path = folder / "details.json"
    path.write_text(json.dumps(details), encoding="utf-8")
    return path


def test_the_same_again_is_equal(published: Path) -> None:
    result = verified(published, published / "details.json")
    assert result.exit_code == 0, result.stderr
    assert re.search(r"equal: the signature and all [1-9]\d* figures", result.stderr)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (r"reference:\w+", "reference:0000", ("the reference data (gold)", "0000")),
        (r"version:[\d.]+", "version:9.9.9", ("the version of the scoring program", "9.9.9")),
        (r"\|reference", "|numpy:1.0.0|reference", ("the library numpy", "1.0.0")),
        (r"\|reference", "|task.beta:2|reference", ("the setting task.beta", "2")),
    ],
)
def test_the_setting_that_differs_is_named(
    published: Path, scored: Scored, tmp_path: Path, old: str, new: str, expected: tuple[str, str]
) -> None:
    def change(details: Details) -> None:
        details["signature"] = re.sub(old, new, details["signature"])

    verdict = compare(read_claim(changed(published, tmp_path, change)), scored)
    assert [(one.meaning, one.old) for one in verdict.settings] == [expected]
    assert verdict.figures == ()
    assert not verdict.equal


def test_settings_and_figures_that_differ_are_said(published: Path, tmp_path: Path) -> None:
    def change(details: Details) -> None:
        details["signature"] = re.sub(r"reference:\w+", "reference:0000", details["signature"])
        (metrics, *_) = details["tasks"].values()
        name = next(name for name, metric in metrics.items() if metric["value"] is not None)
        metrics[name]["value"] += 0.01
        metrics["unknown"] = {"value": 0.5, "rows": 9}

    result = verified(published, changed(published, tmp_path, change), "--json")
    assert result.exit_code == 1
    moved, unknown = json.loads(result.stdout)["figures"]
    assert moved["new"] == pytest.approx(moved["old"] - 0.01)
    assert unknown == {"name": "unknown", "old": 0.5, "new": None}
    assert "the reference data (gold) differs: 0000 → " in result.stderr
    assert "unknown: 0.5 → not given" in result.stderr


@pytest.mark.parametrize(("shift", "equal"), [(0.0, True), (0.0011, False)])
def test_a_line_of_a_paper_counts_as_far_as_it_has_digits(
    published: Path, scored: Scored, tmp_path: Path, shift: float, equal: bool
) -> None:
    details = json.loads((published / "details.json").read_text(encoding="utf-8"))
    (metrics, *_) = details["tasks"].values()
    name, value = next((name, metric["value"]) for name, metric in metrics.items() if metric["value"] is not None)
    line = tmp_path / "line.txt"
    line.write_text(f"Team Eagle: {name} = {value + shift:.3f} ({details['signature']}).", encoding="utf-8")
    verdict = compare(read_claim(line), scored)
    assert (verdict.equal, verdict.compared) == (equal, 1)


KNOWN = Scored(
    figures={"macro_f1": 0.839, "f1_mean": 0.7, "n": 3.0}, columns={"macro_f1": "Macro F1", "f1_mean": "Mean"}
)


@pytest.mark.parametrize(
    ("text", "figures", "left"),
    [
        ("macro_f1 = .999", [("macro_f1", 0.999)], ()),
        ("macro_f1 0.999", [("macro_f1", 0.999)], ()),
        ("Macro F1 = .84", [("macro_f1", 0.84)], ()),
        ("macro_f1: **0.999**", [("macro_f1", 0.999)], ()),
        ("**macro_f1** = `.999`", [("macro_f1", 0.999)], ()),
        ("We reach a Macro F1 of 0.84 (Mean 0.7).", [("macro_f1", 0.84), ("f1_mean", 0.7)], ()),
        ("| macro_f1 | 0.999 |", [("macro_f1", 0.999)], ()),
        (
            "| Team | Macro F1 | Mean |\n|---|---:|---|\n| 7up | **.84** | .7 |",
            [("macro_f1", 0.84), ("f1_mean", 0.7)],
            (),
        ),
        (r"macro\_f1 & \textbf{0.999} \\", [("macro_f1", 0.999)], ()),
        (r"Team & Macro F1 & Mean \\ \midrule Eagle & $.84$ & .7 \\", [("macro_f1", 0.84), ("f1_mean", 0.7)], ()),
        ("macro_f1 = 83.9 %", [("macro_f1", 0.839)], ()),
        ("unknown = 1e-3, in 2026 there were 12 teams", [("unknown", 0.001)], ("2026", "12")),
        ("micro_macro_f1 0.5 and macro-F1 0.5", [], ("0.5", "0.5")),
        ("macro_f1 = 0.839 [0.8, 0.9]", [("macro_f1", 0.839)], ("0.8", "0.9")),
        ("Macro F1 | 0.84 | 17 |", [("macro_f1", 0.84)], ("17",)),
        ("F1 was not computed; 2026-11-22", [], ("2026",)),
    ],
)
def test_figures_of_a_text_belong_to_names(text: str, figures: list[tuple[str, float]], left: tuple[str, ...]) -> None:
    found, others = written_figures(text, KNOWN)
    assert [(name, round(value, 9)) for name, value, _ in found] == figures
    assert tuple(others) == left


@pytest.mark.parametrize(
    ("text", "equal"), [(".84", True), (".839", True), (".85", False), ("83.9 %", True), ("83.8 %", False), ("1", True)]
)
def test_a_written_figure_is_right_as_far_as_it_has_digits(text: str, equal: bool) -> None:
    verdict = compare(Claim({}, text=f"macro_f1 = {text}"), KNOWN)
    assert (not verdict.figures, verdict.compared, verdict.not_compared) == (equal, 1, ("f1_mean",))


@pytest.mark.parametrize("change", ["tasks", "values", "text"])
def test_nothing_compared_is_not_verified(published: Path, tmp_path: Path, change: str) -> None:
    def without(details: Details) -> None:
        if change == "tasks":
            details["tasks"] = {}
        for metrics in details["tasks"].values():
            for metric in metrics.values():
                metric["value"] = None

    path = changed(published, tmp_path, without)
    if change == "text":
        signature = json.loads(path.read_text(encoding="utf-8"))["signature"]
        path.write_text(f"Eagle reached 0.5 ({signature})", encoding="utf-8")
    result = verified(published, path)
    assert result.exit_code == 2
    assert "not verified" in result.stderr
    assert "equal" not in result.stderr
    assert ("not read as figures: 0.5" in result.stderr) == (change == "text")


def test_a_changed_program_with_the_same_figures_is_said(published: Path, scored: Scored, tmp_path: Path) -> None:
    def change(details: Details) -> None:
        details["signature"] = re.sub(r"program:\w+", "program:00000000", details["signature"])

    verdict = compare(read_claim(changed(published, tmp_path, change)), scored)
    assert [one.meaning for one in verdict.settings] == ["the code of the scoring program"]
    assert (verdict.equal, verdict.figures) == (False, ())

    def before_there_was_one(details: Details) -> None:
        details["signature"] = re.sub(r"\|program:\w+", "", details["signature"])

    assert compare(read_claim(changed(published, tmp_path, before_there_was_one)), scored).equal


def test_a_declaration_is_built_with_its_data(published: Path) -> None:
    fixed = ["--bundle", str(published / "my-task"), "--data", str(published / "my-task" / "data")]
    fixed += ["--submission", str(published / "submission"), "--phase", "test", "--engine", "process"]
    result = CliRunner().invoke(root, ["verify", str(published / "details.json"), *fixed])
    assert result.exit_code == 0, result.stderr


def test_a_submission_that_is_not_scored_is_different(published: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.txt").write_text("nothing\n", encoding="utf-8")
    result = verified(published, published / "details.json", "--submission", str(tmp_path / "broken.txt"))
    assert result.exit_code == 1
    assert "the submission was not scored: " in result.stderr


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"signature": 7}', '{"signature": "a:b", "tasks": {}}', "f1 = 0.5"])
def test_what_is_no_result_is_an_error(published: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text, encoding="utf-8")
    for path in (tmp_path / "x", tmp_path / "missing"):
        result = verified(published, path)
        assert (result.exit_code, result.stdout) == (2, "")
        assert f"error: {path}" in result.stderr


def test_data_belong_to_a_declaration(published: Path, tmp_path: Path) -> None:
    result = verified(published, published / "details.json", "--data", str(tmp_path))
    assert result.exit_code == 2
    assert "--data is for a declaration" in result.stderr


def test_signatures_are_compared_part_by_part() -> None:
    old = parse_signature("competition:a|tasks:x+y|version:1|x.model:b@c|numpy:2.0|reference:00ff")
    new = parse_signature("competition:a|tasks:x+y|version:1|x.model:b@d|scipy:1.1|reference:00fe")
    assert [(one.name, one.old, one.new, one.meaning) for one in differing_settings(old, new)] == [
        ("reference", "00ff", "00fe", "the reference data (gold)"),
        ("x.model", "b@c", "b@d", "the setting x.model"),
        ("numpy", "2.0", None, "the library numpy"),
        ("scipy", None, "1.1", "the library scipy"),
    ]
    with pytest.raises(ValueError, match="expected a signature"):
        parse_signature("nothing of the kind")


def test_a_program_of_others_signs_nothing(tmp_path: Path) -> None:
    folder = foreign_project(tmp_path / "task")
    claim = tmp_path / "claim.txt"
    claim.write_text("set1-acc = .6 competition:x|tasks:dev|reference:abc\n", encoding="utf-8")
    asked = ["--bundle", folder, "--submission", folder / "solutions/guess", "--phase", "dev", "--trust"]
    done = CliRunner().invoke(root, ["verify", str(claim), *map(str, asked)])
    assert done.exit_code == 2
    assert "writes no details.json with a signature" in done.stderr

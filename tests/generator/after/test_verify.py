"""A published result scored again: equal, different, or what was not compared."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gen_bundle.after.verify import (
    Scored,
    Setting,
    Verdict,
    VerifyRequest,
    compare,
    differing_settings,
    read_claim,
    score_again,
)
from gen_bundle.build.building import BuildRequest, build
from gen_bundle.cli import root
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.ground.errors import UserError
from tests.generator.competition import small_competition
from tests.generator.foreign_project import foreign_project

pytestmark = pytest.mark.usefixtures("kept_organisers", "forked_python")

SIGNATURE = "competition:x|tasks:main|version:1.0|program:00ff|numpy:2.0|reference:beef"
COLUMN = {"sort": "desc", "worst": 0, "hidden": False, "computation": None, "of": []}
KNOWN = Scored(
    dict(part.split(":") for part in SIGNATURE.split("|")),
    {("main", "f1"): 0.6543, ("main", "acc"): 1.0, ("main", "rmse"): 3.214, ("main", "extra"): 0.25, ("b", "b"): 0.5},
    {"f1": 0.6543, "acc": 1.0, "rmse": 3.214, "b": 0.5},
    [
        {**COLUMN, "key": "secret", "task": "main", "hidden": True},
        {**COLUMN, "key": "f1", "task": "main"},
        {**COLUMN, "key": "acc", "task": "main"},
        {**COLUMN, "key": "rmse", "task": "main", "sort": "asc", "worst": 1e9},
        {**COLUMN, "key": "places", "task": "main", "computation": "avg_rank", "of": ["f1", "acc"]},
        {**COLUMN, "key": "mean", "task": "b", "computation": "avg", "of": ["b"]},
        {**COLUMN, "key": "b", "task": "b"},
    ],
)


def judged(*claims: str, signature: str | None = SIGNATURE, file: Path | None = None, team: str = "eagle") -> Verdict:
    return compare(read_claim(VerifyRequest(file, "b.zip", Path(f"{team}.zip"), "test", claims, signature)), [KNOWN])


@pytest.mark.parametrize(
    ("claims", "status", "said"),
    [
        (["f1=0.6543", "b=.5"], 0, ""),
        (["f1=.65", "acc=1", "rmse=3.21", "main/extra=0.25", "b=0.50"], 0, ""),
        (["f1=6.543e-1", "b=+0.500"], 0, ""),
        (["f1=0.655", "b=0.5"], 1, ""),
        (["f1=65.43", "b=0.5"], 1, ""),
        (["f1=0", "b=0.5"], 1, ""),
        (["acc=0.9999", "f1=.654", "b=.5"], 1, ""),
        (["f1=1", "b=0.5"], 2, "f1: 1 is too coarse"),
        (["f1=0.7", "b=0.5"], 2, "f1: 0.7 is too coarse"),
        (["f1=.654", "b=.5", "rmse=3"], 2, "rmse: 3 is too coarse"),
        (["acc=1"], 2, "f1: ranks main"),
        (["f1=0.6543"], 2, "mean: ranks b"),
        (["f1=.654", "b=.5", "macro_f1=.9"], 2, "macro_f1: scoring a submission gives no such figure"),
        (["f1=.654", "b=.5", "places=1.5"], 2, "places: scoring a submission gives no such figure"),
    ],
)
def test_a_claim_is_compared_or_named(claims: list[str], status: int, said: str) -> None:
    verdict = judged(*claims)
    assert verdict.status == status, verdict
    assert said in " ".join(verdict.not_compared)
    assert bool(said) == bool(verdict.not_compared)


@pytest.mark.parametrize(
    ("claims", "signature", "said"),
    [
        (["f1=0,6543"], SIGNATURE, "a decimal comma? Expected f1=0.6543"),
        (["f1=1,000"], SIGNATURE, "a decimal comma? Expected f1=1.000"),
        (["f1=65.43 %"], SIGNATURE, "expected KEY=VALUE"),
        (["f1=n/a"], SIGNATURE, "expected KEY=VALUE"),
        (["f1=0.6543 ± 0.9"], SIGNATURE, "expected KEY=VALUE"),
        (["f1=.1667–0.999"], SIGNATURE, "expected KEY=VALUE"),
        (["f1=nan"], SIGNATURE, "expected KEY=VALUE"),
        (["Macro F1 of 0.6543"], SIGNATURE, "expected KEY=VALUE"),
        (["f1=0.6543"], None, "Expected --signature, too"),
        (["f1=0.6543"], "main", "--signature: is no signature"),
        (["f1=0.6543"], SIGNATURE.replace("|program:00ff", ""), "has no program:"),
        ([], SIGNATURE, "expected one of the two"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_scoring(claims: list[str], signature: str | None, said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        judged(*claims, signature=signature)


@pytest.mark.parametrize(
    ("old", "new", "meaning", "value"),
    [
        ("reference:beef", "reference:0000", "the reference data (gold)", "0000"),
        ("version:1.0", "version:9.9.9", "the version of the scoring program", "9.9.9"),
        ("program:00ff", "program:0000", "the code of the scoring program", "0000"),
        ("numpy:2.0", "numpy:1.0", "the library numpy", "1.0"),
        ("|numpy:2.0", "", "the library numpy", None),
        ("|reference", "|task.beta:2|reference", "the setting task.beta", "2"),
    ],
)
def test_the_setting_that_differs_is_named(old: str, new: str, meaning: str, value: str | None) -> None:
    verdict = judged("f1=0.6543", "b=0.5", signature=SIGNATURE.replace(old, new))
    assert [(one.meaning, one.old) for one in verdict.settings] == [(meaning, value)]
    assert (verdict.status, verdict.figures) == (1, ())


def test_the_weightiest_setting_is_first() -> None:
    old = {"version": "1", "x.model": "b@c", "numpy": "2.0", "reference": "00ff"}
    new = {"version": "1", "x.model": "b@d", "scipy": "1.1", "reference": "00fe"}
    assert list(differing_settings(old, new)) == [
        Setting("reference", "00ff", "00fe"),
        Setting("x.model", "b@c", "b@d"),
        Setting("numpy", "2.0", None),
        Setting("scipy", None, "1.1"),
    ]


DETAILS = {"f1": 0.6543, "acc": 1.0}


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ({"signature": SIGNATURE, "tasks": {"main": DETAILS, "b": {"b": 0.5}}}, 0),
        ({"signature": SIGNATURE, "tasks": {"main": DETAILS, "b": {"b": 0.5}, "c": {"c": 0.5}}}, 2),
        ({"signature": SIGNATURE, "tasks": {"main": DETAILS}}, 2),
        ({"signature": SIGNATURE, "tasks": {"main": {"f1": None, "acc": 1.0}, "b": {"b": 0.5}}}, 2),
        ({"signature": SIGNATURE, "tasks": {"main": {"f1": 0.65}, "b": {"b": 0.5}}}, 1),
        ({"signature": SIGNATURE, "tasks": {}}, 2),
        ({"f1": 0.6543, "acc": 1, "rmse": 3.214, "b": 0.5}, 0),
        ({"f1": 0.6543, "acc": 1, "rmse": 3.3, "b": 0.5}, 1),
        ({"acc": 1}, 2),
        ({"teams": [{"team": "owl", "f1": 0.1}, {"team": "eagle", "f1": 0.6543, "b": 0.5, "main_rank": 2}]}, 0),
        ({"teams": [{"team": "eagle", "f1": 0.6543, "b": 0.5, "places": 1.5, "tied": []}]}, 0),
        ({"teams": [{"team": "eagle", "f1": None, "b": None}]}, 2),
        ("team,f1,acc,b,main_rank,tied\nowl,0.1,,,2,\neagle,0.6543,1.0,0.5,1,\n", 0),
        ("team,f1,acc,b\neagle,0.65,1.0,0.5\n", 1),
        ("team,f1,b,other\neagle,0.6543,0.5,\n", 0),
        ("team,macro,f1,b\neagle,0.65,0.6543,0.5\n", 2),
    ],
)
def test_a_file_is_compared_as_it_is_written(tmp_path: Path, content: Any, status: int) -> None:
    path, is_signed = tmp_path / "published", "signature" in content
    if is_signed:
        tasks = {}
        for task, metrics in content["tasks"].items():
            tasks[task] = {name: {"value": value, "rows": 9} for name, value in metrics.items()}
        content = {**content, "tasks": tasks}
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    verdict = judged(signature=None, file=path)
    assert (verdict.status, verdict.signed) == (status, is_signed), verdict


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "7",
        '{"signature": 7, "tasks": {}}',
        '{"signature": "a:b", "tasks": {}}',
        '{"f1": []}',
        "f1 = 0.5",
        "team,f1\nowl,0.5\n",
        "team,f1\neagle,0;5\n",
        f"macro_f1 = 0.6543 {SIGNATURE}",
        None,
    ],
)
def test_what_is_no_result_is_an_error(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "x").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=re.escape(str(tmp_path / "x"))):
        judged(signature=None, file=tmp_path / "x")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a bundle, a submission to its test phase, and details.json and scores.json of scoring it."""
    folder = tmp_path_factory.mktemp("published")
    competition = small_competition(folder)
    build(BuildRequest(str(competition), out=folder / "bundle.zip"))
    baseline = next(path for path in sorted((competition / "data").glob("baselines/test/*")))
    (folder / "submission").symlink_to(baseline)
    request = DryRunRequest(folder / "bundle.zip", folder / "run", [folder / "submission"], phases=["test"])
    dry_run(request, "process")
    for name in ("details.json", "scores.json"):
        (found,) = (folder / "run").rglob(name)
        (folder / name).write_bytes(found.read_bytes())
    return folder


def verified(published: Path, *more: str) -> Result:
    fixed = ["--bundle", str(published / "bundle.zip"), "--submission", str(published / "submission")]
    return CliRunner().invoke(root, ["verify", *fixed, "--phase", "test", "--engine", "process", *more])


@pytest.mark.slow
def test_what_a_run_wrote_is_equal(published: Path) -> None:
    signed = verified(published, str(published / "details.json"))
    assert signed.exit_code == 0, signed.stderr
    assert re.fullmatch(r"equal: .*classification/macro_f1.*; and the signature\n", signed.stderr)
    scores = verified(published, str(published / "scores.json"))
    assert scores.exit_code == 0, scores.stderr
    assert "without a signature: gold and program were not compared" in scores.stderr


@pytest.mark.slow
def test_what_differs_is_said(published: Path) -> None:
    details = json.loads((published / "details.json").read_text(encoding="utf-8"))
    signature = re.sub(r"reference:\w+", "reference:0000", details["signature"])
    result = verified(published, "--claim", "macro_f1=0.123", "--claim", "x=1", "--signature", signature, "--json")
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert (answer["equal"], [one["name"] for one in answer["figures"]]) == (False, ["macro_f1"])
    assert "the reference data (gold) differs: 0000 → " in result.stderr
    assert "not compared: x: scoring a submission gives no such figure" in result.stderr


@pytest.mark.slow
def test_a_declaration_is_built_with_its_data(published: Path) -> None:
    folder = published / "my-task"
    asked = ["--bundle", str(folder), "--data", str(folder / "data"), str(published / "details.json")]
    result = verified(published, *asked)
    assert result.exit_code == 0, result.stderr


@pytest.mark.slow
def test_a_submission_that_is_not_scored_is_different(published: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.txt").write_text("nothing\n", encoding="utf-8")
    result = verified(published, str(published / "details.json"), "--submission", str(tmp_path / "broken.txt"))
    assert result.exit_code == 1
    assert "the submission was not scored: " in result.stderr


@pytest.mark.slow
def test_data_belong_to_a_declaration(published: Path, tmp_path: Path) -> None:
    result = verified(published, str(published / "details.json"), "--data", str(tmp_path))
    assert result.exit_code == 2
    assert "--data is for a declaration" in result.stderr


@pytest.mark.slow
def test_a_program_of_others_signs_nothing(tmp_path: Path) -> None:
    folder = foreign_project(tmp_path / "task")
    asked = VerifyRequest(None, str(folder), folder / "solutions/guess", "dev", trust=True)
    with pytest.raises(UserError, match=r"writes no details\.json with a signature"):
        score_again(asked)

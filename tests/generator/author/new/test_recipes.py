"""Every recipe makes a competition that builds, passes the check and scores its baseline as expected."""

import os
import subprocess
import sys
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
import yaml

from gen_bundle.author.new.project import Place, new_declared
from gen_bundle.author.new.propose import propose
from gen_bundle.author.new.recipes import RECIPES, recipe_gold
from gen_bundle.author.new.split import divide
from gen_bundle.check import check_path
from gen_bundle.cli.new import RECIPES as OFFERED
from gen_bundle.dry_run.engines.process import ProcessEngine
from tests.bundles.replayed import files_of
from tests.generator.author.new.making import bundled, scores
from tests.sweeps import sweep

pytestmark = pytest.mark.usefixtures("kept_organisers", "forked_python")
BASELINES: dict[str, tuple[str, dict[str, float]]] = {
    "classification": ("majority", {"accuracy": 9 / 24}),
    "multilabel": ("empty", {"micro_f1": 0.0, "macro_f1": 0.0}),
    "regression": ("random", {}),
    "spans": ("empty", {"f1": 0.0, "f1_characters": 0.0}),
    "tagging": ("empty", {"f1": 0.0, "precision": 0.0, "recall": 0.0}),
    "ranking": ("alphabetical", {}),
    "generation": ("empty", {"chrf": 0.0, "bleu": 0.0}),
}


@cache
def _written(kind: str) -> dict[str, bytes]:
    """The files of a recipe's competition, by their relative names."""
    gold, choices = recipe_gold(kind)
    proposal = propose(gold, choices)
    assert proposal.kind == kind
    with tempfile.TemporaryDirectory() as work:
        place = Place(f"my-{kind}", Path(work))
        return files_of(new_declared(place, proposal, divide(proposal, "40:60"), check=False))


def made(kind: str, parent: Path) -> Path:
    for name, content in _written(kind).items():
        path = parent / f"my-{kind}" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return parent / f"my-{kind}"


def test_the_command_offers_every_recipe() -> None:
    assert tuple(RECIPES) == OFFERED


@pytest.mark.slow
@pytest.mark.parametrize("kind", sweep(RECIPES, ["regression", "tagging"]))
def test_a_recipe_builds_and_scores_and_its_zip_is_sound(kind: str, tmp_path: Path) -> None:
    folder = made(kind, tmp_path)
    bundle = bundled(folder).path
    assert [finding.what for finding in check_path(bundle).findings if finding.id.startswith("leak")] == []
    found = scores(bundle, ProcessEngine() if kind == "classification" else None)
    name, expected = BASELINES[kind]
    assert set(found) == {("dev", name), ("test", name)}
    assert {column: found["dev", name][column] for column in expected} == pytest.approx(expected, abs=5e-5)
    if kind == "classification":
        labels = Counter(row.rpartition(",")[2] for row in _lines(folder / "data/dev/gold.csv")[1:])
        assert found["dev", name]["accuracy"] == round(max(labels.values()) / labels.total(), 4)
    if kind == "regression":
        assert -0.5 < found["test", name]["pearson"] < 0.5
        assert 0.2 < found["test", name]["rmse"] < 0.6  # deviation .3 of both
    if kind == "ranking":
        assert 0 < found["test", name]["ndcg"] < 1
    if kind == "multilabel":  # both empty = 1
        empty = [row.endswith(",") for row in _lines(folder / "data/dev/gold.csv")[1:]]
        assert found["dev", name]["jaccard"] == round(sum(empty) / len(empty), 4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sweep(RECIPES, ["classification"]))
def test_the_made_up_example_builds_and_scores_as_in_continuous_integration(kind: str, tmp_path: Path) -> None:
    folder = made(kind, tmp_path)
    workflow = yaml.safe_load((folder / ".github/workflows/check.yml").read_text(encoding="utf-8"))
    commands = [step["run"] for step in workflow["jobs"]["check"]["steps"] if "run" in step]
    assert "gen-bundle . --data example --out bundle.zip" in commands
    assert set(scores(bundled(folder, data=folder / "example").path)) == {
        ("dev", BASELINES[kind][0]),
        ("test", BASELINES[kind][0]),
    }


@pytest.mark.slow
def test_a_pull_request_is_told_what_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made("spans", tmp_path)
    workflow = yaml.safe_load((folder / ".github/workflows/check.yml").read_text(encoding="utf-8"))
    step = next(step for step in workflow["jobs"]["check"]["steps"] if "if" in step)
    assert step["env"]["BEFORE"] == "${{ github.event.pull_request.base.sha }}"
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-C", str(folder)]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "before"]):
        subprocess.run([*git, *arguments], check=True)
    declaration = (folder / "bundle.yaml").read_text(encoding="utf-8")
    (folder / "bundle.yaml").write_text(declaration.replace("title: ", "title: New ", 1), encoding="utf-8")
    bundled(folder, data=folder / "example").path.rename(folder / "bundle.zip")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gh").write_text('#!/bin/sh\necho "$@" > gh.txt\n')
    (tmp_path / "bin" / "gh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}")
    given = {"BEFORE": "HEAD", "GITHUB_STEP_SUMMARY": tmp_path / "page.md", "GITHUB_OUTPUT": tmp_path / "outputs"}
    for name, value in given.items():
        monkeypatch.setenv(name, str(value))
    subprocess.run(["bash", "-e", "-o", "pipefail", "-c", step["run"]], cwd=folder, check=True)
    changes = (folder / "changes.md").read_text(encoding="utf-8")
    assert "shown  title: " in changes
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == changes
    first, _, rest = (tmp_path / "outputs").read_text(encoding="utf-8").partition("\n")
    assert rest == f"{changes}{first.removeprefix('text<<')}\n"
    (comment,) = workflow["jobs"]["comment"]["steps"]
    assert comment["env"]["CHANGES"] == "${{ needs.check.outputs.changes }}"
    monkeypatch.setenv("CHANGES", changes)
    monkeypatch.setenv("PULL_REQUEST", "7")
    subprocess.run(["bash", "-e", "-o", "pipefail", "-c", comment["run"]], cwd=tmp_path, check=True)
    assert (tmp_path / "gh.txt").read_text().startswith("pr comment 7 --edit-last --create-if-none --body-file")
    assert (tmp_path / "changes.md").read_text(encoding="utf-8") == f"{changes}\n"


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()

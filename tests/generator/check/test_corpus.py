"""What the check says of recorded uploads, against what the platform did with them."""

import json
from typing import Any

import pytest

from gen_bundle.check import check_path
from gen_bundle.codabench.versions import PlatformVersion
from tests.generator.check.drafts import NOW
from tests.shared import FIXTURES, recorded_uploads, shared_path

CORPUS = "corpus/codabench"


@pytest.mark.parametrize("case", recorded_uploads(), ids=lambda case: case["id"])
def test_verdict_is_the_platforms(case: dict[str, Any]) -> None:
    report = check_path(case["path"], now=NOW, version=PlatformVersion.V1_25)
    assert report.accepted == case["accepted"]
    assert [finding.first for finding in report.findings].count(True) == (0 if case["accepted"] else 1)
    if case["category"] == "valid":
        assert [finding for finding in report.findings if finding.severity != "note"] == []
    # what shows only when the programs run cannot be read from the bundle
    if case["accepted"] and case.get("seen_by") != "run":
        assert report.later == case["later"]


def test_the_corpus_is_whole() -> None:
    folder = shared_path(CORPUS)
    assert len(recorded_uploads()) == len(list((folder / "zips").iterdir()))


def test_the_fixtures_are_a_selection_of_the_corpus() -> None:
    selection, whole = FIXTURES / "corpus", shared_path("corpus")
    files = [path.relative_to(selection) for path in selection.rglob("*.*") if path.suffix != ".md"]
    assert len(files) > 50
    for file in files:
        some, every = (folder / file for folder in (selection, whole))
        if file.suffix == ".zip":
            assert some.read_bytes() == every.read_bytes()
        elif file.suffix == ".jsonl":
            assert set(some.read_text("utf-8").splitlines()) <= set(every.read_text("utf-8").splitlines())
        else:
            assert json.loads(some.read_text("utf-8")).items() <= json.loads(every.read_text("utf-8")).items()


@pytest.mark.parametrize(
    ("case_id", "rule_id"),
    [
        ("combo-task-terms", "task-without-scoring-program"),
        ("combo-terms-image", "terms-missing"),
        ("combo-lb-path", "data-not-found"),
        ("combo-lb-title", "field-not-a-choice"),
        ("combo-two-phases-errors", "field-out-of-range"),
        ("combo-hybrid-2", "pages-no-list"),
        ("zip-only-yaml", "page-not-found"),
        ("solution-bad-task-key", "solution-of-unknown-task"),
        ("v1-no-columns", "old-leaderboard"),
    ],
)
def test_of_several_faults_the_platforms_first_is_marked(case_id: str, rule_id: str) -> None:
    report = check_path(shared_path(CORPUS) / "zips" / f"{case_id}.zip", now=NOW, version=PlatformVersion.V1_25)
    assert [finding.id for finding in report.findings if finding.first] == [rule_id]

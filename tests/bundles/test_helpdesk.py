"""The example of a competition that takes code: its data, and the whole way through the built zip."""

import csv
import io
import re
import zipfile
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.check import check_path
from gen_bundle.codabench.versions import PlatformVersion
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.dry_run.engines.process import ProcessEngine
from gen_bundle.ground.resources import resource
from tests.bundles.replayed import pages, rows_of
from tests.generator.dry_run.in_process import InProcessEngine

pytestmark = pytest.mark.usefixtures("kept_organisers")

NAME = "helpdesk"
FOLDER = resource("bundles") / NAME
PARTS = {"dev": 60, "test": 90}


rows = partial(rows_of, NAME)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("helpdesk") / "bundle.zip"
    (built,) = build(BuildRequest(NAME, path))
    assert not built.errors
    return path


@pytest.mark.parametrize(("phase", "size"), PARTS.items())
def test_code_reads_the_messages_without_their_desks(phase: str, size: int) -> None:
    messages, gold = rows("input", phase, "messages.csv"), rows(phase, "gold.csv")
    assert [row["id"] for row in messages] == [row["id"] for row in gold]
    assert len(gold) == size
    assert list(messages[0]) == ["id", "text"]
    assert {row["desk"] for row in gold} == {"billing", "delivery", "lockers", "returns"}
    training = rows("input", phase, "train.csv")
    assert training == rows("public", "train.csv")
    assert not {row["text"] for row in training} & {row["text"] for row in messages}


@pytest.mark.slow
def test_participants_never_get_the_messages(bundle: Path) -> None:
    hidden = {row["text"] for phase in PARTS for row in rows("input", phase, "messages.csv")}
    with zipfile.ZipFile(bundle) as opened:
        for name in opened.namelist():
            if name.startswith(("public_data/", "starting_kits/", "solutions/", "ingestion_programs/")):
                with zipfile.ZipFile(io.BytesIO(opened.read(name))) as inner:
                    tables = [inner.read(member).decode() for member in inner.namelist() if member.endswith(".csv")]
                cells = {cell for table in tables for row in csv.reader(table.splitlines()) for cell in row}
                assert not hidden & cells, name
                assert bool(cells) == name.startswith(("public_data/", "starting_kits/"))


def test_the_submission_page_says_what_code_may_do() -> None:
    text = pages(NAME)["pages/submission.md"]
    for words in ("def predict(input_folder: Path, output_folder: Path)", "| Test | 270 s |", "4096 MiB", "`desk`"):
        assert words in text


@pytest.mark.slow
@pytest.mark.parametrize("version", PlatformVersion)
def test_the_check_finds_its_contact_and_its_synthetic_gold_alone(version: PlatformVersion, bundle: Path) -> None:
    report = check_path(bundle, now=datetime(2026, 12, 1, tzinfo=UTC), version=version)
    found = [finding.what for finding in report.findings]
    assert (report.accepted, report.later) == (True, "ok")
    title = "Which desk? Routing messages to a parcel service"
    assert found == [
        "the contact organisers@example.org is an example",
        f"the gold of {title} (Development) is synthetic: it comes with gen-bundle",
        f"the gold of {title} (Test) is synthetic: it comes with gen-bundle",
    ]


def share_of_the_majority(phase: str) -> float:
    """How often the desk that is most frequent in the training data is right."""
    [(desk, _)] = Counter(row["desk"] for row in rows("public", "train.csv")).most_common(1)
    gold = [row["desk"] for row in rows(phase, "gold.csv")]
    return gold.count(desk) / len(gold)


@pytest.mark.slow
def test_its_packed_programs_run_and_score_by_themselves(bundle: Path, tmp_path: Path) -> None:
    majority = FOLDER / "data/baselines/test/majority"
    results = dry_run(DryRunRequest(bundle, tmp_path / "out", [majority], phases=["test"], trust=True), ProcessEngine())
    [run] = results.runs
    assert run.scores is not None
    assert run.scores["accuracy"] == round(share_of_the_majority("test"), 4)
    assert 0 < run.scores["macro_f1"] < run.scores["accuracy"]


@pytest.mark.slow
@pytest.mark.parametrize("version", PlatformVersion)
def test_baselines_are_run_and_scored(version: PlatformVersion, bundle: Path, tmp_path: Path) -> None:
    results = dry_run(DryRunRequest(bundle, tmp_path / "out", version=version), InProcessEngine())
    assert [(row.phase, row.rank, row.submission) for row in results.board] == [
        (phase, rank, name) for phase in PARTS for rank, name in ((1, "naive-bayes"), (2, "majority"))
    ]
    scores = {(run.phase, run.submission): run.scores or {} for run in results.runs}
    for phase in PARTS:
        assert scores[phase, "majority"]["accuracy"] == round(share_of_the_majority(phase), 4)
        assert 0.7 < scores[phase, "naive-bayes"]["accuracy"] < 0.9
        assert all(0 < scores[phase, name]["seconds"] < 60 for name in ("naive-bayes", "majority"))
        output = tmp_path / "out" / phase / "joint" / "naive-bayes" / "prediction-output"
        assert len(list(output.glob("run-*/predictions/predictions.csv"))) == 1
        for name in ("naive-bayes", "majority"):
            page = (tmp_path / "out" / phase / "joint" / name / "output" / "detailed_results.html").read_text()
            assert not {row["id"] for row in rows(phase, "gold.csv")} & set(re.split(r"<[^>]*>|\s+", page))

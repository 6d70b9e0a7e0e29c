"""Nothing that a run leaves behind shows the gold, and the page that all may open shows nothing of the submission."""

import csv
import io
import json
import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gen_bundle.ground.zips.writing import write_zip
from scoring_kit import frame
from tests.scoring_programs.dev_phase import Case, cases
from tests.scoring_programs.packed import TAKING_RESULTS

pytestmark = pytest.mark.usefixtures("kept_organisers")
CANARY = "canary7f3a"
NEEDS_MODELS = {"clpsych2025": "a2"}
"""Of these competitions only one task runs without models."""

IDS = {"id", "index", "Test_ID"}
Plant = Callable[[str, int], str]


@dataclass(frozen=True)
class Left:
    """What a run leaves behind."""

    status: int
    log: str
    details: str
    page: str


@pytest.fixture(scope="module", params=TAKING_RESULTS)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    task = NEEDS_MODELS.get(request.param)
    made = cases(request.param, "tasks" if task else "joint", tmp_path_factory)
    return next(one for one in made if task in (None, one.part))


@pytest.fixture(scope="module")
def submission(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A baseline, unpacked."""
    folder = tmp_path_factory.mktemp("baseline")
    write_zip(folder / "zip", next(iter(case.data.baselines.values()), case.data.template))
    shutil.unpack_archive(folder / "zip", folder / "files", "zip")
    return folder / "files"


def run(case: Case, work: Path, submission: Path, reference: Path | None = None) -> Left:
    """Score a submission against other gold than the case's where a folder of it is given."""
    (work / "input").mkdir(parents=True)
    if reference is not None:
        (work / "input" / "ref").symlink_to(reference)
    (work / "input" / "res").symlink_to(submission)
    log, gold = io.StringIO(), case.gold if reference is None else None
    with redirect_stdout(log), redirect_stderr(log):
        status = frame.score_once(case.program, work / "input", work / "output", None, gold)
    outputs = [work / "output" / name for name in ("details.json", "detailed_results.html")]
    details, page = (path.read_text(encoding="utf-8") if status == 0 else "" for path in outputs)
    return Left(status, log.getvalue(), details, page)


@pytest.mark.slow
def test_a_run_shows_no_secret(case: Case, submission: Path, tmp_path: Path) -> None:
    left = run(case, tmp_path, submission, case.reference)
    assert left.status == 0, left.log
    assert left.page
    shown = (left.log + left.details + left.page).lower()
    own = "".join(path.read_text(encoding="utf-8").lower() for path in submission.rglob("*") if path.is_file())
    assert [text for text in case.secrets.texts if text.count(" ") > 2 and text in shown and text not in own] == []
    rows = [set(re.split(r"<[^>]*>|\s+", row)) for row in left.page.lower().split("<tr>")]
    told = [(name, label) for name, _, label in case.secrets.labels if any({name, label} <= row for row in rows)]
    assert told == []


def in_json(text: str, n: int) -> str:
    """Plant in the n-th value that is no key."""
    return _plant(r'(?:"(?:[^"\\]|\\.)*"|-?\d[\d.]*|null|true|false)(?=\s*[,\]}])', f'"{CANARY}"', text, n)


def in_csv(text: str, n: int) -> str:
    """Plant in the n-th cell that is no id."""
    rows = list(csv.reader(io.StringIO(text)))
    places = [(r, c) for r in range(1, len(rows)) for c, name in enumerate(rows[0]) if name not in IDS]
    r, c = places[n % len(places)]
    rows[r][c] = CANARY
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue()


def in_standoff(text: str, n: int) -> str:
    """Plant in the n-th type, role or argument."""
    return _plant(r"(?<=[\t :])\w+", CANARY, text, n)


def in_xml(text: str, n: int) -> str:
    """Plant in the n-th attribute's value."""
    return _plant(r'(?<==")[^"]*(?=")', CANARY, text, n)


def _plant(pattern: str, canary: str, text: str, n: int) -> str:
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    place = found[n % len(found)]
    return text[: place.start()] + canary + text[place.end() :]


PLANTS: Mapping[str, Plant] = {".json": in_json, ".csv": in_csv, ".a2": in_standoff, ".xml": in_xml}
SECRET_FILES = {".json": ".json", ".csv": ".csv", ".a2": ".a2", ".xml": "-key.xml"}


def planted(folder: Path, copy: Path, which: int, n: int, only: Callable[[str], bool] = lambda _: True) -> None:
    """Copy a folder with the canary in one of its files."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    hosts = [path for path in paths if path.suffix in PLANTS and only(path.name) and path.stat().st_size]
    for path in paths:
        content = path.read_bytes()
        if hosts and path == hosts[which % len(hosts)]:
            content = PLANTS[path.suffix](content.decode("utf-8-sig"), n).encode()
        (copy / path.relative_to(folder)).parent.mkdir(parents=True, exist_ok=True)
        (copy / path.relative_to(folder)).write_bytes(content)


def is_gold(name: str) -> bool:
    return any(name.endswith(ending) for ending in SECRET_FILES.values())


@pytest.mark.slow
@settings(max_examples=25)
@given(which=st.integers(0, 10_000), n=st.integers(0, 10_000))
def test_gold_is_never_shown_not_even_broken_gold(
    case: Case, submission: Path, tmp_path_factory: pytest.TempPathFactory, which: int, n: int
) -> None:
    work = tmp_path_factory.mktemp("gold")
    planted(case.reference, work / "ref", which, n, is_gold)
    left = run(case, work / "run", submission, work / "ref")
    assert left.status in (0, 1, 2), left.log
    assert CANARY not in left.log + left.details + left.page


@pytest.mark.slow
@settings(max_examples=25)
@given(which=st.integers(0, 10_000), n=st.integers(0, 10_000))
def test_the_page_shows_nothing_of_the_submission(
    case: Case, submission: Path, tmp_path_factory: pytest.TempPathFactory, which: int, n: int
) -> None:
    work = tmp_path_factory.mktemp("submission")
    planted(submission, work / "res", which, n)
    (work / "res" / "notes.txt").write_text(CANARY)
    left = run(case, work / "run", work / "res")
    assert left.status in (0, 1), left.log
    assert CANARY not in left.page


def test_canaries_are_planted() -> None:
    assert json.loads(in_json('{"a": [1, "x"], "b": null}', 0)) == {"a": [CANARY, "x"], "b": None}
    assert json.loads(in_json('{"a": [1, "x"], "b": null}', 2)) == {"a": [1, "x"], "b": CANARY}
    assert in_csv("id,label\na,x\n", 5).splitlines()[1] == f"a,{CANARY}"
    assert in_standoff("E1\tBinds_To Agent:T1\n", 2) == f"E1\tBinds_To Agent:{CANARY}\n"
    assert in_xml('<a id="4"/>', 0) == f'<a id="{CANARY}"/>'

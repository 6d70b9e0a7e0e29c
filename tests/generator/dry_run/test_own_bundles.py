"""The baselines of every competition, in the built image and as processes: the same scores and the same board."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import pytest

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.dry_run.report import Results
from tests.engine import MODELS_IMAGE, ROOT, SCORE_IMAGE, require_engine, require_image
from tests.punkt import NLTK_DATA

# Building the larger image takes minutes on a busy machine.
pytestmark = [pytest.mark.docker, pytest.mark.image, pytest.mark.slow, pytest.mark.timeout(900)]

COMPETITIONS = sorted(path.parent.name for path in (ROOT / "bundles").glob("*/bundle.yaml"))
MODELS = ROOT / "tests/fixtures/models"


def bundle(out: Path, name: str, **options: object) -> Path:
    """The built bundle, with these options of its scoring program."""
    overrides = tuple(f"options.{key.replace('__', '.')}={value}" for key, value in options.items())
    build(BuildRequest(name, out, overrides=overrides))
    return out


def replay(
    bundle: Path,
    engine: Literal["docker", "process"],
    out: Path,
    image: str | None = None,
    submissions: Sequence[Path] = (),
) -> Results:
    return dry_run(DryRunRequest(bundle, out, submissions, phases=["test"], image=image), engine)


def scores(results: Results) -> dict[str, Mapping[str, Any]]:
    """Place → what was scored, without the time that submitted code took."""
    assert [run.message for run in results.runs] == [""] * len(results.runs)
    return {run.place: _timeless(run.scores or {}) for run in results.runs}


def board(results: Results) -> list[tuple[str, int, str, Mapping[str, str]]]:
    """The rows of the board, without that time."""
    return [(row.phase, row.rank, row.submission, _timeless(row.cells)) for row in results.board]


def _timeless(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != "seconds"}


@pytest.fixture
def image(request: pytest.FixtureRequest) -> str:
    client = require_engine()
    try:
        return require_image(client, request.param)
    finally:
        client.close()


@pytest.mark.parametrize("image", [SCORE_IMAGE], indirect=True)
@pytest.mark.parametrize("name", [name for name in COMPETITIONS if name != "clpsych2025"])
def test_model_free_competitions(name: str, image: str, tmp_path: Path) -> None:
    built = bundle(tmp_path / "bundle.zip", name)
    contained = replay(built, "docker", tmp_path / "docker", image)
    process = replay(built, "process", tmp_path / "process")
    assert contained.good
    assert scores(contained) == scores(process)
    assert board(contained) == board(process)


@pytest.mark.skipif(find_spec("torch") is None, reason="the process needs the models' packages (make test-docker)")
@pytest.mark.parametrize("image", [MODELS_IMAGE], indirect=True)
def test_models_in_the_image_in_folders_and_as_process(
    image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLTK_DATA", str(NLTK_DATA))
    common: dict[str, object] = {"bertscore__num_layers": 1, "bertscore__baseline": MODELS / "baseline.tsv"}
    names = {"bertscore__model": "tiny/bert-encoder", "nli__model": "tiny/roberta-nli"}
    folders = {"bertscore__model": MODELS / "bert-encoder", "nli__model": MODELS / "roberta-nli"}
    named = bundle(tmp_path / "named.zip", "clpsych2025", **common, **names)
    local = bundle(tmp_path / "local.zip", "clpsych2025", **common, **folders)
    one = [ROOT / "bundles/clpsych2025/data/baselines/test/lexical-rule"]
    baked = replay(named, "docker", tmp_path / "baked", image, one)
    mounted = replay(local, "docker", tmp_path / "mounted", image, one)
    process = replay(local, "process", tmp_path / "process", submissions=one)
    assert baked.good
    assert any("bert-encoder is mounted read-only" in note for note in mounted.notes)
    for place, expected in scores(process).items():
        assert scores(baked)[place] == pytest.approx(expected, abs=1e-6)
        assert scores(mounted)[place] == pytest.approx(expected, abs=1e-6)

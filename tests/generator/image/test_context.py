import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gen_bundle.image.models import Weights
from gen_bundle.image.request import ImageRequest
from gen_bundle.image.verbs import gather_context, labels

SCORE = ImageRequest("task", "scoring/task:cpu", "score", "cpu")
CUDA = ImageRequest("task", "scoring/task:cuda", "models", "cuda", {"org/name": None})
NOTHING = Weights({"hub": "https://hub", "models": [], "punkt": None})
COPY = re.compile(r"^COPY (?!--from)(.+) \S+$", re.MULTILINE)


@pytest.fixture
def strict_umask() -> Iterator[None]:
    before = os.umask(0o077)
    yield
    os.umask(before)


def gathered(folder: Path) -> dict[str, int]:
    return {p.relative_to(folder).as_posix(): p.stat().st_mode & 0o777 for p in folder.rglob("*") if p.is_file()}


@pytest.mark.usefixtures("strict_umask")
def test_everything_is_readable_for_all_whatever_the_umask(tmp_path: Path) -> None:
    gather_context(tmp_path, SCORE, NOTHING)
    modes = gathered(tmp_path)
    assert modes.pop("scoring_selftest.py") == 0o755
    assert set(modes.values()) == {0o644}
    assert {p.stat().st_mode & 0o777 for p in tmp_path.rglob("*") if p.is_dir()} == {0o755}


@pytest.mark.parametrize("request_", [SCORE, CUDA])
def test_the_context_holds_all_that_the_dockerfile_copies(tmp_path: Path, request_: ImageRequest) -> None:
    gather_context(tmp_path, request_, NOTHING)
    copied = " ".join(COPY.findall((tmp_path / "Dockerfile").read_text()))
    assert len(copied.split()) >= 6
    for name in copied.split():
        assert (tmp_path / name).exists(), name


def test_locks_are_merged_with_each_package_once(tmp_path: Path) -> None:
    gather_context(tmp_path, replace(CUDA, metrics=True), NOTHING)
    lines = (tmp_path / "packages.txt").read_text().splitlines()
    names = [line.split("==")[0] for line in lines if line[:1].isalnum()]
    assert len(names) == len(set(names))
    assert {"sacrebleu", "seqeval", "jiwer", "transformers", "numpy"} <= set(names)
    assert "\nsacrebleu" not in SCORE.packages_text


def test_only_the_named_files_of_a_folder_are_taken(tmp_path: Path) -> None:
    source, context = tmp_path / "weights", tmp_path / "context"
    source.mkdir()
    context.mkdir()
    (source / "config.json").write_text("{}")
    (source / "training.log").write_text("much")
    model = {"repository": "org/name", "revision": "local-0", "files": {"config.json": "0"}, "path": "sources/0"}
    weights = Weights({"hub": "https://hub", "models": [model], "punkt": None}, {"sources/0": source})
    gather_context(context, CUDA, weights)
    assert [name for name in gathered(context) if name.startswith("sources")] == ["sources/0/config.json"]
    assert json.loads((context / "manifest.json").read_text())["models"] == [model]


def test_labels_tell_what_is_inside() -> None:
    model = {"repository": "org/name", "revision": "f" * 40}
    told = labels(CUDA, Weights({"models": [model], "punkt": None}))
    assert told["gen-bundle.models"] == f"org/name@{'f' * 40}"
    assert told["gen-bundle.variant"] == "cuda"
    assert told["gen-bundle.driver"] == "580.65"
    assert "gen-bundle.cuda" not in labels(SCORE, NOTHING)

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

pytest.importorskip("huggingface_hub")

from scoring_kit.errors import OrganiserError
from scoring_kit.models.loading import ModelFiles, locate
from tests import tiny_models
from tests.hub import put_in_hub_cache

pytestmark = pytest.mark.models

NAME = "someone/tiny-encoder"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize("revision", [None, "main", COMMIT])
def test_a_hub_model_is_found_by_name_branch_and_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, revision: str | None
) -> None:
    put_in_hub_cache(monkeypatch, tmp_path, NAME, COMMIT, tiny_models.BERT_ENCODER)
    files = locate("bertscore.model", NAME, revision)
    assert (files.name, files.revision, files.from_hub) == (NAME, COMMIT, True)
    assert (files.folder / "config.json").is_file()
    assert files.identity() == f"{NAME}@{COMMIT}"


@pytest.mark.parametrize(
    ("name", "revision"), [(NAME, "f" * 40), (NAME, "another-branch"), ("someone/else", None), ("no such name!", None)]
)
def test_a_hub_model_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, revision: str | None
) -> None:
    put_in_hub_cache(monkeypatch, tmp_path, NAME, COMMIT, tiny_models.BERT_ENCODER)
    with pytest.raises(OrganiserError, match=rf"options\.nli\.model: {name}.*not on this machine"):
        locate("nli.model", name, revision)


def test_an_incomplete_hub_model_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_in_hub_cache(monkeypatch, tmp_path, NAME, COMMIT, tiny_models.BERT_ENCODER)
    next(tmp_path.rglob("config.json")).unlink()
    with pytest.raises(OrganiserError, match="incomplete"):
        locate("nli.model", NAME, None)


def test_a_folder_is_taken_as_it_is() -> None:
    files = locate("nli.model", tiny_models.ROBERTA_NLI, None)
    assert (files.name, files.revision, files.from_hub) == (tiny_models.ROBERTA_NLI, None, False)


@pytest.mark.parametrize("name", ["/no/such/folder", "./no-such-folder", "~/no-such-folder", "a/b/c"])
def test_a_folder_that_is_not_there_is_named(name: str) -> None:
    with pytest.raises(OrganiserError, match=f"there is no folder {name}"):
        locate("nli.model", name, None)


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(OrganiserError, match=r"no config\.json"):
        locate("nli.model", str(tmp_path), None)


def test_a_folder_has_no_revision() -> None:
    with pytest.raises(OrganiserError, match="set the revision to null"):
        locate("nli.model", tiny_models.ROBERTA_NLI, "main")


def test_a_folder_that_changes_is_another_model(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_models.BERT_ENCODER, folder)
    first = locate("nli.model", str(folder), None).identity()
    assert locate("nli.model", str(folder), None).identity() == first
    (folder / "model.safetensors").touch()
    second = locate("nli.model", str(folder), None).identity()
    (folder / "vocab.txt").write_text("[PAD]\n", encoding="utf-8")
    third = locate("nli.model", str(folder), None).identity()
    assert len({first, second, third}) == 3


def test_weights_that_change_under_their_size_and_time_are_another_model(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_models.BERT_ENCODER, folder)
    weights = folder / "model.safetensors"
    before, status = locate("nli.model", str(folder), None).identity(), weights.stat()
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    os.utime(weights, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert locate("nli.model", str(folder), None).identity() != before


def test_a_folder_is_known_by_what_it_holds_wherever_it_lies(tmp_path: Path) -> None:
    here, there, other = tmp_path / "here", tmp_path / "far" / "there", tmp_path / "other"
    for folder, weights in ((here, b"w" * 3_000_000), (there, b"w" * 3_000_000), (other, b"w" * 2_999_999 + b"v")):
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}", encoding="utf-8")
        (folder / "model.safetensors").write_bytes(weights)
    found = [locate("nli.model", str(folder), None) for folder in (here, there, other)]
    assert [model.label for model in found] == ["here", "there", "other"]
    assert found[0].version() == found[1].version()
    assert found[0].version() != found[2].version()


def test_a_hub_model_is_known_by_its_commit() -> None:
    model = ModelFiles("organisation/model", "c0ffee", Path("anywhere"))
    assert (model.label, model.version()) == ("organisation/model", "c0ffee")

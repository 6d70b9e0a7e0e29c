import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine import ROOT
from tests.fake_hub import FakeHub, serve

TINY = ROOT / "tests" / "fixtures" / "models" / "roberta-nli"
REVISION = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    files = {path.name: path.read_bytes() for path in TINY.iterdir()}
    with serve(FakeHub({"org/name": files}, revision=REVISION)) as hub:
        yield hub


def model(path: str | None = None, **digests: str) -> dict[str, Any]:
    files = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(TINY.iterdir())}
    return {
        "repository": "org/name",
        "revision": REVISION,
        "files": files | {name.replace("_json", ".json"): digest for name, digest in digests.items()},
        "licence": None,
        "number": None,
        "path": path,
    }


def bake(tmp_path: Path, manifest: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    context = tmp_path / "context"
    context.mkdir(exist_ok=True)
    (context / "manifest.json").write_text(json.dumps({"hub": "http://127.0.0.1:9", "models": [], **manifest}))
    command = [sys.executable, "-I", str(ROOT / "docker" / "bake.py")]
    command += [str(context / "manifest.json"), str(tmp_path / "baked")]
    return subprocess.run(command, capture_output=True, text=True, umask=0o077)


def snapshot(tmp_path: Path) -> Path:
    return tmp_path / "baked" / "hf" / "hub" / "models--org--name" / "snapshots" / REVISION


@pytest.mark.slow
@pytest.mark.parametrize("broken", [0, 1])
def test_a_download_gives_the_locked_files_laid_out_as_the_hubs_cache(
    tmp_path: Path, hub: FakeHub, broken: int
) -> None:
    """It goes on where it stopped."""
    hub.cut_short = broken
    done = bake(tmp_path, {"hub": hub.address, "models": [model()], "punkt": None})
    assert done.returncode == 0, done.stderr
    assert ("try 1 of 5" in done.stderr) == bool(broken)
    assert {p.name: p.read_bytes() for p in snapshot(tmp_path).iterdir()} == hub.models["org/name"]
    assert (snapshot(tmp_path).parents[1] / "refs" / "main").read_text() == REVISION
    assert all(f"/resolve/{REVISION}/" in path for path in hub.asked)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [False, True])
def test_a_file_that_is_missing_or_another_one_stops_the_build(tmp_path: Path, hub: FakeHub, missing: bool) -> None:
    said = f"org/name config.json: sha256 is {model()['files']['config.json']}, expected {'0' * 64}"
    if missing:
        del hub.models["org/name"]["config.json"]
        said = "config.json: 404"
    done = bake(tmp_path, {"hub": hub.address, "models": [model(config_json="0" * 64)], "punkt": None})
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_is_copied_and_everything_becomes_readable_for_all(tmp_path: Path) -> None:
    source = tmp_path / "context" / "sources" / "0"
    source.mkdir(parents=True)
    for path in TINY.iterdir():
        (source / path.name).write_bytes(path.read_bytes())
        (source / path.name).chmod(0o600)
    done = bake(tmp_path, {"models": [model(path="sources/0")], "punkt": None})
    assert done.returncode == 0, done.stderr
    baked = tmp_path / "baked"
    assert {p.stat().st_mode & 0o777 for p in baked.rglob("*") if p.is_file()} == {0o644}
    assert {p.stat().st_mode & 0o777 for p in [baked, *baked.rglob("*")] if p.is_dir()} == {0o755}
    assert json.loads((baked / "scoring" / "manifest.json").read_text())["models"][0]["repository"] == "org/name"


@pytest.mark.slow
def test_the_sentence_splitter_comes_from_its_archive(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("punkt_tab/english/sent_starters.txt", "the\n")
        archive.writestr("punkt_tab/german/sent_starters.txt", "die\n")
    files = {"english/sent_starters.txt": hashlib.sha256(b"the\n").hexdigest()}
    with serve(FakeHub({"nltk/data": {"punkt_tab.zip": packed.getvalue()}})) as hub:
        url = f"{hub.address}/nltk/data/resolve/main/punkt_tab.zip"
        done = bake(tmp_path, {"punkt": {"files": files, "path": None, "url": url}})
    assert done.returncode == 0, done.stderr
    data = tmp_path / "baked" / "nltk_data"
    assert [p.relative_to(data).as_posix() for p in data.rglob("*") if p.is_file()] == [
        "tokenizers/punkt_tab/english/sent_starters.txt"
    ]


@pytest.mark.slow
@pytest.mark.models
def test_transformers_loads_what_was_baked_by_name_and_by_revision(tmp_path: Path, hub: FakeHub) -> None:
    pytest.importorskip("transformers")
    assert bake(tmp_path, {"hub": hub.address, "models": [model()], "punkt": None}).returncode == 0
    code = f"""
from transformers import AutoModelForSequenceClassification, AutoTokenizer
for revision in (None, "main", "{REVISION}"):
    options = {{}} if revision is None else {{"revision": revision}}
    model = AutoModelForSequenceClassification.from_pretrained("org/name", **options)
    print(len(AutoTokenizer.from_pretrained("org/name", **options)("It rains.").input_ids), model.num_labels)
"""
    environment = os.environ | {"HF_HOME": str(tmp_path / "baked" / "hf"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert len(set(lines)) == 1


@pytest.mark.slow
@pytest.mark.models
def test_weights_that_are_a_pickle_alone_load_offline_from_the_image(tmp_path: Path, hub: FakeHub) -> None:
    """As microsoft/deberta-xlarge-mnli lies on the hub: no safetensors; the self-test computes the same number."""
    torch = pytest.importorskip("torch")
    safetensors = pytest.importorskip("safetensors.torch")
    packed = io.BytesIO()
    torch.save(safetensors.load_file(TINY / "model.safetensors"), packed)
    files = hub.models["org/name"]
    del files["model.safetensors"]
    files["pytorch_model.bin"] = packed.getvalue()
    locked = model() | {"files": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}}
    assert bake(tmp_path, {"hub": hub.address, "models": [locked], "punkt": None}).returncode == 0
    scoring = tmp_path / "baked" / "scoring"
    (scoring / "packages.txt").write_text("")
    entries = [{"repository": name, "revision": REVISION, "number": None} for name in ("org/name", str(TINY))]
    (scoring / "manifest.json").write_text(json.dumps({"models": entries, "punkt": None}))
    home = tmp_path / "baked" / "hf"
    done = subprocess.run(
        [sys.executable, str(ROOT / "docker" / "scoring_selftest.py"), "--json"],
        capture_output=True,
        text=True,
        env=os.environ | {"HF_HOME": str(home), "HF_HUB_OFFLINE": "1", "SCORING_FOLDER": str(scoring)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pickled, original = json.loads(done.stdout)["numbers"].values()
    assert pickled == original


@pytest.mark.slow
@pytest.mark.models
def test_the_hub_of_the_tests_answers_as_huggingface_hub_expects(hub: FakeHub) -> None:
    huggingface_hub = pytest.importorskip("huggingface_hub")
    code = f"""
from huggingface_hub import HfApi
info = HfApi(endpoint="{hub.address}").model_info("org/name", revision="main", files_metadata=True)
print(info.sha, info.card_data.license, {{s.rfilename: s.lfs.sha256 for s in info.siblings if s.lfs}})
"""
    environment = os.environ | {"HF_HUB_OFFLINE": "0", "NO_PROXY": "127.0.0.1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, (huggingface_hub.__version__, done.stderr)
    weights = hashlib.sha256(hub.models["org/name"]["model.safetensors"]).hexdigest()
    assert done.stdout.strip() == f"{REVISION} mit {{'model.safetensors': '{weights}'}}"

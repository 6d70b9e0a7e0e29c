import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gen_bundle.ground.errors import UserError
from gen_bundle.image.lock import describe, lock
from gen_bundle.image.models import needed_files, read_models_file
from gen_bundle.image.request import ImageRequest
from tests.fake_hub import FakeHub, serve

FILES = {
    "README.md": b"A card.",
    "config.json": b'{"model_type": "bert"}',
    "vocab.txt": b"[PAD]\n",
    "model.safetensors": b"weights " * 100,
    "pytorch_model.bin": b"the same weights again",
    "tf_model.h5": b"and again",
    "onnx/model.onnx": b"and again",
}
BASE = "python:3.11-slim-bookworm"
NEEDED = ["config.json", "model.safetensors", "vocab.txt"]
UNLOCKED = "# Head.\nmodels:\n  org/name:\n    revision: null\n    files: null\n    licence: null\n    number: null\n"
DIGESTS = {name: hashlib.sha256(FILES[name]).hexdigest() for name in NEEDED}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with serve(FakeHub({"org/name": FILES})) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        monkeypatch.delenv("HF_TOKEN", raising=False)
        yield hub


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Image name → the digests that the engine knows of it after a pull; without an entry it cannot be pulled."""
    known: dict[str, list[str]] = {}

    def docker(verb: str, *arguments: str) -> str:
        if arguments[-1] not in known:
            raise UserError("docker pull: no such host")
        return json.dumps(known[arguments[-1]]) if verb == "image" else f"{arguments[-1]}\n"

    monkeypatch.setattr("gen_bundle.image.lock.docker_output", docker)
    return known


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "models.yaml"
    path.write_text(UNLOCKED + "punkt:\n  files:\n    english/x.txt: " + "a" * 64 + "\n")
    return path


def request(*models: str, revision: str | None = None) -> ImageRequest:
    return ImageRequest("task", "scoring/task:cpu", "models", "cpu", dict.fromkeys(models, revision))


@pytest.mark.parametrize(
    ("names", "needed"),
    [
        (["a.safetensors", "pytorch_model.bin", "config.json"], ["a.safetensors", "config.json"]),
        (["pytorch_model.bin", "rng_state.bin", "spm.model"], ["pytorch_model.bin", "spm.model"]),
        (
            ["pytorch_model-00001-of-00002.bin", "pytorch_model.bin.index.json"],
            ["pytorch_model-00001-of-00002.bin", "pytorch_model.bin.index.json"],
        ),
        (["onnx/model.onnx", "tf_model.h5", "flax_model.msgpack", "README.md", ".gitattributes"], []),
    ],
)
def test_weights_are_taken_once_and_nothing_for_other_frameworks(names: list[str], needed: list[str]) -> None:
    assert needed_files(names) == needed


def test_locking_stores_commit_digests_and_licence(hub: FakeHub, manifest: Path) -> None:
    told: list[str] = []
    assert lock(request("org/name"), manifest, told.append)
    model = read_models_file(manifest).models["org/name"]
    assert model.revision == hub.revision
    assert model.files == DIGESTS
    assert model.licence == "mit"
    assert model.number is None
    assert manifest.read_text().startswith("# Head.\nmodels:\n")
    assert told == [
        f"org/name: locked at {hub.revision}, 3 files",
        f"{BASE}: is left without a digest (docker pull: no such host). Lock it where Docker reaches a registry.",
    ]
    assert not any("model.safetensors" in path for path in hub.asked), "weights are not downloaded to be locked"


def test_what_is_locked_is_not_asked_for_again(hub: FakeHub, manifest: Path) -> None:
    lock(request("org/name"), manifest, lambda _: None)
    before, hub.asked = manifest.read_bytes(), []
    assert not lock(request("org/name"), manifest, lambda _: None)
    assert hub.asked == []
    assert manifest.read_bytes() == before


def test_the_base_image_is_locked_by_its_digest_in_the_registry(manifest: Path, registry: dict[str, list[str]]) -> None:
    digest = "sha256:" + "b" * 64
    registry[BASE] = [f"mirror.example/python@sha256:{'c' * 64}", f"python@{digest}"]
    told: list[str] = []
    assert lock(request(), manifest, told.append)
    assert told == [f"{BASE}: locked at {digest}"]
    assert read_models_file(manifest).base_image.reference == f"{BASE}@{digest}"
    registry.clear()
    assert not lock(request(), manifest, told.append)
    assert len(told) == 1


def test_a_base_image_that_is_in_no_registry_stays_without_a_digest(
    manifest: Path, registry: dict[str, list[str]]
) -> None:
    registry[BASE] = []
    told: list[str] = []
    assert not lock(request(), manifest, told.append)
    assert told[0].startswith(f"{BASE}: is left without a digest (the engine knows no digest of {BASE})")


def expecting(manifest: Path, revision: str, **digests: str) -> None:
    lines = [f"      {name.replace('_json', '.json')}: {{sha256: '{d}', sources: 2}}\n" for name, d in digests.items()]
    text = manifest.read_text().replace("    revision: null\n", f"    revision: '{revision}'\n")
    manifest.write_text(text.replace("    files: null\n", f"    files: null\n    expected:\n{''.join(lines)}"))


def test_expected_digests_that_the_hub_confirms_give_way_to_its_own(hub: FakeHub, manifest: Path) -> None:
    expecting(manifest, hub.revision, config_json=DIGESTS["config.json"])
    told: list[str] = []
    assert lock(request("org/name", revision=hub.revision), manifest, told.append)
    assert told[0] == f"org/name: locked at {hub.revision}, 3 files, 1 of them as expected"
    model = read_models_file(manifest).models["org/name"]
    assert (model.revision, model.files, model.expected) == (hub.revision, DIGESTS, None)


def test_expected_digests_that_the_hub_contradicts_lock_nothing_and_are_all_named(hub: FakeHub, manifest: Path) -> None:
    expecting(manifest, hub.revision, config_json="d" * 64, merges_json="e" * 64)
    before = manifest.read_bytes()
    with pytest.raises(UserError) as raised:
        lock(request("org/name"), manifest, lambda _: None)
    place = f"{manifest}: models.org/name.expected"
    then = "Find out which is right, and delete this line only if it is these files."
    assert raised.value.messages == (
        f"{place}.config.json: its sha256 is {DIGESTS['config.json']}; in 2 public sources it was {'d' * 64}. {then}",
        f"{place}.merges.json: its sha256 is unknown, the file is not there; in 2 public sources it was {'e' * 64}. "
        f"{then}",
    )
    assert manifest.read_bytes() == before


def test_another_revision_than_the_expected_one_is_not_locked_in_silence(hub: FakeHub, manifest: Path) -> None:
    expecting(manifest, hub.revision, config_json=DIGESTS["config.json"])
    with pytest.raises(UserError, match=f"revision: is {hub.revision}, but the competition asks for {'f' * 40}"):
        lock(request("org/name", revision="f" * 40), manifest, lambda _: None)
    assert hub.asked == []


def test_the_revision_that_the_competition_asks_for_is_locked(hub: FakeHub, manifest: Path) -> None:
    lock(request("org/name", revision=hub.revision), manifest, lambda _: None)
    assert hub.asked[0] == f"/api/models/org/name/revision/{hub.revision}?blobs=true"


def test_a_failure_leaves_the_manifest_as_it_was(hub: FakeHub, manifest: Path) -> None:
    before = manifest.read_bytes()
    with pytest.raises(UserError, match=r"404 .*Expected the name of a public model"):
        lock(request("org/name", "org/unknown"), manifest, lambda _: None)
    assert manifest.read_bytes() == before


@pytest.mark.parametrize("body", ["<html>a proxy's page</html>", "[]", "{}", '{"sha": "x", "siblings": [1]}'])
def test_something_else_than_the_hub_is_told(body: str, manifest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gen_bundle.image.lock._get", lambda path: body.encode())
    with pytest.raises(UserError, match=r"does not answer as the hub does\. Is HF_ENDPOINT right"):
        lock(request("org/name"), manifest, lambda _: None)


def test_a_name_that_cannot_stand_in_the_manifest_is_refused(hub: FakeHub, manifest: Path) -> None:
    hub.models["org/name"] = FILES | {"..json": b"{}"}
    before = manifest.read_bytes()
    with pytest.raises(UserError, match=r"models\.org/name\.files\.\.\.json.*String should match pattern"):
        lock(request("org/name"), manifest, lambda _: None)
    assert manifest.read_bytes() == before


def test_an_unreachable_hub_says_where_to_lock(monkeypatch: pytest.MonkeyPatch, manifest: Path) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(UserError, match=r"the hub cannot be reached .* Lock on a machine that reaches it"):
        lock(request("org/name"), manifest, lambda _: None)


def test_a_token_is_sent_for_gated_models(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    describe("org/name")
    assert set(hub.authorization) == {None}
    hub.authorization.clear()
    monkeypatch.setenv("HF_TOKEN", "secret")
    describe("org/name")
    assert set(hub.authorization) == {"Bearer secret"}


def test_the_sentence_splitter_is_locked_by_its_english_files(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("punkt_tab/english/sent_starters.txt", "the\n")
        archive.writestr("punkt_tab/german/sent_starters.txt", "die\n")
    (tmp_path / "punkt.zip").write_bytes(packed.getvalue())
    monkeypatch.setattr("gen_bundle.image.lock.PUNKT_URL", (tmp_path / "punkt.zip").as_uri())
    path = tmp_path / "models.yaml"
    path.write_text("models: {}\npunkt: {}\n")
    assert lock(request(), path, lambda _: None)
    assert read_models_file(path).punkt.files == {"english/sent_starters.txt": hashlib.sha256(b"the\n").hexdigest()}

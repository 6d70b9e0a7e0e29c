import hashlib
from pathlib import Path

import pytest

from gen_bundle.ground.errors import UserError
from gen_bundle.image.models import Expected, ImageModel, ModelsFile, Punkt, settle_weights
from gen_bundle.image.request import ImageRequest

REVISION = "0123456789abcdef0123456789abcdef01234567"
DIGEST = "a" * 64
CONFIG = hashlib.sha256(b"{}").hexdigest()
LOCKED = ImageModel(revision=REVISION, files={"config.json": DIGEST}, licence="mit", number=0.5)
MANIFEST = Path("/somewhere/models.yaml")


def request(**models: str | None) -> ImageRequest:
    return ImageRequest("task", "scoring/task:cpu", "models", "cpu", {f"org/{name}": v for name, v in models.items()})


def manifest(punkt: Punkt | None = None, **models: ImageModel) -> ModelsFile:
    known = {f"org/{name}": model for name, model in models.items()}
    return ModelsFile(models=known, punkt=punkt or Punkt(files={"english/x.txt": DIGEST}))


def test_only_the_models_that_the_competition_needs_are_taken() -> None:
    weights = settle_weights(request(a=None), manifest(a=LOCKED, b=LOCKED, c=ImageModel()), MANIFEST, None)
    assert weights.models == [f"org/a@{REVISION}"]
    assert weights.manifest["models"][0]["files"] == {"config.json": DIGEST}
    assert weights.manifest["punkt"]["files"] == {"english/x.txt": DIGEST}
    assert weights.sources == {}


def test_a_model_free_image_needs_no_lock_at_all() -> None:
    request = ImageRequest("task", "scoring/task:cpu", "score", "cpu")
    weights = settle_weights(request, manifest(Punkt()), MANIFEST, None)
    assert weights.manifest["models"] == []
    assert weights.manifest["punkt"] is None


def test_everything_that_is_not_locked_is_refused_at_once_with_the_command_that_locks_it() -> None:
    wanted = request(a=None, b="f" * 40, c=None)
    with pytest.raises(UserError) as raised:
        settle_weights(wanted, manifest(Punkt(), a=ImageModel(), b=LOCKED), MANIFEST, None)
    assert raised.value.messages == (
        f"{MANIFEST}: models.org/a: is not locked. On a machine that reaches the hub run: gen-bundle image lock task.",
        f"{MANIFEST}: models.org/b: is at {REVISION}, but the competition asks for {'f' * 40}. "
        "Set revision and files to null. On a machine that reaches the hub run: gen-bundle image lock task.",
        f"{MANIFEST}: models.org/c: is not locked. On a machine that reaches the hub run: gen-bundle image lock task.",
        f"{MANIFEST}: punkt: is not locked. On a machine that reaches the hub run: gen-bundle image lock task. "
        "Or name a folder of nltk data: --nltk-data, NLTK_DATA.",
    )


def test_a_folder_needs_no_lock_and_is_named_by_its_content(tmp_path: Path) -> None:
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "training.log").write_text("litter")
    known = manifest(a=ImageModel(path="weights"))
    first = settle_weights(request(a=None), known, tmp_path / "models.yaml", None)
    assert list(first.manifest["models"][0]["files"]) == ["config.json"]
    assert first.sources == {"sources/0": folder}
    assert first.models[0].startswith("org/a@local-")
    assert settle_weights(request(a=None), known, tmp_path / "models.yaml", None) == first
    (folder / "config.json").write_text("{ }")
    assert settle_weights(request(a=None), known, tmp_path / "models.yaml", None).models != first.models


def expecting(digest: str) -> ImageModel:
    return ImageModel(revision=REVISION, expected={"config.json": Expected(sha256=digest, sources=1)}, path=".")


def test_a_folder_that_is_locked_is_the_locked_files(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "notes.json").write_text("{}")
    known = manifest(a=LOCKED.model_copy(update={"path": "."}), b=expecting(CONFIG))
    weights = settle_weights(request(a=REVISION, b=None), known, tmp_path / "models.yaml", None)
    assert weights.models[0] == f"org/a@{REVISION}"
    assert weights.manifest["models"][0]["files"] == {"config.json": DIGEST}  # which the bake step compares


MORE = {"path": ".", "files": {"config.json": DIGEST, "model.safetensors": DIGEST}}


@pytest.mark.parametrize(
    ("model", "revision", "fault"),
    [
        (LOCKED.model_copy(update=MORE), REVISION, r"path: .* lacks model.safetensors. Expected all locked files"),
        (ImageModel(path="."), REVISION, "is at no known revision, but the competition asks for"),
        # Its files would have a name of their own, by which a program that asks for the revision finds none.
        (
            ImageModel(revision=REVISION, path="."),
            REVISION,
            r"no known revision.* --set options\.GROUP\.revision=null",
        ),
        (expecting(DIGEST), None, rf"expected\.config\.json: its sha256 is {CONFIG}; in 1 public source it"),
        (ImageModel(path="weights"), None, r"models.org/a: path: .*weights is not a model folder"),
    ],
)
def test_a_folder_that_cannot_stand_for_a_model_is_refused(
    model: ImageModel, revision: str | None, fault: str, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UserError, match=fault):
        settle_weights(request(a=revision), manifest(a=model), tmp_path / "models.yaml", None)


def test_the_sentence_splitter_may_come_from_a_folder(tmp_path: Path) -> None:
    english = tmp_path / "tokenizers" / "punkt_tab" / "english"
    english.mkdir(parents=True)
    (english / "sent_starters.txt").write_text("the\n")
    weights = settle_weights(request(), manifest(Punkt()), MANIFEST, tmp_path)
    assert list(weights.manifest["punkt"]["files"]) == ["english/sent_starters.txt"]
    assert weights.sources == {"sources/punkt": english.parent}
    with pytest.raises(UserError, match=r"punkt_tab lacks english\. Expected nltk's punkt_tab data"):
        settle_weights(request(), manifest(Punkt()), MANIFEST, tmp_path / "elsewhere")
    with pytest.raises(UserError, match=r"punkt_tab lacks english/x.txt"):
        settle_weights(request(), manifest(), MANIFEST, tmp_path)

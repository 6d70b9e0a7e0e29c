from pathlib import Path

import pytest

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import resource
from gen_bundle.image.models import (
    BaseImage,
    Expected,
    ImageModel,
    ModelsFile,
    Punkt,
    needed_files,
    read_models_file,
    write_models_file,
)

DIGEST = "a" * 64


def test_the_project_names_the_official_models_with_what_is_expected_until_they_are_locked() -> None:
    manifest = read_models_file(resource("docker") / "models.yaml")
    assert set(manifest.models) >= {
        "microsoft/deberta-xlarge-mnli",
        "MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli",
    }
    for model in manifest.models.values():
        assert model.revision is not None
        assert bool(model.files) != bool(model.expected)
        assert model.path is None
        expected = sorted(model.expected or model.files or {})
        assert needed_files(expected) == expected
        assert any(name.endswith((".safetensors", ".bin")) for name in expected)


def test_writing_keeps_the_head_and_every_value(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_text("# Kept.\n#   And this.\nmodels:\n  org/name: {}\npunkt: {}\n# Not this.\n")
    manifest = ModelsFile(
        models={
            "org/name": ImageModel(revision="1" * 38 + "e1", files={"config.json": DIGEST}, licence="no", number=0.25),
            "org/unconfirmed": ImageModel(
                revision="2" * 40, expected={"config.json": Expected(sha256="1" * 64, sources=2)}
            ),
            "local": ImageModel(path="../weights"),
        },
        punkt=Punkt(files={"english/sent_starters.txt": DIGEST}),
        base_image=BaseImage(name="python:3.11", digest="sha256:" + "3" * 64),
    )
    write_models_file(path, manifest)
    assert path.read_text().startswith("# Kept.\n#   And this.\nmodels:\n")
    assert "Not this" not in path.read_text()
    assert read_models_file(path) == manifest


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("models: {}\n", ["models.yaml:1:1: punkt: Field required."]),
        ("models:\n  a/b:\n    revison: null\npunkt: {}\n", ["models.yaml:3:5: models.a/b.revison: Extra inputs"]),
        ("models:\n  a/b:\n    revision: main\npunkt: {}\n", ["models.yaml:3:5: models.a/b.revision: String should"]),
        (
            f"models:\n  a/b:\n    files:\n      ../x: {DIGEST}\n      y: 12\npunkt: {{}}\n",
            ["models.yaml:4:7: models.a/b.files.../x", "models.yaml:5:7: models.a/b.files.y"],
        ),
        (
            "models:\n  a/b:\n    expected:\n      x: {sha256: 12, sources: 0}\npunkt: {}\n",
            ["models.yaml:4:11: models.a/b.expected.x.sha256", "models.yaml:4:23: models.a/b.expected.x.sources"],
        ),
        (
            f"models:\n  a/b:\n    expected:\n      x: {{sha256: {DIGEST}, sources: 1}}\npunkt: {{}}\n",
            ["models.yaml:2:3: models.a/b: Value error, expected digests are those of a revision"],
        ),
        (
            "models: {}\npunkt: {}\nbase_image:\n  digest: latest\n",
            ["models.yaml:4:3: base_image.digest: String should"],
        ),
        ("models:\n  ../b: {}\npunkt: {}\n", ["models.yaml:2:3: models.../b"]),
        ("models: {}\nmodels: {}\n", ["models.yaml:2:1: models: the key is used twice"]),
    ],
)
def test_every_fault_is_told_with_its_place(tmp_path: Path, text: str, messages: list[str]) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(text)
    with pytest.raises(UserError) as raised:
        read_models_file(path)
    assert len(raised.value.messages) == len(messages)
    for message, expected in zip(raised.value.messages, messages, strict=True):
        assert message.startswith(expected)

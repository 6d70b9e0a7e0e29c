from pathlib import Path

import pytest

from gen_bundle.errors import UserError
from gen_bundle.image.manifest import Manifest, Model, Punkt, read_manifest, write_manifest
from gen_bundle.resources import resource

DIGEST = "a" * 64


def test_the_project_names_the_official_models_and_no_half_locked_one() -> None:
    manifest = read_manifest(resource("docker") / "models.yaml")
    assert set(manifest.models) >= {
        "microsoft/deberta-xlarge-mnli",
        "MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli",
    }
    for model in manifest.models.values():
        assert (model.revision is None) == (model.files is None)
        assert model.path is None


def test_writing_keeps_the_head_and_every_value(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_text("# Kept.\n#   And this.\nmodels:\n  org/name: {}\npunkt: {}\n# Not this.\n")
    manifest = Manifest(
        models={
            "org/name": Model(revision="1" * 38 + "e1", files={"config.json": DIGEST}, licence="no", number=0.25),
            "local": Model(path="../weights"),
        },
        punkt=Punkt(files={"english/sent_starters.txt": DIGEST}),
    )
    write_manifest(path, manifest)
    assert path.read_text().startswith("# Kept.\n#   And this.\nmodels:\n")
    assert "Not this" not in path.read_text()
    assert read_manifest(path) == manifest


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
        ("models:\n  ../b: {}\npunkt: {}\n", ["models.yaml:2:3: models.../b"]),
        ("models: {}\nmodels: {}\n", ["models.yaml:2:1: models: the key stands twice"]),
    ],
)
def test_every_fault_is_told_with_its_place(tmp_path: Path, text: str, messages: list[str]) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(text)
    with pytest.raises(UserError) as raised:
        read_manifest(path)
    assert len(raised.value.messages) == len(messages)
    for message, expected in zip(raised.value.messages, messages, strict=True):
        assert message.startswith(expected)

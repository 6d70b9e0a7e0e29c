"""How tests build a bundle, and what they look at in it."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gen_bundle.build.building import BuildRequest, Built, build
from gen_bundle.cli import root
from gen_bundle.ground.errors import UserError
from tests.yaml_text import loaded


def command(*arguments: object) -> Result:
    """Call gen-bundle in this process."""
    return CliRunner().invoke(root, [str(argument) for argument in arguments])


def built(folder: Path, **asked: Any) -> Built:
    """The one bundle of a competition, beside its folder."""
    (one,) = build(BuildRequest(str(folder), **{"out": folder.parent / "bundle.zip", **asked}))
    return one


def refused(folder: Path, **asked: Any) -> list[str]:
    """Why a competition is not built; nothing is written then."""
    with pytest.raises(UserError) as caught:
        built(folder, **asked)
    assert not (folder.parent / "bundle.zip").exists()
    return list(caught.value.messages)


def members(archive: Path | bytes) -> dict[str, bytes]:
    """The files of a bundle, or of a zip in it."""
    with zipfile.ZipFile(io.BytesIO(archive) if isinstance(archive, bytes) else archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def document(bundle: Path) -> Any:
    """Its competition.yaml."""
    return loaded(members(bundle)["competition.yaml"])


def kit_of(bundle: Path, folder: Path, phase: str = "test") -> Path:
    """The starting kit of a phase, unpacked into a folder."""
    with zipfile.ZipFile(io.BytesIO(members(bundle)[f"starting_kits/{phase}.zip"])) as kit:
        kit.extractall(folder)
    return folder

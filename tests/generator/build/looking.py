"""How tests build a bundle, and what they look at in it."""

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gen_bundle.build.building import BuildRequest, Built, build
from gen_bundle.build.package.phase_data import prepare_phases
from gen_bundle.build.package.resolve import resolve
from gen_bundle.build.render.starting_kit import starting_kits
from gen_bundle.cli import root
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.zips.writing import zipped
from tests.yaml_text import loaded

CLEAN = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}


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


def first_kit(folder: Path, work: Path) -> Path:
    """The starting kit of a competition's first phase, made without a bundle and unpacked below a new folder."""
    competition = resolve(folder)
    (work / "prepared").mkdir(parents=True)
    (kit,) = starting_kits(competition, prepare_phases(competition, work / "prepared")[:1]).values()
    with zipfile.ZipFile(io.BytesIO(zipped(kit))) as archive:
        archive.extractall(work / "kit")
    return work / "kit"


# Runs the validator on each argument as if it were alone on the command line, all in one process.
EACH = """
import contextlib, io, json, runpy, sys
said = []
for name in sys.argv[1:]:
    sys.argv = ["validate.pyz", name]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            runpy.run_path("validate.pyz", run_name="__main__")
        except SystemExit as end:
            said.append([end.code, printed.getvalue()])
print(json.dumps(said))
"""


def check_promises(kit: Path, examples: list[Path]) -> list[str]:
    """What the kit's validator says of its invalid examples, which is what lies beside each and stands on its page."""
    page = (kit / "FORMAT.md").read_text(encoding="utf-8")
    said = json.loads(run_in(kit, "-c", EACH, *(example.relative_to(kit) for example in examples)).stdout)
    for example, (status, text) in zip(examples, said, strict=True):
        promised = example.with_suffix(".txt").read_text(encoding="utf-8")
        assert status == 1
        assert text.startswith(promised.removesuffix("…\n"))
        assert promised.strip() in page
    return [text for _, text in said]


def edit(file: Path, old: str, new: str) -> None:
    """Replace a text that is in a file, where it is first."""
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def run_in(kit: Path, *arguments: object) -> "subprocess.CompletedProcess[str]":
    """Run Python in an unpacked kit, as participants do."""
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=kit, env=CLEAN, capture_output=True, text=True, encoding="utf-8", check=False)

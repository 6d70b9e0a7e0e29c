"""The participants' validator, as a zipapp and piece by piece."""

import importlib.util
import json
import random
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

import pytest

from gen_bundle.build.render.starting_kit import validator_bytes
from gen_bundle.ground.resources import resource
from scoring_kit.base.submissions import MAX_FILES
from scoring_kit.validate import main
from tests.scoring_programs import framed

PACKAGE = '''
"""A toy: one file answer.txt with a line for each id."""
from __future__ import annotations
from dataclasses import dataclass
from typing import FrozenSet
from scoring_kit.json_reading import read_utf8

@dataclass
class Submission:
    entered: FrozenSet[str]

def read(files, manifest, problems):
    if "answer.txt" not in files.paths:
        problems.error("answer.txt", "is missing", "a file with a line for each id")
        return None
    text = read_utf8(files.paths["answer.txt"], "answer.txt", 1, problems) or ""
    for number, (line, name) in enumerate(zip(text.splitlines(), manifest.expected["ids"]), 1):
        if line != name:
            problems.error(f"answer.txt:{number}", f"is {line}", name)
    return Submission(frozenset({"one"}))
'''
MANIFEST = {
    "competition": "toy",
    "tasks": ["one", "two"],
    "all_tasks": ["one", "two"],
    "layout": "joint",
    "options": {},
    "expected": {"ids": ["a", "b"]},
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "packages" / "toy"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text('"""Toy."""\n')
    (folder / "submission.py").write_text(PACKAGE)
    (folder / "reference.py").write_text("raise ImportError('participants have no use for this')\n")
    return folder


@pytest.fixture
def module(package: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("toy_submission", package / "submission.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, loaded)
    spec.loader.exec_module(loaded)
    return loaded


def zipped(path: Path, files: Mapping[str, bytes]) -> Path:
    path.write_bytes(framed.zipped(files))
    return path


Judge = Callable[..., tuple[int, str]]


@pytest.fixture
def verdict(module: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Judge:
    """The exit status and the words for a path, or for the zip `s.zip` of files, with further arguments."""

    def judged(given: Path | dict[str, bytes], *arguments: object) -> tuple[int, str]:
        path = given if isinstance(given, Path) else zipped(tmp_path / "s.zip", given)
        status = main(module, json.dumps(MANIFEST), [str(path), *map(str, arguments)])
        return status, capsys.readouterr().out

    return judged


GOOD = {"answer.txt": b"a\nb\n"}


def test_a_zip_a_folder_and_a_bare_file_are_read(verdict: Judge, tmp_path: Path) -> None:
    bare = tmp_path / "answer.txt"
    bare.write_bytes(GOOD["answer.txt"])
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "answer.txt").write_bytes(GOOD["answer.txt"])
    archive = zipped(tmp_path / "mine.zip", GOOD)
    assert verdict(archive) == (0, "mine.zip is valid. It enters one, not two.\n")
    hint = "The platform accepts only zips: run this again with --pack submission.zip and upload that file.\n"
    assert verdict(folder) == (0, "mine is valid. It enters one, not two.\n" + hint)
    assert verdict(bare) == (0, "answer.txt is valid. It enters one, not two.\n" + hint)


def test_of_a_single_task_nothing_is_said_of_tasks(
    module: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = {**MANIFEST, "tasks": ["one"], "all_tasks": ["one"]}
    assert main(module, json.dumps(one), [str(zipped(tmp_path / "s.zip", GOOD))]) == 0
    assert capsys.readouterr().out == "s.zip is valid.\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"mine\\": b"", "mine\\answer.txt": b"a\nb\n"}, ""),
        ({"one/answer.txt": b"a\nb\n"}, ""),  # called like a task, where tasks have no folders
        ({"team/answer.txt": b"a\nb\n", "__MACOSX/._answer.txt": b"?", "team/.DS_Store": b"?"}, "warning: "),
        ({"my/answer.txt": b"a\nb\n", "my/metadata": b"a: b\n"}, "metadata: left out"),
        ({"my/answer.txt": b"a\nb\n", "my/metadata.yaml": b"a: b\n"}, "metadata.yaml: left out"),
    ],
)
def test_what_is_packed_is_what_the_platform_reads(
    files: dict[str, bytes], said: str, verdict: Judge, tmp_path: Path
) -> None:
    out = zipped(tmp_path / "out.zip", {"old.txt": b""})  # of an earlier time
    status, text = verdict(files, "--pack", out)
    assert status == 0
    assert said in text
    with zipfile.ZipFile(out) as archive:
        assert archive.namelist() == ["answer.txt"]
    assert verdict(out) == (0, "out.zip is valid. It enters one, not two.\n")


def test_every_problem_is_printed_with_its_place(verdict: Judge) -> None:
    status, text = verdict({"answer.txt": b"x\ny\n"})
    assert status == 1
    assert text.splitlines()[0] == "The submission cannot be scored: 2 problems found."
    assert text.splitlines()[1].startswith("answer.txt:1: is x. ")
    assert text.splitlines()[2].startswith("answer.txt:2: is y. ")


@pytest.mark.parametrize("name", ["metadata", "metadata.yaml"])
def test_a_submission_that_the_platform_takes_for_a_program_is_refused(
    verdict: Judge, name: str, tmp_path: Path
) -> None:
    out = tmp_path / "out.zip"
    status, text = verdict({**GOOD, name: b"a: b\n"}, "--pack", out)
    assert status == 1
    assert f"{name}: makes the platform treat the submission as a program" in text
    assert not out.exists()


def test_a_submission_without_files_is_told_what_keeps_them_back(verdict: Judge) -> None:
    status, text = verdict({})
    assert status == 1
    assert "submission: holds no files. Expected: the files" in text
    assert "none named metadata or metadata.yaml at the top of the zip" in text


def test_where_tasks_have_folders_one_that_is_called_so_is_no_wrapping(verdict: Judge, module: ModuleType) -> None:
    module.__dict__["TASK_FOLDERS"] = True
    assert verdict({"one/answer.txt": GOOD["answer.txt"]})[0] == 1


def test_packing_gives_the_same_bytes_and_says_what_it_cannot_write(verdict: Judge, tmp_path: Path) -> None:
    source = zipped(tmp_path / "s.zip", GOOD)
    outs = [tmp_path / "1.zip", tmp_path / "2.zip"]
    for out in outs:
        verdict(source, "--pack", out)
    assert outs[0].read_bytes() == outs[1].read_bytes()
    status, text = verdict(source, "--pack", tmp_path / "no" / "such" / "folder.zip")
    assert status == 1
    assert "cannot be written" in text


@pytest.mark.parametrize(
    ("out", "why"),
    [
        ("mine.zip", "is the submission itself"),
        ("folder/../mine.zip", "is the submission itself"),
        ("link.zip", "is the submission itself"),
        ("gold.csv", "exists and is not a zip"),
        ("gold.zip", "exists and is not a zip"),
        ("folder", "exists and is not a zip"),
    ],
)
def test_packing_replaces_neither_the_submission_nor_what_is_not_a_zip(
    verdict: Judge, tmp_path: Path, capsys: pytest.CaptureFixture[str], out: str, why: str
) -> None:
    archive = zipped(tmp_path / "mine.zip", GOOD)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.zip").symlink_to("mine.zip")
    for name in ("gold.csv", "gold.zip"):
        (tmp_path / name).write_text("id,label\n")
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with pytest.raises(SystemExit, match="2"):
        verdict(archive, "--pack", tmp_path / out)
    assert why in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def _link(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        member = zipfile.ZipInfo("answer.txt")
        member.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(member, "/etc/passwd")


LOCAL, CENTRAL = b"PK\x03\x04", b"PK\x01\x02"


def _changed(*changes: tuple[bytes, int, bytes]) -> Callable[[Path], None]:
    """A good zip with other bytes in its first entry's head, or in the directory (APPNOTE.TXT, 4.3.7 and 4.3.12)."""

    def make(path: Path) -> None:
        data = bytearray(zipped(path, GOOD).read_bytes())
        for head, offset, value in changes:
            at = data.index(head) + offset
            data[at : at + len(value)] = value
        path.write_bytes(bytes(data))

    return make


def _damaged(method: int, start: int, content: bytes) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("answer.txt", random.Random(0).randbytes(500))
        data = bytearray(path.read_bytes())
        data[start : start + 20] = content * 20
        path.write_bytes(bytes(data))

    return make


def _twice(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("answer.txt", b"a\nb\n")
        archive.writestr("Answer.txt", b"c")


def _holding(files: Mapping[str, bytes]) -> Callable[[Path], object]:
    return lambda path: zipped(path, files)


HOSTILE = {
    "a link": (_link, '"answer.txt": is a link.'),
    "encrypted": (_changed((LOCAL, 6, b"\1"), (CENTRAL, 8, b"\1")), '"answer.txt": is encrypted.'),
    "damaged": (_damaged(zipfile.ZIP_DEFLATED, 120, b"\0"), '"answer.txt": cannot be unpacked'),
    "damaged in LZMA": (_damaged(zipfile.ZIP_LZMA, 60, b"\xff"), '"answer.txt": cannot be unpacked'),
    "unknown compression": (_changed((LOCAL, 8, b"\t"), (CENTRAL, 10, b"\t")), '"answer.txt": cannot be unpacked'),
    "upper and lower case": (_twice, '"Answer.txt": occurs twice (the other: "answer.txt")'),
    "dots": (_holding({"../answer.txt": b""}), '"../answer.txt": is not a valid name for a file in'),
    "absolute": (_holding({"/answer.txt": b""}), '"/answer.txt": is not a valid name for a file in'),
    "dots and backslashes": (_holding({"..\\answer.txt": b""}), "is not a valid name for a file in"),
    "a slash and a backslash": (
        _holding({"a/answer.txt": b"a\nb\n", "a\\answer.txt": b""}),
        'occurs twice (the other: "a/answer.txt")',
    ),
    "a name that is no UTF-8": (  # though it says so
        _changed((CENTRAL, 9, b"\x08"), (CENTRAL, 46, b"\xe9")),
        "s.zip: cannot be read as a zip",
    ),
    "a version of the future": (_changed((CENTRAL, 6, b"G")), "s.zip: cannot be read as a zip (zip file version 7.1)"),
    "a folder, then a file of its name": (
        _holding({"answer.txt/": b"", **GOOD}),
        '"answer.txt": is also the name of a folder in the zip.',
    ),
    "a file, then a folder of its name": (
        _holding({**GOOD, "Answer.txt/x": b""}),
        '"answer.txt": is also the name of a folder in the zip.',
    ),
    "hundreds of folders": (_holding({f"{'d/' * 600}answer.txt": b""}), "is nested too deeply"),
    "hundreds of empty folders": (_holding({**GOOD, "d/" * 1200: b""}), "is nested too deeply"),
    "no zip at all": (lambda path: path.write_bytes(b"a\nb\n"), "s.zip: cannot be read as a zip"),
    "an empty file": (lambda path: path.write_bytes(b""), "s.zip: cannot be read as a zip"),
    "too many files": (
        _holding({f"{i}": b"" for i in range(MAX_FILES + 1)}),
        f"s.zip: holds {MAX_FILES + 1} files and folders.",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_zip_is_not_trusted(verdict: Judge, name: str, tmp_path: Path) -> None:
    make, message = HOSTILE[name]
    make(tmp_path / "s.zip")
    status, text = verdict(tmp_path / "s.zip")
    assert status == 1
    assert message in text
    assert "Traceback" not in text
    assert not (tmp_path.parent / "answer.txt").exists()


@pytest.mark.slow
def test_whatever_a_zip_holds_there_is_a_verdict(verdict: Judge, tmp_path: Path) -> None:
    whole = zipped(tmp_path / "whole.zip", {"mine/answer.txt": b"a\nb\n" * 20}).read_bytes()
    chance = random.Random(0)
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(data))
            data[place : place + chance.choice((1, 2, 4))] = chance.randbytes(chance.choice((0, 1, 2, 4)))
        (tmp_path / "s.zip").write_bytes(bytes(data))
        assert verdict(tmp_path / "s.zip")[0] in (0, 1)


def test_a_folder_of_hundreds_of_folders(verdict: Judge, tmp_path: Path) -> None:
    deep = tmp_path / "mine"
    (deep / ("d/" * 300)).mkdir(parents=True)
    status, text = verdict(deep)
    assert status == 1
    assert "is nested too deeply" in text


def test_a_validator_that_fails_says_where_and_is_no_verdict(verdict: Judge, module: ModuleType) -> None:
    def buggy(*_: object) -> None:
        raise KeyError("surprise")

    module.__dict__["read"] = buggy
    status, text = verdict(GOOD)
    assert status == 3
    assert "in buggy" in text
    assert "KeyError" in text
    assert "valid." not in text.splitlines()[1]
    assert "Traceback" not in text


@pytest.mark.slow
def test_a_bomb_is_left_when_it_grows_too_large(
    verdict: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring_kit.submission_zip.MAX_BYTES", 1_000_000)
    path = tmp_path / "s.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("answer.txt", bytes(10_000_000))
    status, text = verdict(path)
    assert status == 1
    assert "s.zip: holds more than 1 MB when unpacked." in text


@pytest.mark.parametrize("name", ["s.tar.gz", "s.7z", "s.RAR"])
def test_other_archives_are_named(verdict: Judge, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"?")
    assert "the platform accepts no other" in verdict(tmp_path / name)[1]


def test_what_does_not_exist_is_said(verdict: Judge, tmp_path: Path) -> None:
    status, text = verdict(tmp_path / "nothing")
    assert status == 1
    assert "does not exist" in text


@pytest.mark.slow
def test_the_zipapp_runs_alone(package: Path, tmp_path: Path) -> None:
    content = validator_bytes(package, resource("scoring_programs") / "scoring_kit", MANIFEST)
    assert content == validator_bytes(package, resource("scoring_programs") / "scoring_kit", MANIFEST)
    assert content.startswith(b"#!/usr/bin/env python3\n")
    (tmp_path / "validate.pyz").write_bytes(content)
    zipped(tmp_path / "s.zip", GOOD)
    command = [sys.executable, "-I", "validate.pyz", "s.zip"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "s.zip is valid. It enters one, not two.\n", "")
    with zipfile.ZipFile(tmp_path / "validate.pyz") as archive:
        assert "toy/reference.py" not in archive.namelist()
        assert "scoring_kit/frame.py" not in archive.namelist()

"""Input that is made to hurt: each gets a finding, and none takes much time or memory."""

import io
import os
import struct
import time
import tracemalloc
import zipfile
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
import yaml

from gen_bundle.check import Report, check_path
from gen_bundle.dry_run.layout import remove_tree
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.zips.unpacking import BUNDLE
from tests.generator.check.cases.archive import LAUGHS, SOUND, member
from tests.generator.check.drafts import NEW, NOW, Draft, Edit, first_phase, first_task, new, packed, raw, text, write

TEXT = yaml.safe_dump(NEW)


def checked(draft: Draft, folder: Path) -> Report:
    """The report, made within bounds."""
    path = folder / "bundle.zip"
    path.write_bytes(draft.as_zip())
    tracemalloc.start()
    started = time.process_time()
    try:
        report = check_path(path, now=NOW)
        assert tracemalloc.get_traced_memory()[1] < 200_000_000
    finally:
        tracemalloc.stop()
    assert time.process_time() - started < 60
    return report


def found(report: Report, rule_id: str) -> str:
    """What a rule said."""
    return next(finding.what for finding in report.findings if finding.id == rule_id)


def encrypted() -> bytes:
    """The sound bundle, its overview marked as encrypted."""
    data = bytearray(packed(SOUND))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = 0
        while (place := data.find(signature, place)) >= 0:
            name_place = place + (30 if offset == 6 else 46)
            if data[name_place : name_place + 11] == b"overview.md":
                data[place + offset] |= 1
            place += 4
    return bytes(data)


def overlapping() -> bytes:
    """The sound bundle with two directory entries for the same bytes."""
    data = member("twin_a", b"0" * 500)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
    entry = data.rindex(b"PK\x01\x02")
    end = data.rindex(b"PK\x05\x06")
    twin = data[entry:end].replace(b"twin_a", b"twin_b")
    footer = bytearray(data[end:])
    count = len(infos) + 1
    footer[8:12] = struct.pack("<HH", count, count)
    footer[12:16] = (int.from_bytes(footer[12:16], "little") + len(twin)).to_bytes(4, "little")
    return data[:end] + twin + bytes(footer)


def damaged_lzma() -> bytes:
    """The sound bundle with one more member, whose LZMA data are damaged."""
    data = bytearray(member("extra", b"x" * 500, compress_type=zipfile.ZIP_LZMA))
    packed_data = data.rindex(b"extra", 0, data.index(b"PK\x01\x02")) + len("extra") + 9  # after LZMA's own header
    data[packed_data : packed_data + 4] = b"\xff" * 4
    return bytes(data)


def named(name: bytes, flagged: bool) -> bytes:
    """The sound bundle with a member of a name in bytes, marked as UTF-8 or not."""
    placeholder = b"q" * len(name)
    data = bytearray(member(placeholder.decode(), b"x").replace(placeholder, name))
    if flagged:
        entry = data.rindex(b"PK\x01\x02")
        data[entry + 9] |= 0x08
        local = int.from_bytes(data[entry + 42 : entry + 46], "little")
        data[local + 7] |= 0x08
    return bytes(data)


def a_line_of_100_million_characters(draft: Draft) -> None:
    """Made when the test runs: all workers hold what parameters hold."""
    draft.text = TEXT.encode() + b"# " + b"x" * 100_000_000


DEEP = "deep: " + "[" * 5000 + "]" * 5000 + "\n"


@pytest.mark.parametrize(
    ("edit", "rule_id"),
    [
        (text(LAUGHS + TEXT.replace("title: A small task", "title: *h")), "yaml-bomb"),
        (text(LAUGHS + TEXT + "fact_sheet: {q: *h}\n"), "yaml-bomb"),
        (text(LAUGHS + TEXT + "solutions: *h\n"), "yaml-bomb"),
        (text(TEXT + "fact_sheet: &f {q: *f}\n"), "yaml-bomb"),
        (text(TEXT.replace("title: A small task", "title: &t [*t]")), "yaml-bomb"),
        (text(DEEP + TEXT), "yaml-unreadable"),
        (a_line_of_100_million_characters, "yaml-unreadable"),
        (text(TEXT + "x: !!python/object/apply:os.system [true]\n"), "yaml-unreadable"),
        (text(TEXT.encode("utf-16")), "yaml-unreadable"),
        (text(TEXT + 'x: "\\uD800"\n'), "key-ignored"),
        (text("\0" + TEXT), "yaml-unreadable"),
        (text(TEXT + "? [a, b]\n: c\n"), "yaml-unreadable"),
        (text(TEXT + "x: 2031-99-99\n"), "yaml-unreadable"),
        (text(TEXT + "x: " + "9" * 5000 + "\n"), "yaml-unreadable"),
        (raw(encrypted()), "zip-member-unreadable"),
        (raw(damaged_lzma()), "zip-member-unreadable"),
        (raw(overlapping()), "zip-member-unreadable"),
        (raw(member("link", b"/etc/passwd", link=True)), "zip-link"),
        (raw(member("/etc/passwd", b"x")), "zip-odd-name"),
        (raw(member("../../evil", b"x")), "zip-odd-name"),
        (raw(member("..", b"x")), "zip-member-unreadable"),
        (raw(named(b"donn\xe9es", flagged=False)), "zip-odd-name"),
        (raw(named(b"donn\xe9es", flagged=True)), "zip-unreadable"),
        (raw(named(b"nul\0.txt", flagged=False)), "zip-odd-name"),
        (raw(member("overview.md/below", b"x")), "zip-member-unreadable"),
        (raw(member("ref", b"x")), "zip-member-unreadable"),
        (raw(member("n" * 256, b"x")), "zip-member-unreadable"),
        (raw(member("d/" * 2100 + "x", b"x")), "zip-member-unreadable"),
        (raw(packed(SOUND)[:-10]), "zip-unreadable"),
        (raw(b""), "zip-unreadable"),
        (raw(b"PK\x05\x06" + bytes(18)), "yaml-not-at-root"),
        (write("logo.png", b"\x89PNG\r\n\x1a\n" + b"\xff" * 100), "image-icon"),
    ],
)
def test_hostile_input_gets_a_finding(edit: Edit, rule_id: str, tmp_path: Path) -> None:
    assert found(checked(new(edit), tmp_path), rule_id)


@pytest.mark.slow
def test_thirty_thousand_members(tmp_path: Path) -> None:
    """A step that takes a minute for 100,000 members because it looks at each pair takes 5 s for these."""
    draft = new(raw(packed({**SOUND, **{f"d/{number}": b"" for number in range(30_000)}})))
    started = time.process_time()
    report = draft.check(tmp_path)
    assert time.process_time() - started < 5
    assert report.later == "ok"


def test_a_merge_key_that_loops_ends(tmp_path: Path) -> None:
    assert checked(new(text(TEXT + "merged: &m {<<: *m}\n")), tmp_path).accepted


@pytest.mark.slow
def test_paths_of_a_thousand_folders(tmp_path: Path) -> None:
    assert checked(new(raw(packed({**SOUND, "ref/" + "d/" * 1500 + "gold.txt": b"a\nb\n"}))), tmp_path).accepted


def test_a_zip_in_a_zip_in_a_zip_is_read_no_further(tmp_path: Path) -> None:
    data = packed({"truth.txt": b"a\nb\na\n"})
    for _ in range(50):
        data = packed({"more.zip": data})
    assert checked(new(first_phase(starting_kit="kit.zip"), write("kit.zip", data)), tmp_path).later == "ok"


def test_a_bomb_inside_a_data_zip_is_not_inflated(tmp_path: Path) -> None:
    inner = bytearray(packed({"truth.txt": b"0" * 1000}))
    entry = inner.rindex(b"PK\x01\x02")
    inner[entry + 24 : entry + 28] = (3 << 30).to_bytes(4, "little")
    draft = new(first_task(reference_data="r.zip"), write("r.zip", bytes(inner)))
    assert "r.zip" in found(checked(draft, tmp_path), "data-no-zip")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The sound bundle, unpacked."""
    return new().unpack(tmp_path / "bundle")


def test_links_in_a_folder_lead_nowhere_else(folder: Path) -> None:
    (folder / "overview.md").unlink()
    (folder / "overview.md").symlink_to("/etc/passwd")
    (folder / "again").symlink_to(folder)
    (folder / "itself").symlink_to("itself")
    (folder / "ref" / "up").symlink_to(folder / "ref")
    (folder / "inside").symlink_to(folder / "ref")
    os.mkfifo(folder / "pipe")
    report = check_path(folder, now=NOW)
    assert "overview.md" in found(report, "page-not-found")
    assert {finding.id for finding in report.findings if finding.severity == "error"} == {"page-not-found"}


def test_a_folder_of_a_thousand_folders(folder: Path) -> None:
    deep = folder / "ref"
    for _ in range(1200):
        deep /= "d"
        deep.mkdir()
    (deep / "gold.txt").write_text("a")
    started = time.process_time()
    try:
        assert check_path(folder, now=NOW).accepted
        assert time.process_time() - started < 10
    finally:
        remove_tree(folder)  # too deep for pytest's own tidying


def test_folders_that_link_to_each_other(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven of them make 13,000 paths, twelve a billion."""
    monkeypatch.setattr("gen_bundle.ground.zips.tree.BUNDLE", replace(BUNDLE, members=1000))
    for one, other in permutations("abcdefg", 2):
        (folder / one).mkdir(exist_ok=True)
        (folder / one / other).symlink_to(folder / other)
    with pytest.raises(UserError, match="bundle cannot be read: more than 1000 files and folders"):
        check_path(folder, now=NOW)

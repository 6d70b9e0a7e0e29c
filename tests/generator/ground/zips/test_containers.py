"""Gold in archives, compressed files and spreadsheets, and what only looks like one of these."""

import bz2
import gzip
import io
import lzma
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from gen_bundle.check import Report
from gen_bundle.ground.zips.unpacking import BUNDLE
from tests.generator.check.drafts import both, kit, leaks, new, packed, public, put, write
from tests.generator.check.test_leaks import GOLD, IDS, LABELS, task

PAIRS = list(zip(IDS, LABELS, strict=True))


def tar(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


SPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def sheet(rows: str) -> bytes:
    return f'<?xml version="1.0"?><worksheet {SPACE}><sheetData>{rows}</sheetData></worksheet>'.encode()


def workbook(*, shared: bool) -> bytes:
    """A workbook with an empty column between ids and labels."""
    texts = [*IDS, "joyful", "neutral"]

    def cell(place: str, text: str) -> str:
        if shared:
            return f'<c r="{place}" t="s"><v>{texts.index(text)}</v></c>'
        return f'<c r="{place}" t="inlineStr"><is><r><t>{text[:2]}</t></r><r><t>{text[2:]}</t></r></is></c>'

    lines = [
        f'<row r="{row}">{cell(f"A{row}", one)}<c r="B{row}"><v>7</v></c>{cell(f"AA{row}", label)}</row>'
        for row, (one, label) in enumerate(PAIRS, start=1)
    ]
    strings = f"<sst {SPACE}>{''.join(f'<si><t>{text}</t></si>' for text in texts)}</sst>"
    files = {"xl/workbook.xml": b"<workbook/>", "xl/worksheets/sheet1.xml": sheet("".join(lines))}
    return packed(files | ({"xl/sharedStrings.xml": strings.encode()} if shared else {}))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("gold.csv.gz", gzip.compress(GOLD, mtime=0)),
        ("gold.csv.bz2", bz2.compress(GOLD)),
        ("gold.csv.xz", lzma.compress(GOLD)),
        ("data.bin", packed({"gold.csv": GOLD})),
        ("data.tar", tar({"a/gold.csv": GOLD})),
        ("data.tgz", gzip.compress(tar({"a/readme": b"us", "a/gold.csv": GOLD}), mtime=0)),
        ("data.dat", lzma.compress(tar({"gold.csv": GOLD}))),
        ("data.zip", packed({"gold.csv.gz": gzip.compress(GOLD, mtime=0)})),
        ("gold.xlsx", workbook(shared=True)),
        ("gold.xlsx", workbook(shared=False)),
    ],
)
def test_gold_is_found_in(name: str, data: bytes, tmp_path: Path) -> None:
    draft = task()
    public(name, data)(draft)
    (found,) = leaks(draft, tmp_path)
    assert found.startswith(f"public data public/{name}/")


def test_a_tar_in_a_starting_kit_is_an_example_of_what_to_hand_in(tmp_path: Path) -> None:
    half = b"".join(GOLD.splitlines(keepends=True)[:10])
    draft = task()
    kit("example.tar.gz", gzip.compress(tar({"pred.csv": half}), mtime=0))(draft)
    assert leaks(draft, tmp_path) == []


def notes(report: Report) -> list[str]:
    return [finding.what for finding in report.findings if finding.id == "not-looked-into"]


def encrypted() -> bytes:
    data = bytearray(packed({"gold.csv": GOLD}))
    data[6] |= 1
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("gold.7z", b"7z\xbc\xaf\x27\x1c" + bytes(30), "is a 7z archive"),
        ("gold.parquet", b"PAR1" + bytes(30), "is a Parquet file"),
        ("gold.zip", encrypted(), "is a zip of which a part cannot be read"),
        ("gold.csv.gz", gzip.compress(GOLD, mtime=0)[:-9], "is not a readable archive"),
        ("gold.tar", tar({"gold.csv": GOLD})[:700].ljust(1024, b"x"), ""),
        ("photo.jpg", b"\xff\xd8\xff\xe0" + bytes(range(256)), "is a file of bytes"),
        ("paper.pdf", b"%PDF-1.7\n" + bytes(range(256)), "is a file of bytes"),
        ("model.npy", b"\x93NUMPY" + bytes(range(256)), "is a file of bytes"),
        ("data.zip", packed({"a.csv": b"a,b\n"}), ""),
    ],
)
def test_what_stays_closed_is_noted(name: str, data: bytes, said: str, tmp_path: Path) -> None:
    draft = new()
    both(put("phases", 0, "public_data", "public"), write(f"public/{name}", data))(draft)
    report = draft.check(tmp_path)
    assert report.later == "ok"
    assert [what.startswith(f"public data public/{name} {said}") for what in notes(report)] == ([True] if said else [])


def test_a_bomb_is_not_inflated_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gen_bundle.ground.zips.containers.BUNDLE", replace(BUNDLE, ratio_from=1 << 20))
    draft = new()
    both(put("phases", 0, "public_data", "public"), write("public/x.gz", gzip.compress(bytes(8 << 20), mtime=0)))(draft)
    assert notes(draft.check(tmp_path)) == [
        "public data public/x.gz is not a readable archive (inflated out of all proportion)"
    ]


WIDE = '<row><c r="XFD1"/></row>'
LONG = '<row><c t="s"><v>0</v></c></row>'


@pytest.mark.parametrize(
    ("rows", "closed"),
    [
        ([WIDE * 60], False),
        ([WIDE * 65], True),
        ([WIDE * 40, WIDE * 40], True),  # together too large
        ([LONG * 2], True),
        (["<row><c r='XFE1'/></row>"], True),
        ([f"<row><c r='{'A' * 300_000}1'/></row>"], True),
        (["<row><c t='s'><v>1</v></c></row>"], True),
        (["<row>", WIDE], True),
    ],
)
def test_a_sheet_that_cannot_be_read_is_noted(
    rows: list[str], closed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gen_bundle.ground.zips.containers.MAX_BYTES", 1 << 20)
    files = {
        "xl/workbook.xml": b"<workbook/>",
        "xl/sharedStrings.xml": f"<sst {SPACE}><si><t>{'x' * 600_000}</t></si></sst>".encode(),
        **{f"xl/worksheets/sheet{number}.xml": sheet(text) for number, text in enumerate(rows)},
    }
    draft = new()
    both(put("phases", 0, "public_data", "public"), write("public/x.xlsx", packed(files)))(draft)
    noted = ["public data public/x.xlsx is a workbook with a sheet that is broken or too large"]
    assert notes(draft.check(tmp_path)) == (noted if closed else [])

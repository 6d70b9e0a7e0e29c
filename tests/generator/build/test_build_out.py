"""Where a bundle goes and which time it carries: what stands in the way is told, and nothing old is lost."""

import errno
import sys
import zipfile
from pathlib import Path

import pytest

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.zips.writing import write_zip
from tests.generator.build.looking import built
from tests.generator.competition import small_competition

pytestmark = pytest.mark.usefixtures("kept_organisers")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return small_competition(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epoch", "moment"), [("0", (1980, 1, 1, 0, 0, 0)), ("99999999999", (2107, 12, 31, 23, 59, 58))]
)
def test_a_time_that_a_zip_cannot_hold_becomes_the_nearest(
    folder: Path, monkeypatch: pytest.MonkeyPatch, epoch: str, moment: tuple[int, ...]
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    with zipfile.ZipFile(built(folder).path) as archive:
        assert {member.date_time for member in archive.infolist()} == {moment}


@pytest.mark.parametrize("epoch", ["", "yesterday", "-5", "1.5"])
def test_a_source_date_epoch_that_is_no_time_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch, epoch: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    with pytest.raises(UserError, match="SOURCE_DATE_EPOCH"):
        built(folder)


def test_where_nothing_can_be_written_the_reason_is_told(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(UserError, match=r"file: .*--out"):
        built(folder, out=tmp_path / "file" / "bundle.zip")


def test_a_name_that_is_too_long_is_told(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="File name too long"):
        built(folder, out=tmp_path / ("x" * 300 + ".zip"))


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_bundle_whole(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "bundle.zip"
    write_zip(out, {"competition.yaml": b"title: the old bundle"})
    before = out.read_bytes()

    def full(target: Path, members: object) -> None:
        target.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys.modules["gen_bundle.build.building"], "write_zip", full)
    with pytest.raises(UserError, match=r"No space left on device\. .*bundle\.zip"):
        built(folder, out=out)
    assert out.read_bytes() == before
    assert [path.name for path in tmp_path.glob(".*tmp")] == []


@pytest.mark.parametrize("force", [False, True])
def test_a_device_is_never_replaced(folder: Path, force: bool) -> None:
    with pytest.raises(UserError, match="/dev/full: is a device"):
        built(folder, out=Path("/dev/full"), force=force)
    assert Path("/dev/full").is_char_device()

import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gen_bundle.ground.zips.unpacking import MIB, SUBMISSION, ArchiveError, Bounds, unpack

SMALL = Bounds(members=5, total_bytes=2 * MIB, ratio=50, ratio_from=MIB // 2)


def zipped(file: Path, members: dict[str, bytes], kind: int = 0) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (kind or stat.S_IFREG | 0o755) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            opened.writestr(info, content)
    return file


def test_contents_arrive_without_permission_to_run(tmp_path: Path) -> None:
    unpack(zipped(tmp_path / "a.zip", {"run.sh": b"echo", "data/x.txt": b"1"}), tmp_path / "out", SUBMISSION)
    assert (tmp_path / "out/data/x.txt").read_bytes() == b"1"
    assert not (tmp_path / "out/run.sh").stat().st_mode & 0o111


@pytest.mark.parametrize(
    ("members", "kind", "message"),
    [
        ({"../evil": b""}, 0, r"leaves the folder"),
        ({"a/../../evil": b""}, 0, r"leaves the folder"),
        ({"..\\evil": b""}, 0, r"leaves the folder"),
        ({"/etc/evil": b""}, 0, r"absolute name"),
        ({"C:\\evil": b""}, 0, r"absolute name"),
        ({"link": b"/etc/passwd"}, stat.S_IFLNK | 0o777, r"is a link"),
        ({"pipe": b""}, stat.S_IFIFO | 0o666, r"not a file"),
        ({"device": b""}, stat.S_IFBLK | 0o666, r"not a file"),
        ({f"{number}": b"" for number in range(6)}, 0, r"6 files and folders; at most 5"),
        ({"random": bytes(range(256)) * 9000}, 0, r"holds more than 2.09715 MB when unpacked"),
        ({"zeros": bytes(MIB)}, 0, r"zip bomb"),
        ({"a": b"1", "a/b": b"2"}, 0, r"cannot be read as a zip"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_hostile_zips_are_refused(tmp_path: Path, members: dict[str, bytes], kind: int, message: str) -> None:
    out = tmp_path / "deep/out"
    bounds = Bounds(5, 2 * MIB, ratio=10_000) if "random" in members else SMALL
    with pytest.raises(ArchiveError, match=message):
        unpack(zipped(tmp_path / "a.zip", members, kind), out, bounds)
    outside = [path for path in tmp_path.rglob("*") if "evil" in path.name]
    assert outside == []


def test_sizes_in_the_directory_are_not_believed(tmp_path: Path) -> None:
    bomb = zipped(tmp_path / "a.zip", {"zeros": bytes(4 * MIB)})
    content = bomb.read_bytes()
    bomb.write_bytes(content.replace((4 * MIB).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    with pytest.raises(ArchiveError):
        unpack(bomb, tmp_path / "out", SMALL)
    assert sum(path.stat().st_size for path in (tmp_path / "out").rglob("*")) <= SMALL.total_bytes


def test_damaged_lzma_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_LZMA) as opened:
        opened.writestr("pred.txt", "0 1 1 0" * 100)
    content = bytearray((tmp_path / "a.zip").read_bytes())
    content[30 + len("pred.txt") + 9 : 30 + len("pred.txt") + 20] = b"\xff" * 11
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(ArchiveError, match="cannot be read as a zip"):
        unpack(tmp_path / "a.zip", tmp_path / "into", SUBMISSION)


def test_all_hostile_names_are_told(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError) as refused:
        unpack(zipped(tmp_path / "a.zip", {"../a": b"", "/b": b"", "c": b""}), tmp_path / "out", SMALL)
    assert "'../a'" in str(refused.value)
    assert "'/b'" in str(refused.value)


@pytest.mark.slow
@given(st.data())
def test_damaged_zips_never_surprise(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    content = bytearray(zipped(folder / "a.zip", {"x/a.txt": b"abc" * 50, "b": b"1"}).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    (folder / "a.zip").write_bytes(bytes(content))
    try:
        unpack(folder / "a.zip", folder / "out", SMALL)
    except ArchiveError:
        return
    assert all(path.resolve().is_relative_to(folder.resolve()) for path in folder.rglob("*"))

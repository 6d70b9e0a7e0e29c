import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gen_bundle.dry_run.layout import PREFIX, copy_tree, is_abandoned, owner_text, scratch_folder


def test_who_is_abandoned() -> None:
    assert not is_abandoned(owner_text())
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert is_abandoned(f"{socket.gethostname()}:{gone.pid}:123")
    assert is_abandoned(f"{socket.gethostname()}:{os.getpid()}:1")  # the number was given to another process
    assert not is_abandoned(f"elsewhere:{gone.pid}:123")
    assert not is_abandoned("")
    assert not is_abandoned("nonsense")
    assert not is_abandoned(f"{socket.gethostname()}:²:123")
    assert is_abandoned(f"{socket.gethostname()}:{10**20}:123")


def test_the_folder_goes_also_when_something_breaks() -> None:
    with pytest.raises(RuntimeError), scratch_folder() as folder:
        raise RuntimeError
    assert not folder.exists()


def test_folders_of_killed_dry_runs_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    imports = "import time\nfrom gen_bundle.dry_run.layout import scratch_folder\n"
    program = f"{imports}with scratch_folder():\n    time.sleep(60)\n"
    killed = subprocess.Popen([sys.executable, "-c", program], env={**os.environ, "TMPDIR": str(tmp_path)})
    while not list(tmp_path.glob(f"{PREFIX}*/owner")):
        time.sleep(0.05)
    with scratch_folder():
        assert len(list(tmp_path.glob(f"{PREFIX}*"))) == 2  # it still runs, so its folder stays
    killed.kill()
    killed.wait()
    with scratch_folder():
        assert len(list(tmp_path.glob(f"{PREFIX}*"))) == 1
    assert list(tmp_path.glob(f"{PREFIX}*")) == []


GONE = f"{socket.gethostname()}:{os.getpid()}:1"


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder named as those of dry runs are, which somebody else put where they all lie."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = tmp_path / f"{PREFIX}evil"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("owner", ["not text", "a pipe"])
def test_an_owner_that_cannot_be_read_holds_no_dry_run_up(owner: str, evil: Path) -> None:
    if owner == "a pipe":
        os.mkfifo(evil / "owner")
    else:
        (evil / "owner").write_bytes(b"\xff\xfe")
    with scratch_folder() as folder:
        assert folder.is_dir()


def test_folders_of_others_are_left_alone(evil: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (evil / "owner").write_text(GONE)
    link = evil.with_name(f"{PREFIX}link")
    link.symlink_to(evil)
    with monkeypatch.context() as patched:
        patched.setattr("os.geteuid", lambda: evil.stat().st_uid + 1)
        with scratch_folder():
            assert evil.exists()
    with scratch_folder():
        assert not evil.exists()
        assert link.is_symlink()


def test_a_folder_is_copied_over_another(tmp_path: Path) -> None:
    source, target, secret = tmp_path / "from", tmp_path / "to", tmp_path / "secret"
    for file in (source / "sub" / "new", source / "both", source / "in the way", target / "both", secret):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(str(file))
    (source / "linked").symlink_to(secret)
    (target / "in the way").mkdir()
    with pytest.raises(IsADirectoryError):
        copy_tree(source, target)
    for name in ("sub/new", "both"):
        assert (target / name).read_text() == str(source / name)
    assert not (target / "linked").is_symlink()
    assert (target / "linked").read_text() == str(secret)

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gen_bundle.twin.sweep import PREFIX, is_abandoned, owner_text, scratch_folder


def test_who_is_abandoned() -> None:
    assert not is_abandoned(owner_text())
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert is_abandoned(f"{socket.gethostname()}:{gone.pid}:123")
    assert is_abandoned(f"{socket.gethostname()}:{os.getpid()}:1")  # the number was given to another process
    assert not is_abandoned(f"elsewhere:{gone.pid}:123")
    assert not is_abandoned("")
    assert not is_abandoned("nonsense")


def breaks() -> None:
    with scratch_folder() as folder:
        (folder / "deep").mkdir()
        raise RuntimeError(str(folder))


def test_the_folder_goes_also_when_something_breaks() -> None:
    with pytest.raises(RuntimeError) as raised:
        breaks()
    assert not Path(str(raised.value)).exists()


def test_folders_of_killed_dry_runs_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    program = (
        "import time\nfrom gen_bundle.twin.sweep import scratch_folder\nwith scratch_folder():\n    time.sleep(60)\n"
    )
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

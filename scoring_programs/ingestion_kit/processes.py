"""The processes of the submitted code: found, measured and ended, also those that left their parents.

On Linux, `adopt` makes this process the parent of what lost its own, so that everything that the code started is below
it in /proc. Elsewhere there is the process group alone.
"""

import contextlib
import ctypes
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Dict, List, Optional, Set

PROC = Path("/proc")
PR_SET_CHILD_SUBREAPER = 36
KILL_SECONDS = 10.0
HAS_GROUPS = hasattr(os, "killpg")
_PSS = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)


def adopt() -> None:
    """Become the parent of every descendant that loses its own (Linux, `prctl(2)`); elsewhere nothing happens."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants() -> List[int]:
    """The ids of all living processes below this one; empty where there is no /proc."""
    children: Dict[int, List[int]] = {}
    for entry in PROC.iterdir() if PROC.is_dir() else ():
        if entry.name.isdigit():
            found = _parent_and_state(entry)
            if found is not None and found[1] != "Z":
                children.setdefault(found[0], []).append(int(entry.name))
    below: List[int] = []
    seen: Set[int] = {os.getpid()}
    waiting = [os.getpid()]
    while waiting:
        for pid in children.get(waiting.pop(), ()):
            if pid not in seen:
                seen.add(pid)
                below.append(pid)
                waiting.append(pid)
    return below


def memory_mib(pids: List[int]) -> float:
    """What these processes hold in memory together, MiB; what several share counts once (`Pss`)."""
    return sum(_kilobytes(pid) for pid in pids) / 1024


def end_all(leader: subprocess.Popen[bytes]) -> None:
    """Kill the leader's process group and every process below this one, and wait for their ends.

    A look through /proc can miss a process whose parent ends meanwhile; so this goes on until no child is left.
    """
    if HAS_GROUPS:
        with contextlib.suppress(OSError):
            os.killpg(leader.pid, signal.SIGKILL)
    leader.kill()
    leader.wait()
    until = time.monotonic() + KILL_SECONDS
    while _has_children() and time.monotonic() < until:
        for pid in descendants():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)


def _has_children() -> bool:
    """Whether this process has a child, after the ends of those that have ended are taken."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except (ChildProcessError, AttributeError):  # Windows has no such call
        return False
    return True


def _parent_and_state(entry: Path) -> Optional[tuple[int, str]]:
    try:
        # The name in parentheses may hold blanks; state and parent come after it.
        fields = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return int(fields[1]), fields[0]
    except (OSError, IndexError, ValueError):
        return None


def _kilobytes(pid: int) -> int:
    with contextlib.suppress(OSError):
        found = _PSS.search((PROC / str(pid) / "smaps_rollup").read_text(encoding="ascii", errors="replace"))
        if found:
            return int(found[1])
    with contextlib.suppress(OSError, IndexError, ValueError):
        pages = (PROC / str(pid) / "statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") // 1024
    return 0

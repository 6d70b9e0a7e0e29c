"""Programs that try to stay, and what is left of them: processes by a word in their command, folders by their place."""

import os
import time
from pathlib import Path

STAYS = """\
import os, subprocess, sys, time
sleep = [sys.executable, "-c", "import time; time.sleep(300)  # WORD"]
subprocess.Popen(sleep)                            # a child
subprocess.Popen(sleep, start_new_session=True)    # one with a session of its own
if os.fork() == 0:                                 # an orphan
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, sleep)
    os._exit(0)
"""
"""Leaves three programs behind. WORD is to be replaced by one that no other process has in its command."""


def running(word: str) -> list[int]:
    """The processes with this word in their command, our own left out."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and word.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return [process for process in found if process != os.getpid()]


def wait_until_running(word: str, number: int, seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while len(running(word)) < number:
        assert time.monotonic() < until, "the program did not begin"
        time.sleep(0.02)

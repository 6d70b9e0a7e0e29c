"""Runs the entry of a submission in a process of its own, within its limits, and judges how it ended."""

import contextlib
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional, Set, Tuple

from scoring_kit.base.environment import kept
from scoring_kit.code_submission import FUNCTION, CodeEntry
from scoring_kit.errors import OrganiserError, printable

POLL_SECONDS = 0.05
MEASURE_SECONDS = 0.2
MEASURE_SHARE = 20
"""Of the time, at most one part in so many is spent on measuring."""
MOST_PROCESSES = 1_000
PIPE_SECONDS = 5.0
MESSAGE_SHOWN = 300
HEAD, TAIL = 1_000, 2_000
CHUNK = 1 << 16

Fault = Tuple[str, str, str]
"""Where, what is wrong and what is expected, as `Problems.error` takes it."""


@dataclass(frozen=True)
class Limits:
    """The limits of an entry: wall-clock seconds, and MiB of memory of all its processes together (None: no limit)."""

    seconds: float
    memory_mib: Optional[int]


@dataclass(frozen=True)
class EndedEntry:
    """How an entry ended.

    Attributes:
        seconds: wall clock, from the start of its process.
        exit_code: negative for a signal; None where it was stopped.
        memory_mib: the most that its processes were seen to hold together; None where this system does not show it.
        stdout, stderr: what it printed, beginning and end.
        fault: why its predictions do not count; None where it ended well.
    """

    seconds: float
    exit_code: Optional[int]
    memory_mib: Optional[float]
    stdout: str
    stderr: str
    fault: Optional[Fault]


def run_entry(entry: CodeEntry, code: Path, input_folder: Path, output_folder: Path, limits: Limits) -> EndedEntry:
    """Run the entry to its end, or to a limit; nothing that it started runs afterwards.

    It runs in `code`, a private copy of the submission, may read `input_folder`, and writes its predictions to
    `output_folder`. Raises OrganiserError where the image lacks what runs it.
    """
    adopt()
    folders = [str(input_folder.resolve()), str(output_folder.resolve())]
    scratch = code.parent / "tmp"
    scratch.mkdir()
    out_end, out = os.pipe()
    err_end, err = os.pipe()
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            [*_command(entry), *folders],
            cwd=str(code),
            env={**kept(os.environ), "PYTHONUNBUFFERED": "1", **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=HAS_GROUPS,
        )
    finally:
        os.close(out)
        os.close(err)
    printed = [KeptText(out_end), KeptText(err_end)]
    try:
        fault, memory = _watched(process, entry, limits, began)
        seconds = time.monotonic() - began
    finally:
        end_all(process)
    texts = []
    for kept_text in printed:
        text = kept_text.text(PIPE_SECONDS)
        for folder in {str(code), str(code.resolve())}:  # the submission's files are named as in its zip
            text = text.replace(f"{folder}{os.sep}", "")
        texts.append(text)
    exit_code = None if fault else process.returncode
    if fault is None and process.returncode != 0:
        fault = _failure(entry, process.returncode, texts[1])
    return EndedEntry(seconds, exit_code, memory, texts[0], texts[1], fault)


def _watched(
    process: subprocess.Popen[bytes], entry: CodeEntry, limits: Limits, began: float
) -> Tuple[Optional[Fault], Optional[float]]:
    """Wait for the end, or for a limit; returns which limit was reached, and the most memory seen, MiB."""
    peak: Optional[float] = None
    due = began + MEASURE_SECONDS
    while process.poll() is None:
        now = time.monotonic()
        if now - began > limits.seconds:
            what = f"was stopped after {limits.seconds:g} s"
            return (entry.file, what, f"an end within {limits.seconds:g} s"), peak
        if now >= due:
            running = descendants()
            held = memory_mib(running) if running else None
            if held is not None:
                peak = max(peak or 0.0, held)
            if len(running) > MOST_PROCESSES:
                what = f"was stopped with {len(running)} processes running"
                return (entry.file, what, f"at most {MOST_PROCESSES}"), peak
            if limits.memory_mib is not None and held is not None and held > limits.memory_mib:
                what = f"was stopped when its processes held {held:.0f} MiB of memory"
                return (entry.file, what, f"at most {limits.memory_mib} MiB together"), peak
            # Counting the pages of much memory takes long, and holds up the process that has it.
            taken = time.monotonic() - now
            due = now + max(MEASURE_SECONDS, MEASURE_SHARE * taken)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(POLL_SECONDS)
    return None, peak


def _command(entry: CodeEntry) -> List[str]:
    if entry.interface == FUNCTION:
        program = (Path(__file__).resolve().parent / "call_predict.py").read_text(encoding="utf-8")
        return [sys.executable, "-c", program, entry.file]
    if entry.file.endswith(".sh"):
        shell = shutil.which("bash")
        if shell is None:
            raise OrganiserError("The image has no bash, which the entry needs. Use an image that has it.")
        return [shell, entry.file]
    return [sys.executable, entry.file]


def _failure(entry: CodeEntry, code: int, stderr: str) -> Fault:
    """Where it failed, by the last line of the submission that its traceback names, and with which words."""
    lines = stderr.strip().splitlines()
    places = re.findall(r'^\s*File "([^"/<][^"<]*)", line (\d+)', stderr, re.MULTILINE)
    where, what = entry.file, f"ended with exit code {code}"
    if code < 0:
        what = f"was ended by {_signal_name(-code)}"
    if places:
        where = ":".join(places[-1])
    if not where.startswith(entry.file):
        what += f" ({entry.file})"
    if lines:
        what += f": {printable(lines[-1].strip())[:MESSAGE_SHOWN]}"
    else:
        what += " without a message"
    return where, what, "exit code 0; what it printed is in the log of the prediction step"


def _signal_name(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    return f"{name}, often because memory ran out" if name == "SIGKILL" else name


class KeptText:
    """The output of a program, read to its end and kept to a bound: the beginning and the end.

    A thread of its own reads the pipe, so that the program never waits for it.

    Args:
        pipe: the descriptor of its reading end, which is closed at its end.
    """

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._head = b""
        self._tail = b""
        self._size = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def text(self, seconds: float) -> str:
        """Return what was printed, once the pipe has ended or `seconds` are over; what was left out is counted."""
        self._thread.join(seconds)
        left_out = self._size - len(self._head) - len(self._tail)
        between = f"\n… {left_out} bytes left out …\n".encode() if left_out > 0 else b""
        return (self._head + between + self._tail).decode("utf-8", "backslashreplace")

    def _read(self) -> None:
        with os.fdopen(self._pipe, "rb", buffering=0) as pipe:
            while True:
                chunk = pipe.read(CHUNK)
                if not chunk:
                    return
                self._size += len(chunk)
                room = HEAD - len(self._head)
                self._head += chunk[:room]
                self._tail = (self._tail + chunk[room:])[-TAIL:]


# The processes of the submitted code: found, measured and ended, also those that left their parents. On Linux, `adopt`
# makes this process the parent of what lost its own, so that everything that the code started is below it in /proc.
# Elsewhere there is the process group alone.

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
    """Return the ids of all living processes below this one; empty where there is no /proc."""
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
    """Return what these processes hold in memory together, MiB; what several share counts once (`Pss`)."""
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

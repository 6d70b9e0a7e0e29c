"""What a program prints, read to its end and kept to a bound: the beginning and the end."""

from __future__ import annotations

import threading
from collections import deque
from typing import BinaryIO, Deque

HEAD, TAIL = 1_000, 2_000
CHUNK = 1 << 16


class KeptText:
    """Reads a pipe in a thread of its own, so that the program never waits for it.

    Args:
        pipe: the reading end, in binary.
    """

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = pipe
        self._head = b""
        self._tail: Deque[bytes] = deque()
        self._tail_size = 0
        self._size = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def text(self, seconds: float) -> str:
        """What was printed, once the pipe has ended or `seconds` are over; what was left out is counted."""
        self._thread.join(seconds)
        tail = b"".join(self._tail)[-TAIL:]
        left_out = self._size - len(self._head) - len(tail)
        parts = [self._head] if left_out <= 0 else [self._head, f"\n… {left_out} bytes left out …\n".encode()]
        return b"".join([*parts, tail]).decode("utf-8", "backslashreplace")

    def _read(self) -> None:
        with self._pipe:
            while True:
                chunk = self._pipe.read1(CHUNK)  # type: ignore[attr-defined]
                if not chunk:
                    return
                self._size += len(chunk)
                room = HEAD - len(self._head)
                self._head += chunk[:room]
                self._tail.append(chunk[room:])
                self._tail_size += len(chunk[room:])
                while self._tail_size - len(self._tail[0]) >= TAIL:
                    self._tail_size -= len(self._tail.popleft())

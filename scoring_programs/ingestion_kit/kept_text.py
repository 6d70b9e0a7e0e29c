"""What a program prints, read to its end and kept to a bound: the beginning and the end."""

import os
import threading

HEAD, TAIL = 1_000, 2_000
CHUNK = 1 << 16


class KeptText:
    """Reads a pipe in a thread of its own, so that the program never waits for it.

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
        """What was printed, once the pipe has ended or `seconds` are over; what was left out is counted."""
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

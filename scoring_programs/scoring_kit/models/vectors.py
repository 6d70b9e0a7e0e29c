"""Token vectors of a whole run: in memory up to a bound, in a temporary file beyond it."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

IN_MEMORY = 256 * 2**20  # bytes
BESIDES = 2**10  # bytes for what is kept beside an array, such as its text


class VectorStore:
    """Keeps arrays and hands each back when it is needed, so that memory does not grow with the amount of data.

    Attributes:
        bytes: how much it keeps.
    """

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        self.bytes = 0
        self._left = in_memory
        self._file: IO[bytes] | None = None

    def keep(self, vectors: NDArray[np.float32]) -> Callable[[], NDArray[np.float32]]:
        """Keep an array and return a function that gives it back."""
        self.bytes += vectors.nbytes + BESIDES
        if vectors.nbytes <= self._left:
            self._left -= vectors.nbytes
            return lambda: vectors
        with contextlib.suppress(OSError):  # no room for temporary files: then memory it is
            return self._write(vectors)
        return lambda: vectors

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def _write(self, vectors: NDArray[np.float32]) -> Callable[[], NDArray[np.float32]]:
        import numpy as np

        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="token-vectors-")  # noqa: SIM115 it lives as long as the store
        file, shape = self._file, vectors.shape
        start = file.seek(0, 2)
        file.write(vectors.tobytes())
        file.flush()

        def read(_owner: VectorStore = self) -> NDArray[np.float32]:
            file.seek(start)
            return np.frombuffer(file.read(4 * shape[0] * shape[1]), dtype=np.float32).reshape(shape)

        return read

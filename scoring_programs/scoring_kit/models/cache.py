"""Arrays that are kept: within a run, in memory up to a bound and in a temporary file beyond it; and between runs.

The latter in a folder, for local work: dry runs, and many submissions scored against one gold.

A file is believed only if its own checksum is right and it says in full what it was computed with; anything else in
its place (damaged, foreign, from another model or version) counts as absent and is written anew. Files appear whole, by
renaming, so processes may share a folder; of two that write at once one may lose what it added, which costs only time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol
from weakref import WeakSet

from scoring_kit.errors import OrganiserError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FORMAT = 1
DIGEST = hashlib.sha256().digest_size


class Forgetful(Protocol):
    """A loaded model that remembers what it has computed."""

    def forget(self) -> None:
        """Forget what was not used lately, where that has become much."""


LOADED: WeakSet[Forgetful] = WeakSet()
"""The models of this process."""


def forget() -> None:
    """Bound what the models of this process remember, for between two submissions."""
    for model in LOADED:
        model.forget()


def digest(*texts: str) -> bytes:
    """Return the key of a text, or of several in their order."""
    combined = hashlib.sha256()
    for text in texts:
        content = text.encode("utf-8")
        combined.update(len(content).to_bytes(8, "big") + content)
    return combined.digest()


class ArrayCache:
    """Two-dimensional float32 arrays of one width, by digest.

    They are in 16 files by the first digit of their key, so that memory holds one sixteenth of them at a time.
    """

    def __init__(self, folder: str, kind: str, computed_with: Mapping[str, object], width: int | None = None) -> None:
        """Open the part of a cache folder, made if it is not there, that holds arrays of one kind and one model.

        Args:
            folder: of the cache; raises OrganiserError where it cannot be made.
            kind: what the arrays are, as part of file names.
            computed_with: all that their values depend on besides the texts.
            width: number of columns, where it is known.
        """
        self._computed_with = json.dumps({"format": FORMAT, "kind": kind, **computed_with}, sort_keys=True).encode()
        self._prefix = f"{kind}-{hashlib.sha256(self._computed_with).hexdigest()[:16]}"
        self._width = width
        try:
            self._folder = Path(folder).expanduser()
            self._folder.mkdir(parents=True, exist_ok=True)
        except (OSError, RuntimeError) as error:  # RuntimeError: the home folder of no such user
            raise OrganiserError(f"options.cache: the folder {folder} cannot be made: {error}") from error

    def read(self, keys: Iterable[bytes]) -> Iterator[tuple[bytes, NDArray[np.float32]]]:
        """Yield those of the wanted arrays that are there, in any order."""
        for part, wanted in _parts(keys):
            for key, array in self._load(self._path(part)).items():
                if key in wanted:
                    yield key, array

    def write(self, keys: Iterable[bytes], array_of: Callable[[bytes], NDArray[np.float32]]) -> None:
        """Add the arrays of these keys to those that are there. A disk that is full costs the cache, not the run."""
        with contextlib.suppress(OSError):
            for part, added in _parts(keys):
                path = self._path(part)
                self._store(path, {**self._load(path), **{key: array_of(key) for key in added}})

    def _path(self, part: str) -> Path:
        return self._folder / f"{self._prefix}-{part}.safetensors"

    def _load(self, path: Path) -> dict[bytes, NDArray[np.float32]]:
        import numpy as np
        from safetensors.numpy import load

        try:
            content = path.read_bytes()
            if hashlib.sha256(content[DIGEST:]).digest() != content[:DIGEST]:
                return {}
            tensors = load(content[DIGEST:])
            keys, ends, values = tensors["keys"], np.cumsum(tensors["rows"]), tensors["values"]
            of_ours = tensors["computed_with"].tobytes() == self._computed_with
            of_width = self._width is None or values.shape[1] == self._width
        except Exception:  # anything may be raised by a file that is not one of our cache files
            return {}
        if not of_ours or not of_width or not np.isfinite(values).all():
            return {}
        starts = [0, *ends[:-1]]
        return {key.tobytes(): values[start:end] for key, start, end in zip(keys, starts, ends, strict=True)}

    def _store(self, path: Path, arrays: Mapping[bytes, NDArray[np.float32]]) -> None:
        import numpy as np
        from safetensors.numpy import save

        content = save(
            {
                "computed_with": np.frombuffer(self._computed_with, dtype=np.uint8),
                "keys": np.frombuffer(b"".join(arrays), dtype=np.uint8).reshape(-1, DIGEST),
                "rows": np.array([len(array) for array in arrays.values()], dtype=np.int64),
                "values": np.concatenate(list(arrays.values())),
            }
        )
        handle, temporary = tempfile.mkstemp(dir=self._folder, prefix=".", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(content).digest() + content)
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise


def _parts(keys: Iterable[bytes]) -> list[tuple[str, set[bytes]]]:
    """The keys by the file that they belong to."""
    parts: dict[str, set[bytes]] = defaultdict(set)
    for key in keys:
        parts[key.hex()[0]].add(key)
    return sorted(parts.items())


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

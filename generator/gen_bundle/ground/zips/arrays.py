"""Arrays of numbers in files: .npy, .npz, PNG and NIfTI, also compressed by gzip; equal ones have equal digests.

By numpy where it is installed; else by the standard library, up to `MOST_WITHOUT_NUMPY` numbers.
"""

import ast
import gzip
import hashlib
import io
import math
import struct
import sys
import zipfile
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any

from scoring_kit.base.array_heads import GREY_STEPS, KINDS, NIFTI_SIZES, NPY, PNG, nifti_layout
from scoring_kit.base.submissions import UNREADABLE

GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
CODES = dict(zip(KINDS, "BbhiqBHIQefd", strict=True))
"""Kind of numbers → as `struct` writes it."""
MOST_BYTES, MOST_WITHOUT_NUMPY = 1 << 30, 4_000_000
MOST_KINDS = 256
"""An array of so few different values is a map of labels, which others number otherwise: 0 and 255 for 0 and 1."""
CHANCE = math.log(1e6)
"""An array that can be written in no more orders than this may be equal by chance."""


@dataclass(frozen=True)
class StoredArray:
    """An array: its values as `struct` packs them, where each stands, and the slope and intercept of what they mean."""

    data: bytes
    code: str
    shape: Sequence[int]
    is_little: bool = True
    first_fastest: bool = False
    scaling: Sequence[float] = ()

    def values(self) -> Any:
        """Return the values in C order: an array of numpy or, without it, of the standard library.

        Raises:
            ValueError: there is no numpy, and they are too many.
        """
        count = math.prod(self.shape)
        data = self.data[: count * struct.calcsize(self.code)]
        try:
            import numpy as np
        except ImportError:
            return self._by_hand(data, count)
        kind = np.dtype(self.code)
        if self.is_little != (sys.byteorder == "little"):
            kind = kind.newbyteorder()
        found = np.frombuffer(data, kind)
        if self.first_fastest:
            found = found.reshape(self.shape, order="F")
        if self.scaling:
            found = found * self.scaling[0] + self.scaling[1]
        return found.astype(found.dtype.newbyteorder("="), copy=False).ravel()

    def _by_hand(self, data: bytes, count: int) -> "array[float]":
        if count > MOST_WITHOUT_NUMPY:
            raise ValueError("too large without numpy")
        numbers = struct.iter_unpack(f"{'<' if self.is_little else '>'}{self.code}", data)
        own = array("d", chain.from_iterable(numbers))
        if self.scaling:
            own = array("d", (value * self.scaling[0] + self.scaling[1] for value in own))
        if not self.first_fastest or len(self.shape) < 2:
            return own
        # the first index runs fastest: a step along an axis passes all values of those before it
        steps = [math.prod(self.shape[:axis]) for axis in range(len(self.shape))]
        found = array("d")
        for place in product(*(range(size) for size in self.shape)):
            found.append(own[sum(at * step for at, step in zip(place, steps, strict=True))])
        return found


def holds_array(start: bytes) -> bool:
    """Return whether a file that is not compressed begins as one of an array does."""
    return start.startswith((NPY, PNG)) or is_nifti(start)


def is_nifti(data: bytes) -> bool:
    """Return whether the bytes begin a NIfTI image, of either version."""
    return data[344:348] in NIFTI_SIZES.values() or data[4:12] in NIFTI_SIZES.values()


def has_one_value(data: bytes) -> bool:
    """Return whether the bytes of a file hold arrays, each of a single value: everybody may have written it."""
    found = False
    try:
        for one in arrays_in(data):
            if len(_ranked(one.values())[0]) > 1:
                return False
            found = True
    except (*UNREADABLE, SyntaxError, TypeError, LookupError):
        return False
    return found


def array_digests(data: bytes) -> set[str]:
    """Return the digests of the arrays that the bytes of a file hold, whatever their type, container and compression.

    Arrays of one value, and those that may be equal by chance, have none; maps of labels are the same however their
    labels are numbered, as long as these keep their order.
    """
    found = set()
    try:
        for one in arrays_in(data):
            if digest := _digest(one.values()):
                found.add(digest)
    except (*UNREADABLE, struct.error, SyntaxError, TypeError, KeyError, IndexError, MemoryError):
        pass  # what is broken holds nothing that could be compared
    return found


def arrays_in(data: bytes) -> Iterator[StoredArray]:
    """Yield the arrays that the bytes of a file hold; nothing of any other file."""
    if data.startswith(GZIP):
        data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(MOST_BYTES)
    if data.startswith(NPY):
        yield from _npy(data)
    elif data.startswith(PNG):
        yield _png(data)
    elif is_nifti(data):
        yield _nifti(data)
    elif data.startswith(ZIP):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                if member.filename.endswith(".npy") and member.file_size <= MOST_BYTES:
                    yield from _npy(archive.read(member))


def _npy(data: bytes) -> Iterator[StoredArray]:
    """Yield the one array of numbers (NEP 1); nothing where it is of texts or objects."""
    width = 2 if data[6] == 1 else 4
    start = 8 + width + int.from_bytes(data[8 : 8 + width], "little")
    header = ast.literal_eval(data[8 + width : start].decode("latin-1").strip())
    kind = header["descr"]
    if isinstance(kind, str) and kind[1:] in CODES:
        yield StoredArray(data[start:], CODES[kind[1:]], header["shape"], kind[0] != ">", header["fortran_order"])


def _nifti(data: bytes) -> StoredArray:
    """Return the volume, of either version."""
    found = nifti_layout(data)
    code, is_little = CODES[found.head.kind], found.order == "<"
    return StoredArray(
        data[found.start :], code, found.head.shape, is_little, first_fastest=True, scaling=found.scaling
    )


def _png(data: bytes) -> StoredArray:
    """Return the pixels, of an image with a palette their numbers in it."""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as opened:
        picture = opened.convert("L") if opened.mode == "1" else opened
        size = [picture.height, picture.width]
        depth, colour = data[24:26]
        if picture.mode == "L" and colour == 0 and depth in GREY_STEPS:
            return StoredArray(bytes(value // GREY_STEPS[depth] for value in picture.tobytes()), "B", size)
        if picture.mode in ("I", "I;16"):
            return StoredArray(picture.convert("I").tobytes(), "i", size, sys.byteorder == "little")
        return StoredArray(picture.tobytes(), "B", [*size, len(picture.getbands())])


def _digest(values: Any) -> str:
    """Return the digest of values in order, by their ranks where they are few; empty where it would say nothing."""
    counts, ranks = _ranked(values)
    orders = math.lgamma(len(values) + 1) - sum(math.lgamma(count + 1) for count in counts)
    if len(counts) < 2 or orders < CHANCE:
        return ""
    if 2 * len(counts) > len(values) or len(counts) > MOST_KINDS:
        floats = values if isinstance(values, array) else values.astype("float64")
        return hashlib.sha256(floats.tobytes()).hexdigest()
    return hashlib.sha256(ranks).hexdigest()


def _ranked(values: Any) -> tuple[Sequence[int], bytes]:
    """Return how often each value occurs, from the smallest on, and the rank of each in a byte."""
    if isinstance(values, array):
        counts = Counter(values)
        rank = {value: place % MOST_KINDS for place, value in enumerate(sorted(counts))}
        return [counts[value] for value in rank], bytes(rank[value] for value in values)
    import numpy as np

    if values.dtype.itemsize > 1:
        _, ranks, found = np.unique(values, return_inverse=True, return_counts=True)
        return found.tolist(), ranks.astype("uint8").tobytes()
    # masks are large: a table of ranks takes an eighth of the memory that sorting does
    placed = values if values.dtype == "uint8" else values.view("uint8") ^ 128
    often = np.bincount(placed, minlength=256)
    of_values = (np.cumsum(often > 0) - 1).astype("uint8")
    return often[often > 0].tolist(), of_values[placed].tobytes()

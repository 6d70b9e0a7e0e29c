"""The heads of files of arrays: which numbers one holds, and of which shape, without reading them.

A file is judged in constant memory: that it is what its name says, that it is whole, as far as its size tells, and that
it holds nothing but numbers. Sources: NEP 1 (.npy), the PNG specification, nifti1.h and nifti2.h. Runs on Python 3.9
with the standard library alone, because participants run it at home.
"""

import ast
import gzip
import math
import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Dict, Iterator, Mapping, Optional, Sequence, Tuple, Union

from scoring_kit.base.field_types import FieldError
from scoring_kit.base.submissions import MAX_BYTES, UNREADABLE

FORMATS = ("npy", "npz", "png", "nii", "nii.gz")
LIBRARIES = {"npy": "numpy", "npz": "numpy", "png": "pillow", "nii": "nibabel", "nii.gz": "nibabel"}
"""Format → the package that reads the numbers."""
NPY, PNG = b"\x93NUMPY", b"\x89PNG\r\n\x1a\n"
KINDS = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
"""Kinds of numbers, as numpy writes them: booleans, integers, unsigned ones and floats, each with its bytes."""
NIFTI_KINDS = {2: "u1", 4: "i2", 8: "i4", 16: "f4", 64: "f8", 256: "i1", 512: "u2", 768: "u4", 1024: "i8", 1280: "u8"}
NIFTI_1, NIFTI_2 = 348, 540
NIFTI_SIZES = {NIFTI_1: b"n+1\0", NIFTI_2: b"n+2\0\r\n\x1a\n"}
"""Size of a NIfTI head → the mark in it of a file that holds the numbers, too."""
LONGEST_HEAD = 10_000
"""Of a .npy file, in bytes; numpy reads no longer one either."""
PNG_KINDS: Mapping[int, Tuple[Tuple[int, ...], Tuple[int, ...]]] = {
    0: ((), (1, 2, 4, 8, 16)),  # grey
    2: ((3,), (8,)),  # colour
    3: ((), (1, 2, 4, 8)),  # of a palette
    4: ((2,), (8,)),  # grey with alpha
    6: ((4,), (8,)),  # colour with alpha
}
"""Kind of a PNG → further sizes of its shape, and the bits of its values that are read.

Colours of 16 bits would lose half of them.
"""
GREY_STEPS = {1: 255, 2: 85, 4: 17}
"""Bits of a grey → what Pillow multiplies it by."""
NUMBERS = "integers, floats or booleans of at most 64 bits"


@dataclass(frozen=True)
class Head:
    """The head of an array: its shape, and one of `KINDS`; `depth` are the bits of a value of a PNG."""

    shape: Tuple[int, ...]
    kind: str
    depth: int = 0

    @property
    def size(self) -> int:
        """Of its numbers, in bytes."""
        return math.prod(self.shape) * int(self.kind[1:])


def format_of(name: str) -> Optional[str]:
    """Return the format that a file's name says; None where it says none of them.

    >>> format_of("case_1/seg.nii.gz")
    'nii.gz'
    """
    for one in FORMATS:
        if name.lower().endswith(f".{one}"):
            return one
    return None


def read_head(path: Path, file_format: str, member: Optional[str] = None) -> Head:
    """Read the head of an array in a file of one of `FORMATS`, of a .npz of one of its members.

    Raises:
        FieldError: it holds no such array, or is cut off.
    """
    try:
        head = _head_in(path, file_format, member)
    except FieldError:
        raise
    except (*UNREADABLE, SyntaxError, TypeError, KeyError) as error:
        what = f" ({error})" if isinstance(error, (OSError, zipfile.BadZipFile)) and str(error) else ""
        raise FieldError(f"is no readable .{file_format} file{what}", f"a .{file_format} file with an array") from None
    if head.size > MAX_BYTES:
        raise FieldError(f"holds {head.size / 1e9:.1f} GB", f"at most {MAX_BYTES / 1e9:g} GB")
    return head


def _head_in(path: Path, file_format: str, member: Optional[str]) -> Head:
    if file_format == "npz":
        with zipfile.ZipFile(str(path)) as archive:
            info = archive.getinfo(npz_member(archive, member))
            with archive.open(info) as array:
                return _npy_head(array, info.file_size)
    if file_format == "nii.gz":
        with gzip.open(str(path)) as packed:  # how much follows the head is seen when it is read
            return _nifti_head(packed)[0]
    with path.open("rb") as file:
        size = path.stat().st_size
        if file_format == "npy":
            return _npy_head(file, size)
        if file_format == "png":
            return _png_head(file)
        head, least = _nifti_head(file)
        _check_whole(least, size)
        return head


def npz_member(archive: zipfile.ZipFile, member: Optional[str]) -> str:
    """Return the name in a .npz of an array, or of its only one; raises FieldError where there is none of that name."""
    names = [name[: -len(".npy")] for name in archive.namelist() if name.endswith(".npy")]
    listed = ", ".join(names[:5]) or "no array"
    if member is None and len(names) != 1:
        raise FieldError(f"holds {listed}", "a single array")
    if member is not None and member not in names:
        raise FieldError(f"has no {member}; it holds {listed}", f"an array called {member}")
    return f"{names[0] if member is None else member}.npy"


def _npy_head(file: IO[bytes], size: int) -> Head:
    """The head of a .npy file of so many bytes."""
    start = file.read(10)
    if not start.startswith(NPY):
        raise FieldError("is no .npy file", "an array as numpy saves it")
    width = 2 if start[6] == 1 else 4
    start += file.read(width - 2)
    length = int.from_bytes(start[8:], "little")
    if length > LONGEST_HEAD:
        raise FieldError("has a head that is too long", "an array as numpy saves it")
    said: Dict[str, Any] = ast.literal_eval(file.read(length).decode("latin-1").strip())
    kind, shape = said["descr"], said["shape"]
    if not isinstance(kind, str) or kind[1:] not in KINDS:
        raise FieldError("holds something else than numbers", NUMBERS)
    head = _head(shape, kind[1:])
    _check_whole(8 + width + length + head.size, size)
    return head


def _check_whole(least: int, size: int) -> None:
    if size < least:
        raise FieldError(f"is cut off: it has {size} bytes of {least}", "the whole file")


def _png_head(file: IO[bytes]) -> Head:
    if file.read(len(PNG)) != PNG:
        raise FieldError("is no .png file", "an image as PNG")
    chunks = _png_chunks(file)
    name, data = next(chunks, (b"", b""))
    width, height, depth, colour = struct.unpack_from(">IIBB", data)
    *_, last = [name, *(later for later, _ in chunks)]
    if name != b"IHDR" or 0 in (width, height) or colour not in PNG_KINDS:
        raise FieldError("is no readable .png file", "an image as PNG")
    parts, depths = PNG_KINDS[colour]
    if depth not in depths:
        raise FieldError(f"has colours of {depth} bits", "8 bits a colour, or greys of at most 16 bits")
    if last != b"IEND":
        raise FieldError("is cut off", "the whole file")
    kind = "u2" if depth == 16 else "u1"
    return Head((height, width, *parts), kind, depth)


def _png_chunks(file: IO[bytes]) -> Iterator[Tuple[bytes, bytes]]:
    """(name, first bytes) of each chunk of a PNG that is there as a whole."""
    size = file.seek(0, 2)
    at = len(PNG)
    while at + 12 <= size:
        file.seek(at)
        length, name = struct.unpack(">I4s", file.read(8))
        at += 12 + length
        if at > size:
            return
        yield name, file.read(min(length, 13))


def _nifti_head(file: Union[IO[bytes], gzip.GzipFile]) -> Tuple[Head, int]:
    """The head of a NIfTI file of either version and byte order, and of how many bytes that file is at the least."""
    stored = nifti_layout(file.read(max(NIFTI_SIZES)))
    if stored.scaling and not math.isfinite(stored.scaling[1]):
        raise FieldError("has an intercept that is not finite", "a finite scl_inter, or a scl_slope of 0")
    return Head(stored.head.shape, "f8") if stored.scaling else stored.head, stored.start + stored.head.size


@dataclass(frozen=True)
class NiftiLayout:
    """Where a NIfTI file has its numbers: their byte order as `struct` writes it, the first byte, slope and intercept.

    `scaling` is empty where numbers count as they are stored, which `head` tells.
    """

    head: Head
    order: str
    start: int
    scaling: Tuple[float, ...]


def nifti_layout(data: bytes) -> NiftiLayout:
    """Read the first bytes of a NIfTI file of either version and byte order.

    Raises:
        FieldError: it is none, or its head is not sound.
    """
    for order in "<>":
        (size,) = struct.unpack_from(f"{order}i", data)
        if size in NIFTI_SIZES:
            break
    else:
        raise FieldError("is no NIfTI file", "an image as NIfTI-1 or NIfTI-2 in one file")
    if size == NIFTI_1:
        mark, least = data[344:348], 352
        rank, *shape, kind, start, slope, shift = struct.unpack_from(f"{order}40x8h14xh36x3f", data)
    else:
        mark, least = data[4:12], 544
        kind, rank, *shape, start, slope, shift = struct.unpack_from(f"{order}12xh2x8q88xq2d", data)
    if mark != NIFTI_SIZES[size] or not 1 <= rank <= 7 or start < least:
        raise FieldError("has no sound NIfTI head", "an image as NIfTI-1 or NIfTI-2 in one file")
    if kind not in NIFTI_KINDS:
        raise FieldError("holds something else than numbers", NUMBERS)
    is_scaled = math.isfinite(slope) and slope != 0 and (slope, shift) != (1, 0)
    head = _head(shape[:rank], NIFTI_KINDS[kind])
    scaling = (slope, shift) if is_scaled else ()
    return NiftiLayout(head, order, int(start), scaling)


def _head(shape: Sequence[Any], kind: str) -> Head:
    """A head; raises FieldError where its shape is none."""
    if not all(type(size) is int and size >= 0 for size in shape):
        raise FieldError("has no sound shape", "an array with a shape of whole numbers")
    return Head(tuple(shape), kind)

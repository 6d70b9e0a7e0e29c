"""Writes arrays to files of every format, by the standard library alone.

A build does so on machines that have none of the libraries that read them.
"""

import gzip
import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO, Mapping, Tuple, Union

from scoring_kit.base.array_heads import NIFTI_1, NIFTI_KINDS, NIFTI_SIZES, NPY, PNG, Head
from scoring_kit.base.field_types import FieldError

AT_ONCE = 1 << 20
LARGEST = 32_767
"""Size of an axis that NIfTI-1 writes."""
COLOURS = {(): 0, (2,): 4, (3,): 2, (4,): 6}
"""Further sizes of a PNG's shape → its kind."""
Stored = Tuple[Head, bytes]
"""An array: its head, and its numbers as the format has them, little-endian but in a PNG; what is missing are zeros."""


def write_arrays(path: Path, file_format: str, arrays: Mapping[str, Stored]) -> None:
    """Write an array, or those of a .npz by their names.

    Raises:
        FieldError: no file of the format has that shape.
    """
    if file_format == "npz":
        with zipfile.ZipFile(str(path), "w") as archive:
            for member, (head, numbers) in arrays.items():
                info = zipfile.ZipInfo(f"{member}.npy")
                info.compress_type = zipfile.ZIP_DEFLATED  # which is not taken over from the archive
                with archive.open(info, "w", force_zip64=True) as file:
                    _write_npy(file, head, numbers)
        return
    with path.open("wb") as stream:
        for head, numbers in arrays.values():
            if file_format == "png":
                _write_png(stream, head, numbers)
            elif file_format == "npy":
                _write_npy(stream, head, numbers)
            elif file_format == "nii":
                _write_nifti(stream, head, numbers)
            else:
                with gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as packed:
                    _write_nifti(packed, head, numbers)


def _unfit(head: Head, kind: str) -> FieldError:
    shape = " × ".join(map(str, head.shape)) or "of a single number"
    return FieldError(f"the gold has the shape {shape}, which no {kind} file has", "submissions as .npy or .npz")


def _write_numbers(file: Union[IO[bytes], gzip.GzipFile], numbers: bytes, size: int) -> None:
    file.write(numbers)
    for start in range(len(numbers), size, AT_ONCE):
        file.write(bytes(min(AT_ONCE, size - start)))


def _write_npy(file: IO[bytes], head: Head, numbers: bytes) -> None:
    order = "|" if head.kind.endswith("1") else "<"
    text = repr({"descr": order + head.kind, "fortran_order": False, "shape": head.shape})
    text += " " * (-(len(text) + 11) % 64) + "\n"
    file.write(NPY + b"\x01\x00" + struct.pack("<H", len(text)) + text.encode())
    _write_numbers(file, numbers, head.size)


def _write_png(file: IO[bytes], head: Head, numbers: bytes) -> None:
    height, width, *parts = (*head.shape, 0, 0)[: max(2, len(head.shape))]
    if tuple(parts) not in COLOURS or not height * width:
        raise _unfit(head, "PNG")
    depth = 16 if head.kind == "u2" else 8
    packed, size = zlib.compressobj(), width * max(1, sum(parts)) * depth // 8
    rows = [packed.compress(b"\0" + numbers[at * size : (at + 1) * size].ljust(size, b"\0")) for at in range(height)]
    file.write(PNG)
    for kind, data in (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, depth, COLOURS[tuple(parts)], 0, 0, 0)),
        (b"IDAT", b"".join([*rows, packed.flush()])),
        (b"IEND", b""),
    ):
        file.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))


def _write_nifti(file: Union[IO[bytes], gzip.GzipFile], head: Head, numbers: bytes) -> None:
    if not 1 <= len(head.shape) <= 7 or max(head.shape) > LARGEST:
        raise _unfit(head, "NIfTI-1")
    kind = {"b1": "u1", "f2": "f4"}.get(head.kind, head.kind)
    code = next(code for code, own in NIFTI_KINDS.items() if own == kind)
    sizes = [len(head.shape), *head.shape, *[1] * 7][:8]
    data = bytearray(352)
    struct.pack_into("<i", data, 0, NIFTI_1)
    struct.pack_into("<8h14xhh", data, 40, *sizes, code, 8 * int(kind[1:]))
    struct.pack_into("<8f", data, 76, *[1.0] * 8)
    struct.pack_into("<f", data, 108, 352)
    data[344:348] = NIFTI_SIZES[NIFTI_1]
    file.write(data)
    _write_numbers(file, numbers, Head(head.shape, kind).size)

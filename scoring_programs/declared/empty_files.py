"""Files as empty as an answer can be: arrays of zeros, and files without content; by the standard library alone.

A build writes them on machines that have none of the libraries that read them.
"""

import gzip
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from declared.answers import ArrayFile
from declared.reference import GoldTable
from scoring_kit.base.array_heads import NIFTI_1, NIFTI_KINDS, NIFTI_SIZES, NPY, PNG, Head
from scoring_kit.base.field_types import Field
from scoring_kit.errors import OrganiserError

AT_ONCE = 1 << 20
LARGEST = 32_767
"""Size of an axis that NIfTI-1 writes."""
LEAST_PLACES = {"png": 2}
"""Format → how many sizes a shape has, where nothing says which."""


def write_empty_files(gold: GoldTable, fields: Sequence[Field], folder: Path) -> None:
    """Write an empty answer to each key of a table in these fields."""
    table = gold.table
    for at, key in enumerate(gold.keys):
        for part in table.file.parts:
            arrays: dict[str, Head] = {}
            held = [field for field in fields if table.file.holding(field.name) == part]
            for field in held:
                if field.type == "array":
                    of_gold = gold.answers.columns.get((field.name, field.type), {at: None})[at]
                    arrays[table.file.names.get(field.name, field.name)] = _head(field, of_gold, str(part.format))
            if held:
                name = part.name_of("".join(key)).replace("*", table.id)
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                _write(path, str(part.format), arrays, name)


def _head(field: Field, gold: ArrayFile | None, file_format: str) -> Head:
    """Return the shape and kind of an empty array: the gold's, or where any will do 1 in each place."""
    if gold is None:
        return Head((1,) * LEAST_PLACES.get(file_format, 1), "u1")
    if field.shape == "gold":
        return gold.head
    return Head((1,) * len(gold.head.shape), gold.head.kind)


def _write(path: Path, file_format: str, arrays: Mapping[str, Head], name: str) -> None:
    if file_format == "npz":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, head in arrays.items():
                with archive.open(zipfile.ZipInfo(f"{member}.npy"), "w", force_zip64=True) as file:
                    _write_npy(file, head)
        return
    with path.open("wb") as stream:
        for head in arrays.values():
            if file_format == "png":
                _write_png(stream, head, name)
            elif file_format == "npy":
                _write_npy(stream, head)
            elif file_format == "nii":
                _write_nifti(stream, head, name)
            else:
                with gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as packed:
                    _write_nifti(packed, head, name)


def _no_answer(head: Head, name: str, kind: str) -> OrganiserError:
    """Return the error of gold whose shape no file of a kind has."""
    shape = " × ".join(map(str, head.shape)) or "of a single number"
    what = f"the gold has the shape {shape}, which no {kind} file has"
    return OrganiserError(f"{name}: {what}. Expected submissions as .npy or .npz.")


def _zeros(file: IO[bytes] | gzip.GzipFile, size: int) -> None:
    for start in range(0, size, AT_ONCE):
        file.write(bytes(min(AT_ONCE, size - start)))


def _write_npy(file: IO[bytes], head: Head) -> None:
    order = "|" if head.kind.endswith("1") else "<"
    text = repr({"descr": order + head.kind, "fortran_order": False, "shape": head.shape})
    text += " " * (-(len(text) + 11) % 64) + "\n"
    file.write(NPY + b"\x01\x00" + struct.pack("<H", len(text)) + text.encode())
    _zeros(file, head.size)


def _write_png(file: IO[bytes], head: Head, name: str) -> None:
    colours = {(): 0, (2,): 4, (3,): 2, (4,): 6}
    height, width, *parts = (*head.shape, 0, 0)[: max(2, len(head.shape))]
    if tuple(parts) not in colours or not height * width:
        raise _no_answer(head, name, "PNG")
    depth = 16 if head.kind == "u2" else 8
    packed = zlib.compressobj()
    row = bytes(1 + width * max(1, sum(parts)) * depth // 8)
    pixels = b"".join([*(packed.compress(row) for _ in range(height)), packed.flush()])
    file.write(PNG)
    for kind, data in (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colours[tuple(parts)], 0, 0, 0)),
        (b"IDAT", pixels),
        (b"IEND", b""),
    ):
        file.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))


def _write_nifti(file: IO[bytes] | gzip.GzipFile, head: Head, name: str) -> None:
    if not 1 <= len(head.shape) <= 7 or max(head.shape) > LARGEST:
        raise _no_answer(head, name, "NIfTI-1")
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
    _zeros(file, Head(head.shape, kind).size)

"""Arrays as the bytes of files, for tests."""

import gzip
import io
import struct
import zlib
from typing import Any

import nibabel
import numpy as np
from PIL import Image


def npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def png(array: Any) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(array).save(buffer, "PNG")
    return buffer.getvalue()


def png_of(depth: int, colour: int, rows: list[bytes], width: int) -> bytes:
    """A PNG of rows that are packed already, as other programs write it: of any depth, with a palette of greys."""
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, len(rows), depth, colour, 0, 0, 0))]
    if colour == 3:
        chunks.append((b"PLTE", bytes(i for level in range(2**depth) for i in (16 * level % 256,) * 3)))
    chunks += [(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )


def nifti(array: Any, kind: Any = nibabel.Nifti1Image, packed: bool = True, **header: Any) -> bytes:
    """A NIfTI file; `header` has fields that are written over what nibabel writes."""
    order = ">" if array.dtype.byteorder == ">" else "<"
    image = kind(array, np.eye(4), kind.header_class(endianness=order), dtype=array.dtype)
    data = bytearray(image.to_bytes())
    for name, value in header.items():
        field, offset = image.header.template_dtype.fields[name]
        data[offset : offset + field.itemsize] = np.array(value, field.base.newbyteorder(order)).tobytes()
    return gzip.compress(bytes(data), mtime=0) if packed else bytes(data)

"""What a file is by its first bytes, where it is no text."""

import gzip
import io
import zipfile
from collections.abc import Mapping, Sequence

from scoring_kit.base.array_heads import NIFTI_1, NIFTI_2, NIFTI_SIZES, NPY, PNG
from scoring_kit.base.submissions import UNREADABLE

LONGEST_START = 560
"""So many bytes tell what a file is that is no zip."""
OF_START: Mapping[bytes, str] = {
    NPY: "an array of numpy",
    PNG: "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"II*\0": "a TIFF image",
    b"MM\0*": "a TIFF image",
    b"\x89HDF": "a file of HDF5",
    b"\xd0\xcf\x11\xe0": "an Excel workbook of the old kind",
    b"PAR1": "a Parquet file",
    b"SQLite": "a database",
    b"fLaC": "a FLAC recording",
    b"OggS": "an Ogg recording",
    b"ID3": "an MP3 recording",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"\x80\x02": "a pickle of Python",
    b"\x80\x03": "a pickle of Python",
    b"\x80\x04": "a pickle of Python",
    b"\x80\x05": "a pickle of Python",
}
AT: Sequence[tuple[int, bytes, str]] = (
    (4, b"ftyp", "a video or recording of MP4"),
    (8, b"WAVE", "a WAV recording"),
    (8, b"WEBP", "a WebP image"),
    (8, b"AVI ", "an AVI video"),
    (128, b"DICM", "a DICOM image"),
    (257, b"ustar", "a tar archive"),
    (344, NIFTI_SIZES[NIFTI_1], "a NIfTI image"),
    (4, NIFTI_SIZES[NIFTI_2], "a NIfTI image"),
)
"""Where a file has a mark → what it is."""
OF_MEMBERS: Mapping[str, str] = {
    "xl/": "an Excel workbook",
    "word/": "a Word document",
    "ppt/": "a PowerPoint presentation",
    "content.xml": "a document of OpenOffice",
}
ARRAYS = ("an array of numpy", "arrays of numpy", "a PNG image", "a NIfTI image")
"""What a field of type array holds."""
TO_DO = {
    "an Excel workbook": "text; in Excel: Save as, CSV UTF-8",
    "an Excel workbook of the old kind": "text; in Excel: Save as, CSV UTF-8",
    "compressed by gzip": "text; unpack it: gunzip",
    "a Parquet file": "text, such as JSON lines, or a name that ends with .parquet",
    "a document of OpenOffice": "text; Save as, CSV UTF-8",
    "a database": "text, such as a table exported as CSV",
    "a pickle of Python": "text, such as JSON lines",
}
"""What a file is → what gold may be instead."""


def kind_of(data: bytes) -> str:
    """What the bytes of a file are, in words; empty where they may be a text."""
    if data.startswith(b"\x1f\x8b"):
        return "a NIfTI image" if _of_start(_unpacked(data)) == "a NIfTI image" else "compressed by gzip"
    if data.startswith(b"PK\x03\x04"):
        return _of_zip(data)
    return _of_start(data)


def _of_start(data: bytes) -> str:
    if data.startswith(b"%PDF-"):
        return "a PDF"
    if b"\0" not in data:  # a text that begins so
        return ""
    for mark, kind in OF_START.items():
        if data.startswith(mark):
            return kind
    for at, mark, kind in AT:
        if data[at : at + len(mark)] == mark:
            return kind
    return ""


def _unpacked(data: bytes) -> bytes:
    try:
        return gzip.GzipFile(fileobj=io.BytesIO(data)).read(LONGEST_START)
    except UNREADABLE:
        return b""


def _of_zip(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except UNREADABLE:
        names = []
    if names and all(name.endswith(".npy") for name in names):
        return "arrays of numpy"
    for begin, kind in OF_MEMBERS.items():
        if any(name.startswith(begin) for name in names):
            return kind
    return "a zip"


def expected_of(kind: str) -> str:
    """What to begin a competition with instead of such a file."""
    if kind in ARRAYS:
        return "a folder with such a file for each case: --gold FOLDER"
    if "archive" in kind or "compressed" in kind or kind == "a zip":
        return TO_DO.get(kind, "what is in it: unpack it")
    return TO_DO.get(kind, "text; where each answer is such a file: --recipe files")

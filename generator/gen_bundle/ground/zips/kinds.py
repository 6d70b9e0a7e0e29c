"""What a file is by its first bytes, where it is no text."""

import gzip
import io
import zipfile
from collections.abc import Mapping

from gen_bundle.ground.zips.arrays import GZIP, ZIP, is_nifti
from scoring_kit.base.array_heads import NPY, PNG
from scoring_kit.base.submissions import UNREADABLE

LONGEST_START = 560
"""So many bytes tell what a file is that is no zip."""
OF_START: Mapping[bytes, str] = {
    NPY: "an array of numpy",
    PNG: "a PNG image",
    b"\xd0\xcf\x11\xe0": "an Excel workbook of the old kind",
    b"PAR1": "a Parquet file",
    b"SQLite": "a database",
    b"\x80\x03": "a pickle of Python",
    b"\x80\x04": "a pickle of Python",
    b"\x80\x05": "a pickle of Python",
}
"""Those for which there is something to say; of others it is said that they are no text."""
OF_MEMBERS: Mapping[str, str] = {
    "xl/": "an Excel workbook",
    "word/": "a Word document",
    "content.xml": "a document of OpenOffice",
}
ARRAYS = ("an array of numpy", "arrays of numpy", "a PNG image", "a NIfTI image")
"""What a field of type array holds."""
NO_TEXT = "no text"
TO_DO = {
    **dict.fromkeys(ARRAYS, "a folder with such a file for each case: --gold FOLDER"),
    "an Excel workbook": "text; in Excel: Save as, CSV UTF-8",
    "an Excel workbook of the old kind": "text; in Excel: Save as, CSV UTF-8",
    "compressed by gzip": "text; unpack it: gunzip",
    "a zip": "what is in it: unpack it",
    "a Parquet file": "text, such as JSON lines, or a name that ends with .parquet",
    "a document of OpenOffice": "text; Save as, CSV UTF-8",
    "a database": "text, such as a table exported as CSV",
    "a pickle of Python": "text, such as JSON lines",
}
"""What a file is → what gold may be instead."""


def kind_of(data: bytes) -> str:
    """Return what the bytes of a file are, in words; empty where they may be a text."""
    if data.startswith(GZIP):
        return "a NIfTI image" if is_nifti(_unpacked(data)) else "compressed by gzip"
    if data.startswith(ZIP):
        return _of_zip(data)
    if data.startswith(b"%PDF-"):
        return "a PDF"
    if b"\0" not in data:  # a text that begins so
        return ""
    if is_nifti(data):
        return "a NIfTI image"
    for mark, kind in OF_START.items():
        if data.startswith(mark):
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
    """Return what to begin a competition with instead of such a file."""
    return TO_DO.get(kind, "text; where each answer is such a file: --recipe files")

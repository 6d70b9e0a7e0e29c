"""The numbers of arrays, read from their files: as they are stored, and of NIfTI scaled as its head says."""

import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declared.answers import Answers, ArrayFile
from declared.tables import Table
from scoring_kit.base.array_heads import GREY_STEPS, npz_member
from scoring_kit.base.field_types import Field, FieldError
from scoring_kit.base.submissions import UNREADABLE
from scoring_kit.errors import Problems

Array = NDArray[Any]


def read_array(file: ArrayFile) -> Array:
    """Read an array, in the byte order of this machine.

    Raises:
        FieldError: the file is damaged behind its head.
    """
    try:
        array = LOADERS[file.format](file)
    except (*UNREADABLE, SyntaxError, AssertionError) as error:
        raise FieldError(f"cannot be read ({type(error).__name__})", "a file that is whole") from None
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _npy(file: ArrayFile) -> Array:
    found: Array = np.load(file.path, allow_pickle=False)
    return found


def _npz(file: ArrayFile) -> Array:
    with zipfile.ZipFile(file.path) as archive, archive.open(npz_member(archive, file.member)) as member:
        return np.lib.format.read_array(member, allow_pickle=False)


def _png(file: ArrayFile) -> Array:
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # its head has said how large it is
    with Image.open(file.path, formats=["PNG"]) as image:
        pixels = np.array(image).astype(file.head.kind)
        step = GREY_STEPS.get(file.head.depth, 1)
        # of a palette the numbers are those that are stored, none of which reaches a step
        return pixels // step if image.mode == "L" and pixels.max() >= step else pixels


def _nifti(file: ArrayFile) -> Array:
    import gzip

    import nibabel

    with gzip.open(file.path) if file.format == "nii.gz" else file.path.open("rb") as stream:
        is_second = stream.read(4) in (b"\x1c\x02\0\0", b"\0\0\x02\x1c")
        stream.seek(0)
        kind = nibabel.Nifti2Image if is_second else nibabel.Nifti1Image
        return np.asanyarray(kind.from_stream(stream).dataobj)


LOADERS: Mapping[str, Callable[[ArrayFile], Array]] = {
    "npy": _npy,
    "npz": _npz,
    "png": _png,
    "nii": _nifti,
    "nii.gz": _nifti,
}


def opened(value: Any) -> Any:
    """Return a row, or some rows, as functions of the organisers' own get them: with the arrays of its files."""
    if isinstance(value, ArrayFile):
        return read_array(value)
    if isinstance(value, dict):
        return {name: opened(one) for name, one in value.items()}
    return [opened(one) for one in value] if isinstance(value, list) else value


def check_arrays(table: Table, answers: Answers, problems: Problems) -> None:
    """Look at the numbers of a table's arrays, one array at a time, and record what is wrong."""
    for field in table.answers:
        for file in answers.columns.get((field.name, field.type), ()):
            if isinstance(file, ArrayFile):
                try:
                    check_numbers(field, read_array(file))
                except FieldError as error:
                    problems.error_in_file(file.name, error.rule, error.expected)


def check_numbers(field: Field, array: Array) -> None:
    """Raise FieldError where a number of an array is not finite, or is none of the declared values."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise FieldError(f"{field.name} has numbers that are not finite", "finite numbers")
    if field.values is None:
        return
    is_known = np.zeros(array.shape, dtype=bool)
    for value in field.values:
        is_known |= array == float(value)
    if not is_known.all():
        raise FieldError(f"{field.name} has the value {array[~is_known].flat[0]:g}", f"one of {field.listed}")

"""Competitions whose answers are files: made-up ones of a recipe, or of folders of masks.

Of a folder its names are understood (`{case}.png`, `{case}/{case}_seg.nii.gz`), and the numbers that its masks hold.
"""

import itertools
import math
import re
import shutil
import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gen_bundle.author.new.project import Place, finish, new_with_data, render_with_code, unfinished, yaml_text
from gen_bundle.ground.errors import UserError, raise_all
from gen_bundle.ground.plain_text import listed
from gen_bundle.ground.resources import MADE_UP
from gen_bundle.ground.zips.arrays import arrays_in
from gen_bundle.ground.zips.kinds import ARRAYS, LONGEST_START, kind_of
from scoring_kit.base.array_files import write_arrays
from scoring_kit.base.array_heads import Head, format_of, read_head
from scoring_kit.base.field_types import FieldError
from scoring_kit.base.submissions import is_junk

SEGMENTATION = "segmentation"
CASE = "{case}"
MASK_WORDS = "masks?|seg|segm|segmentation|labels?|gts?|gold|truth|groundtruth|ground_truth|annotations?|annot|msk"
OF_MASKS = re.compile(rf"(?i)((?P<before>(?:{MASK_WORDS})[_.-])?(?P<case>.+?)(?P<after>[_.-](?:{MASK_WORDS}))?)")
IS_MASK = re.compile(rf"(?i)(?:{MASK_WORDS})")
MOST_LABELS = 50
MOST_NAMED = 5
PHASES = ("dev", "test")
EXAMPLE_SIDE = 8
CODES = {"u1": "B", "u2": "H", "i4": "i"}


@dataclass(frozen=True)
class Masks:
    """A folder of masks understood.

    Attributes:
        pattern: of their names, with `{case}`.
        format: of the files, one of `array_heads.FORMATS`.
        member: of a .npz the array that is the mask, where it holds several.
        files: case → its file.
        values: the numbers in the masks; empty where nobody could look.
        shape: of the largest one.
    """

    pattern: str
    format: str
    member: str | None
    files: Mapping[str, Path]
    values: Sequence[int]
    shape: Sequence[int]

    @property
    def labels(self) -> list[int]:
        """The numbers that mean something."""
        return [value for value in self.values if value] or [1]


def is_of_arrays(path: Path) -> bool:
    """Whether a folder holds files of arrays, as far as its first few tell."""
    if not path.is_dir():
        return False
    return any(kind_of(_start(one)) in ARRAYS for one in itertools.islice(_files_of(path), MOST_NAMED))


def _start(path: Path) -> bytes:
    """The first bytes of a file; all of a .npz, whose members are named at its end."""
    with path.open("rb") as file:
        start = file.read(64 * LONGEST_START)
        return start + file.read() if path.suffix.lower() == ".npz" else start


def _files_of(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not is_junk(path.relative_to(folder).as_posix()):
            yield path


# A folder of masks


def masks_of(folder: Path, member: str | None = None) -> Masks:
    """Understand a folder of masks; `member` names the array in a .npz that is one.

    Raises:
        UserError: they are named in several ways, or hold no labels.
    """
    arrays: dict[str, list[Path]] = {}
    for path in _files_of(folder):
        if found := format_of(path.name):
            arrays.setdefault(found, []).append(path)
    if len(arrays) != 1:
        raise UserError(f"--gold {folder}: holds {', '.join(sorted(arrays))}. Expected masks of one format.")
    ((file_format, paths),) = arrays.items()
    pattern, files = _named(folder, paths)
    member = member or (_member(files) if file_format == "npz" else None)
    faults: list[str] = []
    shapes: list[Sequence[int]] = []
    values: set[float] | None = set()
    for path in files.values():
        try:
            shapes.append(read_head(path, file_format, member).shape)
            values = None if values is None else _with_numbers(values, path, member)
        except FieldError as error:
            faults.append(f"{path.relative_to(folder)}: {error.rule}. Expected {error.expected}.")
    raise_all(faults)
    if any(len(shape) > 2 and shape[-1] in (2, 3, 4) for shape in shapes) and file_format == "png":
        raise UserError(f"--gold {folder}: holds colours. Expected greys, or a palette, whose numbers are labels.")
    shape = max(shapes, key=math.prod)
    return Masks(pattern, file_format, member, files, _labels(folder, values), shape)


def _labels(folder: Path, values: set[float] | None) -> list[int]:
    """Return the labels of masks, and 0; raises UserError where their numbers are no labels."""
    if values is None:
        return []
    whole = sorted(int(value) for value in values if value == int(value))
    if len(whole) < len(values) or len(whole) > MOST_LABELS:
        what = f"its arrays hold {len(values)} different numbers, so that they are no masks"
        expected = f"masks of at most {MOST_LABELS} whole numbers; for others begin with --recipe {SEGMENTATION}"
        raise UserError(f"--gold {folder}: {what}. Expected {expected}, and a function of your own.")
    if whole == [0]:
        raise UserError(f"--gold {folder}: its masks hold 0 alone. Expected masks with labels.")
    return sorted({0, *whole})  # an answer may be as empty as the template


def _with_numbers(values: set[float], path: Path, member: str | None) -> set[float] | None:
    """Add the numbers of a mask; None where it is too large to be looked at without numpy."""
    data = path.read_bytes()
    if member is not None:
        with zipfile.ZipFile(path) as archive:
            data = archive.read(f"{member}.npy")
    try:
        return values.union(*(_different(one.values()) for one in arrays_in(data)))
    except ValueError:
        return None


def _different(values: Any) -> Sequence[float]:
    try:
        import numpy as np
    except ImportError:
        return list(set(values))
    different: Sequence[float] = np.unique(values)[: 2 * MOST_LABELS].tolist()
    return different


def _member(files: Mapping[str, Path]) -> str | None:
    """The array of a .npz that is the mask, by its name; None where there is one alone."""
    first = next(iter(files.values()))
    with zipfile.ZipFile(first) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
    if len(names) == 1:
        return None
    named = [name for name in names if IS_MASK.fullmatch(name)]
    if len(named) != 1:
        raise UserError(f"{first.name}: holds {', '.join(names)}. Expected one of them: --answer NAME")
    return named[0]


def _named(folder: Path, paths: Sequence[Path]) -> tuple[str, dict[str, Path]]:
    """The pattern of the masks' names, and the file of each case; images beside them are left out."""
    found: dict[str, dict[str, Path]] = {}
    for path in paths:
        pattern, case = _pattern(path.relative_to(folder))
        found.setdefault(pattern, {})[case] = path
    chosen = {pattern: files for pattern, files in found.items() if _says_mask(pattern)} or found
    if len(chosen) > 1:
        called = listed(list(chosen), MOST_NAMED)
        raise UserError(f"--gold {folder}: its files are called {called}. Expected masks alone, called alike.")
    return next(iter(chosen.items()))


def _pattern(name: Path) -> tuple[str, str]:
    """The pattern that a name has, and its case: the last folder, or the name without what says that it is a mask."""
    suffix = f".{format_of(name.name)}"
    stem, end = name.name[: -len(suffix)], name.name[-len(suffix) :]
    *folders, last = ["", *name.parent.parts]
    parts = OF_MASKS.fullmatch(stem)
    if last and (last in stem or IS_MASK.fullmatch(stem)):
        return "/".join([*folders[1:], CASE, stem.replace(last, CASE) + end]), last
    before, case, after = (parts["before"] or "", parts["case"], parts["after"] or "") if parts else ("", stem, "")
    return "/".join([*name.parent.parts, f"{before}{CASE}{after}{end}"]), case


def _says_mask(pattern: str) -> bool:
    return any(IS_MASK.fullmatch(word) for word in re.split(r"[_./{}-]+", pattern))


def declaration_of(masks: Masks) -> str:
    """Return the part of bundle.yaml that is about a competition of these masks."""
    field: dict[str, Any] = {"field": "mask", "type": "array"}
    if masks.member:
        field["column"] = masks.member
    if masks.values:
        field["values"] = list(masks.values)
    field |= {"required": True, "meaning": "A label for each place."}
    outlines = {
        "key": "hd95",
        "title": "HD95",
        "metric": {"name": "metrics.py:hd95", "per": "key", "labels": masks.labels},
        "sort": "asc",
        "worst": math.ceil(math.hypot(*masks.shape)),
        "meaning": "The 95th percentile of the distances between two outlines, mean over labels.",
    }
    return f"""# A mask for each case, as large as the gold's.
submission:
  file: {yaml_text(masks.pattern)}
  key: case
  fields:
    - {yaml_text(field)}
reference: {{file: {yaml_text(masks.pattern)}}}
tasks:
  - id: {SEGMENTATION}
    name: Segmentation
    columns:
      - {{key: dice, metric: {{name: dice, labels: {masks.labels}}}}}
      - {{key: iou, metric: {{name: iou, labels: {masks.labels}}}}}
      - {yaml_text(outlines)}
"""


# What is written


def new_of_masks(place: Place, folders: Mapping[str, Masks]) -> Path:
    """Write a competition whose gold are masks, by phase; returns its folder.

    Raises:
        UserError: it cannot be written, or the phases' masks are called differently.
    """
    first, *others = folders.values()
    for other in others:
        if (other.pattern, other.member) != (first.pattern, first.member):
            raise UserError(f"--gold: phases with {first.pattern} and {other.pattern}. Expected masks called alike.")
    masks = first
    for other in others:
        values = sorted({*masks.values, *other.values})
        masks = replace(masks, values=values, shape=max(masks.shape, other.shape, key=math.prod))
    with unfinished(place) as work:
        folder = render_with_code(place, MADE_UP / SEGMENTATION, _task(declaration_of(masks), list(folders)), work)
        for phase, own in folders.items():
            for case, path in own.files.items():
                shutil.copyfile(path, _parent(folder / "data" / phase / masks.pattern.replace(CASE, case)))
        _write_example(folder, masks, list(folders))
        finish(place, folder, check=True)
    return place.folder


def new_of_recipe(place: Place, recipe: str) -> Path:
    """Write a competition of made-up files; returns its folder."""
    source = MADE_UP / recipe
    if recipe == SEGMENTATION:
        task = _task(declaration_of(masks_of(source / "data" / PHASES[-1])), PHASES)
    else:
        task = {"declaration": (source / "declaration.yaml").read_text(encoding="utf-8"), "phases": PHASES}
    return new_with_data(place, source, task)


def _task(declaration: str, phases: Sequence[str]) -> dict[str, Any]:
    """Return the values that templates know of a competition of masks, whose images participants are given."""
    return {"declaration": declaration, "phases": phases, "inputs": True}


def _parent(path: Path) -> Path:
    """A path whose folder is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _write_example(folder: Path, masks: Masks, phases: Sequence[str]) -> None:
    """Write small made-up masks in the form of the gold: stripes of its labels, of another width in each."""
    small = replace(masks, shape=(EXAMPLE_SIDE,) * len(masks.shape))
    values = masks.values or (0, 1)
    for at, phase in enumerate(phases):
        for number in range(1, 4):
            width = 3 * at + number
            numbers = [values[place // width % len(values)] for place in range(math.prod(small.shape))]
            name = masks.pattern.replace(CASE, f"{phase}-{number}")
            _write_mask(folder / "example" / phase / name, small, numbers)


def _write_mask(path: Path, masks: Masks, numbers: Sequence[int]) -> None:
    kind = "i4"
    if min(numbers) >= 0 and max(numbers) < 1 << 16:
        kind = "u1" if max(numbers) < 1 << 8 else "u2"
    order = ">" if masks.format == "png" else "<"
    data = struct.pack(f"{order}{len(numbers)}{CODES[kind]}", *numbers)
    write_arrays(_parent(path), masks.format, {masks.member or "mask": (Head(tuple(masks.shape), kind), data)})


def summary(folders: Mapping[str, Masks]) -> dict[str, str]:
    """Return what was understood, for the organiser: a heading and its text each."""
    first = next(iter(folders.values()))
    values = listed([str(value) for value in first.values], MOST_NAMED)
    member = f", {first.member} in it" if first.member else ""
    return {
        "files": f"{first.pattern}{member}",
        "answers": f"mask: array ({values or 'numbers that nobody looked at: numpy is missing'})",
        "metrics": "dice, iou, hd95 (metrics.py)",
        "phases": ", ".join(f"{phase} {len(one.files)}" for phase, one in folders.items()),
    }

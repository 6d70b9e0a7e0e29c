"""Tables whose answers are files: arrays of each format, texts and sounds."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.scoring_programs.declared.arrays_as_files import nifti, npy, npz, png
from tests.task_tables import SHARE, Data, Draw, Table, cells, sentence

ARRAYS: dict[str, Callable[[Any], bytes]] = {
    "npy": npy,
    "npz": lambda one: npz(mask=one),
    "png": png,
    "nii": lambda one: nifti(one, packed=False),
    "nii.gz": nifti,
}
FILE_KINDS = {"array": list(ARRAYS), "file": ["txt", "xml", "conllu", "wav"]}


def _array(draw: Draw, is_usual: bool, shape: Sequence[int]) -> Any:
    """A mask, which is usually empty."""
    mask = np.zeros(shape, "u1")
    if not is_usual:
        for label in (1, 2):
            top, left = draw.randrange(4), draw.randrange(4)
            mask[top : top + draw.randint(1, 3), left : left + draw.randint(1, 3)] = label
    return mask


def _whole_file(draw: Draw, suffix: str, most: int) -> bytes:
    """An annotated text of at most so many lines, or a sound."""
    if suffix == "wav":
        return b"RIFF\x24\0\0\0WAVEfmt " + draw.randbytes(90 * most)
    lines = [f"{sentence(draw)} {sentence(draw)}" for _ in range(draw.randint(most // 2 + 1, most))]
    if suffix == "xml":
        lines = ["<doc>", *(f"<s>{line}</s>" for line in lines), "</doc>"]
    if suffix == "conllu":
        lines = [f"{place}\t{word}\tNOUN" for place, word in enumerate(" ".join(lines).split(), start=1)]
    return ("\n".join(lines) + "\n").encode()


def file_table(draw: Draw, kind: str, name: str, reader: str, traits: list[str], phases: Sequence[str]) -> Table:
    """A table with a file for each key, or for all; `none`: a second one for each, which nothing reads."""
    balance, is_single = draw.choice(list(SHARE)), draw.random() < 0.2
    of_arrays, of_files = draw.choice(FILE_KINDS["array"]), draw.choice(FILE_KINDS["file"])
    kinds = {kind: reader} if reader != "none" else {"array": "metric", "file": "none"}
    traits += [kind, reader, balance, of_arrays, of_files, "key: none" if is_single else "key: case"]
    shape = (6, 7, 2) if of_arrays.startswith("nii") else (6, 7)
    where = draw.choice(["{case}", "{case}/it"])
    suffixes = {"array": of_arrays, "file": of_files}
    patterns: dict[str, dict[str, str]] = {"": {}, "_gold": {}}
    for one in kinds:
        for ending, found in patterns.items():
            stem = f"{name}-{one}" if is_single else f"{where}.{name}-{one}"
            found[one] = f"{stem}{ending}.{suffixes[one]}"
    fields: list[dict[str, Any]] = []
    for one in kinds:
        fields.append({"field": f"{name}_{one}", "type": one, "file": patterns[""][one]})
        if one == "array":
            fields[-1]["values"] = [0, 1, 2]
    in_gold = {f"{name}_{one}": {"file": patterns["_gold"][one]} for one in kinds}
    declared = {"key": "none" if is_single else "case", "fields": fields}
    reference: dict[str, Any] = {"fields": in_gold}
    metric: dict[str, Any] = {"name": draw.choice(["dice", "iou"]), "field": f"{name}_array", "table": name}
    column: dict[str, Any] = {"key": f"{name}_files", "metric": metric}
    if kind == "array" and draw.random() < 0.3:
        metric["average"] = "pooled"
    if "metric" not in kinds.values() or (kind == "file" and reader == "metric"):
        metric = {"name": "metrics.py:same_files", "table": name}
        if not is_single or draw.random() < 0.5:
            metric["per"] = "key"
        column = {"key": f"{name}_files", "metric": metric, "sort": "desc", "worst": 0}
    columns = [column]
    if not is_single and draw.random() < 0.4:
        reference["keys"] = f"{name}-cases.csv"
        columns.append({**column, "key": f"{name}_by", "metric": {**metric, "by": "lang"}})
    data = {phase: Data() for phase in phases}
    for phase, its in data.items():
        numbers = [0] if is_single else draw.sample(range(10_000), draw.choice([4, 8, 12]))
        cases = [f"{phase[0]}{number:04}" for number in numbers]
        listed = [{"case": case, "lang": "en" if place % 2 else "de"} for place, case in enumerate(cases)]
        if "keys" in reference:
            its.beside[reference["keys"]] = cells(["case", "lang"], listed, ",", {}, has_header=True).encode()
        its.inputs[f"{name}-cases.csv"] = cells(["case", "lang"], listed, ",", {}, has_header=True).encode()
        for place, case in enumerate(cases):
            is_usual = place > 1 and draw.random() < SHARE[balance]
            image = np.array([draw.randrange(256) for _ in range(int(np.prod(shape)))], "u1").reshape(shape)
            if "array" in kinds:
                its.inputs[f"images/{case}.{of_arrays}"] = ARRAYS[of_arrays](image)
            for one in kinds:
                if one == "array":
                    content = ARRAYS[of_arrays](_array(draw, is_usual, shape))
                else:
                    content = _whole_file(draw, of_files, 20 if is_single else 1 if is_usual else 5)
                its.answers[patterns[""][one].replace("{case}", case)] = content
                # an array of one value is no leak
                secret = its.beside if one == "array" and is_usual else its.gold
                secret[patterns["_gold"][one].replace("{case}", case)] = content
    return Table(declared, reference, columns, data)

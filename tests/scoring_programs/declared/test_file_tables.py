"""Tables whose values are files: dice and IoU, functions that get arrays and paths, and what is wrong with files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import f1_score, jaccard_score

from declared.organiser import failing
from declared.plan import plans
from tests.scoring_programs.declared.arrays_as_files import nifti, npy, npz, png
from tests.scoring_programs.declared.declaring import (
    AnyFiles,
    columns_of,
    faults_of,
    gold_faults,
    one_table,
    one_task,
    read_gold,
    refused,
    score,
)
from tests.scoring_programs.declared.resampled import units_of

CASES = ["a", "b", "c", "d", "e"]
SITES = {"a": "x", "b": "x", "c": "y", "d": "y", "e": "y"}
KEYS = "case,site,weight\n" + "".join(f"{case},{SITES[case]},{at}\n" for at, case in enumerate(CASES, 1))
MASK = {"field": "mask", "type": "array", "values": [0, 1, 2, 3]}
CODE = """
import pathlib
SEEN = []
def seen(gold, predicted, **options):
    SEEN.append((gold, predicted, options))
    return 1.0
def size(gold, predicted):
    return None if predicted["mask"] is None else (int((predicted["mask"] == 1).sum()), predicted["mask"].size)
def words(gold, predicted):
    said = [row["text"] and row["text"].read_text().split() for row in predicted]
    return sum(map(len, filter(None, said))) / len(gold)
def check(rows):
    return [f"{row['case']}: {row['mask'].name}" for row in rows if not isinstance(row["mask"], pathlib.Path)]
def refuse(rows):
    return [row["mask"].suffix for row in rows[:1]]
"""


def declared(folder: Path, metrics: dict[str, Any], reference: dict[str, Any], **submission: Any) -> dict[str, Any]:
    keys = {"file": "{case}.npy", "key": "case", **submission}
    fields = keys.pop("fields", [MASK])
    return one_table(fields, metrics, reference=reference, folder=folder, code=CODE, worst=-1, **keys)


def masks(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Gold and answers of each case; one label is nowhere in the last, one case has no label at all."""
    rng = np.random.default_rng(seed)
    gold = {case: rng.integers(0, 4, (3, 4, 2)).astype("u1") for case in CASES}
    gold["e"][gold["e"] == 3] = 0
    gold["d"][:] = 0
    answers = {}
    for case, one in gold.items():
        answers[case] = np.where(rng.random(one.shape) < 0.7, one, rng.integers(0, 3, one.shape)).astype("i4")
    return gold, answers


def of_key(metric: Any, gold: Any, answer: Any, labels: list[int]) -> float:
    sides = gold.ravel().tolist(), answer.ravel().tolist()
    return float(np.mean(metric(*sides, labels=labels, average=None, zero_division=1.0)))


def pooled(metric: Any, gold: dict[str, Any], answers: dict[str, Any], labels: list[int]) -> float:
    truth, given = (np.concatenate([one[case].ravel() for case in CASES]) for one in (gold, answers))
    return of_key(metric, truth, given, labels)


@pytest.mark.parametrize(("name", "metric"), [("dice", f1_score), ("iou", jaccard_score)])
def test_they_are_the_librarys_over_positions(name: str, metric: Any, tmp_path: Path) -> None:
    gold, answers = masks(0)
    metrics = {
        "plain": name,
        "one": {"name": name, "labels": [2]},
        "pooled": {"name": name, "average": "pooled"},
        "weighed": {"name": name, "weight": "weight"},
        "by": {"name": name, "by": "site"},
        "where": {"name": name, "where": {"site": "y"}},
    }
    options = declared(tmp_path, metrics, {"file": "{case}_gt.nii.gz", "keys": "keys.csv"})
    files: AnyFiles = {"keys.csv": KEYS, **{f"{case}_gt.nii.gz": nifti(one) for case, one in gold.items()}}
    found = score(options, files, {f"{case}.npy": npy(one) for case, one in answers.items()}, tmp_path)
    each = {case: of_key(metric, gold[case], answers[case], [1, 2, 3]) for case in CASES}
    expected = {
        "plain": np.mean(list(each.values())),
        "one": np.mean([of_key(metric, gold[case], answers[case], [2]) for case in CASES]),
        "pooled": pooled(metric, gold, answers, [1, 2, 3]),
        "weighed": np.average(list(each.values()), weights=[1, 2, 3, 4, 5]),
        "by": np.mean([np.mean([each["a"], each["b"]]), np.mean([each["c"], each["d"], each["e"]])]),
        "where": np.mean([each["c"], each["d"], each["e"]]),
    }
    assert {key: found.value(key) for key in metrics} == pytest.approx(expected, abs=1e-12)
    for path in (tmp_path / "res").iterdir():
        path.unlink()  # as after the submission of a report's team was scored
    units = units_of(found)
    assert list(units.groups["by"]) == ["x", "y"]
    for key, statistic in units.statistics.items():
        once, drawn = statistic.over(np.array([[1.0] * 5, [0.0, 0.0, 3.0, 0.0, 0.0]]))
        assert once == pytest.approx(expected[key])
        assert statistic.as_sums() is not None
        assert drawn == pytest.approx(of_key(metric, gold["c"], answers["c"], [2] if key == "one" else [1, 2, 3]))


def test_a_missing_file_is_the_worst_value_and_none(tmp_path: Path) -> None:
    gold, answers = masks(0)
    metrics = {"dice": "dice", "size": {"name": "metrics.py:size", "per": "key"}, "iou": {"name": "iou", "by": "site"}}
    options = declared(tmp_path, metrics, {"file": "{case}.npy", "keys": "keys.csv"}, missing="empty", unknown="ignore")
    for column in ("dice", "iou"):
        options["metrics"]["t"][column]["worst"] = -1.0
    del answers["c"]
    files: AnyFiles = {"keys.csv": KEYS, **{f"{case}.npy": npy(one) for case, one in gold.items()}}
    sent = {f"{case}.npy": npy(one) for case, one in answers.items()}
    found = score(options, files, {**sent, "z.npy": npy(gold["a"])}, tmp_path)
    each = {case: of_key(f1_score, gold[case], one, [1, 2, 3]) for case, one in answers.items()}
    assert found.value("dice") == pytest.approx((sum(each.values()) - 1) / 5)
    assert found.value("size") == pytest.approx(np.mean([(one == 1).mean() for one in answers.values()]))
    overlap = {case: of_key(jaccard_score, gold[case], one, [1, 2, 3]) for case, one in answers.items()}
    by = [(overlap["a"] + overlap["b"]) / 2, (-1 + overlap["d"] + overlap["e"]) / 3]
    assert found.value("iou") == pytest.approx(np.mean(by))
    assert found.warnings == [
        '{case}.npy: 1 file of unknown case left out: "z.npy".',
        '{case}.npy: no file for 1 of 5 keys: "c.npy"; they count as not answered.',
    ]


def calls(folder: Path) -> list[Any]:
    from declared.metrics.own import own_function

    found: list[Any] = own_function(folder / "metrics.py", "seen").__globals__["SEEN"]
    return found


def test_a_function_gets_arrays_paths_and_the_keys_columns(tmp_path: Path) -> None:
    fields = [
        {"field": "segs", "type": "array", "column": "s", "shape": "any"},
        {"field": "whole", "type": "file", "file": "{case}.npz"},
        {"field": "log", "type": "file", "file": "logs/{case}/{case}.txt", "required": False},
    ]
    seen = {"name": "metrics.py:seen", "per": "key", "label": 2}
    gold = {"file": "{case}.png", "keys": "keys.csv", "fields": {"segs": {"file": "{case}-gold.npz", "column": "g"}}}
    options = declared(tmp_path, {"m": seen}, gold, file="{case}.npz", fields=fields)
    image = np.arange(6, dtype="u1").reshape(2, 3)
    files: dict[str, Any] = {"keys.csv": "case,site\nq,home\n", "q-gold.npz": npz(i=image, g=image), "q.png": b"any"}
    score(options, files, {"q.npz": npz(s=image + 1, more=image)}, tmp_path)
    ((truth, given, further),) = calls(tmp_path)
    assert further == {"label": 2}
    assert (truth["case"], truth["site"], given["case"]) == ("q", "home", "q")
    assert (truth["segs"].tolist(), given["segs"].tolist()) == (image.tolist(), (image + 1).tolist())
    assert (truth["whole"].read_bytes(), given["whole"].name, given["log"]) == (b"any", "q.npz", None)
    score(options, files, {"q.npz": npz(s=image), "logs/q/q.txt": "so"}, tmp_path / "with")
    assert calls(tmp_path)[1][1]["log"].read_text() == "so"


@pytest.mark.parametrize(("per", "is_list"), [({"per": "key"}, False), ({}, True)])
def test_without_a_key_one_file_is_the_answer(per: dict[str, str], is_list: bool, tmp_path: Path) -> None:
    field = {"field": "mask", "type": "array", "shape": "any"}
    metric = {"name": "metrics.py:seen", **per}
    options = declared(tmp_path, {"m": metric}, {"file": "g.npz"}, file="*.npz", key="none", fields=[field])
    found = score(options, {"g.npz": npz(a=np.ones(2))}, {"mine.npz": npz(b=np.ones((3, 1)))}, tmp_path)
    ((truth, given, _),) = calls(tmp_path)
    assert isinstance(truth, list) == is_list
    assert (truth[0] if is_list else truth)["mask"].shape == (2,)
    assert (given[0] if is_list else given)["mask"].shape == (3, 1)
    assert len(units_of(found).names) == 1


def test_files_may_be_read_all_at_once_against_a_table_of_gold(tmp_path: Path) -> None:
    field = {"field": "text", "type": "file"}
    options = declared(
        tmp_path, {"m": "metrics.py:words"}, {"file": "gold.csv"}, file="{doc}.txt", key="doc", fields=[field]
    )
    found = score(options, "doc,lang\na,x\nb,y\n", {"a.txt": "one two", "b.txt": ""}, tmp_path)
    assert found.value("m") == 1.0


def test_a_check_gets_paths(tmp_path: Path) -> None:
    gold = {"a.npy": npy(np.zeros(2))}
    assert score(
        declared(tmp_path, {"m": "dice"}, {"file": "{case}.npy"}, check="metrics.py:check"), gold, gold, tmp_path
    )
    refusing = declared(tmp_path, {"m": "dice"}, {"file": "{case}.npy"}, check="metrics.py:refuse")
    assert refused(refusing, gold, gold, tmp_path / "refused") == [".npy"]


def test_every_problem_of_the_files_is_named(tmp_path: Path) -> None:
    gold, answers = masks(1)
    options = declared(tmp_path, {"dice": "dice"}, {"file": "{case}.npy"})
    files = {f"{case}.npy": npy(one) for case, one in gold.items()}
    sent = {f"{case}.npy": npy(one) for case, one in answers.items()}
    sent |= {"b.npy": npy(np.zeros((3, 4))), "c.npy": b"no array", "z.npy": sent["a.npy"], "y.npy": sent["a.npy"]}
    del sent["d.npy"], sent["e.npy"]
    assert refused(options, files, sent, tmp_path) == [
        "y.npy: is of an unknown case. Expected: a file for each id of this phase's data. "
        "The same in 1 more file: z.npy.",
        "b.npy: has the shape 3 × 4. Expected: 3 × 4 × 2, as the data.",
        "c.npy: is no .npy file. Expected: an array as numpy saves it.",
        'd.npy: is missing, with 1 more file: "e.npy". Expected: a file {case}.npy for each case.',
    ]


def test_numbers_are_looked_at_when_they_are_scored(tmp_path: Path) -> None:
    gold = {f"{case}.npy": npy(np.zeros(3, "u1")) for case in CASES}
    sent = {**gold, "b.npy": npy(np.array([0, 7, 1])), "d.npy": npy(np.array([0, np.nan, 1]))}
    assert refused(declared(tmp_path, {"dice": "dice"}, {"file": "{case}.npy"}), gold, sent, tmp_path) == [
        "b.npy: mask has the value 7. Expected: one of 0, 1, 2, 3.",
        "d.npy: mask has numbers that are not finite. Expected: finite numbers.",
    ]


@pytest.mark.parametrize(
    ("gold", "fault"),
    [
        ({}, "{case}.npy: is missing. Expected: the gold in files of this name in the phase's folder."),
        ({"a.npy": b"no"}, "a.npy: is no .npy file. Expected: an array as numpy saves it."),
        ({"keys.csv": "case\na\nb\n", "a.npy": npy(np.zeros(2))}, "b.npy: is missing."),
        ({"keys.csv": "case\na\n", "a.npy": npy(np.zeros(2)), "b.npy": npy(np.zeros(2))}, 'keys.csv: has no case "b"'),
        ({"keys.csv": "id\na\n", "a.npy": npy(np.zeros(2))}, "keys.csv:1: the column case is missing."),
        ({"keys.csv": "case\na\na\n", "a.npy": npy(np.zeros(2))}, 'keys.csv:3: a second row for "a", after keys.csv:2'),
    ],
)
def test_wrong_gold_is_named(gold: dict[str, Any], fault: str, tmp_path: Path) -> None:
    reference = {"file": "{case}.npy", **({"keys": "keys.csv"} if "keys.csv" in gold else {})}
    with pytest.raises(Exception, match="Expected") as raised:
        read_gold(declared(tmp_path, {"dice": "dice"}, reference), gold, tmp_path)
    assert str(raised.value).startswith(fault)


def test_own_functions_are_tried_on_the_gold_and_on_nothing(tmp_path: Path) -> None:
    gold = {"a.npy": npy(np.zeros(2))}
    broken = {"m": {"name": "metrics.py:words", "per": "key"}}
    options = declared(tmp_path, broken, {"file": "{case}.npy"}, missing="empty")
    (message,) = failing(plans(options)["t"][0], read_gold(options, gold, tmp_path), {})
    assert "m could not be computed for right answers" in message
    sized = declared(
        tmp_path, {"m": {"name": "metrics.py:size", "per": "key"}}, {"file": "{case}.npy"}, missing="empty"
    )
    assert list(failing(plans(sized)["t"][0], read_gold(sized, gold, tmp_path), {})) == []
    assert gold_faults(sized, gold, tmp_path) == []


@pytest.mark.parametrize("other", [{"shape": "any"}, {"column": "masks"}])
def test_gold_that_could_not_be_handed_in_is_tried_as_no_answer(other: dict[str, Any], tmp_path: Path) -> None:
    broken = {"m": {"name": "metrics.py:words", "per": "key"}}
    reference = {"file": "{case}.npz", **({"fields": {"mask": {"column": "gold"}}} if "column" in other else {})}
    options = declared(tmp_path, broken, reference, file="{case}.npz", fields=[{**MASK, **other}])
    gold = read_gold(options, {"a.npz": npz(gold=np.zeros(2))}, tmp_path)
    assert list(failing(plans(options)["t"][0], gold, {})) == []


ONE = {"field": "mask", "type": "array"}
M = "tasks.0.columns.0.metric"
OF_ROWS = "is for tables of rows; fields of type file or array have none."
FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"file": "{case}.jpg"}, "submission.file: '{case}.jpg': expected a name that ends with .npy, .npz, .png"),
    ({"file": "all.npy"}, "submission.file: 'all.npy': expected {case} in the name, since each case has a file."),
    ({"file": "{id}.npy"}, "submission.file: {id} is no field of the key. Expected one of case."),
    ({"file": "../{case}.npy"}, "submission.file: '../{case}.npy': expected a path below the folder"),
    ({"file": "{case}_{run}.npy"}, "submission.file: '{case}_{run}.npy': expected one placeholder"),
    ({"key": ["case", "run"]}, "submission.key: expected one field, whose value is in the names of the files"),
    ({"key": "none"}, "submission.file: '{case}.npy': key: none has a single file."),
    ({"rows": "many"}, f"submission.rows: {OF_ROWS}"),
    ({"header": "none"}, f"submission.header: {OF_ROWS}"),
    ({"fields": [ONE, {"field": "x", "type": "number"}]}, "submission.fields.1.type: 'x' is of type"),
    ({"fields": [{**ONE, "column": "s"}]}, "submission.fields.0.column: names the array within a .npz"),
    ({"fields": [{**ONE, "values": ["a"]}]}, "submission.fields.0.values: expected numbers (found 'a')."),
    ({"fields": [{**ONE, "default": 0}]}, "submission.fields.0.default: is for tables of rows"),
    ({"fields": [{**ONE, "shape": "any"}]}, f"{M}: dice compares with a gold array of the"),
    ({"reference": {"file": "gold.csv"}}, f"{M}: dice compares with a gold array of the same shape"),
    ({"reference": {"empty": "skip"}}, f"reference.empty: {OF_ROWS}"),
    ({"metric": "mae"}, f"{M}: mae takes fields of type number"),
    ({"missing": "empty", "metric": {"name": "iou", "average": "pooled"}}, f"{M}.average: pooled needs every file"),
    (
        {"metric": {"name": "iou", "average": "pooled", "weight": "w"}},
        f"{M}.weight: weighs keys, which average: pooled puts together.",
    ),
    ({"fields": [{**ONE, "values": [0, 1]}], "metric": {"name": "dice", "labels": [2]}}, f"{M}.labels: no label '2'."),
    ({"metric": "metrics.py:size"}, f"{M}: per is missing. A function that reads arrays gets one key at a time."),
    (
        {"key": "none", "file": "a.npy", "reference": {"file": "g.npy"}, "metric": {"name": "dice", "by": "site"}},
        f"{M}.by: chooses or weighs keys, and key: none has a single answer.",
    ),
    (
        {"metric": {"name": "dice", "by": "site"}},
        f"{M}: files have no column 'site'. Expected reference: {{keys: keys.csv}}",
    ),
    (
        {"key": "none", "file": "a.npy", "missing": "empty", "reference": {"file": "g.npy"}},
        "submission.missing: key: none has one answer, which must be there. Expected no missing.",
    ),
]
"""Keys of `submission`, `reference` and the `metric`, and what is said of them."""


@pytest.mark.parametrize(("says", "fault"), FAULTS)
def test_what_a_table_of_files_cannot_be_is_named(says: dict[str, Any], fault: str, tmp_path: Path) -> None:
    (tmp_path / "metrics.py").write_text(CODE, encoding="utf-8")
    submission = {"file": "{case}.npy", "key": "case", "fields": [ONE], **says}
    reference = {"file": "{case}_gt.npy", **submission.pop("reference", {})}
    columns = columns_of(m=submission.pop("metric", "dice"))
    found = faults_of(one_task(submission, columns, reference), tmp_path)
    assert any(one.startswith(fault) for one in found), found


def test_png_masks_in_folders_of_their_cases(tmp_path: Path) -> None:
    gold = {f"{case}/truth.png": png(one[:, :, 0]) for case, one in masks(2)[0].items()}
    options = declared(tmp_path, {"dice": "dice"}, {"file": "{case}/truth.png"}, file="out/{case}/{case}.png")
    sent = {f"out/{name.split('/')[0]}/{name.split('/')[0]}.png": content for name, content in gold.items()}
    assert score(options, gold, sent, tmp_path).value("dice") == 1.0
    only = {name: content for name, content in gold.items() if name.startswith("a/")}
    assert score(options, only, {"out/a/a.png": only["a/truth.png"]}, tmp_path / "one").value("dice") == 1.0
    wrapped = {f"team/{name}": content for name, content in sent.items()}
    assert score(options, gold, wrapped, tmp_path / "wrapped").value("dice") == 1.0

"""Scoring whose per-unit results are compared with scoring, once more, the rows that a resample draws."""

import csv
import io
import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scoring_kit.units import Units
from tests.scoring_programs.declared.declaring import AnyFiles, Given, Scored, csv_of, files_of, gold_faults, score

TOLERANCE = 1e-12


def score_and_resample(options: dict[str, Any], gold: Given, answers: Given, folder: Path) -> Scored:
    """The outcome of `score`, once every column's per-unit results are found to agree with it.

    All units once give the score itself; a bootstrap sample gives the score of files that hold each unit's rows as
    often as it was drawn, under keys of their own, computed by the libraries anew. Units that are drawn as ones of
    their own give it, too.
    """
    gold, answers = files_of(gold, "gold.csv"), files_of(answers, "predictions.csv")
    outcome = score(options, gold, answers, folder)
    units = units_of(outcome)
    rng = np.random.default_rng(zlib.crc32(repr((gold, answers)).encode()))
    number = len(units.names)
    counts = rng.multinomial(number, np.full(number, 1 / number))
    times = dict(zip(units.names, counts.tolist(), strict=True))
    samples = [repeated(files, times) for files in (gold, answers)]
    drawn = score(options, samples[0], samples[1], folder / "drawn")
    for key, statistic in units.statistics.items():
        once, of_sample = statistic.over(np.stack([np.ones(number), counts.astype(float)]))
        apart = statistic.at(np.repeat(np.arange(number), counts)).over(np.ones((1, number)))
        assert apart == pytest.approx([of_sample], rel=TOLERANCE, abs=TOLERANCE, nan_ok=True)
        assert once == pytest.approx(outcome.value(key), rel=TOLERANCE, abs=TOLERANCE)
        expected = pytest.approx(drawn.value(key), rel=TOLERANCE, abs=TOLERANCE)
        by = [columns[key]["by"] for columns in options["metrics"].values() if key in columns]  # none of an expression
        if math.isnan(of_sample) or (any(by) and of_sample != expected):  # a group without a value is left out
            faults = gold_faults(options, samples[0], folder / "drawn")
            assert any(f"({key})" in fault for fault in faults), "undefined, and the gold is not to blame"
        else:
            assert of_sample == expected
    return outcome


def units_of(outcome: Scored) -> Units:
    """The per-unit results of the only task."""
    (result,) = outcome.results.values()
    assert result.units is not None
    return result.units()


def repeated(files: AnyFiles, counts: dict[str, int]) -> AnyFiles:
    """CSV files whose rows of each key (the first column) occur so often, under keys of their own."""
    found = {}
    for name, text in files.items():
        header, *rows = csv.reader(io.StringIO(str(text)))
        own = [[f"{row[0]}-{copy}", *row[1:]] for row in rows for copy in range(counts[row[0]])]
        found[name] = csv_of(",".join(header), own)
    return found

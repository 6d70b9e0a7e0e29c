"""Writes the baselines of PROCESS from what participants have: `data/public` alone.

- `good`: three models. Model 1 takes the class whose training speakers are nearest on average (standardised measures),
  and a line fitted to the best single measure for the MMSE score; model 2 the class of the nearest speaker, and the
  mean score of the five nearest; model 3 classifies by the word counts alone and leaves the score out.
- `weak`: one model, the most frequent class and the mean score for everybody.

Run it from anywhere: `python make_baselines.py`.
"""

import csv
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import correlation, fmean, linear_regression, pstdev

DATA = Path(__file__).resolve().parents[1] / "data"
PHASES = ("dev", "test")
MEASURES = ("SFT-words", "PFT-words", "CTD-words", "CTD-pause-share")
HEADER = ("Test_ID", "Model1_class", "Model2_class", "Model3_class", "Model1_MMSE", "Model2_MMSE", "Model3_MMSE")

Row = Mapping[str, str]


class Space:
    """Speakers as points: their measures, standardised over the training speakers."""

    def __init__(self, train: Sequence[Row], measures: Sequence[str]) -> None:
        self.scales: dict[str, tuple[float, float]] = {}
        for measure in measures:
            values = _values(train, measure)
            self.scales[measure] = fmean(values), pstdev(values)
        self.train = [(self.point(row), row) for row in train]
        self.centres: dict[str, list[float]] = {}
        for kind in sorted({row["Class"] for row in train}):
            points = [point for point, row in self.train if row["Class"] == kind]
            self.centres[kind] = [fmean(axis) for axis in zip(*points, strict=True)]

    def point(self, row: Row) -> list[float]:
        """A speaker's place."""
        return [(float(row[measure]) - mean) / spread for measure, (mean, spread) in self.scales.items()]

    def nearest_class(self, row: Row) -> str:
        """The class whose centre is nearest."""
        here = self.point(row)
        return min(self.centres, key=lambda kind: math.dist(here, self.centres[kind]))

    def nearest(self, row: Row, count: int) -> list[Row]:
        """The nearest training speakers, nearest first."""
        here = self.point(row)
        ordered = sorted(self.train, key=lambda pair: math.dist(here, pair[0]))
        return [speaker for _, speaker in ordered[:count]]


def main() -> None:
    """Write both baselines for both phases."""
    train = _read(DATA / "public" / "dem-info.csv")
    scored = [row for row in train if row["Converted-MMSE"]]
    mmse = _values(scored, "Converted-MMSE")
    best = max(MEASURES, key=lambda measure: abs(correlation(_values(scored, measure), mmse)))
    line = linear_regression(_values(scored, best), mmse)
    everything, words = Space(train, MEASURES), Space(train, MEASURES[:2])
    with_score = Space(scored, MEASURES)
    frequent = Counter(row["Class"] for row in train).most_common(1)[0][0]
    for phase in PHASES:
        rows = _read(DATA / "public" / phase / "speakers.csv")
        good = []
        for row in rows:
            classes = (
                everything.nearest_class(row),
                everything.nearest(row, 1)[0]["Class"],
                words.nearest_class(row),
            )
            on_the_line = min(30.0, line.slope * float(row[best]) + line.intercept)
            of_neighbours = fmean(_values(with_score.nearest(row, 5), "Converted-MMSE"))
            good.append((row["Test_ID"], *classes, f"{on_the_line:.2f}", f"{of_neighbours:.2f}", ""))
        weak = [(row["Test_ID"], frequent, "", "", f"{fmean(mmse):.2f}", "", "") for row in rows]
        _write(phase, "good", "Baseline-measures", good)
        _write(phase, "weak", "Baseline-constant", weak)


def _values(rows: Sequence[Row], column: str) -> list[float]:
    return [float(row[column]) for row in rows]


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _write(phase: str, name: str, group: str, rows: Sequence[Sequence[str]]) -> None:
    path = DATA / "baselines" / phase / name / f"PROCESS_submission_{group}_Organisers.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])


if __name__ == "__main__":
    main()

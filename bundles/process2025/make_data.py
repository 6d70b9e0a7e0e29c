"""Writes the synthetic data of PROCESS, always the same: `data/dev`, `data/test` (gold) and `data/public`.

The challenge gives participants recordings; these data have measures of invented speakers in their place, since sound
would be large and could not be invented. Run it from anywhere: `python make_data.py`.
"""

import csv
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"
SEED = 2025

MEASURES = ("SFT-words", "PFT-words", "CTD-words", "CTD-pause-share")
TRAIN = ("Record-ID", "TrainOrDev", "Class", "Gender", "Age", "Converted-MMSE")
# Class → share of speakers, mean and spread of the MMSE score.
CLASSES = {"HC": (0.5, 28.6, 1.1), "MCI": (0.35, 25.8, 1.8), "Dementia": (0.15, 20.5, 3.0)}


def main() -> None:
    """Write all files."""
    rng = random.Random(SEED)  # noqa: S311 (invented data, no secret)
    train = [_speaker(rng, f"Process-rec-{i:03d}", kind, 0.5) for i, kind in enumerate(_classes(rng, 120), start=1)]
    dev = [_speaker(rng, f"Process-rec-{i:03d}", kind, 0.9) for i, kind in enumerate(_classes(rng, 37), start=121)]
    test = [_speaker(rng, f"Process-test-{i:02d}", kind, 0.95) for i, kind in enumerate(_classes(rng, 40), start=1)]
    for row in train:
        row["TrainOrDev"] = "train"
    public = ("Test_ID", "Gender", "Age", *MEASURES)
    _write(DATA / "public" / "dem-info.csv", (*TRAIN, *MEASURES), train)
    for phase, rows in (("dev", dev), ("test", test)):
        _write(DATA / phase / "gold.csv", ("Test_ID", "Class", "MMSE"), rows)
        _write(DATA / "public" / phase / "speakers.csv", public, rows)


def _classes(rng: random.Random, count: int) -> list[str]:
    """The classes of `count` speakers in random order; those left over by rounding are HC."""
    kinds = [kind for kind, (share, _, _) in CLASSES.items() for _ in range(int(count * share))]
    kinds += ["HC"] * (count - len(kinds))
    rng.shuffle(kinds)
    return kinds


def _speaker(rng: random.Random, name: str, kind: str, tested: float) -> dict[str, str]:
    """A speaker whose measures follow the MMSE score with some noise; the score is known with chance `tested`."""
    _, mean, spread = CLASSES[kind]
    mmse = max(5, min(30, round(rng.gauss(mean, spread))))
    measures = (
        rng.gauss(0.9 * mmse - 5.5, 3.0),
        rng.gauss(0.7 * mmse - 5.5, 3.5),
        rng.gauss(3.5 * mmse + 15, 22.0),
    )
    known = str(mmse) if rng.random() < tested else ""
    age = 72 if kind == "HC" else 76
    return {
        "Record-ID": name,
        "Test_ID": name,
        "Class": kind,
        "Gender": rng.choice(("Female", "Male")),
        "Age": str(round(rng.gauss(age, 7))),
        "Converted-MMSE": known,
        "MMSE": known,
        **{measure: f"{max(0.0, value):.1f}" for measure, value in zip(MEASURES, measures, strict=False)},
        "CTD-pause-share": f"{max(0.05, rng.gauss(0.75 - 0.016 * mmse, 0.06)):.3f}",
    }


def _write(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()

"""Writes the baselines of CLARITY from what participants have: `data/public` alone.

- `good`: multinomial naive Bayes over the words of the answer, learnt on train.csv, for the evasion labels; the clarity
  labels follow from them through the taxonomy, so the file has no clarity column.
- `weak`: the most frequent label of train.csv for every row.

Run it from anywhere: `python make_baselines.py`.
"""

import csv
import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data"
PHASES = ("dev", "test")


class NaiveBayes:
    """Multinomial naive Bayes over words, with add-one smoothing."""

    def __init__(self, texts: Sequence[str], labels: Sequence[str]) -> None:
        self.frequency = Counter(labels)
        self.words: dict[str, Counter[str]] = {label: Counter() for label in self.frequency}
        for text, label in zip(texts, labels, strict=True):
            self.words[label].update(_words(text))
        self.vocabulary = len(set().union(*self.words.values()))

    def predict(self, text: str) -> str:
        """The most probable label; of several the alphabetically first."""
        return max(sorted(self.frequency), key=lambda label: self._log_probability(text, label))

    def _log_probability(self, text: str, label: str) -> float:
        counts = self.words[label]
        total = counts.total() + self.vocabulary
        return math.log(self.frequency[label]) + sum(math.log((counts[word] + 1) / total) for word in _words(text))


def main() -> None:
    """Write both baselines for both phases."""
    train = _read(DATA / "public" / "train.csv")
    model = NaiveBayes([row["interview_answer"] for row in train], [row["evasion_label"] for row in train])
    frequent = [_most_frequent(train, column) for column in ("clarity_label", "evasion_label")]
    for phase in PHASES:
        rows = _read(DATA / "public" / phase / "questions.csv")
        good = [[row["index"], model.predict(row["interview_answer"])] for row in rows]
        weak = [[row["index"], *frequent] for row in rows]
        _write(phase, "good", ["id", "evasion_pred"], good)
        _write(phase, "weak", ["id", "clarity_pred", "evasion_pred"], weak)


def _most_frequent(rows: Sequence[dict[str, str]], column: str) -> str:
    return Counter(row[column] for row in rows).most_common(1)[0][0]


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _write(phase: str, name: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    path = DATA / "baselines" / phase / name / "submission.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    main()

"""Naive Bayes on word counts, with the standard library alone.

The platform calls `predict` with two folders: what it reads, and where it writes.
"""

import csv
import math
import re
from collections import Counter
from pathlib import Path


def predict(input_folder: Path, output_folder: Path) -> None:
    """Learn from train.csv, and write the most probable desk of each message."""
    training = read(input_folder / "train.csv")
    messages = read(input_folder / "messages.csv")
    rows = Counter(row["desk"] for row in training)
    counts = {desk: Counter() for desk in rows}
    for row in training:
        counts[row["desk"]].update(words(row["text"]))
    vocabulary = {word for count in counts.values() for word in count}

    def log_probability(desk: str, text: str) -> float:
        """Up to a constant; words that training has not are passed over, and one is added to every count."""
        total = counts[desk].total() + len(vocabulary)
        known = [word for word in words(text) if word in vocabulary]
        return math.log(rows[desk]) + sum(math.log((counts[desk][word] + 1) / total) for word in known)

    with (output_folder / "predictions.csv").open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["id", "desk"])
        for row in messages:
            best = max(sorted(counts), key=lambda desk, text=row["text"]: log_probability(desk, text))
            writer.writerow([row["id"], best])
    print(f"{len(messages)} messages, {len(vocabulary)} words")


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a table."""
    with path.open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


def words(text: str) -> list[str]:
    """The words of a message, in small letters."""
    return re.findall(r"[a-z0-9]+", text.lower())

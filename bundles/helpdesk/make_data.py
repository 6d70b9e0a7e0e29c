"""Writes the synthetic data of the helpdesk, always the same: gold, what the code reads, and what participants get.

Every message in them is invented. Run it from anywhere: `python make_data.py`.
"""

import csv
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"
SEED = 2027
PARTS = {"train": 200, "sample": 24, "dev": 60, "test": 90}
IN_TRAINING = 4
"""How many of each desk's complaints the training data have; the others have to be guessed from their words."""
STRAY = 0.35
"""How often a message also mentions what another desk deals with."""

WHAT = ("a lamp", "two books", "a coat", "the shoes", "a kettle", "a printer", "some seeds", "a puzzle")
WHERE = ("the station", "the bakery", "the town hall", "the swimming pool", "Mill Street", "the north gate")
WHEN = ("on Monday", "yesterday", "last week", "this morning", "two days ago", "on the 3rd")
ISSUES: Mapping[str, Sequence[str]] = {
    "billing": (
        "I was charged twice for {what}",
        "the invoice of {when} names a price that I never agreed to",
        "my card was refused {when} although there is money on it",
        "please send me a receipt for {what}",
        "the fee for {what} is higher than on your website",
        "I paid {when} and still get reminders to pay",
    ),
    "delivery": (
        "{what} should have come {when} and nobody rang",
        "the tracking page has not moved since {what} left the depot",
        "the driver left {what} with a neighbour I do not know",
        "where is my parcel with {what}",
        "it says delivered {when}, but nothing is here",
        "the box with {what} arrived wet and torn",
    ),
    "lockers": (
        "the locker at {where} does not open",
        "the code you sent {when} is not accepted at {where}",
        "the screen at {where} stays dark",
        "the door of my compartment at {where} is stuck",
        "is there a locker near {where} that I can use at night",
        "the locker at {where} was full {when}",
    ),
    "returns": (
        "I want to send {what} back",
        "how do I print the label to return {what}",
        "{what} went back {when} and the shop has not confirmed it",
        "can I hand in a return at {where}",
        "the return of {what} was refused {when}",
        "which box may I use to send back {what}",
    ),
}
ASIDES: Mapping[str, Sequence[str]] = {
    "billing": ("I had paid for it", "the price was fine"),
    "delivery": ("the parcel itself came in time", "the driver was friendly"),
    "lockers": ("I usually use the locker at {where}", "it was in the locker before"),
    "returns": ("I do not want to send it back", "a return is no use to me"),
}
OPENINGS = ("Hello, ", "Good morning, ", "Hi, ", "Dear team, ", "")
ENDINGS = (". Thank you.", ". What can I do?", ".", ". Please answer soon.", ". Kind regards.")


def main() -> None:
    """Write every file anew."""
    chance = random.Random(SEED)  # noqa: S311 - data, not secrets
    seen: set[str] = set()
    parts = {part: _messages(part, size, chance, seen) for part, size in PARTS.items()}
    folders = {"dev": DATA / "input" / "dev", "test": DATA / "input" / "test", "sample": DATA / "public/sample/input"}
    for part, folder in folders.items():
        _write(folder / "train.csv", ("id", "text", "desk"), parts["train"])
        _write(folder / "messages.csv", ("id", "text"), parts[part])
    _write(DATA / "dev" / "gold.csv", ("id", "desk"), parts["dev"])
    _write(DATA / "test" / "gold.csv", ("id", "desk"), parts["test"])
    _write(DATA / "public" / "sample" / "gold" / "gold.csv", ("id", "desk"), parts["sample"])
    _write(DATA / "public" / "train.csv", ("id", "text", "desk"), parts["train"])


def _messages(part: str, size: int, chance: random.Random, seen: set[str]) -> list[dict[str, str]]:
    """Messages that there are only once: training and public data must not hold those of a phase."""
    messages: list[dict[str, str]] = []
    while len(messages) < size:
        message = _message(part, len(messages) + 1, chance)
        if message["text"] not in seen:
            seen.add(message["text"])
            messages.append(message)
    return messages


def _message(part: str, number: int, chance: random.Random) -> dict[str, str]:
    desk = chance.choice(list(ISSUES))
    text = chance.choice(ISSUES[desk][: IN_TRAINING if part == "train" else None])
    if chance.random() < STRAY:
        other = chance.choice([one for one in ISSUES if one != desk])
        text += f"; {chance.choice(ASIDES[other])}"
    text = text.format(what=chance.choice(WHAT), where=chance.choice(WHERE), when=chance.choice(WHEN))
    opening = chance.choice(OPENINGS)
    text = text if opening else text[0].upper() + text[1:]
    return {"id": f"{part}-{number}", "text": f"{opening}{text}{chance.choice(ENDINGS)}", "desk": desk}


def _write(path: Path, names: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, names, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()

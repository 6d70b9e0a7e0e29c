"""Writes the synthetic data of CLARITY, always the same: `data/dev`, `data/test` (gold) and `data/public`.

Every sentence, person and place in them is invented. Run it from anywhere: `python make_data.py`.
"""

import csv
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"
SEED = 2026

COLUMNS = (
    "title",
    "date",
    "president",
    "url",
    "question_order",
    "interview_question",
    "interview_answer",
    "gpt3.5_summary",
    "gpt3.5_prediction",
    "question",
    "annotator_id",
    "annotator1",
    "annotator2",
    "annotator3",
    "inaudible",
    "multiple_questions",
    "affirmative_questions",
    "index",
    "clarity_label",
    "evasion_label",
)
SECRET = ("annotator_id", "annotator1", "annotator2", "annotator3", "clarity_label", "evasion_label")

PARENTS = {
    "Explicit": "Clear Reply",
    "Implicit": "Ambivalent",
    "General": "Ambivalent",
    "Partial/half-answer": "Ambivalent",
    "Dodging": "Ambivalent",
    "Deflection": "Ambivalent",
    "Declining to answer": "Clear Non-Reply",
    "Claims ignorance": "Clear Non-Reply",
    "Clarification": "Clear Non-Reply",
}
# Labels that annotators take for each other.
NEAR = {
    "Explicit": ("Implicit", "Partial/half-answer"),
    "Implicit": ("Explicit", "General"),
    "General": ("Dodging", "Implicit"),
    "Partial/half-answer": ("Explicit", "General"),
    "Dodging": ("Deflection", "General"),
    "Deflection": ("Dodging", "General"),
    "Declining to answer": ("Claims ignorance", "Dodging"),
    "Claims ignorance": ("Declining to answer", "General"),
    "Clarification": ("Claims ignorance", "Dodging"),
}
FREQUENCY = {
    "Explicit": 26,
    "Dodging": 16,
    "Implicit": 12,
    "General": 11,
    "Deflection": 10,
    "Declining to answer": 8,
    "Claims ignorance": 7,
    "Partial/half-answer": 5,
    "Clarification": 5,
}
SHORT_FORMS = {"Partial/half-answer": "Partial", "Declining to answer": "declining"}

TOPICS = (
    ("the harbour bridge", "repair the harbour bridge"),
    ("the water tariff", "freeze the water tariff"),
    ("the night trains", "bring back the night trains"),
    ("the school kitchens", "pay for the school kitchens"),
    ("the northern forests", "stop the felling in the northern forests"),
    ("the fishing quotas", "sign the new fishing quotas"),
    ("the village clinics", "keep the village clinics open"),
    ("the coal pensions", "raise the coal pensions"),
    ("the border ferry", "sell the border ferry"),
    ("the public archives", "open the public archives"),
)
ASKED = (
    "Will you {act} before the end of the year?",
    "People have waited long for news of {topic}. Are you going to {act}?",
    "Your own party is divided over {topic}. Do you intend to {act}?",
)
OPENINGS = (
    "Thank you for coming back to this.",
    "Good afternoon to everybody here.",
    "Well, I have been to the coast twice this month.",
    "You know, people write to me about that every day.",
    "",
)
CLOSINGS = (
    "And my door is open.",
    "That is where we stand tonight.",
    "The weeks ahead will be busy for all of us.",
    "Next one, please, in the second row.",
    "",
)
ANSWERS = {
    "Explicit": (
        "Yes, we will {act}, and the money is in the budget for spring.",
        "No, I am not going to {act}. The costs are too high.",
        "Yes. I signed the order on {topic} this morning.",
        "No. We looked at {topic} and the answer is no.",
    ),
    "Implicit": (
        "The workers have been hired and the first boats leave on Monday, as you can see from the window.",
        "Nobody orders that much steel if nothing is to be built, do they?",
        "I would not buy a ticket for anything else if I were you.",
        "Ask the mayor why he has already printed the invitations.",
    ),
    "General": (
        "Everybody deserves a country in which such things work, and that is what guides us.",
        "Progress has many sides, and a nation has to look at all of them.",
        "What matters in the end is that life becomes better for families.",
        "We believe in fairness, in {topic} as anywhere else.",
    ),
    "Partial/half-answer": (
        "For the eastern half, yes; about the rest of {topic} there is more to come.",
        "The first stage is agreed. I leave the second stage aside today.",
        "We will pay the smaller share. The larger share is another matter.",
        "Part of it, certainly, the roof and the doors.",
    ),
    "Dodging": (
        "What a lovely summer the north has had, and the harvest is splendid.",
        "I met a baker yesterday who told me a wonderful story about her oven.",
        "Have you seen the new stadium? The children love it.",
        "Let me congratulate our rowers, who won again on Sunday.",
    ),
    "Deflection": (
        "The real question is why the last government left {topic} in such a state.",
        "You should ask the opposition, they blocked every vote on {topic}.",
        "It is the neighbours who broke their promise on {topic}, not us.",
        "Journalists never ask about the jobs we made, which is the bigger story.",
    ),
    "Declining to answer": (
        "I am not going to comment on {topic} while the talks go on.",
        "That I will keep to myself for now.",
        "No comment on that, I am afraid; the court has asked us to be silent.",
        "I would rather not speak about {topic} today.",
    ),
    "Claims ignorance": (
        "I do not know. Nobody has shown me the figures on {topic}.",
        "I have not heard of that; I was travelling all week.",
        "I really could not tell you, I have not read the report.",
        "I am not aware of any plan for {topic}.",
    ),
    "Clarification": (
        "Do you mean the old plan or the new one?",
        "Sorry, which year are you asking about?",
        "Could you say that again? I did not hear the last words.",
        "What exactly do you mean by {topic}?",
    ),
}
PRESIDENTS = ("Ada Norden", "Tomas Wieland")


def main() -> None:
    """Write all files."""
    rng = random.Random(SEED)  # noqa: S311 (invented data, no secret)
    train, dev, test = _rows(rng, 240, 1001), _rows(rng, 110, 3001), _rows(rng, 130, 5001)
    for row in test:
        _annotate(row, rng)
    public = [column for column in COLUMNS if column not in SECRET]
    _write(DATA / "dev" / "gold.csv", COLUMNS, dev)
    _write(DATA / "test" / "gold.csv", COLUMNS, test)
    _write(DATA / "public" / "train.csv", COLUMNS, train)
    _write(DATA / "public" / "dev" / "questions.csv", public, dev)
    _write(DATA / "public" / "test" / "questions.csv", public, test)


def _rows(rng: random.Random, count: int, first: int) -> list[dict[str, str]]:
    """`count` questions with their answers; every label is there, its frequency as in FREQUENCY."""
    total = sum(FREQUENCY.values())
    labels = [label for label, share in FREQUENCY.items() for _ in range(max(6, round(count * share / total)))][:count]
    labels += rng.choices(list(FREQUENCY), list(FREQUENCY.values()), k=count - len(labels))
    rng.shuffle(labels)
    return [_row(rng, label, first + i, i) for i, label in enumerate(labels)]


def _row(rng: random.Random, label: str, index: int, order: int) -> dict[str, str]:
    topic, act = rng.choice(TOPICS)
    question = rng.choice(ASKED).format(topic=topic, act=act)
    # Some answers sound like another label, as they do in life.
    sound = rng.choice(NEAR[label]) if rng.random() < 0.15 else label
    answer = " ".join(part for part in (rng.choice(OPENINGS), rng.choice(ANSWERS[sound]), rng.choice(CLOSINGS)) if part)
    interview = order // 5 + index // 1000
    return {
        "title": f"Press conference {interview} at the Lantern House",
        "date": f"20{10 + interview % 14}-{1 + interview % 12:02d}-{1 + interview % 27:02d}",
        "president": PRESIDENTS[interview % 2],
        "url": f"https://example.org/lantern-house/{interview}",
        "question_order": str(order % 5 + 1),
        "interview_question": f"{question} And how are you today?",
        "interview_answer": answer.format(topic=topic, act=act),
        "question": question,
        "annotator_id": "85",
        "inaudible": "False",
        "multiple_questions": "True",
        "affirmative_questions": "False",
        "index": str(index),
        "clarity_label": PARENTS[label],
        "evasion_label": label,
    }


def _annotate(row: dict[str, str], rng: random.Random) -> None:
    """Replace the single evasion label by those of three annotators, who sometimes differ or give none."""
    label = row.pop("evasion_label")
    chance = rng.random()
    for column in ("annotator1", "annotator2", "annotator3"):
        given = label if rng.random() < 0.75 else rng.choice(NEAR[label])
        row[column] = SHORT_FORMS.get(given, given) if rng.random() < 0.2 else given
    if chance < 0.03:
        row.update(annotator1="", annotator2="", annotator3="")
    elif chance < 0.06:
        row["annotator3"] = "N/A"
    row["annotator_id"] = ""


def _write(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()

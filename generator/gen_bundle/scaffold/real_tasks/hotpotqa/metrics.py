"""Answer and facts together: precision and recall of each question are multiplied."""

import re
import string
from collections import Counter


def joint_f1(gold, predicted, **_):
    return mean(gold, predicted, lambda answer, facts: harmonic(answer[0] * facts[0], answer[1] * facts[1]))


def joint_em(gold, predicted, **_):
    return mean(gold, predicted, lambda answer, facts: float(answer[2] and facts[2]))


def mean(gold, predicted, joint):
    found = []
    for right, answered, facts, given in zip(gold["answers"], predicted["answers"], gold["facts"], predicted["facts"]):
        of_answer = overlap(words(right["answer"]), words(answered["answer"]))
        of_facts = overlap(pairs(facts), pairs(given))
        found.append(joint(of_answer, of_facts))
    return sum(found) / len(found)


def overlap(right, answered):
    """Precision, recall, and whether both are the same."""
    common = sum((right & answered).values())
    return common / max(1, sum(answered.values())), common / max(1, sum(right.values())), right == answered


def words(text):
    plain = "".join(char for char in text.lower() if char not in string.punctuation)
    return Counter(re.sub(r"\b(a|an|the)\b", " ", plain).split())


def pairs(rows):
    return Counter({(row["title"], row["sentence"]) for row in rows})


def harmonic(one, other):
    return 2 * one * other / (one + other) if one + other else 0.0

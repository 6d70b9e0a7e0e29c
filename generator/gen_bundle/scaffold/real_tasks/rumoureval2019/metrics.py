"""Task B: the label counts as unverified where its confidence is below 0.5, and the error depends on both."""

from sklearn.metrics import f1_score


def macro_f1(gold, predicted, **_):
    right = [row["veracity"] for row in gold]
    answered = [row["veracity"] if row["confidence"] >= 0.5 else "unverified" for row in predicted]
    return f1_score(right, answered, average="macro", zero_division=0)


def rmse(gold, predicted, **_):
    return (sum(map(error, gold, predicted)) / len(gold)) ** 0.5


def error(gold, predicted):
    if gold["veracity"] == "unverified":
        return predicted["confidence"] ** 2
    return (1 - predicted["confidence"]) ** 2 if gold["veracity"] == predicted["veracity"] else 1.0

"""F0.5u (Bevendorff et al. 2019): an answer of exactly 0.5 is none, and counts as a false negative."""


def f05u(gold, predicted, **_):
    pairs = [(float(right["label"]), row["label"]) for right, row in zip(gold, predicted)]
    hits = sum(right == 1 and answer > 0.5 for right, answer in pairs)
    wrong = sum(right == 0 and answer > 0.5 for right, answer in pairs)
    missed = sum((right == 1 and answer < 0.5) or answer == 0.5 for right, answer in pairs)
    weighed = 1.25 * hits + 0.25 * missed + wrong
    return 1.25 * hits / weighed if weighed else 0.0

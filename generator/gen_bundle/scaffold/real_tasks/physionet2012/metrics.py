"""The Hosmer–Lemeshow statistic over tenths of the stays, in the order of their risks."""

TENTHS = 10


def lemeshow(gold, predicted, **_):
    size = len(gold) // TENTHS
    died = [row["death"] == "1" for row in gold]
    risk = [row["risk"] for row in predicted]
    order = sorted(range(len(gold)), key=risk.__getitem__)
    total, means = 0, []
    for tenth in range(TENTHS):
        own = order[tenth * size : (tenth + 1) * size]
        means.append(sum(risk[i] for i in own) / size)
        observed, expected = sum(died[i] for i in own), size * means[-1]
        total += (observed - expected) ** 2 / (expected * (1 - means[-1]) + 0.001)
    return total / (means[-1] - means[0]) if means[-1] > means[0] else float("nan")

"""The mean of 1/place of all news of an impression that were opened, then over impressions."""


def mean_reciprocal(gold, predicted, **_):
    found = []
    for right, answered in zip(gold, predicted):
        opened = {row["news"] for row in right if row["clicked"] == "1"}
        order = sorted(answered, key=lambda row: -row["score"])
        found.append(sum(1 / place for place, row in enumerate(order, start=1) if row["news"] in opened) / len(opened))
    return sum(found) / len(found)

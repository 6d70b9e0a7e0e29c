"""A mask below the agreement of experts is a failure: its Jaccard counts as 0."""

LEAST = 0.65


def threshold_jaccard(gold, predicted, **_):
    right, answered = gold["mask"] > 0, predicted["mask"] > 0
    union = (right | answered).sum()
    jaccard = (right & answered).sum() / union if union else 1.0
    return jaccard if jaccard >= LEAST else 0.0

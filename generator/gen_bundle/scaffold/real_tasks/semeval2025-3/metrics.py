"""The rank correlation of the characters' probabilities in a text."""

from scipy.stats import spearmanr


def correlation(gold, predicted, keys, **_):
    texts = {key: len(row["model_output_text"]) for key, row in zip(keys["hard"], gold["hard"])}
    rows = zip(keys["soft"], gold["soft"], predicted["soft"])
    found = [of_text(curve(right, texts[key]), curve(answered, texts[key])) for key, right, answered in rows]
    return sum(found) / len(found)


def curve(rows, length):
    values = [0.0] * length
    for row in rows:
        for at in range(int(row["start"]), min(int(row["end"]), length)):
            values[at] += row["prob"]
    return values


def of_text(right, answered):
    if len(set(right)) == 1 or len(set(answered)) == 1:
        return float(len(set(right)) == len(set(answered)))
    return float(spearmanr(right, answered).statistic)

"""The greatest recall of a threshold that keeps a precision."""


def recall_at_precision(gold, predicted, least, **_):
    pairs = sorted(zip(predicted, gold), key=lambda pair: -pair[0]["p_quenched"])
    quenched = sum(row["y_quenched"] == "1" for row in gold)
    best, hits = 0, 0
    for place, (_, row) in enumerate(pairs, start=1):
        hits += row["y_quenched"] == "1"
        if hits / place >= least:
            best = hits
    return best / max(1, quenched)

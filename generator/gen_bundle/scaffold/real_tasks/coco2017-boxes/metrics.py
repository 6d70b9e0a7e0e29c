"""Average precision of boxes. Crowds are found any number of times, and what finds one counts neither way."""

import numpy as np

OVERLAPS = np.linspace(0.5, 0.95, 10)
RECALLS = np.linspace(0, 1, 101)
MOST = 100


def average_precision(gold, predicted, overlap=None, **_):
    overlaps = OVERLAPS if overlap is None else [overlap]
    categories = sorted({row["category_id"] for rows in gold for row in rows if not crowd(row)})
    return np.mean([of_category(gold, predicted, category, least) for category in categories for least in overlaps])


def of_category(gold, predicted, category, least):
    scores, hits, there = [], [], 0
    for things, boxes in zip(gold, predicted):
        things = sorted((row for row in things if row["category_id"] == category), key=crowd)
        boxes = [row for row in boxes if row["category_id"] == category]
        there += sum(not crowd(row) for row in things)
        free = list(range(len(things)))
        for box in sorted(boxes, key=lambda row: -row["score"])[:MOST]:
            found = best(box, things, free, least)
            if found is not None and crowd(things[found]):
                continue
            if found is not None:
                free.remove(found)
            scores.append(box["score"])
            hits.append(found is not None)
    hits = np.array(hits, float)[np.argsort(-np.array(scores), kind="stable")]
    recall = hits.cumsum() / there
    precision = np.append(hits.cumsum() / np.arange(1, len(hits) + 1), 0)
    highest = np.maximum.accumulate(precision[::-1])[::-1]  # at this recall or any above
    return highest[np.searchsorted(recall, RECALLS)].mean()


def best(box, things, free, least):
    found = None
    for at in free:  # crowds come last, and only where nothing else was found
        if found is not None and crowd(things[at]):
            break
        overlap = overlap_of(box["bbox"], things[at]["bbox"], crowd(things[at]))
        if overlap >= least:
            found, least = at, overlap
    return found


def overlap_of(box, thing, is_crowd):
    across = min(box[0] + box[2], thing[0] + thing[2]) - max(box[0], thing[0])
    down = min(box[1] + box[3], thing[1] + thing[3]) - max(box[1], thing[1])
    both = max(across, 0) * max(down, 0)
    either = box[2] * box[3] + (0 if is_crowd else thing[2] * thing[3] - both)
    return both / either if either else 0.0


def crowd(row):
    return row["iscrowd"] == "1"

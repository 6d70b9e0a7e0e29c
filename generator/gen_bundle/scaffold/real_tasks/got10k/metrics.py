"""Overlaps of boxes as the toolkit has them: an edge outside of the image is moved to it, the size then cut there."""


def overlap(gold, predicted, **_):
    size = float(gold["width"]), float(gold["height"])
    one, other = within(gold, *size), within(predicted, *size)
    across = max(0, min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0]))
    down = max(0, min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1]))
    both = across * down
    either = one[2] * one[3] + other[2] * other[3] - both
    return both / either if either else 0.0


def within(box, width, height):
    x, y = min(max(box["x"], 0), width), min(max(box["y"], 0), height)
    return x, y, min(box["w"], width - x), min(box["h"], height - y)


def success(gold, predicted, least, **_):
    return float(overlap(gold, predicted) > least)

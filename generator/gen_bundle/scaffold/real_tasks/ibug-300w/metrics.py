"""Landmarks of faces in .pts files. The outer corners of the eyes are the landmarks 37 and 46."""

from math import dist, isfinite

POINTS = 68
CORNERS = 36, 45
FAILED = 0.08


def check(rows):
    return [f"{row['points'].name} {fault}" for row in rows for fault in [fault_of(row["points"])] if fault]


def fault_of(path):
    try:
        points = points_of(path)
    except ValueError:
        return "cannot be read. Expected version, n_points, {, an x and a y on each line, }"
    if len(points) != POINTS or not all(len(point) == 2 and isfinite(sum(point)) for point in points):
        return f"has no {POINTS} points. Expected so many lines of two numbers between {{ and }}"
    return ""


def points_of(path):
    lines = path.read_text(encoding="utf-8").split("\n")
    lines = [line.strip() for line in lines]
    return [tuple(map(float, line.split())) for line in lines[lines.index("{") + 1 : lines.index("}")]]


def normalised_error(gold, predicted, **_):
    right, answered = points_of(gold["points"]), points_of(predicted["points"])
    apart = sum(map(dist, right, answered)) / POINTS
    return apart / dist(*(right[corner] for corner in CORNERS))


def below(gold, predicted, **_):
    return max(0.0, 1 - normalised_error(gold, predicted) / FAILED)


def failed(gold, predicted, **_):
    return float(normalised_error(gold, predicted) > FAILED)

"""The angle between two directions, by haversines, which are exact for small angles, too."""

from math import asin, sin, sqrt


def angle(gold, predicted, **_):
    down = sin((gold["zenith"] - predicted["zenith"]) / 2) ** 2
    across = sin((gold["azimuth"] - predicted["azimuth"]) / 2) ** 2
    haversine = down + sin(gold["zenith"]) * sin(predicted["zenith"]) * across
    return 2 * asin(sqrt(min(1.0, max(0.0, haversine))))

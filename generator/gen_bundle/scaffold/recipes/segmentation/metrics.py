"""The distance of outlines, in pixels or voxels. An answer comes with the gold's shape; numpy and SciPy are on the platform."""

import numpy as np
from scipy.ndimage import binary_erosion, distance_transform_edt


def hd95(gold, predicted, labels):
    """The 95th percentile of the distances from one outline to the other, in both directions; the mean over labels."""
    found = [of_label(gold["mask"] == label, predicted["mask"] == label) for label in labels]
    found = [distance for distance in found if distance is not None]
    return sum(found) / len(found) if found else None  # a case that has none of the labels does not count


def of_label(one, other):
    """None where neither has the label; NaN, which counts as the column's worst, where one of them alone has it."""
    if not one.any() or not other.any():
        return float("nan") if one.any() or other.any() else None
    one, other = one & ~binary_erosion(one), other & ~binary_erosion(other)
    there = distance_transform_edt(~other)[one]
    back = distance_transform_edt(~one)[other]
    return np.percentile(np.concatenate([there, back]), 95)

"""PSNR and SSIM of photographs, height × width × colours, from 0 to 255."""

import numpy as np
from scipy.ndimage import uniform_filter

HIGHEST = 255.0
SIDE = 7
EQUAL = 100.0


def psnr(gold, predicted, **_):
    error = ((gold["photograph"].astype(float) - predicted["photograph"]) ** 2).mean()
    return min(EQUAL, 10 * np.log10(HIGHEST**2 / error)) if error else EQUAL


def ssim(gold, predicted, **_):
    one, other = gold["photograph"].astype(float), predicted["photograph"].astype(float)
    mean_one, mean_other = means(one), means(other)
    sample = SIDE**2 / (SIDE**2 - 1)
    variance_one, variance_other = sample * (means(one**2) - mean_one**2), sample * (means(other**2) - mean_other**2)
    covariance = sample * (means(one * other) - mean_one * mean_other)
    light, contrast = (0.01 * HIGHEST) ** 2, (0.03 * HIGHEST) ** 2
    above = (2 * mean_one * mean_other + light) * (2 * covariance + contrast)
    below = (mean_one**2 + mean_other**2 + light) * (variance_one + variance_other + contrast)
    edge = SIDE // 2
    return (above / below)[edge:-edge, edge:-edge].mean()


def means(image):
    return uniform_filter(image, (SIDE, SIDE, 1))

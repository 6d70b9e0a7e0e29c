"""Metrics of numbers: correlations by scipy, errors by scikit-learn."""

import math
import warnings
from functools import partial

from declared.metrics import Options, Sample


def _correlation(name: str, sample: Sample, options: Options) -> float:
    """One of scipy's correlations; NaN where all values of one side are equal."""
    from scipy import stats

    if len(sample.gold) < 2:
        return math.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constant input, which is what NaN says
        return float(getattr(stats, name)(sample.gold, sample.predicted).statistic)


def _error(name: str, sample: Sample, options: Options) -> float:
    """One of scikit-learn's errors."""
    from sklearn import metrics

    return float(getattr(metrics, name)(sample.gold, sample.predicted))


pearson = partial(_correlation, "pearsonr")
spearman = partial(_correlation, "spearmanr")
kendall = partial(_correlation, "kendalltau")
mse = partial(_error, "mean_squared_error")
rmse = partial(_error, "root_mean_squared_error")
mae = partial(_error, "mean_absolute_error")


def r2(sample: Sample, options: Options) -> float:
    """Coefficient of determination; NaN for fewer than two keys."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _error("r2_score", sample, options)

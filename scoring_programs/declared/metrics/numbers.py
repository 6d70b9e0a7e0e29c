"""Metrics of numbers: correlations by scipy, errors by scikit-learn."""

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from declared.metrics import Sample


def pearson(sample: Sample, options: Mapping[str, Any]) -> float:
    """Pearson's correlation; NaN where all values of one side are equal."""
    from scipy.stats import pearsonr

    return _correlation(pearsonr, sample)


def spearman(sample: Sample, options: Mapping[str, Any]) -> float:
    """Spearman's rank correlation; NaN where all values of one side are equal."""
    from scipy.stats import spearmanr

    return _correlation(spearmanr, sample)


def kendall(sample: Sample, options: Mapping[str, Any]) -> float:
    """Kendall's tau-b; NaN where all values of one side are equal."""
    from scipy.stats import kendalltau

    return _correlation(kendalltau, sample)


def mse(sample: Sample, options: Mapping[str, Any]) -> float:
    """Mean squared error."""
    from sklearn.metrics import mean_squared_error

    return float(mean_squared_error(sample.gold, sample.predicted))


def rmse(sample: Sample, options: Mapping[str, Any]) -> float:
    """Root of the mean squared error."""
    from sklearn.metrics import root_mean_squared_error

    return float(root_mean_squared_error(sample.gold, sample.predicted))


def mae(sample: Sample, options: Mapping[str, Any]) -> float:
    """Mean absolute error."""
    from sklearn.metrics import mean_absolute_error

    return float(mean_absolute_error(sample.gold, sample.predicted))


def r2(sample: Sample, options: Mapping[str, Any]) -> float:
    """Coefficient of determination; NaN for fewer than two keys."""
    from sklearn.metrics import r2_score

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(r2_score(sample.gold, sample.predicted))


def _correlation(function: Callable[[Any, Any], Any], sample: Sample) -> float:
    if len(sample.gold) < 2:
        return math.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constant input, which is what NaN says
        return float(function(sample.gold, sample.predicted).statistic)

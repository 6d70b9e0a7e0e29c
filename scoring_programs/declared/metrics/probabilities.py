"""Metrics of the probability of a label, by scikit-learn; gold is a label, and 1 where it is the positive one."""

import math
import warnings

from declared.metrics import Options, Sample


def roc_auc(sample: Sample, options: Options) -> float:
    """Area under the ROC curve; NaN where all gold labels are alike."""
    from sklearn.metrics import roc_auc_score

    outcome = _outcomes(sample, options)
    return float(roc_auc_score(outcome, sample.predicted)) if 0 < sum(outcome) < len(outcome) else math.nan


def average_precision(sample: Sample, options: Options) -> float:
    """Average precision; NaN without a positive gold label."""
    from sklearn.metrics import average_precision_score

    outcome = _outcomes(sample, options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(average_precision_score(outcome, sample.predicted)) if sum(outcome) else math.nan


def log_loss(sample: Sample, options: Options) -> float:
    """Log loss; probabilities of 0 and 1 are moved inwards by the machine's precision, as scikit-learn does."""
    from sklearn.metrics import log_loss as loss

    return float(loss(_outcomes(sample, options), sample.predicted, labels=[0, 1]))


def brier(sample: Sample, options: Options) -> float:
    """Brier score of a binary outcome, in [0, 1]."""
    from sklearn.metrics import brier_score_loss

    return float(brier_score_loss(_outcomes(sample, options), sample.predicted, labels=[0, 1], pos_label=1))


def _outcomes(sample: Sample, options: Options) -> list[int]:
    return [int(label == options["positive"]) for label in sample.gold]

"""Sets: counts of shared, predicted and gold elements, or means over keys."""

from functools import partial
from typing import Any

import numpy as np

from declared.metrics import Options, Sample
from declared.metrics.sets import set_counts
from declared.statistics import Keys
from scoring_kit.metrics import summed
from scoring_kit.units import Additive


def _averaged(formula: Any, sample: Sample, options: Options, keys: Keys) -> Additive:
    counts = np.array(list(set_counts(sample, options["match"])), dtype=np.float64)
    if options["average"] == "micro":
        return keys.additive(formula, *counts.T)
    return keys.mean(np.where(counts.any(axis=1), formula(counts), 1.0))


set_f1 = partial(_averaged, summed.f1)
set_precision = partial(_averaged, summed.precision)
set_recall = partial(_averaged, summed.recall)

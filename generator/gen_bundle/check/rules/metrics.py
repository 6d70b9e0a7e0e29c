"""Columns named like well-known metrics, and the direction in which they are sorted."""

import re
from collections.abc import Iterator

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import HOUSE, Problem, Topic
from gen_bundle.codabench.competition import Column

METRICS = Topic("Directions of metrics", HOUSE, reads="both")
HIGHER_IS_BETTER = re.compile(
    r"accuracy|acc|f1|f[_-]?score|f[_-]?measure|f[_-]?beta|precision|recall|(?:ro)?auc|auroc|auprc|map|mrr|ndcg|bleu|"
    r"rouge(?:[_-]?[12l])?|meteor|chrf|bertscore|iou|miou|dice|kappa|mcc|matthews|jaccard|pearson|spearman|r2|psnr|ssim"
)
LOWER_IS_BETTER = re.compile(
    r"rmse|mse|mae|mape|rmsle|wer|cer|ter|perplexity|log[_-]?loss|loss|error(?:[_-]?rate)?|brier|ece|fid|eer|"
    r"time|runtime|duration|seconds|latency|cost"
)
# Words that make something else of a metric: its spread, its complement, how much it changed.
TURNED = re.compile(
    r"minus|inv(?:erse)?|neg(?:ative)?|std(?:ev)?|sd|var(?:iance)?|drop|gap|diff(?:erence)?|delta|reduction|improvement"
    r"|change"
)
COMPLEMENT = re.compile(r"(?:1|one) ?[-−]")
WORDS = re.compile(r"[a-z]+\d*|\d+")


def expected_direction(column: Column) -> str | None:
    """The direction of a metric with a well-known name; None where key and title do not agree on one."""
    kinds: set[str] = set()
    for name in (column.key, column.title):
        plain = name.lower().strip()
        words = {plain, *WORDS.findall(plain)}
        if COMPLEMENT.match(plain) or any(TURNED.fullmatch(word) for word in words):
            return None
        if any(LOWER_IS_BETTER.fullmatch(word) for word in words):
            kinds.add("asc")
        if any(HIGHER_IS_BETTER.fullmatch(word) for word in words):
            kinds.add("desc")
    return kinds.pop() if len(kinds) == 1 else None


@METRICS.trap("metric-sorted-the-wrong-way", "a well-known metric that is sorted the wrong way")
def _metric_sorted_the_wrong_way(bundle: Bundle) -> Iterator[Problem]:
    """The worst submission ranks first.
    → Set `sorting: asc` if lower is better, `desc` if higher is; rename the column if it means something else.
    """
    for column in bundle.competition.columns:
        direction = expected_direction(column)
        given = "asc" if column.ascending else "desc"
        if direction is not None and direction != given:
            name = f"{column.key} ({column.title})" if column.title not in ("", column.key) else column.key
            yield Problem(f"column {name} is sorted {given}, but such a metric is usually {direction}", column.at)

"""Promises of columns: the direction of well-known metrics, and what the scoring program wrote in a dry run."""

import re
from collections.abc import Iterator

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import HOUSE, SCORES, WORKER, Problem, Topic
from gen_bundle.codabench.competition import Column
from gen_bundle.codabench.versions import DIFFERENCES
from gen_bundle.codabench.worker import LONG_LOG_BYTES, LONG_LOG_LINES, is_long_log

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
        if COMPLEMENT.match(plain):
            return None
        for word in (plain, *WORDS.findall(plain)):
            if TURNED.fullmatch(word):
                return None
            if LOWER_IS_BETTER.fullmatch(word):
                kinds.add("asc")
            if HIGHER_IS_BETTER.fullmatch(word):
                kinds.add("desc")
    return kinds.pop() if len(kinds) == 1 else None


@METRICS.trap("a well-known metric that is sorted the wrong way")
def _metric_sorted_the_wrong_way(bundle: Bundle) -> Iterator[Problem]:
    """The worst submission ranks first.
    → Set `sorting: asc` if lower is better, `desc` if higher is; rename the column if it means something else.
    """
    for column in bundle.competition.columns:
        direction = expected_direction(column)
        given = "asc" if column.ascending else "desc"
        if direction is not None and direction != given:
            name = column.key
            if column.title not in ("", column.key):
                name = f"{column.key} ({column.title})"
            yield Problem(f"column {name} is sorted {given}, but such a metric is usually {direction}", column.at)


WRITTEN = Topic("Scores of a dry run", SCORES, reads="both")


def _unwritten(bundle: Bundle, *, primary: bool) -> Iterator[Column]:
    """The columns that the scoring program must write, and that no run wrote: the primary one, or the others."""
    for column in bundle.competition.columns:
        is_wanted = (column.index == bundle.competition.primary_index) is primary
        is_missing = bool(bundle.dry_run.scored) and column.key not in bundle.dry_run.written
        if is_wanted and is_missing and not column.computation:
            yield column


@WRITTEN.trap("a column that the scoring program does not write")
def _column_never_written(bundle: Bundle) -> Iterator[Problem]:
    """The cell stays empty (n/a), and breaking ties by it has no effect.
    → Write the key in every scores.json, or delete the column. Keys count as written, without outer blanks.
    """
    for column in _unwritten(bundle, primary=False):
        yield Problem(f"no dry run wrote the key {column.key}", column.at)


@WRITTEN.broken(
    "the scoring program does not write the primary column",
    source=f"{SCORES}; github.com/codalab/codabench issues 1284 and 2321",
)
def _primary_never_written(bundle: Bundle) -> Iterator[Problem]:
    """Rows without a primary score are at the top of a descending leaderboard.
    → Write the key in every scores.json, or make another column the primary one.
    """
    for column in _unwritten(bundle, primary=True):
        yield Problem(f"no dry run wrote the primary key {column.key}", column.at)


@WRITTEN.broken("the scoring program writes the key of a computed column", reads="v2")
def _computed_key_written(bundle: Bundle) -> Iterator[Problem]:
    """If it comes after the column's inputs, the upload of scores ends in a server error.
    → Do not write it: the server computes the column.
    """
    written = bundle.dry_run.written
    for column in bundle.competition.columns:
        if column.computation and column.key in written:
            yield Problem(f"a dry run wrote the computed key {column.key}", column.at)


@WRITTEN.note("a score that has no column")
def _score_without_column(bundle: Bundle) -> Iterator[Problem]:
    """It is silently ignored. → Add a column with this key, or leave it to the detailed results."""
    unknown = sorted(bundle.dry_run.written - {column.key for column in bundle.competition.columns})
    if unknown:
        yield Problem(f"dry runs wrote keys without a column: {', '.join(unknown[:10])}", ("leaderboards",))


BY_VERSION = "; ".join(f"with version {version} {facts.long_log}" for version, facts in DIFFERENCES.items())


@WRITTEN.trap(
    "a scoring program that prints too much",
    f"From about {LONG_LOG_LINES} lines or {LONG_LOG_BYTES // 1024} KiB on, logs are unsafe: {BY_VERSION}. "
    "→ Print less, and what matters last; put the rest into detailed_results.html.",
    source=WORKER,
)
def _log_too_long(bundle: Bundle) -> Iterator[Problem]:
    lines, size = max(bundle.dry_run.logs, default=(0, 0), key=lambda log: log[1])
    if is_long_log(lines, size):
        yield Problem(f"in a dry run the scoring program printed {lines:,} lines, {size:,} bytes", ("tasks",))

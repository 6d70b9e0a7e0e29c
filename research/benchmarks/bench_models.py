"""Scoring with models: the plain way, as the organisers of CLPsych 2025 ran it, against ours, in one process.

The plain way builds both models anew for every timeline, calls bert-score once for every gold span, and puts one
sentence pair at a time through the classifier. Needs transformers 4.57, under which bert-score still works.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from research.benchmarks.generated import CLASSES, Timeline, timelines
from research.benchmarks.measuring import Cost, measured
from research.benchmarks.wide_models import LAYERS, make_wide_classifier, make_wide_encoder
from tests import tiny_models

TIMELINES = 60
SCALES = (1, 4, 16)
WIDE_SAMPLE = 10  # the plain way at real width runs on every tenth timeline: nothing in it depends on the others


def main() -> None:
    """Measure tiny models, then real width; then growth with the data, and a second run with a warm cache."""
    if find_spec("torch") is None:
        print("needs the models' packages: make test-scoring installs them")
        return
    import torch
    import transformers

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, {torch.get_num_threads()} thread, fp32")
    data = timelines(TIMELINES)
    _describe(data)
    with tempfile.TemporaryDirectory() as folder:
        wide_encoder = str(make_wide_encoder(Path(folder, "encoder")))
        wide_classifier = str(make_wide_classifier(Path(folder, "classifier")))
        print("\n-- tiny models")
        _compare(
            "A.1",
            data,
            1,
            lambda d: _plain_spans(d, tiny_models.DEBERTA_ENCODER),
            lambda d: our_spans(d, tiny_models.DEBERTA_ENCODER),
        )
        _compare(
            "B and C",
            data,
            1,
            lambda d: _plain_pairs(d, tiny_models.DEBERTA_V2_NLI),
            lambda d: our_pairs(d, tiny_models.DEBERTA_V2_NLI),
        )
        print("\n-- real width, two layers")
        _compare(
            "A.1", data, WIDE_SAMPLE, lambda d: _plain_spans(d, wide_encoder), lambda d: our_spans(d, wide_encoder)
        )
        _compare(
            "B and C",
            data,
            WIDE_SAMPLE,
            lambda d: _plain_pairs(d, wide_classifier),
            lambda d: our_pairs(d, wide_classifier),
        )
        print("\n-- more data, tiny models")
        for scale in SCALES:
            _scaled(scale)
        print("\n-- once more against the same gold, real width")
        _warm(data, wide_encoder, wide_classifier, folder)


def _scaled(scale: int) -> None:
    data = timelines(TIMELINES * scale)
    print(f"{scale:>2}x  A.1      {measured(lambda: our_spans(data, tiny_models.DEBERTA_ENCODER))[1]}", flush=True)
    print(f"{scale:>2}x  B and C  {measured(lambda: our_pairs(data, tiny_models.DEBERTA_V2_NLI))[1]}", flush=True)


def _describe(data: list[Timeline]) -> None:
    calls = sum(len(t.gold[kind]) for t in data for kind in CLASSES)
    encoded = sum(len(set(t.predicted[kind]) | {gold}) for t in data for kind in CLASSES for gold in t.gold[kind])
    spans = {s for t in data for kind in CLASSES for s in (*t.gold[kind], *t.predicted[kind])}
    pairs = [pair for t in data for pair in t.pairs()]
    print(
        f"{len(data)} timelines: {calls} calls of bert-score with {encoded:,} texts, {len(spans):,} distinct; "
        f"{len(pairs):,} pairs, {len(set(pairs)):,} distinct"
    )


def _compare(
    what: str,
    data: list[Timeline],
    every: int,
    plain: Callable[[list[Timeline]], list[float]],
    ours: Callable[[list[Timeline]], list[float]],
) -> None:
    ours(data[:1])  # imports and the like happen before either is timed
    theirs, plain_cost = measured(lambda: plain(data[::every]))
    numbers, our_cost = measured(lambda: ours(data))
    of_sample = ours(data[::every]) if every > 1 else numbers
    difference = max(abs(a - b) for a, b in zip(theirs, of_sample, strict=True))
    print(f"{what}: plain {plain_cost}" + (f" on every {every}th timeline" if every > 1 else ""))
    print(f"{what}: ours  {our_cost}")
    print(
        f"{what}: {plain_cost.cpu * every / our_cost.cpu:.1f} times faster, largest difference {difference:.1e}",
        flush=True,
    )


def _plain_spans(data: list[Timeline], encoder: str) -> list[float]:
    """Mean of the best rescaled F of each gold span, for each timeline and class."""
    from bert_score import BERTScorer

    results = []
    for timeline in data:
        scorer = BERTScorer(
            model_type=encoder,
            num_layers=LAYERS,
            lang="en",
            rescale_with_baseline=True,
            baseline_path=tiny_models.BASELINE,
            device="cpu",
        )
        for kind in CLASSES:
            predicted = timeline.predicted[kind]
            best = [float(scorer.score(predicted, [gold] * len(predicted))[2].max()) for gold in timeline.gold[kind]]
            results.append(sum(best) / len(best))
    return results


def our_spans(data: list[Timeline], encoder: str, cache: str | None = None) -> list[float]:
    """The same by our engine."""
    from scoring_kit.metrics.bertscore import BertScoreOptions, BertScorer

    scorer = BertScorer(
        BertScoreOptions(encoder, num_layers=LAYERS, baseline=tiny_models.BASELINE, device="cpu", cache=cache)
    )
    scorer.encode_all(
        (span for t in data for kind in CLASSES for span in t.predicted[kind]),
        lasting=(span for t in data for kind in CLASSES for span in t.gold[kind]),
    )
    results = []
    for timeline in data:
        for kind in CLASSES:
            scores = scorer.rescale(scorer.score(timeline.predicted[kind], timeline.gold[kind]))
            results.append(float(scores.f1.max(axis=0).mean()))
    return results


def _plain_pairs(data: list[Timeline], classifier: str) -> list[float]:
    """Probability of contradiction of each pair."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    results = []
    for timeline in data:
        tokenizer = AutoTokenizer.from_pretrained(classifier)
        model = AutoModelForSequenceClassification.from_pretrained(classifier).eval()
        for premise, hypothesis in timeline.pairs():
            ids = tokenizer(premise, hypothesis, truncation=True, return_tensors="pt")["input_ids"]
            with torch.no_grad():
                results.append(float(model(ids).logits[0].softmax(-1)[2]))
    return results


def our_pairs(data: list[Timeline], classifier: str, cache: str | None = None) -> list[float]:
    """The same by our engine."""
    from scoring_kit.metrics.nli import LABELS, NliModel, NliOptions

    model = NliModel(NliOptions(classifier, device="cpu", cache=cache))
    pairs = [pair for timeline in data for pair in timeline.pairs()]
    return [float(probability) for probability in model.probabilities(pairs)[:, LABELS.index("contradiction")]]


def _warm(data: list[Timeline], encoder: str, classifier: str, folder: str) -> None:
    cache = str(Path(folder, "cache"))
    spans = [measured(lambda: our_spans(data, encoder, cache)) for _ in range(2)]
    pairs = [measured(lambda: our_pairs(data, classifier, cache)) for _ in range(2)]
    for what, ((first, cold), (second, warm)) in (("A.1", spans), ("B and C", pairs)):
        print(f"{what}: cold {cold}")
        difference = max(abs(a - b) for a, b in zip(first, second, strict=True))
        print(f"{what}: warm {warm}, {cold.cpu / warm.cpu:.1f} times faster, largest difference {difference:.1e}")
    _both([spans[0][1], pairs[0][1]], [spans[1][1], pairs[1][1]])


def _both(cold: list[Cost], warm: list[Cost]) -> None:
    ratio = sum(cost.cpu for cost in cold) / sum(cost.cpu for cost in warm)
    print(f"together: {ratio:.1f} times faster with a warm cache")

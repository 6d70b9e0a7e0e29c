"""Metrics of texts but for BERTScore, by the libraries that define them: over the corpus, or the mean over keys.

ROUGE by rouge-score, token F1 as in SQuAD, error rates by jiwer, distances and common subsequences by rapidfuzz; of
BLEU, chrF and TER sacrebleu's own counts of each key's text, and its formulas over their sums.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from declared.metrics import Metric, Options, Sample
from declared.metrics.keys import Keys
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array

if TYPE_CHECKING:
    import sacrebleu.metrics.base

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)
ORDERS = 4
"""N-grams of BLEU."""
BETA = 2
"""Of chrF: how much more the recall weighs."""
Pieces = Sequence[str]


def references(gold: Sequence[str | Sequence[str]]) -> list[Sequence[str]]:
    """Return the references of each key, most often one."""
    found = []
    for texts in gold:
        if isinstance(texts, str):
            texts = [texts]
        found.append(texts)
    return found


def rouge(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Return the mean of the keys' ROUGE F-measures."""
    from rouge_score.rouge_scorer import RougeScorer

    kind = options["type"]
    scorer = RougeScorer([kind], use_stemmer=options["stem"])
    return _with_best(lambda reference, text: float(scorer.score(reference, text)[kind].fmeasure), sample, keys)


def token_f1(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Return the mean of the keys' F1 of tokens.

    Blanks separate tokens; `squad` first drops case, punctuation and English articles, `case: ignore` case alone.
    Source: the evaluation of SQuAD 2.0, where a text without tokens equals only another one.
    """
    form = text_form(options)
    return _with_best(lambda reference, text: _token_f1(form(reference).split(), form(text).split()), sample, keys)


def _with_best(measure: Callable[[str, str], float], sample: Sample, keys: Keys) -> Additive:
    """The mean over keys of a measure of reference and answer, each with its best reference."""
    values = []
    for texts, answer in zip(references(sample.gold), sample.predicted, strict=True):
        values.append(max(measure(text, answer) for text in texts))
    return keys.mean(values)


def text_form(options: Options) -> Callable[[str], str]:
    """Return the function that makes of a text what is compared: as the options `normalise` and `case` say."""
    if options["normalise"] == "squad":
        return _squad
    if options["case"] == "ignore":
        return str.casefold
    return str


def _squad(text: str) -> str:
    """A text without case, punctuation and English articles, a blank between its words."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())


def _token_f1(gold: Sequence[str], predicted: Sequence[str]) -> float:
    if not gold or not predicted:
        return float(gold == predicted)
    wanted, there = Counter(gold), Counter(predicted)
    shared = (wanted & there).total()
    return 2 * shared / (len(gold) + len(predicted))


def _error_rate(process: str) -> Metric:
    """Edits over the number of words or characters of the gold."""

    def metric(sample: Sample, options: Options, keys: Keys) -> Additive:
        import jiwer

        gold, predicted = list(sample.gold), list(sample.predicted)
        if options["lowercase"]:
            gold, predicted = [text.lower() for text in gold], [text.lower() for text in predicted]
        aligned = getattr(jiwer, process)(gold, predicted)
        edits, pieces = [], []
        for chunks, reference in zip(aligned.alignments, aligned.references, strict=True):
            number = 0
            for chunk in chunks:
                if chunk.type != "equal":
                    number += max(chunk.ref_end_idx - chunk.ref_start_idx, chunk.hyp_end_idx - chunk.hyp_start_idx)
            edits.append(number)
            pieces.append(len(reference))
        return keys.additive(_errors, edits, pieces)

    return metric


wer = _error_rate("process_words")
cer = _error_rate("process_characters")


def _errors(sums: Array) -> Array:
    """As jiwer: without a gold word, the number of inserted ones."""
    edits, words = sums[..., 0], sums[..., 1]
    return np.where(words > 0, summed.quotient(edits, words), edits)


def edit_distance(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Levenshtein distance: the mean over keys, or the number of edits over all of them (micro)."""
    from rapidfuzz.distance import Levenshtein

    distances = _of_pairs(Levenshtein.distance, sample, options)[0]
    if options["average"] == "micro":
        return keys.additive(summed.count, distances)
    return keys.mean(distances)


def _lcs(formula: Callable[[Array], Array]) -> Metric:
    """Of the lengths of the longest common subsequence, of the answer and of the gold; two empty texts are equal."""

    def or_equal(counts: Array) -> Array:
        return np.where(counts.any(axis=-1), formula(counts), 1.0)

    def metric(sample: Sample, options: Options, keys: Keys) -> Additive:
        from rapidfuzz.distance import LCSseq

        counts = _of_pairs(LCSseq.similarity, sample, options)
        if options["average"] == "micro":
            return keys.additive(or_equal, *counts)
        return keys.mean(or_equal(counts.T))

    return metric


lcs_f1 = _lcs(summed.f1)
lcs_precision = _lcs(summed.precision)
lcs_recall = _lcs(summed.recall)


def _of_pairs(measure: Callable[[Pieces, Pieces], int], sample: Sample, options: Options) -> Array:
    """A measure of each key's answer and gold, and their lengths, shape [3, keys]."""
    cut = _pieces(options["unit"])
    rows = []
    for gold, predicted in zip(sample.gold, sample.predicted, strict=True):
        truth, answer = cut(gold), cut(predicted)
        rows.append((measure(answer, truth), len(answer), len(truth)))
    return np.array(rows, dtype=np.float64).T


def _pieces(unit: Any) -> Callable[[str], Pieces]:
    """Return what cuts a text: into characters, words, or what a separator parts; an empty text has no piece."""
    if unit == "character":
        return str
    if unit == "word":
        return str.split
    separator = unit["separator"]
    return lambda text: text.split(separator) if text else []


def bleu(sample: Sample, options: Options, keys: Keys) -> Additive:
    """BLEU, from 0 to 100."""
    from sacrebleu.metrics.bleu import BLEU

    return _of_segments(BLEU(lowercase=options["lowercase"], tokenize=options["tokenize"]), _bleu, sample, keys)


def chrf(sample: Sample, options: Options, keys: Keys) -> Additive:
    """ChrF, from 0 to 100; chrF++ with `word_order` 2."""
    from sacrebleu.metrics.chrf import CHRF

    return _of_segments(CHRF(lowercase=options["lowercase"], word_order=options["word_order"]), _chrf, sample, keys)


def ter(sample: Sample, options: Options, keys: Keys) -> Additive:
    """TER: 100 is as many edits as gold words."""
    from sacrebleu.metrics.ter import TER

    return _of_segments(TER(case_sensitive=not options["lowercase"]), _ter, sample, keys)


def _of_segments(
    metric: "sacrebleu.metrics.base.Metric", formula: Callable[[Array], Array], sample: Sample, keys: Keys
) -> Additive:
    # as sacrebleu takes them: a list of first references, one of second ones, and so on
    streams: Any = list(zip_longest(*references(sample.gold)))
    counts = metric._extract_corpus_statistics(list(sample.predicted), streams)
    return keys.additive(formula, *np.array(counts, dtype=np.float64).T)


def _bleu(sums: Array) -> Array:
    """`BLEU.compute_bleu` of sacrebleu with its smoothing `exp`, of (length, gold length, matches, n-grams)."""
    length, gold_length = sums[..., 0], sums[..., 1]
    matches, there = sums[..., 2 : 2 + ORDERS], sums[..., 2 + ORDERS :]
    unmatched = (matches == 0) & (there > 0)
    smoothed = summed.quotient(0.5 ** np.cumsum(unmatched, axis=-1), there)
    precisions = np.where(unmatched, smoothed, summed.quotient(matches, there))
    with np.errstate(divide="ignore"):
        logs = np.log(precisions).mean(axis=-1)
    penalty = np.minimum(0.0, 1 - summed.quotient(gold_length, length))
    return np.where((length > 0) & matches.any(axis=-1), 100 * np.exp(logs + penalty), 0.0)


def _chrf(sums: Array) -> Array:
    """`CHRF._compute_f_score` of sacrebleu, of (n-grams, gold n-grams, matches) for each order."""
    there, gold, matches = sums[..., 0::3], sums[..., 1::3], sums[..., 2::3]
    both = (there > 0) & (gold > 0)
    precision = np.nan_to_num(summed.mean_where(summed.quotient(matches, there), both))
    recall = np.nan_to_num(summed.mean_where(summed.quotient(matches, gold), both))
    return 100 * summed.quotient((1 + BETA**2) * precision * recall, BETA**2 * precision + recall)


def _ter(sums: Array) -> Array:
    """`TER._compute_score_from_stats` of sacrebleu, of (edits, gold length)."""
    edits, length = sums[..., 0], sums[..., 1]
    return 100 * np.where(length > 0, summed.quotient(edits, length), (edits > 0).astype(np.float64))

"""Natural language inference: how likely a premise entails, leaves open or contradicts a hypothesis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from scoring_kit.errors import OrganiserError
from scoring_kit.models.cache import LOADED, ArrayCache, digest
from scoring_kit.models.device import inference, padded_batches, place
from scoring_kit.models.loading import ModelFiles, load_classifier, load_config, locate, longest_input, progress
from scoring_kit.models.tokenizing import TextTokenizer, encodable, load_tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from transformers import PreTrainedModel

LABELS = ("entailment", "neutral", "contradiction")
AT_ONCE = 16384  # pairs sorted and packed together: enough to find others of the same length; memory stays bounded
MOST_KEPT = 256 * 2**20  # bytes of pairs that are kept for other submissions, once or twice
BESIDES = 500  # bytes that a pair takes beside its characters
LONGEST = 512  # tokens of a pair where the tokenizer declares no limit


@dataclass(frozen=True)
class NliOptions:
    """The options `nli.*` and those that say where models run, under the same names.

    Attributes:
        model: hub name or folder of the classifier.
        revision: commit, tag or branch of a hub model.
        labels: what a model's generic labels mean: a mapping from its label to one of `LABELS`, or the three of them
            in the order of its outputs. None where the model's configuration names them itself.
        device: `auto`, `cpu` or `cuda`.
        precision: `fp32` or `bf16`.
        batch_tokens: tokens in a batch, padding included; None chooses by the device.
        cache: a folder that keeps probabilities between runs; None keeps nothing.
    """

    model: str
    revision: str | None = None
    labels: Mapping[str, str] | Sequence[str] | None = field(default=None, hash=False)
    device: str = "auto"
    precision: str = "fp32"
    batch_tokens: int | None = None
    cache: str | None = None


@lru_cache(maxsize=2)
def load_nli_model(options: NliOptions) -> NliModel:
    """Return the model for these options, made once in a process.

    Raises OrganiserError: the model is not on this machine or cannot be used, or its labels are not the three of NLI.
    """
    loaded = NliModel(options)
    LOADED.add(loaded)
    return loaded


class NliModel:
    """A classifier of sentence pairs; every distinct pair is put through it once.

    Its weights are read when the first pair needs them.
    """

    def __init__(self, options: NliOptions) -> None:
        self._place = place(options.device, options.precision, options.batch_tokens)
        self._files = locate("nli.model", options.model, options.revision)
        self._tokenizer: TextTokenizer = load_tokenizer(self._files)
        self._order = _label_order(self._files, load_config(self._files).id2label, options.labels)
        self._model: PreTrainedModel | None = None
        self._known: dict[tuple[str, str], tuple[float, ...]] = {}
        self._earlier: dict[tuple[str, str], tuple[float, ...]] = {}
        self._bytes = 0
        self._cache: ArrayCache | None = None
        if options.cache:
            computed_with = {
                "model": self._files.identity(),
                "labels": self._order,
                "tokenizer": self._tokenizer.fingerprint(),
                "precision": self._place.precision,
            }
            self._cache = ArrayCache(options.cache, "pairs", computed_with, len(LABELS))

    def signature(self) -> dict[str, object]:
        """Return what the probabilities depend on: model, revision, label order, precision."""
        return {
            "model": self._files.label,
            "revision": self._files.version(),
            "labels": [LABELS[self._order.index(output)] for output in range(len(LABELS))],
            "precision": self._place.precision,
        }

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Probabilities of each (premise, hypothesis).

        Calling it once with all pairs of a run packs batches best. A pair that is longer than the tokenizer declares
        (512 tokens where it declares nothing) loses tokens at the end of the longer text first.

        Returns:
            Shape (pairs, 3), columns in the order of `LABELS`; each row sums to 1.
        """
        import numpy as np

        keys = [(encodable(premise), encodable(hypothesis)) for premise, hypothesis in pairs]
        for pair in self._earlier.keys() & set(keys):
            self._keep(pair, self._earlier.pop(pair))
        absent = set(keys) - self._known.keys()
        missed: dict[bytes, tuple[str, str]] = {}  # by the cache
        if self._cache is not None:
            missed = {digest(*pair): pair for pair in absent}
            for key, array in self._cache.read(list(missed)):
                self._keep(missed.pop(key), tuple(array[0].tolist()))
        in_order = sorted(absent - self._known.keys())
        if in_order:
            with progress("Classifying sentence pairs", len(in_order), "pairs") as advance:
                for start in range(0, len(in_order), AT_ONCE):
                    self._classify(in_order[start : start + AT_ONCE], advance)
        if self._cache is not None:
            self._cache.write(missed, lambda key: np.array([self._known[missed[key]]], dtype=np.float32))
        return np.array([self._known[key] for key in keys], dtype=np.float64).reshape(-1, len(LABELS))

    def forget(self) -> None:
        """Forget the pairs that were not used lately, once there are many: for between two submissions."""
        if self._bytes > MOST_KEPT:
            self._earlier, self._known, self._bytes = self._known, {}, 0

    def _classify(self, pairs: Sequence[tuple[str, str]], advance: Callable[[int], None]) -> None:
        if self._model is None:
            self._model = load_classifier(self._files, self._place)
        model = self._model
        longest = self._tokenizer.longest or LONGEST
        if (positions := longest_input(model)) is not None:
            longest = min(longest, positions)
        ids = self._tokenizer.encode_pairs(pairs, longest)
        for batch, arguments in padded_batches(ids, self._tokenizer.pad_id, self._place):
            with inference(self._place):
                probabilities = model(**arguments).logits.float().softmax(dim=-1)[:, self._order].tolist()
            for i, row in zip(batch, probabilities, strict=True):
                self._keep(pairs[i], tuple(row))
            advance(len(batch))

    def _keep(self, pair: tuple[str, str], probabilities: tuple[float, ...]) -> None:
        self._known[pair] = probabilities
        self._bytes += BESIDES + len(pair[0]) + len(pair[1])


def _label_order(
    files: ModelFiles, names: Mapping[int, str], labels: Mapping[str, str] | Sequence[str] | None
) -> list[int]:
    """For each of `LABELS` the model's output that means it, read by name.

    Models differ: RoBERTa's MNLI models begin with contradiction, the DeBERTa NLI family with entailment.
    """
    own = [str(names.get(output, "")).lower() for output in range(len(names))]
    named = ", ".join([str(name) for name in names.values()])
    meanings = _meanings(files, named, own, labels)
    if sorted(meanings) != sorted(LABELS):
        raise OrganiserError(
            f"options.nli.labels: the labels of {files.name} are {named}"
            + (f", mapped to {', '.join(meanings)}" if labels is not None else "")
            + f". Expected {', '.join(LABELS)}, each once; use this option to map the labels."
        )
    if labels is not None and sorted(own) == sorted(LABELS) and meanings != own:
        raise OrganiserError(
            f"options.nli.labels: {files.name} names its own labels {', '.join(own)}, which the option contradicts. "
            "Leave the option out."
        )
    return [meanings.index(one) for one in LABELS]


def _meanings(
    files: ModelFiles, named: str, own: Sequence[str], labels: Mapping[str, str] | Sequence[str] | None
) -> list[str]:
    """Return what each output of the model means, by the option or else by the model's own labels, so `named`."""
    if labels is None:
        return list(own)
    if not isinstance(labels, Mapping):
        return [str(label).lower() for label in labels]
    meaning = {str(name).lower(): str(label).lower() for name, label in labels.items()}
    if strange := sorted(set(meaning) - set(own)):
        raise OrganiserError(
            f"options.nli.labels: {files.name} has no label {', '.join(strange)}. Expected its own labels: {named}."
        )
    return [meaning.get(name, name) for name in own]

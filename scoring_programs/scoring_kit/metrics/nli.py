"""Natural language inference: how likely a premise entails, leaves open or contradicts a hypothesis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from scoring_kit.errors import OrganiserError
from scoring_kit.models.batches import batches_by_length, padded
from scoring_kit.models.device import place
from scoring_kit.models.files import ModelFiles, locate
from scoring_kit.models.loading import load_classifier, load_config, longest_input
from scoring_kit.models.tokenizing import TextTokenizer, encodable, load_tokenizer
from scoring_kit.progress import progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from transformers import PreTrainedModel

LABELS = ("entailment", "neutral", "contradiction")
ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)
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
    """The model for these options, made once in a process.

    Raises:
        OrganiserError: the model is not on this machine or cannot be used, or its labels are not the three of NLI.
    """
    return NliModel(options)


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
        self._known: dict[tuple[str, str], NDArray[np.float64]] = {}

    def signature(self) -> dict[str, object]:
        """What the probabilities depend on: model, revision, label order, precision."""
        return {
            "model": self._files.name,
            "revision": self._files.revision,
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
        absent = sorted(set(keys) - self._known.keys())
        if absent:
            self._known.update(zip(absent, self._classify(absent), strict=True))
        return np.array([self._known[key] for key in keys], dtype=np.float64).reshape(-1, len(LABELS))

    def _classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        import numpy as np
        import torch

        model = self._classifier()
        ids = self._tokenizer.encode_pairs(pairs, self._longest(model))
        result = np.empty((len(pairs), len(LABELS)))
        with torch.inference_mode(), progress("Classifying sentence pairs", len(pairs), "pairs") as advance:
            for batch in batches_by_length([len(sequence) for sequence in ids], self._place.batch_tokens):
                arguments = padded([ids[i] for i in batch], self._tokenizer.pad_id, self._place.device)
                logits = model(**arguments).logits.float()
                result[batch] = logits.softmax(dim=-1).cpu().numpy()[:, self._order]
                advance(len(batch))
        return result

    def _classifier(self) -> PreTrainedModel:
        if self._model is None:
            self._model = load_classifier(self._files, self._place)
        return self._model

    def _longest(self, model: PreTrainedModel) -> int:
        positions = longest_input(model)
        declared = self._tokenizer.longest or LONGEST
        return declared if positions is None else min(declared, positions)


def _label_order(
    files: ModelFiles, names: Mapping[int, str], labels: Mapping[str, str] | Sequence[str] | None
) -> list[int]:
    """For each of `LABELS` the model's output that stands for it, read by name.

    Models differ: RoBERTa's MNLI models begin with contradiction, the DeBERTa NLI family with entailment.
    """
    own = [str(names.get(output, "")).lower() for output in range(len(names))]
    if isinstance(labels, Mapping):
        meaning = {str(name).lower(): str(label).lower() for name, label in labels.items()}
        told = [meaning.get(name, name) for name in own]
    else:
        told = own if labels is None else [str(label).lower() for label in labels]
    if sorted(told) != sorted(LABELS):
        raise OrganiserError(
            f"options.nli.labels: the labels of {files.name} are {', '.join(map(str, names.values()))}"
            + (f", told to mean {', '.join(told)}" if labels is not None else "")
            + f". Expected {', '.join(LABELS)}, each once; say by this option which label means which."
        )
    if labels is not None and sorted(own) == sorted(LABELS) and told != own:
        raise OrganiserError(
            f"options.nli.labels: {files.name} names its own labels {', '.join(own)}, which the option contradicts. "
            "Leave the option out."
        )
    return [told.index(label) for label in LABELS]

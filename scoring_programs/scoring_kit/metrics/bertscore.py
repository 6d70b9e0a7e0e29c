"""BERTScore (Zhang et al., ICLR 2020) as the bert-score library 0.3.13 computes it, for many pairs at once.

Each token of a text is a vector: the hidden state of one layer of an encoder, brought to length 1. With S the cosines
of a candidate's and a reference's tokens, precision P is the mean over the candidate's tokens of their best cosine,
recall R the mean over the reference's, and F = 2PR/(P+R). As in the library, special tokens (those whose id is the
start or end token's, typed ones included) take no part in a mean, but another token may find its best match in them.

Rescaling (x - b) / (1 - b) uses the baseline b of the same measure, model and layer from the library's own tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from scoring_kit.metrics import bertscore_tables as tables
from scoring_kit.metrics.matching import Embedding, Scores, match
from scoring_kit.models.batches import batches_by_length, padded
from scoring_kit.models.cache import ArrayCache, digest
from scoring_kit.models.device import inference, place
from scoring_kit.models.files import locate
from scoring_kit.models.loading import load_encoder, longest_input
from scoring_kit.models.shared import engine
from scoring_kit.models.tokenizing import TextTokenizer, encodable, load_tokenizer
from scoring_kit.models.vectors import VectorStore
from scoring_kit.progress import progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from transformers import PreTrainedModel

LIBRARY_BATCH = 64  # bert-score's batch_size, where its padding is to be reproduced
MOST_KEPT = 1024 * 2**20  # bytes of token vectors that are kept for other submissions, once or twice
AT_ONCE = 8192  # texts sorted and packed together: enough to find others of the same length, and memory stays bounded


@dataclass(frozen=True)
class BertScoreOptions:
    """The options `bertscore.*` and those that say where models run, under the same names.

    Attributes:
        model: hub name or folder of the encoder.
        revision: commit, tag or branch of a hub model.
        num_layers: the layer whose hidden states are compared; None takes bert-score's choice for the hub name.
        baseline: a file of baselines (`LAYER,P,R,F`); None takes bert-score's own for the hub name.
        rescale: whether scores are to be rescaled with the baseline.
        device: `auto`, `cpu` or `cuda`.
        precision: `fp32` or `bf16`.
        batch_tokens: tokens in a batch, padding included; None chooses by the device.
        cache: a folder that keeps embeddings between runs; None keeps nothing.
    """

    model: str
    revision: str | None = None
    num_layers: int | None = None
    baseline: str | None = None
    rescale: bool = True
    device: str = "auto"
    precision: str = "fp32"
    batch_tokens: int | None = None
    cache: str | None = None


@lru_cache(maxsize=2)
def load_bert_scorer(options: BertScoreOptions) -> BertScorer:
    """The scorer for these options, made once in a process or shared by several.

    Raises:
        OrganiserError: the model is not on this machine or cannot be used, or an option does not fit it.
    """
    return engine(BertScorer, options)


class BertScorer:
    """Scores candidates against references; every distinct text is embedded once.

    The encoder's weights are read when the first text must be embedded, so that a run without texts needs none.
    """

    def __init__(self, options: BertScoreOptions) -> None:
        self._place = place(options.device, options.precision, options.batch_tokens)
        self._files = locate("bertscore.model", options.model, options.revision)
        self._tokenizer: TextTokenizer = load_tokenizer(self._files)
        self.num_layers = tables.default_layer(self._files) if options.num_layers is None else options.num_layers
        self.baseline = (
            tables.read_baseline(self._files, self.num_layers, options.baseline) if options.rescale else None
        )
        self._model: PreTrainedModel | None = None
        self._store = VectorStore()
        self._embeddings: dict[str, Embedding] = {}
        self._earlier: dict[str, Embedding] = {}
        self._cache = ArrayCache(options.cache, "embeddings", self._computed_with()) if options.cache else None

    def signature(self) -> dict[str, object]:
        """What the scores depend on: model, revision, layer, baseline, precision."""
        return {
            "model": self._files.label,
            "revision": self._files.version(),
            "num_layers": self.num_layers,
            "baseline": self.baseline and self.baseline.digest,
            "precision": self._place.precision,
        }

    def token_counts(self, texts: Iterable[str]) -> list[int]:
        """How many tokens each text has, not counting the two special ones, never cut."""
        return [len(ids) - self._tokenizer.specials for ids in self._tokenizer.encode(list(texts))]

    def encode_all(self, texts: Iterable[str], lasting: Iterable[str] = ()) -> None:
        """Embed each distinct text that is not embedded yet.

        Calling it once with all texts of a run packs batches best; `score` embeds what is missing.

        Args:
            texts: texts to embed.
            lasting: further texts to embed, which other runs will have too (gold): these are what the cache holds.
        """
        kept, others = {_key(text) for text in lasting}, {_key(text) for text in texts}
        for text in self._earlier.keys() & (kept | others):
            embedding = self._earlier.pop(text)
            self._keep(text, embedding.vectors(), embedding.weights)
        kept -= self._embeddings.keys()
        if self._cache is not None:
            text_of = {digest(text): text for text in kept}
            for key, array in self._cache.read(text_of):
                self._keep(text_of[key], array[:, :-1].copy(), array[:, -1])
        kept -= self._embeddings.keys()
        absent = sorted((kept | others) - self._embeddings.keys())
        if absent:
            with progress("Embedding texts", len(absent), "texts") as advance:
                for start in range(0, len(absent), AT_ONCE):
                    self._embed(absent[start : start + AT_ONCE], advance)
        if self._cache is not None:
            computed = {digest(text): self._embeddings[text] for text in kept}
            self._cache.write(computed, lambda key: _packed(computed[key]))

    def score(self, candidates: Sequence[str], references: Sequence[str], library_batch: int | None = None) -> Scores:
        """P, R and F of every candidate against every reference, not rescaled.

        Args:
            candidates: predicted texts; repeated ones are computed once.
            references: gold texts; likewise.
            library_batch: None: texts are compared as they are. A number: as the bert-score library compares all
                candidates in this order with one reference a call, that many pairs a batch. There a candidate shorter
                than the longest of its batch is padded, and a padded position counts as a cosine of 0, so no token of
                the reference can have a best match below 0.

        Returns:
            Matrices of shape (candidates, references), values from -1 to 1. A score that is undefined, since one of
            the two texts has no token but special ones, is 0.
        """
        self.encode_all([*candidates, *references])
        return match(
            [self._embeddings[_key(text)] for text in candidates],
            [self._embeddings[_key(text)] for text in references],
            library_batch,
        )

    def rescale(self, scores: Scores) -> Scores:
        """The scores rescaled with the baseline, each measure with its own; unchanged if `rescale` is off."""
        if self.baseline is None:
            return scores
        b = self.baseline
        return Scores(
            precision=(scores.precision - b.precision) / (1 - b.precision),
            recall=(scores.recall - b.recall) / (1 - b.recall),
            f1=(scores.f1 - b.f1) / (1 - b.f1),
        )

    def forget(self) -> None:
        """Forget the texts that were not used lately, once there are many: for between two submissions."""
        if self._store.bytes > MOST_KEPT:
            self._earlier, self._embeddings, self._store = self._embeddings, {}, VectorStore()

    def _embed(self, texts: Sequence[str], advance: Callable[[int], None]) -> None:
        import numpy as np
        import torch

        if self._model is None:
            self._model = load_encoder(self._files, self.num_layers, self._place)
        model = self._model
        ids = self._tokenizer.encode([self._as_the_library_encodes(text) for text in texts], self._longest(model))
        special = [self._tokenizer.cls_id, self._tokenizer.sep_id]
        for batch in batches_by_length([len(sequence) for sequence in ids], self._place.batch_tokens):
            arguments = padded([ids[i] for i in batch], self._tokenizer.pad_id, self._place.device)
            with inference(self._place):
                states = model(**arguments)[0].float()
                vectors = torch.nn.functional.normalize(states, dim=-1).cpu().numpy()
            for row, i in enumerate(batch):
                counts = ~np.isin(ids[i], special)
                self._keep(texts[i], vectors[row, : len(counts)].copy(), counts / max(counts.sum(), 1))
            advance(len(batch))

    def _keep(self, text: str, vectors: NDArray[np.float32], weights: NDArray[np.floating]) -> None:
        self._embeddings[text] = Embedding(self._store.keep(vectors), weights.astype("float32"))

    def _computed_with(self) -> dict[str, object]:
        return {
            "model": self._files.identity(),
            "layer": self.num_layers,
            "tokenizer": self._tokenizer.fingerprint(),
            "precision": self._place.precision,
        }

    def _longest(self, model: PreTrainedModel) -> int | None:
        """Where texts are cut: at what the tokenizer declares (bert-score cuts nowhere else).

        A model with a table of absolute positions cannot take more than these, so it is cut there at the latest.
        """
        limits = [limit for limit in (self._tokenizer.longest, longest_input(model)) if limit is not None]
        return min(limits, default=None)

    def _as_the_library_encodes(self, text: str) -> str:
        return f" {text}" if self._tokenizer.leading_space and text else text


def _key(text: str) -> str:
    return encodable(text).strip()


def _packed(embedding: Embedding) -> NDArray[np.float32]:
    """One array for the cache: a row for each token, its vector and then its weight."""
    import numpy as np

    return np.column_stack([embedding.vectors(), embedding.weights])

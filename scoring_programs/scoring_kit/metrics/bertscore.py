"""BERTScore (Zhang et al., ICLR 2020) as the bert-score library 0.3.13 computes it, for many pairs at once.

Each token of a text is a vector: the hidden state of one layer of an encoder, brought to length 1. With S the cosines
of a candidate's and a reference's tokens, precision P is the mean over the candidate's tokens of their best cosine,
recall R the mean over the reference's, and F = 2PR/(P+R). As in the library, special tokens (those whose id is the
start or end token's, typed ones included) take no part in a mean, but another token may find its best match in them.

Rescaling (x - b) / (1 - b) uses the baseline b of the same measure, model and layer from the library's own tables,
which also name the layer to use. Best matches of all pairs of two lists of texts are found at once.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from scoring_kit.errors import OrganiserError
from scoring_kit.models.cache import LOADED, ArrayCache, VectorStore, digest
from scoring_kit.models.device import inference, padded_batches, place
from scoring_kit.models.loading import ModelFiles, load_encoder, locate, longest_input, progress
from scoring_kit.models.tokenizing import TextTokenizer, encodable, load_tokenizer

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
    """Return the scorer for these options, made once in a process.

    Raises OrganiserError: the model is not on this machine or cannot be used, or an option does not fit it.
    """
    loaded = BertScorer(options)
    LOADED.add(loaded)
    return loaded


class BertScorer:
    """Scores candidates against references; every distinct text is embedded once.

    The encoder's weights are read when the first text must be embedded, so that a run without texts needs none.
    """

    def __init__(self, options: BertScoreOptions) -> None:
        self._place = place(options.device, options.precision, options.batch_tokens)
        self._files = locate("bertscore.model", options.model, options.revision)
        self._tokenizer: TextTokenizer = load_tokenizer(self._files)
        self.num_layers = default_layer(self._files) if options.num_layers is None else options.num_layers
        self.baseline = read_baseline(self._files, self.num_layers, options.baseline) if options.rescale else None
        self._model: PreTrainedModel | None = None
        self._store = VectorStore()
        self._embeddings: dict[str, Embedding] = {}
        self._earlier: dict[str, Embedding] = {}
        self._cache: ArrayCache | None = None
        if options.cache:
            computed_with = {
                "model": self._files.identity(),
                "layer": self.num_layers,
                "tokenizer": self._tokenizer.fingerprint(),
                "precision": self._place.precision,
            }
            self._cache = ArrayCache(options.cache, "embeddings", computed_with)

    def signature(self) -> dict[str, object]:
        """Return what the scores depend on: model, revision, layer, baseline, precision."""
        return {
            "model": self._files.label,
            "revision": self._files.version(),
            "num_layers": self.num_layers,
            "baseline": self.baseline and self.baseline.digest,
            "precision": self._place.precision,
        }

    def token_counts(self, texts: Iterable[str]) -> list[int]:
        """Return how many tokens each text has, not counting the two special ones, never cut."""
        return [len(ids) - self._tokenizer.specials for ids in self._tokenizer.encode(list(texts))]

    def encode_all(self, texts: Iterable[str], lasting: Iterable[str] = ()) -> None:
        """Embed each distinct text that is not embedded yet.

        Calling it once with all texts of a run packs batches best; `score` embeds what is missing. The cache holds the
        `lasting` ones, which other runs will have, too (gold).
        """
        kept, others = {_key(one) for one in lasting}, {_key(text) for text in texts}
        for text in self._earlier.keys() & (kept | others):
            embedding = self._earlier.pop(text)
            self._keep(text, embedding.vectors(), embedding.weights)
        kept -= self._embeddings.keys()
        missed: dict[bytes, str] = {}  # by the cache
        if self._cache is not None:
            missed = {digest(text): text for text in kept}
            for key, array in self._cache.read(list(missed)):
                self._keep(missed.pop(key), array[:, :-1].copy(), array[:, -1])
        absent = sorted((kept | others) - self._embeddings.keys())
        if absent:
            with progress("Embedding texts", len(absent), "texts") as advance:
                for start in range(0, len(absent), AT_ONCE):
                    self._embed(absent[start : start + AT_ONCE], advance)
        if self._cache is not None:
            self._cache.write(missed, lambda key: _packed(self._embeddings[missed[key]]))

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
        return match(self._of(candidates), self._of(references), library_batch)

    def _of(self, texts: Sequence[str]) -> list[Embedding]:
        return [self._embeddings[_key(text)] for text in texts]

    def rescale(self, scores: Scores) -> Scores:
        """Return the scores rescaled with the baseline, each measure with its own; unchanged if `rescale` is off."""
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
        # cut as by bert-score: at what the tokenizer declares, or else at what a table of positions has
        longest = min((one for one in (self._tokenizer.longest, longest_input(model)) if one), default=None)
        before = " " * self._tokenizer.leading_space
        ids = self._tokenizer.encode([text and before + text for text in texts], longest)
        special = [self._tokenizer.cls_id, self._tokenizer.sep_id]
        for batch, arguments in padded_batches(ids, self._tokenizer.pad_id, self._place):
            with inference(self._place):
                states = model(**arguments)[0].float()
                vectors = torch.nn.functional.normalize(states, dim=-1).cpu().numpy()
            for row, i in enumerate(batch):
                counts = ~np.isin(ids[i], special)
                self._keep(texts[i], vectors[row, : len(counts)].copy(), counts / max(counts.sum(), 1))
            advance(len(batch))

    def _keep(self, text: str, vectors: NDArray[np.float32], weights: NDArray[np.floating]) -> None:
        self._embeddings[text] = Embedding(self._store.keep(vectors), weights.astype("float32"))


def _key(text: str) -> str:
    return encodable(text).strip()


def _packed(embedding: Embedding) -> NDArray[np.float32]:
    """One array for the cache: a row for each token, its vector and then its weight."""
    import numpy as np

    return np.column_stack([embedding.vectors(), embedding.weights])


@dataclass(frozen=True)
class Baseline:
    """BERTScore of unrelated sentences, by which scores are rescaled, and the digest of the file that says so."""

    precision: float
    recall: float
    f1: float
    digest: str


def default_layer(files: ModelFiles) -> int:
    """Return the layer that bert-score uses for a hub model (its table `model2layers`).

    Raises OrganiserError: the table does not know the model, or it is a folder.
    """
    layer = _layers().get(files.name) if files.from_hub else None
    if layer is None:
        raise OrganiserError(
            f"options.bertscore.num_layers: bert-score has no layer of its own for {files.name}, so set this option."
        )
    return layer


def read_baseline(files: ModelFiles, layer: int, file: str | None) -> Baseline:
    """Return the baseline of a layer, from `file`, or from bert-score's English tables for a hub model.

    Raises OrganiserError: there is no such file, or it lacks the layer. Scores are never left unrescaled instead.
    """
    if file is None:
        path = _library() / "rescale_baseline" / "en" / f"{files.name}.tsv"
        if not files.from_hub or not path.is_file():
            raise OrganiserError(
                f"options.bertscore.baseline: bert-score has no baseline for {files.name}. "
                "Name a file of your own, or set options.bertscore.rescale to false."
            )
    else:
        path = Path(file)
    try:
        content = path.read_bytes()
        rows = list(csv.DictReader(content.decode("utf-8").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise OrganiserError(f"options.bertscore.baseline: {path} cannot be read: {error}") from error
    try:
        row = next(row for row in rows if int(row["LAYER"]) == layer)
        precision, recall, f1 = float(row["P"]), float(row["R"]), float(row["F"])
    except (KeyError, TypeError, ValueError, StopIteration) as error:
        raise OrganiserError(
            f"options.bertscore.baseline: {path} has no row for layer {layer}. "
            "Expected comma-separated columns LAYER, P, R, F with numbers."
        ) from error
    if not all(math.isfinite(one) for one in (precision, recall, f1)) or max(precision, recall, f1) >= 1:
        raise OrganiserError(f"options.bertscore.baseline: {path}, layer {layer}: a baseline must be below 1.")
    return Baseline(precision, recall, f1, hashlib.sha256(content).hexdigest())


def _library() -> Path:
    spec = find_spec("bert_score")
    if spec is None or spec.origin is None:
        raise OrganiserError("The package bert-score is not installed where the scoring program runs.")
    return Path(spec.origin).parent


def _layers() -> dict[str, int]:
    """bert-score's table, read and not imported: importing the library draws in pandas and matplotlib."""
    for statement in ast.parse((_library() / "utils.py").read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "model2layers":
            return dict(ast.literal_eval(statement.value))
    raise OrganiserError("The installed bert-score is not version 0.3.13: its table of layers was not found.")


CELLS = 4_000_000  # cosines held at once, 16 MB; a single pair of texts may need more
Key = TypeVar("Key")


@dataclass(frozen=True, eq=False)
class Embedding:
    """A text as token vectors.

    Attributes:
        vectors: gives an array of shape (tokens, width), float32, rows of length 1.
        weights: shape (tokens,), float32: each token's share in a mean, 0 for special tokens; all 0 if there are only
            special ones.
    """

    vectors: Callable[[], NDArray[np.float32]]
    weights: NDArray[np.float32]

    @property
    def tokens(self) -> int:
        """How many tokens there are, special ones included."""
        return len(self.weights)


@dataclass(frozen=True, eq=False)
class Scores:
    """Precision, recall and F of all pairs: arrays of shape (candidates, references), float64."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]


def match(candidates: Sequence[Embedding], references: Sequence[Embedding], library_batch: int | None = None) -> Scores:
    """Compare every candidate with every reference; see `BertScorer.score`.

    The scores are not rescaled; they are 0 where one of the two texts has no token that counts.
    """
    import numpy as np

    rows, row_of = _distinct(zip(candidates, _floors(candidates, library_batch), strict=True))
    distinct_references, column_of = _distinct(references)
    distinct_candidates, floors = [], np.zeros(len(rows), dtype=np.float32)
    for row, (candidate, floor) in enumerate(rows):
        distinct_candidates.append(candidate)
        floors[row] = floor
    precision = np.zeros((len(rows), len(distinct_references)))
    recall = np.zeros_like(precision)
    longest = max(_tokens(distinct_references), default=1)
    for c in _blocks(distinct_candidates, CELLS // longest):
        height = sum(_tokens(distinct_candidates[c]))
        for r in _blocks(distinct_references, CELLS // height):
            precision[c, r], recall[c, r] = _block(distinct_candidates[c], distinct_references[r], floors[c, None])
    rows_count, columns_count = _have_tokens(distinct_candidates), _have_tokens(distinct_references)
    precision[~rows_count], recall[~rows_count] = 0, 0
    precision[:, ~columns_count], recall[:, ~columns_count] = 0, 0
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total != 0)
    of_all = np.ix_(row_of, column_of)
    return Scores(precision[of_all], recall[of_all], f1[of_all])


def _block(
    candidates: Sequence[Embedding], references: Sequence[Embedding], floors: NDArray[np.float32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Precision and recall of all pairs of a few texts: one matrix product, then best matches text by text."""
    import numpy as np

    row_vectors, row_weights = _joined(candidates)
    column_vectors, column_weights = _joined(references)
    cosines = row_vectors @ column_vectors.T
    row_starts, column_starts = _starts(candidates), _starts(references)
    best_in_reference = np.maximum.reduceat(cosines, column_starts, axis=1)
    best_in_candidate = np.maximum(np.maximum.reduceat(cosines, row_starts, axis=0), floors)
    precision = np.add.reduceat(best_in_reference * row_weights[:, None], row_starts, axis=0, dtype=np.float64)
    recall = np.add.reduceat(best_in_candidate * column_weights[None, :], column_starts, axis=1, dtype=np.float64)
    return precision, recall


def _joined(texts: Sequence[Embedding]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The vectors of all tokens of some texts, and their weights."""
    import numpy as np

    vectors, weights = [], []
    for text in texts:
        vectors.append(text.vectors())
        weights.append(text.weights)
    return np.concatenate(vectors), np.concatenate(weights)


def _tokens(texts: Sequence[Embedding]) -> list[int]:
    return [text.tokens for text in texts]


def _have_tokens(texts: Sequence[Embedding]) -> NDArray[np.bool_]:
    """Which texts have a token that counts."""
    import numpy as np

    return np.array([text.weights.any() for text in texts], dtype=bool)


def _starts(texts: Sequence[Embedding]) -> Any:
    import numpy as np

    return np.cumsum([0, *_tokens(texts[:-1])])


def _floors(candidates: Sequence[Embedding], library_batch: int | None) -> list[float]:
    """The least that a best match in each candidate can be: 0 where the library would pad it."""
    if library_batch is None:
        return [-1.0] * len(candidates)
    floors: list[float] = []
    for start in range(0, len(candidates), library_batch):
        tokens = _tokens(candidates[start : start + library_batch])
        longest = max(tokens)
        floors += [0.0 if number < longest else -1.0 for number in tokens]
    return floors


def _distinct(keys: Iterable[Key]) -> tuple[list[Key], list[int]]:
    """The distinct keys in the order in which they occur first, and for each key the number of its distinct one."""
    number: dict[Key, int] = {}
    numbers = []
    for key in keys:
        numbers.append(number.setdefault(key, len(number)))
    return list(number), numbers


def _blocks(texts: Sequence[Embedding], most: int) -> Iterator[slice]:
    """Cut a list into runs of texts with at most `most` tokens together (or one text)."""
    start, tokens = 0, 0
    for index, text in enumerate(texts):
        if index > start and tokens + text.tokens > most:
            yield slice(start, index)
            start, tokens = index, 0
        tokens += text.tokens
    if start < len(texts):
        yield slice(start, len(texts))

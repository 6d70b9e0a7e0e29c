"""BERTScore in a declaration, with tiny models: from bundle.yaml to the score, the signature and the units."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from tests import tiny_models
from tests.scoring_programs.declared.declaring import by_id, columns_of, csv_of, one_task, options_of, score
from tests.scoring_programs.declared.resampled import repeated, units_of
from tests.scoring_programs.declared.whole import run_declared

pytestmark = [
    pytest.mark.models,
    pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The given NumPy array is not writable:UserWarning"),
]

FIELDS = [{"field": "text", "type": "text"}]
REFERENCES = [["I felt tired", "a long day"], ["my family"], ["the noise since last winter", "nothing"]]
ANSWERS = ["I feel tired today.", "a long day with my family", ""]
GOLD = csv_of("id,text", [[f"k{i}", json.dumps(texts)] for i, texts in enumerate(REFERENCES)])
SENT = csv_of("id,text", [[f"k{i}", text] for i, text in reversed(list(enumerate(ANSWERS)))])
ENGINE = {"model": tiny_models.DEBERTA_ENCODER, "num_layers": tiny_models.LAYER}
BESIDE = [tiny_models.BASELINE]
METRICS = {part: {"name": "bertscore", "part": part} for part in ("f1", "precision", "recall")}


def library_means(rescale: bool) -> dict[str, float]:
    """The mean over keys of the library's best score among the references, part by part."""
    import transformers
    from bert_score import BERTScorer

    if not transformers.__version__.startswith("4."):
        pytest.skip("bert-score 0.3.13 alone does not give its numbers under transformers 5")
    library = BERTScorer(model_type=tiny_models.DEBERTA_ENCODER, num_layers=tiny_models.LAYER, device="cpu")
    parts = np.array(
        [
            np.max([[float(x[0]) for x in library.score([text], [one])] for one in texts], axis=0)
            for text, texts in zip(ANSWERS, REFERENCES, strict=True)
        ]
    ).mean(axis=0)
    if rescale:
        row = next(line for line in Path(tiny_models.BASELINE).read_text().splitlines() if line.startswith("2,"))
        baseline = np.array([float(cell) for cell in row.split(",")[1:]])
        parts = (parts - baseline) / (1 - baseline)
    return dict(zip(("precision", "recall", "f1"), parts.tolist(), strict=True))


@pytest.mark.filterwarnings("ignore:Empty candidate sentence")
@pytest.mark.parametrize("rescale", [True, False])
def test_a_declared_bertscore_is_the_librarys(rescale: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    engine = {**ENGINE, "rescale": rescale, **({"baseline": "baseline.tsv"} if rescale else {})}
    overrides = {"options": {"bertscore": engine, "device": "cpu"}}
    outcome = run_declared(tmp_path, FIELDS, METRICS, GOLD, SENT, overrides=overrides, beside=BESIDE)
    assert outcome.exit_code == 0, outcome.stderr
    expected = library_means(rescale)
    assert outcome.scores == pytest.approx({part: max(value, 0) for part, value in expected.items()}, abs=2e-6)
    values = {part: metric["value"] for part, metric in outcome.details["tasks"]["t"].items()}
    assert values == pytest.approx(expected, abs=2e-6)


def test_the_signature_names_the_engine_and_no_folder(tmp_path: Path) -> None:
    options = {"bertscore": {**ENGINE, "baseline": "baseline.tsv"}, "device": "cpu"}
    metrics = {"b": "bertscore"}
    outcome = run_declared(tmp_path, FIELDS, metrics, GOLD, SENT, overrides={"options": options}, beside=BESIDE)
    signature = outcome.details["signature"]
    assert "|b:bertscore,text,baseline=" in signature
    for part in (
        "model=deberta-encoder",
        "num_layers=2",
        "part=f1",
        "precision=fp32",
        "rescale=True",
        "revision=files-",
    ):
        assert part in signature
    for library in ("bert-score:0.3.13", "torch:", "transformers:"):
        assert library in signature
    assert str(Path(tiny_models.DEBERTA_ENCODER).parent) not in outcome.stdout + str(outcome.page)


def test_units_of_a_declared_bertscore(tmp_path: Path) -> None:
    engine = {"bertscore": {**ENGINE, "rescale": False}, "device": "cpu"}
    options = options_of(one_task(by_id(*FIELDS), columns_of(b="bertscore"), options=engine))
    outcome = score(options, GOLD, SENT, tmp_path)
    counts = {"k0": 2, "k1": 0, "k2": 1}
    gold, sent = (repeated(files, counts) for files in ({"gold.csv": GOLD}, {"predictions.csv": SENT}))
    again = score(options, gold, sent, tmp_path / "drawn")
    once, twice = units_of(outcome).statistics["b"].over(np.array([[1, 1, 1], [2, 0, 1]], dtype=float))
    assert (once, twice) == pytest.approx((outcome.value("b"), again.value("b")), abs=1e-12)

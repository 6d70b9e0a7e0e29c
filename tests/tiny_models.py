"""The tiny committed checkpoints (made by tests/fixtures/make_models.py)."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "fixtures" / "models"

DEBERTA_ENCODER = str(FOLDER / "deberta-encoder")
ROBERTA_ENCODER = str(FOLDER / "roberta-encoder")
BERT_ENCODER = str(FOLDER / "bert-encoder")
ENCODERS = (DEBERTA_ENCODER, ROBERTA_ENCODER, BERT_ENCODER)
LAYER = 2  # of three

DEBERTA_V2_NLI = str(FOLDER / "deberta-v2-nli")
ROBERTA_NLI = str(FOLDER / "roberta-nli")
GENERIC_LABELS_NLI = str(FOLDER / "generic-labels-nli")  # saved in half precision

BASELINE = str(FOLDER / "baseline.tsv")

OPTIONS = (
    f"options.bertscore.model={DEBERTA_ENCODER}",
    f"options.bertscore.num_layers={LAYER}",
    f"options.bertscore.baseline={BASELINE}",
    f"options.nli.model={DEBERTA_V2_NLI}",
)
"""Overrides by which CLPsych 2025 runs with them."""

"""What metrics are called elsewhere leads to what a declaration writes."""

import pytest

from gen_bundle.declaration.scoring.metrics import metrics
from gen_bundle.declaration.scoring.usual_names import METRICS, usual_metric
from tests.yaml_text import loaded


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("macro_f1", "{name: f1, average: macro}"),
        ("F1-macro", "{name: f1, average: macro}"),
        ("f1_score_weighted", "{name: f1, average: weighted}"),
        ("macro_recall", "{name: recall, average: macro}"),
        ("micro-F1", "{name: f1, average: micro}"),
        ("MAP", "{name: ap}"),
        ("map@10", "{name: ap, cutoff: 10}"),
        ("nDCG@5", "{name: ndcg, cutoff: 5}"),
        ("P@1", "{name: precision_at, cutoff: 1}"),
        ("mrr", "{name: rr}"),
        ("em", "{name: exact_match}"),
        ("BLEU-4", "{name: bleu}"),
        ("ROUGE-L", "{name: rouge, type: rougeL}"),
        ("mape%", "{name: mape}"),
        ("RMSE", "{name: rmse}"),
        ("QWK", "{name: kappa, weights: quadratic}"),
        ("span-f1", "{name: span_f1}"),
        ("nonsense", ""),
        ("@10", ""),
    ],
)
def test_what_to_write(name: str, written: str) -> None:
    assert usual_metric(name, metrics()) == written


def test_every_answer_is_a_metric_with_its_options() -> None:
    for name in (*METRICS, "macro_f1", "map@3"):
        said = loaded(usual_metric(name, metrics()).encode())
        metric = metrics()[said.pop("name")]
        for option, value in said.items():
            metric.options[option].read(value)

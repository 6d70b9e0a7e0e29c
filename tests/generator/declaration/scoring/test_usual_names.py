"""What metrics are called elsewhere leads to what a declaration writes."""

import pytest

from gen_bundle.declaration.scoring.metrics import metrics
from gen_bundle.declaration.scoring.usual_names import METRICS, NOT_BUILT_IN, not_built_in, usual_metric
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
        ("F0.5", "{name: fbeta, beta: 0.5}"),
        ("f2_score", "{name: fbeta, beta: 2}"),
        ("dice_score", "{name: dice}"),
        ("mIoU", "{name: iou}"),
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


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "METEOR",
            "It is not built in: write it as a function (docs/any-file.md), with the package nltk under requirements, "
            "and name it metrics.py:meteor.",
        ),
        ("hits@10", "It is not built in: write it as a function (docs/any-file.md), and name it metrics.py:hits."),
        ("mAP@0.5", "It is not built in: docs/any-file.md has it as a function to copy."),
        ("meteo", ""),
    ],
)
def test_metrics_that_are_not_built_in_lead_to_a_function(name: str, said: str) -> None:
    assert not_built_in(name) == said


def test_no_metric_is_both_built_in_and_not() -> None:
    for name in NOT_BUILT_IN:
        assert not usual_metric(name, metrics())

"""What the code of a scorer says of itself."""

from pathlib import Path

import pytest

from gen_bundle.author.importing.candidates import ScorerCode, read_code
from tests.generator.dry_run.bundles import write_files


def code(folder: Path, text: str, name: str = "score.py") -> ScorerCode:
    return read_code(write_files(folder / "program", {f"inner/{name}": text, "data.csv": "f1_score"}))


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("from sklearn.metrics import f1_score as f", "f1"),
        ("import sklearn\nsklearn.metrics.f1_score(a, b)", "f1"),
        ("def balanced_accuracy(a, b): ...", "balanced_accuracy"),
        ("scores['RMSE'] = 1", "rmse"),
        ("metric_name = 'auc_binary'", "roc_auc"),
        ("print 'python 2', kappa(1)", "kappa"),
    ],
)
def test_metrics_are_named(text: str, metric: str, tmp_path: Path) -> None:
    found = code(tmp_path, text)
    assert found.names_metric(metric)
    assert not found.names_metric("spearman")


def test_other_languages_are_read_by_their_words(tmp_path: Path) -> None:
    found = code(tmp_path, "r <- cor(truth$x, read.csv('answer.csv')$x)", "score.R")
    assert found.names_metric("pearson")
    assert "answer.csv" in found.texts


@pytest.mark.parametrize(
    ("text", "any_name"),
    [
        ("glob('*.predict')", True),
        ("name.endswith('.predict')", True),
        ("open('res/data.predict')", False),
        ("open('data.predict'), glob('*.predict')", False),
        ("open(f'{name}.txt')", False),
    ],
)
def test_files_of_any_name(text: str, any_name: bool, tmp_path: Path) -> None:
    assert code(tmp_path, text).takes_any_name("data.predict") is any_name

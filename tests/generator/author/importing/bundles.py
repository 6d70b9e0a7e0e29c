"""Five bundles in the manner of public ones, written as their authors leave them: folders, or what a makefile packs.

`results_bundle`: predictions in a CSV, matched by id. `code_bundle`: code with fit and predict, run by an ingestion
program, that YAML names as zips of folders. `two_datasets_bundle`: a phase of two tasks, each with a public and a
private half of its own. `old_bundle`: CodaLab 1.5, ranked by mean ranks, its program zipped with its folder.
`r_bundle`: a scorer in R.
"""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.generator.check.drafts import packed, png
from tests.yaml_text import dumped

PLANTS = ["oak", "ash", "elm"]
Files = Mapping[str, str | bytes]


def write_bundle(folder: Path, document: Mapping[str, Any], files: Files) -> Path:
    """Write a bundle's folder: competition.yaml and the files by name; returns it."""
    everything = {"competition.yaml": dumped(dict(document)), "logo.png": png(), **files}
    for name, content in everything.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def plants(seed: str, number: int) -> list[tuple[str, str]]:
    """Ids and labels."""
    rng = random.Random(seed)
    return [(f"{seed}-{place:03}", rng.choice(PLANTS)) for place in range(number)]


def guessed(rows: list[tuple[str, str]], right: float) -> list[tuple[str, str]]:
    """The same ids, with a share of right labels."""
    rng = random.Random(right)
    return [(one, label if rng.random() < right else rng.choice(PLANTS)) for one, label in rows]


def csv_text(header: str, rows: Sequence[tuple[str, ...]]) -> str:
    return "".join(f"{line}\n" for line in [header, *(",".join(row) for row in rows)])


def leaderboard(*columns: dict[str, Any], **settings: Any) -> list[dict[str, Any]]:
    """The one leaderboard of a bundle, its columns numbered."""
    numbered = [{**column, "index": place} for place, column in enumerate(columns)]
    return [{"title": "Results", "key": "main", **settings, "columns": numbered}]


RESULTS_SCORER = """\
import csv, json, os, sys

input_dir, output_dir = sys.argv[1], sys.argv[2]


def read(path):
    with open(path) as f:
        return {row["id"]: row["label"] for row in csv.DictReader(f)}


truth = read(os.path.join(input_dir, "ref", "truth.csv"))
pred = read(os.path.join(input_dir, "res", "predictions.csv"))
if set(truth) != set(pred):
    sys.exit("ids do not match")

hits = sum(pred[i] == truth[i] for i in truth)
f1s = []
for label in sorted(set(truth.values()) | set(pred.values())):
    tp = sum(pred[i] == label and truth[i] == label for i in truth)
    fp = sum(pred[i] == label and truth[i] != label for i in truth)
    fn = sum(pred[i] != label and truth[i] == label for i in truth)
    f1s.append(2 * tp / (2 * tp + fp + fn))

with open(os.path.join(output_dir, "scores.json"), "w") as f:
    json.dump({"accuracy": hits / len(truth), "macro_f1": sum(f1s) / len(f1s)}, f)
"""


def results_bundle(folder: Path) -> Path:
    """Predictions in a CSV, matched by id: accuracy and macro F1, by hand."""
    dev, test = plants("dev", 30), plants("test", 50)
    files: dict[str, str | bytes] = {
        "pages/overview.md": "# Plants\n\nName the plant. {{ no template }}\n",
        "pages/terms.md": "Be kind.\n",
        "scoring_program/metadata.yaml": "command: python3 /app/program/evaluate.py /app/input /app/output\n",
        "scoring_program/evaluate.py": RESULTS_SCORER,
        "reference_data/dev/truth.csv": csv_text("id,label", dev),
        "reference_data/test/truth.csv": csv_text("id,label", test),
        "public_data/dev_ids.csv": csv_text("id", [(one,) for one, _ in dev]),
        "starting_kit/README.md": "Start here.\n",
        "solutions/dev/predictions.csv": csv_text("id,label", guessed(dev, 0.6)),
        "solutions/test.zip": packed({"predictions.csv": csv_text("id,label", guessed(test, 0.7)).encode()}),
    }
    document = {
        "version": 2,
        "title": "Plants by their descriptions",
        "description": "Name the plant.",
        "image": "logo.png",
        "terms": "pages/terms.md",
        "docker_image": "codalab/codalab-legacy:py37",
        "pages": [{"title": "Overview", "file": "pages/overview.md"}],
        "tasks": [
            {
                "index": place,
                "name": f"Plants {name}",
                "scoring_program": "scoring_program",
                "reference_data": f"reference_data/{name}",
            }
            for place, name in enumerate(["dev", "test"])
        ],
        "solutions": [
            {"index": 0, "path": "solutions/dev", "tasks": [0]},
            {"index": 1, "path": "solutions/test.zip", "tasks": [1]},
        ],
        "phases": [
            {
                "index": 0,
                "name": "Development",
                "start": "2031-01-01",
                "end": "2031-01-31 23:59:59",
                "max_submissions_per_day": 10,
                "tasks": [0],
                "public_data": "public_data",
                "starting_kit": "starting_kit",
            },
            {"index": 1, "name": "Final", "start": "2031-02-01", "max_submissions": 3, "tasks": [1]},
        ],
        "leaderboards": leaderboard(
            {"key": "accuracy", "title": "Accuracy", "sorting": "desc"},
            {"key": "macro_f1", "title": "Macro F1", "sorting": "desc", "precision": 3},
            submission_rule="Force_Best",
        ),
    }
    return write_bundle(folder, document, files)


INGESTION = """\
import json, os, sys, time

input_dir, output_dir = "/app/input_data/", "/app/output/"
sys.path.append("/app/ingested_program")


def rows(name):
    with open(os.path.join(input_dir, name)) as f:
        return [[float(cell) for cell in line.split()] for line in f]


def main():
    from model import Model

    start = time.time()
    model = Model()
    model.fit(rows("train.data"), [int(row[0]) for row in rows("train.labels")])
    predictions = model.predict(rows("test.data"))
    with open(os.path.join(output_dir, "test.predict"), "w") as f:
        f.write("".join("%d\\n" % one for one in predictions))
    with open(os.path.join(output_dir, "metadata.json"), "w") as f:
        json.dump({"elapsed_time": time.time() - start}, f)


if __name__ == "__main__":
    main()
"""
CODE_SCORER = """\
import json, os

reference_dir = os.path.join("/app/input/", "ref")
prediction_dir = os.path.join("/app/input/", "res")


def numbers(*path):
    with open(os.path.join(*path)) as f:
        return [int(line) for line in f]


truth = numbers(reference_dir, "test.solution")
prediction = numbers(prediction_dir, "test.predict")
if len(truth) != len(prediction):
    raise ValueError("expected %d predictions, got %d" % (len(truth), len(prediction)))
with open(os.path.join(prediction_dir, "metadata.json")) as f:
    elapsed = json.load(f)["elapsed_time"]
accuracy = sum(one == other for one, other in zip(truth, prediction)) / len(truth)
with open("/app/output/scores.json", "w") as f:
    json.dump({"accuracy": accuracy, "duration": elapsed}, f)
with open("/app/output/detailed_results.html", "w") as f:
    f.write("<p>accuracy %.3f</p>" % accuracy)
"""
NEAREST = """\
class Model:
    def fit(self, X, y):
        self.known = list(zip(X, y))

    def predict(self, X):
        def nearest(x):
            return min(self.known, key=lambda one: sum((a - b) ** 2 for a, b in zip(one[0], x)))[1]

        return [nearest(x) for x in X]
"""


def points(seed: str, number: int) -> tuple[str, str]:
    """Points of two clouds that overlap, and the cloud of each, a line each."""
    rng = random.Random(seed)
    clouds = [rng.randrange(2) for _ in range(number)]
    places = [f"{rng.gauss(cloud, 0.7):.4f} {rng.gauss(cloud, 0.7):.4f}\n" for cloud in clouds]
    return "".join(places), "".join(f"{cloud}\n" for cloud in clouds)


def code_bundle(folder: Path) -> Path:
    """Code with fit and predict; the makefile that zips the folders has not been run, and the pages are HTML."""
    train, train_labels = points("train", 60)
    test, test_labels = points("test", 40)
    files = {
        "pages/overview.html": "<h1>Clouds</h1>\n",
        "pages/terms.md": "Be kind.\n",
        "scoring_program/metadata.yaml": "command: python3 score.py\n",
        "scoring_program/score.py": CODE_SCORER,
        "ingestion_program/metadata.yaml": "command: python3 ingestion.py\n",
        "ingestion_program/ingestion.py": INGESTION,
        "input_data/train.data": train,
        "input_data/train.labels": train_labels,
        "input_data/test.data": test,
        "reference_data/test.solution": test_labels,
        "solution/model.py": NEAREST,
        "starting_kit/model.py": "class Model:\n    def predict(self, X):\n        return [0 for _ in X]\n",
        "Makefile": "all: ; for d in *_program *_data solution; do (cd $$d && zip -r ../$$d.zip .); done\n",
    }
    document = {
        "version": 2,
        "title": "Two clouds",
        "image": "logo.png",
        "terms": "pages/terms.md",
        "docker_image": "codalab/codalab-legacy:py39",
        "enable_detailed_results": True,
        "pages": [{"title": "Overview", "file": "pages/overview.html"}],
        "tasks": [
            {
                "index": 0,
                "name": "Clouds",
                "description": "Which cloud is it?",
                "scoring_program": "scoring_program.zip",
                "ingestion_program": "ingestion_program.zip",
                "input_data": "input_data.zip",
                "reference_data": "reference_data.zip",
            }
        ],
        "solutions": [{"index": 0, "path": "solution.zip", "tasks": [0]}],
        "phases": [
            {
                "index": 0,
                "name": "Development",
                "description": "Hand in model.py.",
                "start": "2031-01-01 12:00:00",
                "tasks": [0],
                "execution_time_limit": 300,
                "starting_kit": "starting_kit.zip",
            }
        ],
        "leaderboards": leaderboard(
            {"key": "accuracy", "title": "Accuracy", "sorting": "desc"},
            {"key": "duration", "title": "Duration", "sorting": "asc"},
            submission_rule="Add",
        ),
    }
    return write_bundle(folder, document, files)


HALVES_SCORER = """\
import json, sys
from pathlib import Path

EVAL_SETS = ["test", "private_test"]
in_, out = Path(sys.argv[1]), Path(sys.argv[2])


def numbers(path):
    return [float(line) for line in path.read_text().splitlines()]


scores = {}
for name in EVAL_SETS:
    y = numbers(in_ / "ref" / f"{name}_labels.csv")
    p = numbers(in_ / "res" / f"{name}_predictions.csv")
    if len(y) != len(p):
        sys.exit(f"{name}: {len(p)} predictions of {len(y)}")
    scores[name] = sum(abs(a - b) for a, b in zip(y, p)) / len(y)
(out / "scores.json").write_text(json.dumps(scores))
"""


def two_datasets_bundle(folder: Path) -> Path:
    """One phase of two tasks; each is scored on a public and on a private half, whose column is hidden."""
    files: dict[str, str | bytes] = {
        "overview.md": "# Rivers\n",
        "terms.md": "Be kind.\n",
        "bundle/score/metadata": "command: python3 $program/score.py $input $output\n",
        "bundle/score/score.py": HALVES_SCORER,
    }
    for river in ("elbe", "oder"):
        for half in ("test", "private_test"):
            rng = random.Random(river + half)
            gold = [round(rng.uniform(1, 9), 2) for _ in range(25)]
            files[f"bundle/{river}/{half}_labels.csv"] = "".join(f"{one}\n" for one in gold)
            near = [round(one + rng.gauss(0, 0.5), 2) for one in gold]
            files[f"sample/{river}/{half}_predictions.csv"] = "".join(f"{one}\n" for one in near)
    document = {
        "version": "2",
        "title": "Levels of two rivers",
        "image": "logo.png",
        "terms": "terms.md",
        "docker_image": "codalab/codalab-legacy:py312",
        "pages": [{"title": "Overview", "file": "overview.md"}],
        "tasks": [
            {
                "index": place,
                "name": river.title(),
                "scoring_program": "bundle/score",
                "reference_data": f"bundle/{river}",
            }
            for place, river in enumerate(["elbe", "oder"])
        ],
        "solutions": [
            {"index": 0, "path": "sample/elbe", "tasks": [0]},
            {"index": 1, "path": "sample/oder", "tasks": [1]},
        ],
        "phases": [
            {"index": 0, "name": "Feedback", "start": "2031-01-01", "end": "2031-03-01", "tasks": [0, 1]},
            {"index": 1, "name": "Workshop", "start": "2031-03-02", "tasks": [1], "hide_output": True},
        ],
        "leaderboards": leaderboard(
            {"key": "test", "title": "MAE", "sorting": "asc"},
            {"key": "private_test", "title": "MAE, private", "sorting": "asc", "hidden": True},
            submission_rule="Force_Latest_Multiple",
        ),
    }
    return write_bundle(folder, document, files)


OLD_SCORER = """\
#!/usr/bin/env python
import os, sys
from math import sqrt

_, in_dir, out_dir = sys.argv


def read(folder, suffix):
    found = [name for name in sorted(os.listdir(os.path.join(in_dir, folder))) if name.endswith(suffix)]
    with open(os.path.join(in_dir, folder, found[0])) as f:
        return [float(line) for line in f if line.strip()]


solution, prediction = read("ref", ".solution"), read("res", ".predict")
if len(solution) != len(prediction):
    raise ValueError("Mismatch in prediction shape")
errors = [s - p for s, p in zip(solution, prediction)]
with open(os.path.join(out_dir, "scores.txt"), "w") as f:
    f.write("rmse: %0.12f\\n" % sqrt(sum(e * e for e in errors) / len(errors)))
    f.write("mae: %0.12f\\n" % (sum(abs(e) for e in errors) / len(errors)))
"""


def old_bundle(folder: Path) -> Path:
    """CodaLab 1.5: ranked by the mean of the ranks of two columns."""
    rng = random.Random("old")
    solution = "".join(f"{rng.uniform(0, 5):.3f}\n" for _ in range(30))
    program = {
        "program/metadata": b"command: python $program/score.py $input $output\ndescription: Errors.\n",
        "program/score.py": OLD_SCORER.encode(),
    }
    files: dict[str, str | bytes] = {
        "overview.html": "<h1>Rain</h1>\n<p>How much will it <em>rain</em>?</p>\n",
        "evaluation.html": "<p>Mean of the ranks in RMSE and MAE.</p>\n",
        "terms.html": "<p>Be kind.</p>\n",
        "data.html": "<p>Levels.</p>\n",
        "program.zip": packed(program),
        "reference.zip": packed({"rain.solution": solution.encode()}),
    }
    results: dict[str, Any] = {"label": "Results", "rank": 1}
    phase: dict[str, Any] = {"scoring_program": "program.zip", "reference_data": "reference.zip"}
    ranks = {"operation": "Avg", "fields": "rmse, mae"}
    document = {
        "title": "How much will it rain?",
        "description": "From 2016.",
        "image": "logo.png",
        "has_registration": True,
        "end_date": "2031-12-31",
        "html": {
            "overview": "overview.html",
            "evaluation": "evaluation.html",
            "terms": "terms.html",
            "data": "data.html",
        },
        "phases": {
            1: {"phasenumber": 1, "label": "Practice", "start_date": "2031-01-01", "max_submissions": 100, **phase},
            2: {"phasenumber": 2, "label": "Final", "start_date": "2031-06-01", "max_submissions": 5, **phase},
        },
        "leaderboard": {
            "leaderboards": {"RESULTS": results},
            "columns": {
                "rank": {"leaderboard": results, "label": "Mean rank", "rank": 1, "sort": "asc", "computed": ranks},
                "rmse": {"leaderboard": results, "label": "RMSE", "rank": 2, "sort": "asc", "numeric_format": 4},
                "mae": {"leaderboard": results, "label": "MAE", "rank": 3, "sort": "asc"},
            },
        },
    }
    return write_bundle(folder, document, files)


R_SCORER = """\
args <- commandArgs(trailingOnly = TRUE)
truth <- read.csv(file.path(args[1], "ref", "truth.csv"))
answer <- read.csv(file.path(args[1], "res", "answer.csv"))
both <- merge(truth, answer, by = "sample")
r <- cor(both$value.x, both$value.y)
cat(sprintf('{"r": %.10f}', r), file = file.path(args[2], "scores.json"))
"""


def r_bundle(folder: Path) -> Path:
    """A scorer in R, in an image that has it."""
    rng = random.Random("r")
    truth = [(f"s{place}", f"{rng.uniform(0, 1):.4f}") for place in range(20)]
    answer = [(one, f"{float(value) / 2 + rng.uniform(0, 0.3):.4f}") for one, value in truth]
    files = {
        "overview.md": "# Cells\n",
        "terms.md": "Be kind.\n",
        "scoring_program/metadata.yaml": "command: Rscript /app/program/score.R /app/input /app/output\n",
        "scoring_program/score.R": R_SCORER,
        "reference_data/truth.csv": csv_text("sample,value", truth),
        "solution/answer.csv": csv_text("sample,value", answer),
    }
    document = {
        "version": 2,
        "title": "Shares of cells",
        "image": "logo.png",
        "terms": "terms.md",
        "docker_image": "rocker/r-ver:4.3.2",
        "pages": [{"title": "Overview", "file": "overview.md"}],
        "tasks": [
            {"index": 0, "name": "Cells", "scoring_program": "scoring_program", "reference_data": "reference_data"}
        ],
        "solutions": [{"index": 0, "path": "solution", "tasks": [0]}],
        "phases": [{"index": 0, "name": "Only", "start": "2031-01-01", "end": "2031-12-31", "tasks": [0]}],
        "leaderboards": leaderboard({"key": "r", "title": "Pearson's r", "sorting": "desc"}),
    }
    return write_bundle(folder, document, files)


FIVE = {
    "results": results_bundle,
    "code": code_bundle,
    "two datasets": two_datasets_bundle,
    "old": old_bundle,
    "r": r_bundle,
}

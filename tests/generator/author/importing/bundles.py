"""A bundle of CodaLab 1.5 in the manner of public ones: ranked by mean ranks, its program zipped with its folder."""

import random
from pathlib import Path
from typing import Any

from tests.generator.check.drafts import packed, png
from tests.yaml_text import dumped

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
        "logo.png": png(),
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
    for name, content in {"competition.yaml": dumped(document), **files}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder

"""A bundle of CodaLab 1.5, as text and as a zip."""

from pathlib import Path

from gen_bundle.ground.zips.writing import write_zip
from tests.generator.check.drafts import packed
from tests.generator.competition import small_competition

OLD = """
title: An old task
description: From 2015.
image: logo.png
has_registration: true
end_date: 2031-03-31 12:00:00
competition_docker_image: someone/image:1
force_submission_to_leaderboard: true
anonymous_leaderboard: true
html: {overview: overview.html, evaluation: evaluation.html, terms: terms.html, data: data.html}
phases:
  2:
    phasenumber: 2
    label: Final
    start_date: 2031-03-01 18:30:00
    scoring_program: program.zip
    reference_data: ref.zip
    auto_migration: true
    max_submissions: 3
  1:
    phasenumber: 1
    label: Practice
    start_date: 2031-01-01
    scoring_program: program.zip
    reference_data: ref.zip
    input_data: 01234567-89ab-cdef-0123-456789abcdef
    color: white
leaderboard:
  leaderboards:
    RESULTS: &R {label: Results, rank: 1}
    EXTRA: &E {label: More, rank: 2}
  column_groups: {}
  columns:
    f1: {leaderboard: *R, label: F1, rank: 2, sort: desc, numeric_format: 4}
    rank: {leaderboard: *R, label: Mean rank, rank: 1, computed: {operation: Avg, fields: f1}}
    time: {leaderboard: *E, label: Seconds, rank: 1, sort: asc}
"""


def old_bundle(tmp_path: Path, text: str = OLD, **files: bytes) -> Path:
    members: dict[str, bytes | Path] = {f"{name}.html": b"<h1>A page</h1>" for name in ("overview", "terms", "data")}
    members |= {"evaluation.html": b"", "competition.yaml": text.encode()}
    members |= {"logo.png": small_competition(tmp_path) / "logo.png"}
    members |= {"program.zip": b"PK\5\6" + bytes(18), "ref.zip": b"PK\5\6" + bytes(18), **files}
    write_zip(tmp_path / "old.zip", members)
    return tmp_path / "old.zip"


SCORER = b"""import os, sys
_, given, out = sys.argv
gold, told = (open(os.path.join(given, *place)).read() for place in (("ref", "gold.txt"), ("res", "answer.txt")))
with open(os.path.join(out, "scores.txt"), "w") as scores:
    scores.write("f1: %d\\ntime: 3\\n" % (gold == told))
"""


def running_old_bundle(folder: Path) -> Path:
    """The old bundle with gold and a program, which is zipped with its folder."""
    text = OLD.replace("    input_data: 01234567-89ab-cdef-0123-456789abcdef\n", "")
    program = {"program/metadata": b"command: python $program/score.py $input $output\n", "program/score.py": SCORER}
    return old_bundle(folder, text, **{"program.zip": packed(program), "ref.zip": packed({"gold.txt": b"a\n"})})

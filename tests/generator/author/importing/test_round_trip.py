"""The build of an imported project is the bundle that was imported: the recorded uploads that the platform took."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gen_bundle.author.importing.importing import by_weight
from gen_bundle.check import check_path
from tests.generator.author.importing.bundles import running_old_bundle
from tests.generator.author.importing.round_trip import round_trip
from tests.shared import recorded_uploads

ACCEPTED = {row["id"]: row for row in recorded_uploads() if row["accepted"] and row["id"] != "path-abs-host"}
"""But for one whose gold is a file of the server, which no project can build."""
LOST = {
    "kit-empty-string": "phases[0].starting_kit: nothing; put its files into kits/main/",
    "lb-two": "leaderboards[1]: Codabench uses the first leaderboard alone",
    "zip-symlink": "ref2: is a link, and becomes what it leads to, ref",
}
"""What is said of the uploads that hold what a project cannot."""
KNOWN = ("to Codabench", "ignores it, too", "the server's own export")
DIFFERENT = {
    "kit-empty-string": [("starting kits", "Main", "removed")],
    "zip-symlink": [("reference data", "Classification", "path")],
}


@pytest.mark.parametrize("name", [name for name, row in ACCEPTED.items() if row["format"] == "v2"])
def test_an_upload_in_the_new_format(name: str, tmp_path: Path) -> None:
    imported, differences = round_trip(ACCEPTED[name]["path"], tmp_path)
    assert [(one.part, one.item, one.what) for one in differences] == DIFFERENT.get(name, [])
    said = [*imported.lost, *imported.absent, *imported.changed]
    lost = [line for line in said if not any(known in line for known in KNOWN)]
    assert lost == ([LOST[name]] if name in LOST else [])


def test_what_the_converter_chose_is_named(tmp_path: Path) -> None:
    imported, differences = round_trip(running_old_bundle(tmp_path), tmp_path)
    assert imported.converted == by_weight(differences)
    command = "command: python $program/score.py $input $output"
    assert [re.sub(r" \(.*?\)", "", line) for line in imported.converted] == [
        "phases: Practice: end: 2031-02-28 00:00:00 UTC → 2031-03-01 18:29:59 UTC",
        "phases: Practice, Final: submissions per day: 5 → 999",
        "phases: Final: start: 2031-03-01 00:00:00 UTC → 2031-03-01 18:30:00 UTC",
        "phases: Final: end: 2031-03-31 00:00:00 UTC → 2031-03-31 12:00:00 UTC",
        "leaderboard: title: RESULTS → Results",
        "leaderboard: submission rule: Add → Force_Last",
        "leaderboard: rank: better: higher → lower",
        "leaderboard: rank: computed: nothing → avg_rank of f1",
        "leaderboard: f1: place: 2 → 1",
        "leaderboard: time: added",
        f"programs: Practice Task, Final Task: scoring program: command: nothing → {command}",
        "programs: Practice Task, Final Task: scoring program: 3 files",
        "pages: Evaluation: text",
        "pages: titles: overview → Overview, evaluation → Evaluation, data → Data",
    ]


V1 = {name: row for name, row in ACCEPTED.items() if row["format"] == "v1"}


@pytest.mark.parametrize("name", V1)
def test_an_upload_in_the_old_format_is_converted_and_what_works_stays_acceptable(name: str, tmp_path: Path) -> None:
    imported, differences = round_trip(V1[name]["path"], tmp_path)
    assert imported.converted == by_weight(differences)
    report = check_path(tmp_path / "project-built.zip", now=datetime(2026, 1, 1, tzinfo=UTC))
    assert report.accepted or V1[name]["later"] != "ok", [finding.what for finding in report.findings]

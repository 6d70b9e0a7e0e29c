"""The build of an imported project is the bundle that was imported: the recorded uploads that the platform took."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gen_bundle.author.importing.importing import by_weight
from gen_bundle.check import check_path
from gen_bundle.look.difference.changes import Difference
from tests.generator.author.importing.bundles import old_bundle
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


def brief(differences: list[Difference]) -> list[tuple[str, str, str]]:
    return [(one.part, one.item, one.what) for one in differences]


@pytest.mark.parametrize("name", [name for name, row in ACCEPTED.items() if row["format"] == "v2"])
def test_an_upload_in_the_new_format(name: str, tmp_path: Path) -> None:
    imported, differences = round_trip(ACCEPTED[name]["path"], tmp_path)
    assert brief(differences) == DIFFERENT.get(name, [])
    said = [*imported.lost, *imported.absent, *imported.changed]
    lost = [line for line in said if not any(known in line for known in KNOWN)]
    assert lost == ([LOST[name]] if name in LOST else [])


def test_what_the_converter_chose_is_named(tmp_path: Path) -> None:
    imported, differences = round_trip(old_bundle(tmp_path / "old"), tmp_path)
    assert imported.converted == by_weight(differences)
    assert [line for line in imported.converted if not line.startswith(("phases: Practice: end", "programs"))] == [
        "phases: Practice, Final: submissions per day: 5 → 999",
        "leaderboard: title: RESULTS → Results",
        "leaderboard: rank: computed: nothing → avg_rank of rmse, mae",
        "pages: titles: overview → Overview, evaluation → Evaluation, data → Data",
    ]
    (end,) = [line for line in imported.converted if line.startswith("phases: Practice: end")]
    assert end.startswith("phases: Practice: end: 2031-05-31 00:00:00 UTC")
    assert " → 2031-05-31 23:59:59 UTC" in end


V1 = {name: row for name, row in ACCEPTED.items() if row["format"] == "v1"}


@pytest.mark.parametrize("name", V1)
def test_an_upload_in_the_old_format_is_converted_and_what_works_stays_acceptable(name: str, tmp_path: Path) -> None:
    imported, differences = round_trip(V1[name]["path"], tmp_path)
    assert imported.converted == by_weight(differences)
    report = check_path(tmp_path / "project-built.zip", now=datetime(2026, 1, 1, tzinfo=UTC))
    assert report.accepted or V1[name]["later"] != "ok", [finding.what for finding in report.findings]

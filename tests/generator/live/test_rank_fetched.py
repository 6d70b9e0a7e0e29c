"""From a phase on the server to the final report: which submission of a team counts, and which were late."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from gen_bundle.ground.fetched import read_fetched
from gen_bundle.live.connection import Connection
from gen_bundle.live.fetch import FetchRequest, fetch
from tests.generator.after.report.shared_task import rank, shared_task, submissions
from tests.live_server import Site, packed

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers", "unwritten_figures")]

PHASE = 21
RIGHT = {"eagle": 0.97, "eagle-later": 0.4, "owl": 0.7, "owl-second": 0.5, "hawk": 0.3, "hawk-later": 0.6}


@pytest.fixture
def fetched(site: Site, connection: Connection, tmp_path: Path) -> Path:
    """The eagle chose its first submission, the owl's is late and ran in two queues, the hawk chose none."""
    phase = {"id": PHASE, "index": 1, "name": "Test", "start": None, "end": "2030-01-02T03:04:03", "tasks": []}
    site.competitions[5] = {"id": 5, "title": "A small task", "published": True, "phases": [phase]}
    files = submissions(shared_task(tmp_path, 40), RIGHT)

    def sent(name: str, **more: Any) -> dict[str, Any]:
        content = packed({"predictions.csv": (files / name / "predictions.csv").read_bytes()})
        return site.add_submission(PHASE, name.partition("-")[0], content, **more)

    sent("eagle", on_leaderboard=True)
    sent("eagle-later")
    sent("hawk")
    sent("owl-second")
    parent = sent("owl", has_children=True, scores=[])
    queues = [sent("owl", parent=parent["id"], on_leaderboard=True) for _ in range(2)]
    sent("hawk-later")
    reasons = ("predictions: are missing", "predictions: are missing", "model.py:9: <b>boom</b>")
    for reason in reasons:
        page = f'<section class="note"><h2>{html.escape(reason)}</h2></section>'
        site.add_submission(PHASE, "owl", b"", status="Failed", page=page)
    rows = [{"id": row["id"], "owner": "owl", "scores": [], "created_when": "2030"} for row in queues]
    site.boards[PHASE] = {"title": "Results", "primary_index": 0, "tasks": [], "submissions": rows}
    fetch(connection, FetchRequest(5, tmp_path / "out"))
    return tmp_path / "out" / "1-test" / "submissions"


def mean_rank_first(folder: Path) -> None:
    declaration = yaml.safe_load((folder / "bundle.yaml").read_text())
    column = {"key": "place", "title": "Place", "sort": "asc", "computation": "avg_rank"}
    of = {"of": ["macro_f1", "accuracy"], "meaning": "The mean of two ranks."}
    declaration["tasks"][0]["columns"].insert(0, column | of)
    declaration["submission_rule"] = "manual"
    (folder / "bundle.yaml").write_text(yaml.safe_dump(declaration, sort_keys=False))


@pytest.mark.parametrize("by_mean_rank", [False, True])
def test_the_report_of_a_fetched_phase(fetched: Path, tmp_path: Path, by_mean_rank: bool) -> None:
    if by_mean_rank:
        mean_rank_first(tmp_path / "my-task")
    report = tmp_path / "report"
    done = rank(tmp_path / "my-task", fetched, "--report", report, "--resamples", 100, "--json", "--hide", "hawk")
    assert done.exit_code == 0, done.output
    assert "note: 1 participant has several rows on the platform's leaderboard" in done.stderr
    page = re.sub(r"\s+", " ", (report / "report.html").read_text(encoding="utf-8"))
    assert re.findall(r"<li>(\w+): <code>(.*?)</code></li>", page) == [
        ("eagle", "eagle/2030-01-02T03-04-00/submission.zip"),
        ("owl", "owl/2030-01-02T03-04-04/submission.zip"),
    ], "the one on the leaderboard, by its parts; nothing of a hidden team"
    assert "After the end of the phase, 02 January 2030 03:04 UTC: owl." in page
    assert "the one on the platform&#39;s leaderboard counts" in page
    failed = "2×: predictions: are missing; 1×: model.py:9: &lt;b&gt;boom&lt;/b&gt;"
    assert f"<dt>Failed runs</dt><dd>{failed}</dd>" in page
    assert "note: 2 runs failed: predictions: are missing" in done.stderr
    robustness = page.partition('id="robustness"')[2].partition("</section>")[0]
    (header,) = re.findall(r"<thead>(.*?)</thead>", robustness)[:1]
    place = re.findall(r"<th.*?>(.*?)</th>", header).index("without late submissions")
    rows = [re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", robustness)]
    without_late = [(row[0], row[place]) for row in rows if len(row) > place]
    assert ("eagle", "1") in without_late
    assert ("owl", "") in without_late
    one = json.loads((report / "report.json").read_text())["tasks"]["classification"]
    assert [(team["team"], team["rank"]) for team in one["teams"]] == [("eagle", 1), ("owl", 3)]
    assert one["column"] == ("place" if by_mean_rank else "macro_f1")
    if by_mean_rank:
        assert [team["score"] for team in one["teams"]] == [1.0, 2.75]
        assert one["teams"][0]["low"] is None, "all resamples of gold are right"


def test_a_team_that_chose_none_has_its_latest(fetched: Path, tmp_path: Path) -> None:
    done = rank(tmp_path / "my-task", fetched, "--report", tmp_path / "report", "--resamples", 100)
    assert done.exit_code == 0, done.output
    assert "hawk/2030-01-02T03-04-07/submission.zip" in (tmp_path / "report" / "report.html").read_text()


def test_a_phase_that_the_site_has_no_more_has_no_end(fetched: Path) -> None:
    about = fetched.parent.parent / "competition.json"
    about.write_text(json.dumps(json.loads(about.read_text()) | {"phases": []}))
    read = read_fetched(fetched)
    assert read is not None
    assert (read.end, read.late) == (None, [])
    assert (len(read.on_board), read.several_rows) == (2, 1)


def test_a_single_row_of_a_participant_is_not_several(fetched: Path) -> None:
    file = fetched.parent / "board.json"
    board = json.loads(file.read_text())
    board["submissions"].append({"owner": "eagle"})
    file.write_text(json.dumps(board))
    read = read_fetched(fetched)
    assert read is not None
    assert read.several_rows == 1


def test_a_damaged_fetch_is_named(fetched: Path, tmp_path: Path) -> None:
    (fetched.parent / "submissions.json").write_text("[{}]")
    done = rank(tmp_path / "my-task", fetched)
    assert done.exit_code == 2
    assert "what gen-bundle fetch wrote is damaged (KeyError in " in done.stderr

"""gen-bundle status: numbers, the oldest that waits, failures by their logs, days left."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from gen_bundle.cli import status as journey
from gen_bundle.cli.status import status
from gen_bundle.live.connection import Connection
from tests.generator.live.conftest import Verb
from tests.live_server import Site

NOW = datetime(2030, 1, 2, 3, 34, 5, tzinfo=UTC)
TRACEBACK = "Traceback (most recent call last):\n  File 'x'\nValueError: odd\n"


@pytest.fixture
def running(site: Site) -> Site:
    site.competitions[5] = {
        "id": 5,
        "title": "A small task",
        "published": True,
        "phases": [
            {"id": 21, "index": 0, "name": "Test", "start": "2030-01-01T00:00:00Z", "end": "2030-01-03T15:34:05Z"},
            {"id": 22, "index": 1, "name": "Open", "start": "2030-02-01T00:00:00Z", "end": None},
        ],
    }
    site.participants = [{"id": number, "username": str(number), "status": "pending"} for number in range(2)]
    site.participants += [{"id": 7, "username": "owl", "status": "approved"}]
    for text in ("line 3: no label\nmore", "line 3: no label", TRACEBACK, ""):
        site.add_submission(
            21,
            "owl",
            b"",
            status="Failed",
            status_details="The worker died at https://s3.org/gold.zip?Signature=s3cr3t",
            logs={"scoring_stderr": text},
        )
    site.add_submission(21, "owl", b"", status="Running", scores=[])
    site.add_submission(21, "eagle", b"", status="Submitted", scores=[])
    site.add_submission(21, "eagle", b"")
    site.add_submission(21, "eagle", b"", is_soft_deleted=True)
    return site


def test_what_happens_is_counted(running: Site, connection: Connection) -> None:
    seen = status(connection, 5, NOW, {})
    assert seen.participants == {"pending": 2, "approved": 1}
    assert seen.phases[0].submissions == {"Failed": 4, "Running": 1, "Submitted": 1, "Finished": 1}
    assert (seen.phases[0].days_left, seen.phases[1].days_left) == (1.5, None)
    assert seen.oldest is not None
    assert (seen.oldest.id, seen.oldest.owner, seen.oldest.status, seen.oldest.seconds) == (105, "owl", "Running", 1801)
    assert [(one.line, one.submissions) for one in seen.failures] == [
        ("line 3: no label", (102, 101)),
        ("The worker died at https://s3.org/gold.zip", (104,)),
        ("ValueError: odd", (103,)),
    ]


def test_logs_are_read_once_and_not_without_end(
    running: Site, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: dict[int, str] = {}
    status(connection, 5, NOW, lines)
    running.asked.clear()
    assert len(status(connection, 5, NOW, lines).failures) == 3
    assert not [path for _, _, path, *_ in running.asked if "get_details" in path or "bucket" in path]
    monkeypatch.setattr(journey, "MOST_FAILURES", 1)
    seen = status(connection, 5, NOW, {})
    assert (len(seen.failures), seen.unread_failures) == (1, 3)


def test_the_verb(running: Site, verb: Verb) -> None:
    done = verb("status", 5)
    assert done.exit_code == 0, done.output
    assert "participants: 1 approved, 2 pending" in done.stdout
    assert "failed 2×: line 3: no label (102, 101)" in done.stdout
    (line,) = verb("status", 5, "--json").stdout.splitlines()
    assert json.loads(line)["phases"][0]["submissions"]["Failed"] == 4


def test_watching_looks_again_until_it_is_ended(running: Site, verb: Verb, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("gen_bundle.cli.status.time", SimpleNamespace(sleep=wait))
    done = verb("status", 5, "--watch", "--json")
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == 3
    assert waits == [60, 60, 60]


def test_a_competition_that_is_not_there(site: Site, verb: Verb) -> None:
    done = verb("status", 6)
    assert done.exit_code == 1
    assert "answered 404 Not Found: Not found." in done.stderr


def test_failures_are_grouped_by_what_their_pages_say(running: Site, connection: Connection) -> None:
    page = '<section class="note"><h2>predictions: are missing</h2>\n<p>Expected one file.</p>\n</section>'
    for _ in range(4):
        running.add_submission(21, "owl", b"", status="Failed", status_details="Child task failed", page=page)
    running.add_submission(21, "owl", b"", status="Failed", page="<html><body><p>Their own page</p></body></html>")
    first, second, *_ = status(connection, 5, NOW, {}).failures
    assert (first.line, len(first.submissions)) == ("predictions: are missing Expected one file.", 4)
    assert (second.line, len(second.submissions)) == ("line 3: no label", 2)
    assert "Their own page" in [one.line for one in status(connection, 5, NOW, {}).failures]


def test_a_long_reason_is_cut_between_words_and_not_inside_an_entity(running: Site, connection: Connection) -> None:
    rows = "; ".join(f"&quot;r{number:02d}&quot;" for number in range(60))
    page = f'<section class="note"><h2>no row for</h2><p>{rows}</p></section>'
    running.add_submission(21, "owl", b"", status="Failed", page=page)
    (line,) = [one.line for one in status(connection, 5, NOW, {}).failures if one.line.startswith("no row for")]
    assert line.endswith('"; …')
    assert 290 < len(line) <= 302


def test_a_failure_that_cannot_be_read_does_not_hide_the_others(running: Site, connection: Connection) -> None:
    running.always = {"GET /api/submissions/101/get_details/": 500}
    lines = {one.line.partition(":")[0] for one in status(connection, 5, NOW, {}).failures}
    assert lines == {"line 3", "ValueError", "The worker died at https", "the reason cannot be read"}

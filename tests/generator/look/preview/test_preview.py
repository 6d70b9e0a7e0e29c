"""The preview of a bundle: what it says, that it is safe, and how it looks in a browser."""

import io
import json
import urllib.request
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result
from PIL import Image

from gen_bundle.cli import root
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.dry_run.engines.process import ProcessEngine
from gen_bundle.dry_run.report import read_record
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_server import local_server
from gen_bundle.look.preview.page import Axis, axis, boards, preview_page
from gen_bundle.look.preview.reading import read_view
from tests.browser import DESK, PHONE, looks, visit
from tests.generator.dry_run.bundles import GOOD, Bundle, write_zip
from tests.generator.look.preview.bundles import write_bundle
from tests.generator.look.preview.test_content import HOSTILE, acting
from tests.shared import recorded_uploads

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DRY_RUN: dict[str, Any] = {
    "runs": [{"phase": "dev", "task": "0", "submission": "broken", "status": "Failed", "message": "exit code 1"}],
    "board": [
        {"phase": "dev", "rank": 1, "submission": "<b>eagle</b>", "cells": {"f1": "0.9", "error": "3.5"}},
        {"phase": "dev", "rank": 2, "submission": "sparrow", "cells": {"f1": "0.5"}},
        {
            "phase": "test",
            "rank": 1,
            "submission": "eagle",
            "cells": {"f1": "0.9", "error": "n/a"},
            "tasks": {"0": {"f1": "0.9", "error": "n/a"}, "1": {"f1": "n/a", "error": "2.0"}},
        },
    ],
}


BOMB = (
    b"version: 2\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    + b"".join(b"a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 9))
    + b"title: *a8\n"
)


def preview(*arguments: object) -> Result:
    return CliRunner().invoke(root, ["preview", *map(str, arguments)])


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return write_bundle(tmp_path / "bundle.zip")


def page_at(bundle: Path, dry_run: dict[str, Any] | None = None) -> str:
    """The address of a bundle's preview, written beside it."""
    file = bundle.with_name("index.html")
    file.write_text(preview_page(read_view(bundle), dry_run), encoding="utf-8")
    return file.as_uri()


def axis_of(folder: Path, *phases: dict[str, Any]) -> Axis:
    """The axis of a bundle with these phases."""
    whole = [{"index": at, "name": "PQ"[at], "tasks": [0], **phase} for at, phase in enumerate(phases)]
    found = axis(read_view(write_bundle(folder / "b.zip", lambda top: top.update(phases=whole))).phases)
    assert found is not None
    return found


def test_reads_what_participants_will_meet(bundle: Path) -> None:
    view = read_view(bundle)
    assert (view.title, view.description) == ("Tiny <task>", "Count the birds.")
    assert view.logo is not None
    assert view.logo.startswith("data:image/png;base64,")
    assert [page.title for page in view.pages] == ["Overview"]
    assert [column.title for column in view.columns] == ["F1", "Error"]
    assert view.primary is not None
    assert view.primary.key == "f1"
    assert view.rule == "The best submission of each participant is on the board."
    assert ("Registration", "after approval") in view.facts
    assert view.notes == ()
    dev, test = view.phases
    assert dev.start.moment == datetime(2026, 1, 10, 12, tzinfo=UTC)
    assert dict(dev.limits)["Submissions a day"] == "3"
    assert dict(test.limits)["Submissions in all"] == "no limit"
    assert [task.name for task in test.tasks] == ["Count", "Name"]


def test_says_who_can_have_which_file(bundle: Path) -> None:
    dev = read_view(bundle).phases[0]
    who = {download.role: (download.open, [name for name, _ in download.files]) for download in dev.downloads}
    assert who == {
        "Starting kit": (True, ["README.md"]),
        "Zeros": (True, ["answer.txt"]),
        "Scoring program": (False, ["metadata.yaml", "score.py"]),
        "Reference data": (False, ["gold.txt"]),
    }


@pytest.mark.slow
def test_an_unpacked_folder_gives_the_same_page(bundle: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(tmp_path / "folder")
    assert preview_page(read_view(tmp_path / "folder")) == preview_page(read_view(bundle))


@pytest.mark.slow
def test_milestones_and_a_hidden_board_are_shown(tmp_path: Path) -> None:
    def change(top: dict[str, Any]) -> None:
        top["milestones"] = [
            {"name": "Papers <due>", "date": "2026-03-20 11:59:59"},
            {"name": "Registration", "date": "2026-01-02 00:00:00"},
            {"name": "Someday", "date": "soon"},
        ]
        top["leaderboards"][0] |= {"title": "Test results", "hidden": True}

    view = read_view(write_bundle(tmp_path / "b.zip", change))
    assert [milestone.name for milestone in view.milestones] == ["Registration", "Papers <due>", "Someday"]
    page = preview_page(view).replace("\xa0", " ")
    assert "Papers &lt;due&gt;</th><td>Fri 20 Mar 2026, 11:59" in page
    assert "Thu 19 Mar 2026, 23:59" in page
    assert "cannot be read" in page
    assert ("Leaderboard", "Test results") in view.facts
    assert "only organisers see it" in page
    plain = preview_page(read_view(write_bundle(tmp_path / "plain.zip")))
    assert "Further dates" not in plain
    assert "only organisers see it" not in plain


def test_the_schedule_lies_on_one_axis(bundle: Path) -> None:
    found = axis(read_view(bundle).phases)
    assert found is not None
    dev, test = found.bars
    assert (dev.left, test.endless) == (0, True)
    assert dev.left + dev.width < test.left
    assert test.left + test.width == pytest.approx(100, abs=0.1)
    assert 1 <= len(found.ticks) <= 6
    assert all(0 <= position <= 100 for position, _ in found.ticks)


@pytest.mark.parametrize(
    ("start", "end"),
    [("2026-01-01 00:00:00", "2026-01-02 00:00:00"), ("1990-01-01", "2090-01-01"), ("2026-01-01", "2026-01-01")],
)
def test_any_schedule_has_few_ticks(tmp_path: Path, start: str, end: str) -> None:
    assert len(axis_of(tmp_path, {"start": start, "end": end}).ticks) <= 6


@pytest.mark.parametrize(("days", "share"), [(800, 1 / 9), (30, 1 / 2)], ids=["an eighth more", "a month at least"])
def test_the_axis_goes_on_after_the_start_of_an_endless_phase(tmp_path: Path, days: int, share: float) -> None:
    last = f"{datetime(2026, 1, 1) + timedelta(days=days)}"
    _, bar = axis_of(tmp_path, {"start": "2026-01-01 00:00:00", "end": last}, {"start": last}).bars
    assert bar.endless
    assert bar.width == pytest.approx(100 * share, abs=0.1)


def test_lost_times_are_said(tmp_path: Path) -> None:
    def change(top: dict[str, Any]) -> None:
        top["phases"][0]["start"] = datetime(2026, 1, 10, 13, 30)

    page = preview_page(read_view(write_bundle(tmp_path / "b.zip", change)))
    assert "Start: the platform drops the time of day, 13:30:00." in page


def test_the_board_is_filled_from_a_dry_run(bundle: Path) -> None:
    dev, test = boards(read_view(bundle), DRY_RUN)
    assert [(row.rank, row.submission, row.cells) for row in dev.rows] == [
        (1, "<b>eagle</b>", ("0.9", "3.5")),
        (2, "sparrow", ("0.5", "n/a")),
    ]
    assert dev.failed == (("broken", "exit code 1"),)
    assert test.groups == ("Count", "Name")
    assert [row.cells for row in test.rows] == [("0.9", "n/a", "n/a", "2.0")]


def test_without_a_dry_run_the_board_is_empty(bundle: Path) -> None:
    page = preview_page(read_view(bundle))
    assert page.count("No submission yet.") == 2
    assert "Secret" not in page


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"phase": "final", "cells": {"f1": "0.9"}}, "has the phase final, which this bundle does not show"),
        ({"phase": "dev", "cells": {"f1": "0.9", "mse": "1"}}, "has the column mse, which this bundle does not show"),
    ],
)
def test_a_dry_run_of_another_bundle_is_refused(
    bundle: Path, tmp_path: Path, entry: dict[str, Any], words: str
) -> None:
    record = tmp_path / "dry-run.json"
    record.write_text(json.dumps({"runs": [], "board": [{"rank": 1, "submission": "eagle", **entry}]}))
    done = preview(bundle, "--out", tmp_path / "out", "--dry-run", record)
    assert done.exit_code == 2
    assert words in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_interrupted_dry_run_is_not_shown_as_complete(tmp_path: Path) -> None:
    def interrupt(step: str) -> None:
        if "submission 2/2: b" in step:
            raise KeyboardInterrupt

    replayed = Bundle().write(tmp_path / "bundle")
    submissions = [write_zip(tmp_path / f"{name}.zip", GOOD) for name in "ab"]
    with pytest.raises(KeyboardInterrupt):
        dry_run(DryRunRequest(replayed, tmp_path / "run", submissions, on_step=interrupt), ProcessEngine())
    done = preview(replayed, "--out", tmp_path / "out", "--dry-run", tmp_path / "run")
    assert done.exit_code == 0, done.output
    words = "he dry run found: the dry run was interrupted: runs that are missing here did not take place"
    assert words in done.stderr
    assert words in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


def test_the_dry_run_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no dry-run\.json can be read there"):
        read_record(tmp_path)
    for content in ("[]", '{"runs": [], "board": [], "findings": 5}'):
        (tmp_path / "dry-run.json").write_text(content)
        with pytest.raises(UserError, match="expected an object"):
            read_record(tmp_path)


def test_what_cannot_be_read_becomes_a_note(tmp_path: Path) -> None:
    def change(top: dict[str, Any]) -> None:
        top["image"] = "none.png"
        top["pages"].append({"title": "Gone", "file": "gone.md"})
        top["tasks"][0]["reference_data"] = "c0ffee00-0000-0000-0000-000000000000"

    view = read_view(write_bundle(tmp_path / "b.zip", change))
    assert sorted(view.notes) == [
        "Gone: the file 'gone.md' is not in the bundle, or is not UTF-8 text.",
        "The logo 'none.png' is not in the bundle.",
    ]
    assert "perhaps a key of a dataset" in preview_page(view)


@pytest.mark.slow
def test_a_huge_picture_is_not_drawn(tmp_path: Path) -> None:
    data = io.BytesIO()
    Image.new("1", (8_000, 6_000)).save(data, "PNG")
    view = read_view(write_bundle(tmp_path / "b.zip", files={"logo.png": data.getvalue()}))
    assert view.logo is None
    assert "cannot be shown" in view.notes[0]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"competition.yaml": b"version: 1\ntitle: x\n"}, "gen-bundle import"),
        ({"competition.yaml": b"a: [\n"}, "competition.yaml"),
        ({"competition.yaml": b""}, "expected a mapping"),
        ({"competition.yaml": BOMB}, "enormous size"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, files: dict[str, bytes], message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_view(write_bundle(tmp_path / "b.zip", files=files))


def test_a_declaration_is_told_from_a_bundle(tmp_path: Path) -> None:
    (tmp_path / "bundle.yaml").write_text("title: x\n")
    with pytest.raises(UserError, match="build it first"):
        read_view(tmp_path)


def test_hostile_text_anywhere_is_text(tmp_path: Path) -> None:
    evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>'

    def change(top: dict[str, Any]) -> None:
        top["title"] = top["description"] = top["docker_image"] = top["contact_email"] = evil
        top["pages"][0]["title"] = top["phases"][0]["name"] = top["phases"][0]["description"] = evil
        top["tasks"][0]["name"] = top["tasks"][0]["description"] = top["solutions"][0]["name"] = evil
        top["leaderboards"][0]["columns"][0]["title"] = evil
        top["phases"][0]["start"] = evil

    page = preview_page(read_view(write_bundle(tmp_path / "b.zip", change, {f"kit/{evil}": b""})), DRY_RUN)
    assert page.count("<script") == 1
    assert "<img src=x" not in page
    assert "<b>eagle" not in page


@pytest.mark.slow
def test_bundles_of_any_kind_have_a_preview() -> None:
    shown = refused = 0
    for case in recorded_uploads():
        try:
            preview_page(read_view(case["path"], datetime(2026, 3, 1, tzinfo=UTC)))
            shown += 1
        except UserError:
            refused += 1
            assert not case["accepted"] or case["format"] == "v1", case["id"]
    assert shown > refused


def test_the_command_writes_the_page(bundle: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = preview(bundle, "--out", out)
    assert done.exit_code == 0, done.output
    assert (out / "index.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    (tmp_path / "no.zip").write_bytes(b"no zip")
    done = preview(tmp_path / "no.zip", "--out", out)
    assert done.exit_code == 2


def test_is_served_on_this_machine_alone(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>here</p>")
    with local_server(tmp_path) as running:
        assert running.server_address[0] == "127.0.0.1"
        Thread(target=running.serve_forever, daemon=True).start()
        with urllib.request.urlopen(f"http://127.0.0.1:{running.server_port}/") as answer:
            assert answer.read() == b"<p>here</p>"
        running.shutdown()


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A bundle with everything hostile on one page."""
    overview = "# Birds\n\n" + "\n\n".join(HOSTILE.values())
    return write_bundle(tmp_path / "bundle.zip", files={"overview.md": overview.encode()})


@pytest.mark.browser
@looks
def test_reads_well_in_a_browser(browser: "Browser", bundle: Path, size: tuple[int, int], dark: bool) -> None:
    with visit(browser, page_at(bundle, DRY_RUN), size, dark=dark) as seen:
        assert seen.complaints == []
        assert seen.overflow() == 0
        assert seen.accessibility_violations() == []


@pytest.mark.browser
def test_ranks_of_two_digits_stay_on_one_line(browser: "Browser", bundle: Path) -> None:
    rows = [
        {"phase": "dev", "rank": rank, "submission": f"bird-{rank}" * 9, "cells": {"f1": "0.5"}}
        for rank in range(1, 13)
    ]
    with visit(browser, page_at(bundle, {**DRY_RUN, "board": rows}), PHONE) as seen:
        ranks = "[...document.querySelector('.board tbody').rows].map(row => row.cells[0].firstChild)"
        lines = (
            "node => { const all = document.createRange(); all.selectNode(node); return all.getClientRects().length }"
        )
        assert seen.page.evaluate(f"{ranks}.map({lines})") == [1] * 12


def _ten_columns(top: dict[str, Any]) -> None:
    top["leaderboards"][0]["columns"] = [
        {"index": place, "key": f"m{place}", "title": f"Metric {place}", "sorting": "desc"} for place in range(10)
    ]


@pytest.mark.browser
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_ten_columns_scroll_with_a_hint_and_names_stay(
    browser: "Browser", tmp_path: Path, size: tuple[int, int]
) -> None:
    cells = {f"m{place}": "0.123456" for place in range(10)}
    row = {"phase": "dev", "rank": 1, "submission": "eagle", "cells": cells}
    bundle = write_bundle(tmp_path / "b.zip", _ten_columns)
    with visit(browser, page_at(bundle, {"board": [row]}), size) as seen:
        hint = seen.page.locator("#leaderboard .hint").first
        assert hint.inner_text() == "10 columns: scroll sideways to see them all."
        name = seen.page.locator(".board tbody th").first
        before = name.bounding_box()
        seen.page.evaluate("document.querySelector('#leaderboard .scroll').scrollLeft = 10000")
        assert name.bounding_box() == before
        assert seen.overflow() == 0
        assert seen.accessibility_violations() == []
        seen.page.set_viewport_size({"width": 2400, "height": 900})
        seen.page.add_style_tag(content="body { max-width: none !important }")
        seen.page.set_viewport_size({"width": 2500, "height": 900})
        hint.wait_for(state="hidden")  # the browser tells the page of its new size a frame later


@pytest.mark.browser
@pytest.mark.parametrize("end", ["2026-02-02", "2026-02-10", "2026-07-02", "2030-01-05"])
def test_labels_of_the_axis_are_whole_and_apart(browser: "Browser", tmp_path: Path, end: str) -> None:
    def change(top: dict[str, Any]) -> None:
        top["phases"] = [{"index": 0, "name": "P", "start": "2026-01-01 12:00:00", "end": end, "tasks": [0]}]

    bundle = write_bundle(tmp_path / "b.zip", change)
    edges = """() => {
        const inside = node => { const all = document.createRange(); all.selectNodeContents(node);
                                 const {left, right} = all.getBoundingClientRect(); return [left, right]; };
        const axis = document.querySelector('.ticks').getBoundingClientRect();
        const shown = [...document.querySelectorAll('.ticks span')].filter(label => label.offsetParent);
        return [axis.left, ...shown.flatMap(inside), axis.right];
    }"""
    with visit(browser, page_at(bundle)) as seen:
        for width in (320, 360, 600, 760, 1280):
            seen.page.set_viewport_size({"width": width, "height": 740})
            seen.page.wait_for_function(f"innerWidth === {width}")  # which may be a frame later
            found = seen.page.evaluate(edges)
            assert len(found) > 4
            assert found == sorted(found), width


@pytest.mark.browser
def test_dates_break_before_the_time_alone_on_a_phone(browser: "Browser", bundle: Path) -> None:
    with visit(browser, page_at(bundle), PHONE, zone="Asia/Tokyo") as seen:
        lines = (
            "[...document.querySelectorAll('.dates td')].filter(cell => cell.textContent.includes(':')).map(cell => {"
            " const text = document.createRange(); text.selectNodeContents(cell);"
            " return new Set([...text.getClientRects()].map(line => Math.round(line.top))).size; })"
        )
        counted = seen.page.evaluate(lines)
    assert len(counted) == 9
    assert max(counted) <= 2


@pytest.mark.browser
def test_shows_times_in_the_readers_zone(browser: "Browser", bundle: Path) -> None:
    with visit(browser, page_at(bundle), zone="Asia/Tokyo") as seen:
        table = seen.page.locator(".dates").first.inner_text().replace("\xa0", " ")
    assert "Sat 10 Jan 2026, 12:00" in table
    assert "(Asia/Tokyo)" in table
    assert "Sat 10 Jan 2026, 21:00" in table
    assert "Sat 10 Jan 2026, 00:00" in table


@pytest.mark.browser
def test_hostile_pages_do_nothing(browser: "Browser", hostile: Path) -> None:
    address = page_at(hostile, DRY_RUN)
    with visit(browser, address) as seen:
        seen.page.mouse.move(640, 600)
        for link in seen.page.locator("main a, main summary").all():
            link.focus()
        assert seen.complaints == []
        assert [one for one in seen.requests if not one.startswith(("file:", "data:"))] == []
        assert seen.page.url == address
        assert seen.page.locator("nav").is_visible()
        assert seen.page.locator("#leaderboard").is_visible()
        parents = "['page-1', 'terms', 'leaderboard'].map(id => document.getElementById(id).parentElement.id)"
        assert seen.page.evaluate(parents) == ["main", "main", "main"]


def test_the_page_itself_holds_nothing_that_acts(hostile: Path) -> None:
    page = preview_page(read_view(hostile), DRY_RUN).split('<section id="page-1">')[1].split("</section>")[0]
    content = page.split('<div class="content paper">')[-1].split('<div class="content">')[-1]
    assert len(content) > 1000
    assert acting(content.split('<p class="note">')[0]) == []

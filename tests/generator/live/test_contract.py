"""What we rely on a site for; against our own, or the one that GEN_BUNDLE_LIVE_SERVER names (with CODABENCH_TOKEN)."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gen_bundle.cli.status import status
from gen_bundle.dry_run.engines.process import ProcessEngine
from gen_bundle.live.confirm import ConfirmRequest, confirm
from gen_bundle.live.connection import AnswerError, Connection, LiveError
from gen_bundle.live.credentials import Token, server_address
from gen_bundle.live.fetch import FetchRequest, fetch
from gen_bundle.live.submissions import PREFIX, submissions_of
from gen_bundle.live.update import look
from gen_bundle.live.upload import Uploaded, upload
from tests.generator.check.drafts import NOW, first_phase, put, write
from tests.generator.live.conftest import confirmable_draft, ready_draft
from tests.live_ports import serve_site
from tests.live_server import TOKEN, Site

SERVER, GIVEN_TOKEN = os.environ.get("GEN_BUNDLE_LIVE_SERVER"), os.environ.get("CODABENCH_TOKEN")


@pytest.fixture(scope="module")
def any_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    log = tmp_path_factory.mktemp("state") / "changes.log"
    with contextlib.ExitStack() as held:
        if SERVER:
            assert GIVEN_TOKEN, "GEN_BUNDLE_LIVE_SERVER needs CODABENCH_TOKEN"
            address, token = server_address(SERVER), GIVEN_TOKEN
        else:
            address, token = held.enter_context(serve_site(Site())).address, TOKEN
        pause = time.sleep if SERVER else lambda _: None
        yield held.enter_context(Connection(address, Token("the environment", token), log, pause))


@pytest.fixture(scope="module")
def uploaded(any_site: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Uploaded]:
    path = tmp_path_factory.mktemp("contract") / "contract-test.zip"
    path.write_bytes(ready_draft().as_zip())
    done = upload(any_site, path)
    yield done
    any_site.send("DELETE", f"competitions/{done.id}/")


def test_a_token_is_somebodys_or_is_refused(any_site: Connection) -> None:
    assert any_site.get("my_profile/")["username"]
    with Connection(any_site.server, Token("a test", "f" * 40)) as other, pytest.raises(AnswerError) as caught:
        other.get("my_profile/")
    assert caught.value.code in (401, 403)
    assert "Invalid token. It comes from a test." in str(caught.value)


def test_a_sound_bundle_is_stored_as_it_says_and_not_published(uploaded: Uploaded) -> None:
    assert uploaded.mismatches == ()
    assert uploaded.obstacles == ()
    assert not uploaded.published


def test_the_store_refuses_another_content_type(any_site: Connection, tmp_path: Path) -> None:
    (tmp_path / "file.zip").write_bytes(b"PK")
    body = {"type": "submission", "request_sassy_file_name": "file.zip", "file_size": 2}
    url = any_site.send("POST", "datasets/", body)["sassy_url"]
    with pytest.raises(AnswerError) as caught:
        any_site.put_file(url, tmp_path / "file.zip", "application/octet-stream")
    assert caught.value.code == 403


def test_a_broken_bundle_fails_with_a_message(any_site: Connection, tmp_path: Path) -> None:
    (tmp_path / "broken.zip").write_bytes(b"not a zip")
    with pytest.raises(LiveError, match="Bad zip file uploaded"):
        upload(any_site, tmp_path / "broken.zip", force=True)


@pytest.mark.slow
def test_a_competition_is_changed_and_changed_back(any_site: Connection, uploaded: Uploaded, tmp_path: Path) -> None:
    same, other = ready_draft(), ready_draft()
    put("title", "Another title")(other)
    first_phase(end="2032-06-30 12:00:00")(other)
    write("overview.md", b"# Another overview\nWelcome.\n")(other)
    write("ref/truth.txt", b"b\n")(other)
    with contextlib.ExitStack() as held:
        for name, draft in (("same", same), ("other", other), ("back", same)):
            file = tmp_path / f"{name}.zip"
            file.write_bytes(draft.as_zip())
            update = look(any_site, uploaded.id, file, held)
            assert [change.difference.what for change in update.changes] == (
                []
                if name == "same"
                else ["title", "text (1 line out, 1 in)", "end", "content" if name == "back" else "truth.txt"]
            )
            update.apply()
            assert look(any_site, uploaded.id, file, held).changes == ()


def test_a_new_competition_has_nothing_to_fetch(any_site: Connection, uploaded: Uploaded, tmp_path: Path) -> None:
    (phase,) = fetch(any_site, FetchRequest(uploaded.id, tmp_path / "out"))
    assert (phase.name, phase.submissions) == ("Main", 0)
    seen = status(any_site, uploaded.id, NOW, {})
    assert (seen.title, seen.oldest, seen.failures) == ("A small task", None, ())
    assert seen.phases[0].days_left == 730.0


@pytest.mark.slow
def test_a_submission_is_scored_as_here_and_leaves_nothing(any_site: Connection, tmp_path: Path) -> None:
    """Takes minutes on a real site: its workers pull an image, and run two submissions."""
    path = tmp_path / "contract-test-scored.zip"
    path.write_bytes(confirmable_draft().as_zip())
    competition = upload(any_site, path).id
    try:
        done = confirm(any_site, ConfirmRequest(competition, path), ProcessEngine())
        assert done.problems == []
        assert [cell for cell in done.cells if not cell.equal] == []
        assert done.left == []
        (phase,) = any_site.get(f"competitions/{competition}/")["phases"]
        assert submissions_of(any_site, phase["id"]) == {}
        assert any_site.get(f"can_make_submission/{phase['id']}/")["can"]
        assert any_site.rows("datasets/", _type="submission", search=PREFIX) == []
    finally:
        any_site.send("DELETE", f"competitions/{competition}/")

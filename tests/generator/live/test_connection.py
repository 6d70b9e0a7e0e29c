"""Requests: what is repeated, what never is, where the token goes, and what is said of faults."""

import http.server
import os
import random
import stat
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.ground.errors import UserError
from gen_bundle.live.connection import CHUNK, AnswerError, Connection, changes_log
from gen_bundle.live.credentials import PUBLIC_SITE, Token, find_token, save_token, server_address, tokens_file
from gen_bundle.live.responses import body_in_one_line
from tests.generator.live.conftest import close_log, run_in_c_locale
from tests.live_ports import serve_site
from tests.live_runs import AnswerError as ServerError
from tests.live_server import TOKEN, Site

SIGNATURE = "secret-signature"
ROW = {"id": 1, "owner": "ada"}


@pytest.fixture
def site() -> Iterator[Site]:
    """One that is reached through real connections."""
    with serve_site(Site()) as served:
        yield served


@pytest.mark.parametrize(
    ("asked", "waits"), [("7", [7, 7, 8]), ("²", [0.5, 2, 8]), ("Fri, 01 Jan 2100 00:00:00 GMT", [])]
)
def test_a_busy_server_is_asked_again_when_it_says(
    site: Site, connection: Connection, pauses: list[float], asked: str, waits: list[float]
) -> None:
    """Unless that is no number, or has no end."""
    site.always = {"/": ServerError(503, b"<html>\n<body>Bad day</body></html>", {"Retry-After": asked})}
    with pytest.raises(AnswerError, match="503 Service Unavailable: Bad day"):
        connection.get("my_profile/")
    assert pauses == waits


def test_a_change_is_never_repeated_by_itself(site: Site, connection: Connection) -> None:
    site.breaks_after = {"datasets/"}
    with pytest.raises(AnswerError) as caught:
        connection.send("POST", "datasets/", {"type": "submission", "file_size": 1})
    assert caught.value.unclear
    assert caught.value.status == 1
    assert (
        str(caught.value)
        == f"POST {site.address}/api/datasets/: answered 500 Internal Server Error: Server Error (500)"
    )
    assert site.changing() == ["POST /api/datasets/"]


def test_nobody_waits_without_end(
    site: Site, connection: Connection, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gen_bundle.live.connection.TIMEOUT_S", (10, 0.03))
    site.slow = 3
    with pytest.raises(AnswerError, match="no answer in time") as caught:
        connection.get("my_profile/")
    assert caught.value.unclear
    assert pauses == [0.5, 2, 8]
    with pytest.raises(AnswerError, match="no answer in time"):
        connection.send("POST", "datasets/", {"type": "submission", "file_size": 1})
    while not site.changing():  # it has waited for less than a busy machine may take to hear it
        time.sleep(0.01)
    assert site.changing() == ["POST /api/datasets/"]
    sending, outcome = changes_log().read_text().splitlines()
    assert sending.endswith(f"POST {site.address}/api/datasets/ sending")
    assert outcome.endswith(f"POST {site.address}/api/datasets/ no answer")


class Dripping(http.server.BaseHTTPRequestHandler):
    """Answers with a blank after another, as long as somebody listens."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        with suppress(OSError):
            for _ in range(100_000):
                self.wfile.write(b" ")
                time.sleep(0.002)

    def log_message(self, *_: object) -> None:
        pass


def test_an_answer_that_drips_is_given_up(pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gen_bundle.live.connection.LONGEST_ANSWER_S", 0.02)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Dripping) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        with (
            Connection(address, Token("a test", TOKEN), pause=pauses.append) as connection,
            pytest.raises(AnswerError, match="no answer in time"),
        ):
            connection.get("my_profile/")
        server.shutdown()
    assert len(pauses) == 3


def test_an_untrusted_connection_is_not_used(site: Site) -> None:
    address = site.address.replace("http:", "https:")
    with Connection(address, Token("a test", TOKEN)) as other, pytest.raises(AnswerError, match="no trusted TLS"):
        other.get("my_profile/")
    assert site.asked == []


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_redirect_takes_the_token_nowhere(site: Site, connection: Connection, method: str) -> None:
    site.redirects = {"my_profile/": f"{site.store}/bucket/anything"}
    with pytest.raises(AnswerError, match=f"was not followed. If that is the site: --server {site.store}"):
        _ = connection.get("my_profile/") if method == "GET" else connection.send("POST", "my_profile/")
    assert {address for address, *_ in site.asked} == {site.address}


def test_the_store_never_sees_the_token(
    site: Site, connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login ada password ada\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    (tmp_path / "file").write_bytes(b"x" * 100_000)
    done: list[tuple[int, int]] = []
    connection.tick = lambda *at: done.append(at)
    connection.put_file(site.signed("one"), tmp_path / "file", "application/zip")
    assert site.files["one"] == b"x" * 100_000
    assert done[-1] == (100_000, 100_000)
    assert len(done) > 2  # streamed in blocks
    assert connection.download(site.signed("one"), tmp_path / "again") == 100_000
    assert [authorization for *_, authorization, _ in site.asked] == [None, None]


def test_no_secret_in_messages_tracebacks_or_the_log(site: Site, connection: Connection, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    connection.send("POST", "datasets/", {"type": "submission", "file_size": 1})
    connection.put_file(site.signed("one"), tmp_path / "file", "application/zip")
    with pytest.raises(AnswerError, match=r"answered 403 Forbidden: SignatureDoesNotMatch$"):
        connection.put_file(site.signed("one"), tmp_path / "file", "application/octet-stream")
    texts = [changes_log().read_text(), repr(connection), repr(connection.token)]
    assert stat.S_IMODE(changes_log().stat().st_mode) == 0o600
    for url in (site.signed("none"), f"http://127.0.0.1:1/bucket?X-Amz-Signature={SIGNATURE}"):
        try:
            connection.download(url, tmp_path / "got")
        except AnswerError as error:
            texts.append("".join(traceback.format_exception(error)))
    assert len(texts) == 5
    assert "POST" in texts[0]
    assert "PUT" in texts[0]
    assert not [text for text in texts if SIGNATURE in text or TOKEN in text]


def requests_of(connection: Connection, url: str, folder: Path) -> dict[str, Callable[[], object]]:
    """The requests to signed addresses."""
    (folder / "file").write_bytes(b"x")
    return {
        "download": lambda: connection.download(url, folder / "got"),
        "text": lambda: connection.text(url),
        "put_file": lambda: connection.put_file(url, folder / "file", "application/zip"),
    }


@pytest.mark.parametrize("request_", ["download", "text"])
def test_a_refusal_that_breaks_off_keeps_its_code(
    site: Site, connection: Connection, tmp_path: Path, request_: str
) -> None:
    site.always = {"/": ServerError(404, b"half", {"Content-Length": "1000"})}
    with pytest.raises(AnswerError, match=r"answered 404 Not Found$") as caught:
        requests_of(connection, f"{site.address}/api/file", tmp_path)[request_]()
    assert caught.value.code == 404


@pytest.mark.parametrize("request_", ["download", "text", "put_file"])
def test_a_signed_address_that_is_not_valid(connection: Connection, tmp_path: Path, request_: str) -> None:
    with pytest.raises(AnswerError, match="is not a valid address") as caught:
        requests_of(connection, f"http://[bad/one?X-Amz-Signature={SIGNATURE}", tmp_path)[request_]()
    assert SIGNATURE not in str(caught.value)
    assert not changes_log().exists() or SIGNATURE not in changes_log().read_text()


def test_a_redirect_to_an_address_that_is_not_valid(site: Site, connection: Connection, tmp_path: Path) -> None:
    site.redirects = {"my_profile/": f"http://[bad?X-Amz-Signature={SIGNATURE}"}
    for request in (
        lambda: connection.get("my_profile/"),
        lambda: connection.send("POST", "my_profile/"),
        lambda: connection.download(f"{site.address}/api/my_profile/", tmp_path / "got"),
    ):
        with pytest.raises(AnswerError, match=r"leads to one\.|leads to .*, and was not followed") as caught:
            request()
        assert SIGNATURE not in str(caught.value)


@pytest.mark.parametrize(
    ("code", "said"), [(200, r"a page instead of data: \[.*Is .* a Codabench site"), (404, "answered 404 Not Found")]
)
def test_answers_of_any_depth(site: Site, connection: Connection, code: int, said: str) -> None:
    site.always = {"/": ServerError(code, b"[" * 100_000 + b"]" * 100_000)}
    with pytest.raises(AnswerError, match=said):
        connection.get("my_profile/")


@pytest.mark.parametrize("whole", [False, True])
def test_a_broken_download_goes_on_where_it_ended(
    site: Site, connection: Connection, tmp_path: Path, whole: bool
) -> None:
    """Or from the beginning, where the store sends no part."""
    site.files["one"] = random.Random(1).randbytes(4 * CHUNK)
    site.cut_short, site.whole = 2, whole
    assert connection.download(site.signed("one"), tmp_path / "one") == 4 * CHUNK
    assert (tmp_path / "one").read_bytes() == site.files["one"]
    assert len(site.asked) == 3
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["one"]


def test_a_download_that_never_comes_whole_is_an_error(site: Site, connection: Connection, tmp_path: Path) -> None:
    site.files["one"] = bytes(10240)
    site.cut_short = 4
    with pytest.raises(AnswerError, match="/bucket/one: the connection broke"):
        connection.download(site.signed("one"), tmp_path / "one")
    assert not (tmp_path / "one").exists()
    assert connection.download(site.signed("one"), tmp_path / "one") == 10240
    assert site.asked[-1][2].startswith("/bucket/one")


def test_a_change_that_cannot_be_noted_is_not_sent(site: Site, connection: Connection) -> None:
    close_log()
    with pytest.raises(UserError, match=r"changes\.log: the log of changes cannot be written \(Is a directory\)"):
        connection.send("POST", "datasets/", {"type": "submission", "file_size": 1})
    assert site.asked == []


def test_an_answer_is_not_lost_for_its_line_in_the_log(site: Site, connection: Connection) -> None:
    site.before = lambda *_: close_log()
    assert connection.send("POST", "datasets/", {"type": "submission", "file_size": 1})["key"] in site.datasets


def test_any_address_is_noted_in_any_locale(site: Site) -> None:
    store = "from gen_bundle.live.connection import Connection as C; from pathlib import Path; "
    store += f"C('').put_file({site.store + '/bucket/José'!a}, Path({__file__!r}), 'application/zip')"
    done = run_in_c_locale("-c", store)
    assert done.returncode == 0, done.stderr
    assert changes_log().read_text(encoding="utf-8").endswith("/bucket/José 200\n")


@pytest.mark.parametrize("paged", [True, False])
def test_lists_come_in_pages_or_whole(
    site: Site, connection: Connection, paged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gen_bundle.live.connection.PAGE_SIZE", 2)
    site.paged = paged
    site.competitions = {number: {"id": number, "title": "A"} for number in range(5)}
    assert [row["id"] for row in connection.rows("competitions/", mine="true")] == [0, 1, 2, 3, 4]
    assert len(site.asked) == (3 if paged else 1)
    assert {address for address, *_ in site.asked} == {site.address}


def test_a_list_that_loses_rows_is_not_taken(site: Site, connection: Connection) -> None:
    answer = {"count": 3, "next": None, "results": [{"id": 1}]}
    site.always = {"/": answer}
    with pytest.raises(AnswerError, match="1 rows arrived, the server counts 3"):
        connection.rows("competitions/")


@pytest.mark.parametrize(("count", "results", "pages"), [(10**6, [], 1), (3, [ROW], 3), (0, [ROW], 1)])
@pytest.mark.parametrize(("key", "path"), [("results", "queues/"), ("submissions", "phases/1/get_leaderboard/")])
def test_a_list_without_end_is_left(
    site: Site, connection: Connection, count: int, results: Any, pages: int, key: str, path: str
) -> None:
    site.always = {"/": {"count": count, "next": "http://elsewhere.invalid/?page=2", key: results}}
    with pytest.raises(AnswerError, match=f"page {pages} should be the last one"):
        connection.pages(path)
    assert len(site.asked) == pages


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ('{"file_size": "This field is required."}', "file_size: This field is required."),
        ('{"name": ["Too long.", "Taken."], "detail": "No."}', "name: Too long.; name: Taken.; No."),
        ("<html>\n<style>p {}</style>\n\n<h1>Server  Error</h1>\n<p>More</p>", "Server Error"),
        ("\x1b[31mred\nblue", "\\x1b[31mred"),
        ("", ""),
    ],
)
def test_error_bodies_in_one_line(body: str, line: str) -> None:
    assert body_in_one_line(body) == line


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("https://www.codabench.org/", PUBLIC_SITE),
        ("codabench.uni.edu", "https://codabench.uni.edu"),
        ("http://localhost:8000", "http://localhost:8000"),
    ],
)
def test_servers(given: str, address: str) -> None:
    assert server_address(given) == address


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("http://codabench.uni.edu", "unencrypted"),
        ("https://ada:pw@site.org", "holds a user name or password"),
        ("ftp://site.org", "is not a site"),
        ("https://site.org/?token=1", "is not a site"),
        ("https://[", "is not a site"),
    ],
)
def test_addresses_that_are_refused(given: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        server_address(given)
    assert "pw" not in str(caught.value)


def test_the_token_comes_from_file_environment_or_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"no token for https://a\.org\. Run gen-bundle login --server https://a.org"):
        find_token("https://a.org", None)
    save_token("https://a.org", "saved")
    save_token("https://b.org", "other")
    assert stat.S_IMODE(tokens_file().stat().st_mode) == 0o600
    assert find_token("https://a.org", None).text == "saved"
    monkeypatch.setenv("CODABENCH_TOKEN", "variable")
    assert find_token("https://a.org", None).text == "variable"
    (tmp_path / "token").write_text("file\n")
    assert find_token("https://a.org", tmp_path / "token").text == "file"


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_file_of_tokens_that_others_can_read_is_not_used(mode: int) -> None:
    save_token("https://a.org", "saved").chmod(mode)
    with pytest.raises(UserError, match=r"other users can read it\. Run: chmod 600"):
        find_token("https://a.org", None)


def test_what_cannot_be_a_token_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("se cret\nlines")
    with pytest.raises(UserError, match="does not hold a token") as caught:
        find_token("https://a.org", tmp_path / "token")
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize("once", [500, b"<p>Welcome</p>"])
def test_a_read_is_repeated_after_a_500_or_a_page(
    site: Site, connection: Connection, pauses: list[float], once: Any
) -> None:
    answers, said = iter([once, once]), list[str]()
    connection.say, site.before = said.append, lambda *_: next(answers, None)
    assert connection.get("my_profile/")["username"] == "ada"
    assert pauses == [0.5, 2]
    assert [one.rpartition("; ")[2] for one in said] == ["asking again in 0.5 s", "asking again in 2 s"]


@pytest.mark.parametrize("body", [b"<p>Welcome</p>", [1], {"id": "7"}, None])
def test_a_change_whose_answer_is_no_answer_may_have_been_made(site: Site, connection: Connection, body: Any) -> None:
    site.always = {"/": body}
    with pytest.raises(AnswerError) as caught:
        connection.send("POST", "submissions/", {"data": "key", "phase": 1})
    assert caught.value.unclear
    assert len(site.asked) == 1


SENT = {"owner": "owl", "created_when": "2030-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        ("competitions/5/", [1, 2, 3], "the answer: Input should be a valid dictionary"),
        ("competitions/5/", None, "the answer: Input should be"),
        ("competitions/5/", {"id": 5, "phases": [{"id": 1, "name": "Test", "end": "soon"}]}, "phases.0.end: "),
        ("competitions/5/", {"id": 5, "phases": [{"id": 1, "name": ["x"]}]}, "phases.0.name: "),
        ("competitions/5/", {"id": 5, "leaderboards": [{"columns": {}}]}, "leaderboards.0.columns: "),
        ("competitions/5/", {"id": 5, "pages": [{"title": None}]}, "pages.0.title: "),
        ("submissions/", [SENT | {"id": "../../1"}], "0.id: Input should be a valid integer"),
        ("submissions/", [SENT | {"id": 1, "created_when": "long ago"}], "0.created_when: "),
        ("submissions/", [SENT | {"id": 1, "scores": [{"column_key": 3, "score": "1"}]}], "0.scores.0.column_key: "),
        ("submissions/", {"count": 1, "results": "none"}, "results: "),
        ("submissions/", "none", "the answer: "),
        ("submissions/7/", SENT | {"id": True}, "id: "),
        ("submissions/7/get_details/", {"logs": [{"name": "x", "data_file": 3}]}, "logs.0.data_file: "),
        ("phases/1/get_leaderboard/", {"submissions": [{"id": 1}]}, "submissions.0.owner: "),
        ("participants/", [{"username": 3}], "0.username: "),
        ("queues/", [None], "0: "),
        ("competitions/5/creation_status/", {"status": None}, "status: "),
        ("can_make_submission/1/", {"can": "yes"}, "can: "),
        ("my_profile/", {}, "username: Field required"),
    ],
)
def test_an_answer_of_another_type_is_the_sites_error(
    site: Site, connection: Connection, path: str, value: Any, where: str
) -> None:
    site.always = {"/": {} if value is None else value}
    with pytest.raises(AnswerError, match="data of another kind: ") as caught:
        connection.get(path)
    if value is not None:
        assert f"data of another kind: {where}" in str(caught.value)


def test_an_answer_without_end_is_not_read(site: Site, connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gen_bundle.live.connection.MOST_JSON", 1000)
    site.always = {"/": {"username": "a" * 10_000}}
    with pytest.raises(AnswerError, match="answered with more than"):
        connection.get("my_profile/")


@pytest.mark.parametrize("announced", [True, False])
def test_a_file_is_no_larger_than_allowed(site: Site, connection: Connection, tmp_path: Path, announced: bool) -> None:
    site.files |= {"small": bytes(1000), "large": bytes(3_000_000)}
    site.unannounced = set() if announced else {"small", "large"}
    connection.most_bytes = 1024 * 1024
    assert connection.download(site.signed("small"), tmp_path / "small") == 1000
    with pytest.raises(AnswerError, match=r"/bucket/large: is larger than 1 MB, and was not fetched"):
        connection.download(site.signed("large"), tmp_path / "large")
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["small"]

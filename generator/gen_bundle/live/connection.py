"""Requests to one server: time-outs and bounds everywhere, one way to ask again, the token to no other host.

Endpoints and their faults were seen on Codabench 1.25, and read in v1.32. Redirects of the API are not
followed: they lead to a log-in page or to another host. Exceptions of `requests` are never passed on, since their texts
hold signed addresses: each request that fails is an AnswerError.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import Any, NoReturn, TypeVar
from urllib.parse import urlsplit

import requests
from urllib3.exceptions import HTTPError, InvalidHeader, ProtocolError, ReadTimeoutError
from urllib3.util import Retry

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import append_line, state_folder
from gen_bundle.live.credentials import Token
from gen_bundle.live.responses import ShapeError, body_in_one_line, check_answer

TIMEOUT_S = (20, 60)  # to connect, and for each wait on an answer
FILE_TIMEOUT_S = (60, 300)
WAITS_S = (0.5, 2, 8)  # before each further try
LONGEST_WAIT_S = 120  # that a server may ask for
LONGEST_ANSWER_S = 300  # from its first byte to its last: bytes that drip never reach the limit of a wait
TOO_MANY = 429
PASSING = (TOO_MANY, 500, 502, 503, 504)  # 500 was seen once, and not again, on reads that are in order
CHUNK = 1024 * 1024
LONGEST_MESSAGE = 65536
MEBIBYTE = 1024 * 1024
MOST_JSON = 256 * MEBIBYTE
MOST_BYTES = 2048 * MEBIBYTE  # of a file, unless the user says otherwise
PAGE_SIZE = 500
MOST_PAGES = 2000
LISTINGS = 3  # of a list that changes while it is read

T = TypeVar("T")
Row = Mapping[str, Any]
"""An object that the server gave."""
Tick = Callable[[int, int], None]
"""Called during a transfer with the bytes done, and the bytes in all (0: unknown)."""


class LiveError(UserError):
    """Raised for what a site did not do or what cannot be asked of it, although the command is right."""

    status = 1


class AnswerError(LiveError):
    """A server refused a request, failed, or did not answer.

    Attributes:
        code: the HTTP status; None where there was no answer.
        passing: whether it may be gone at the next try.
        wait_s: for how many seconds the server asks to wait.
    """

    def __init__(self, message: str, code: int | None = None, *, passing: bool = False, wait_s: float = 0) -> None:
        super().__init__(message)
        self.code, self.passing, self.wait_s = code, passing, wait_s

    @property
    def unclear(self) -> bool:
        """Return whether the server may have done what was asked nevertheless."""
        return self.code is None or self.code >= 500 or self.code < 300


def changes_log() -> Path:
    """Return the file of every request that changed something, and its answer; never a secret."""
    return state_folder() / "changes.log"


@dataclass
class Connection:
    """A server and who asks it; to be used as a context manager. Every request may raise an AnswerError.

    Attributes:
        server: its address, without a last slash.
        log: where requests that change something are noted.
        pause: waits for some seconds.
        say: called with a line for people: each step of a journey, and what takes long.
        tick: called during transfers.
        most_bytes: the size of the largest file that is downloaded.
        log_required: whether nothing is sent that cannot be noted.
    """

    server: str
    token: Token | None = None
    log: Path = field(default_factory=changes_log)
    pause: Callable[[float], None] = time.sleep
    say: Callable[[str], None] = lambda _: None
    tick: Tick = lambda *_: None
    most_bytes: int = MOST_BYTES
    log_required: bool = True

    def __post_init__(self) -> None:
        self._session = requests.Session()

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()

    def get(self, path: str, **query: Any) -> Any:
        """Return the JSON at a path below `api/`, of the type that it must have; asked again where that may help."""
        return self._repeated(lambda: self._asked("GET", path, params=query))

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Change something, and return the JSON of the answer; repeated only where the server had too many requests.

        A few of the server's switches are a GET, which has no body.
        """
        options = {} if method == "GET" else {"json": body or {}}
        return self._repeated(lambda: self._asked(method, path, noted=True, **options), only=TOO_MANY)

    def exchange(self, path: str, body: Any) -> Any:
        """Post what changes nothing, such as a user name and password for a token."""
        return self._asked("POST", path, json=body)

    def rows(self, path: str, **query: Any) -> list[dict[str, Any]]:
        """Return every row of a list, each once, although others may come in between while it is read."""
        for _ in range(LISTINGS):
            unique: dict[Any, dict[str, Any]] = {}
            for page in self.pages(path, **query):
                for row in page["results"]:
                    unique[row["id"]] = row
                expected = page.get("count") or 0
            if len(unique) >= expected:
                return list(unique.values())
        raise AnswerError(f"{path}: {len(unique)} rows arrived, the server counts {expected}. Try again.", 200)

    def pages(self, path: str, **query: Any) -> list[dict[str, Any]]:
        """Return the pages of a list; a single one where the server sends it whole, as it did until 2025.

        The address of the next page is not followed, only its number counted: it may name another host.
        """
        pages: list[dict[str, Any]] = []
        while True:
            answer = self.get(path, **query, page_size=PAGE_SIZE, page=len(pages) + 1)
            page: dict[str, Any] = {"results": answer} if isinstance(answer, list) else answer
            pages.append(page)
            if not page.get("next"):
                return pages
            count = page.get("count") or 0
            rows = page.get("results") or page.get("submissions") or ()  # a leaderboard's rows are its submissions
            if not rows or len(pages) >= min(count, MOST_PAGES):  # a leaderboard may have more rows than are counted
                said = f"{path}: page {len(pages)} should be the last one, the server announces another."
                raise AnswerError(said, 200)

    def put_file(self, url: str, file: Path, content_type: str) -> None:
        """Store a file at a signed address, streamed; the content type is part of the signature.

        It may be repeated: the same bytes at the same place.
        """
        headers = {"Content-Type": content_type}
        if (urlsplit(_shown(url)).hostname or "").endswith(".blob.core.windows.net"):
            headers["x-ms-blob-type"] = "BlockBlob"

        def once() -> None:
            with _WatchedFile(file, self.tick) as body:
                self._request("PUT", url, token=None, noted=True, data=body, headers=headers).close()

        self._repeated(once)

    def download(self, url: str, target: Path) -> int:
        """Fetch a signed address into a file; its size in bytes.

        What an earlier try left beside the target is continued. The number of bytes must be the one that the server
        names, and no more than `most_bytes`.

        Raises:
            AnswerError: as for all requests, and for a file of another size.
        """
        part = target.with_name(f".{target.name}.part")
        target.parent.mkdir(parents=True, exist_ok=True)
        self._repeated(lambda: self._continue(url, part))
        part.replace(target)
        return target.stat().st_size

    def text(self, url: str) -> str:
        """Return the beginning of a text at a signed address."""

        def once() -> str:
            with self._request("GET", url, token=None, allow_redirects=True) as answer:
                return self._beginning("GET", url, answer, LONGEST_MESSAGE)

        return self._repeated(once)

    def looks(self, patience_s: float, first_s: float, longest_s: float) -> Iterator[float]:
        """Look until the patience ends: the seconds waited so far; each pause is twice the last one."""
        waited, wait = 0.0, first_s
        yield waited
        while waited < patience_s:
            self.pause(wait)
            waited, wait = waited + wait, min(2 * wait, longest_s)
            yield waited

    def _repeated(self, once: Callable[[], T], only: int | None = None) -> T:
        """Try up to four times what may succeed at the next one; `only` after that status, where others are not safe.

        It is our own loop, and not the one of urllib3, since that one sees neither a page in place of data nor a body
        that broke off, and cannot continue a download.
        """
        waits = iter(WAITS_S)
        while True:
            try:
                return once()
            except AnswerError as error:
                wait = next(waits, None)
                allowed = error.passing and only in (None, error.code)
                if wait is None or not allowed or error.wait_s > LONGEST_WAIT_S:
                    raise
                seconds = max(wait, error.wait_s)
                self.say(f"{error.messages[0].rstrip('.')}; asking again in {seconds:g} s")
                self.pause(seconds)

    def _continue(self, url: str, part: Path) -> None:
        there = part.stat().st_size if part.exists() else 0
        headers = {"Accept-Encoding": "identity"}
        if there:
            headers["Range"] = f"bytes={there}-"
        try:
            answer = self._request("GET", url, token=None, headers=headers, allow_redirects=True)
        except AnswerError as error:
            if error.code == 416:  # nothing is left to send, or the part belongs to another file
                part.unlink()
                raise AnswerError(f"GET {_shown(url)}: the file was changed meanwhile.", 416, passing=True) from None
            raise
        with answer:
            if answer.status_code != 206:
                there = 0
                part.unlink(missing_ok=True)
            length = answer.headers.get("Content-Length") or ""
            total = there + int(length) if length.isdecimal() else 0
            self._refuse_large(url, part, total)
            with _own_errors("GET", url), part.open("ab") as stream:
                for chunk in answer.iter_content(CHUNK):
                    stream.write(chunk)
                    there += len(chunk)
                    self.tick(there, total)
                    self._refuse_large(url, part, there)
        if length.isdecimal() and there != total:
            raise AnswerError(f"GET {_shown(url)}: {there} bytes arrived, expected {total}.", passing=True)

    def _refuse_large(self, url: str, part: Path, size: int) -> None:
        if size > self.most_bytes:
            part.unlink(missing_ok=True)
            most = f"{self.most_bytes / MEBIBYTE:g} MB"
            raise AnswerError(f"GET {_shown(url)}: is larger than {most}, and was not fetched (--max-size).", 413)

    def _asked(self, method: str, path: str, **options: Any) -> Any:
        url = f"{self.server}/api/{path}"
        with self._request(method, url, token=self.token, **options) as answer:
            code = answer.status_code
            body = self._beginning(method, url, answer, MOST_JSON + 1)
        if len(body) > MOST_JSON:
            raise AnswerError(f"{method} {_shown(url)}: answered with more than {MOST_JSON // MEBIBYTE} MB.", code)
        try:
            value = json.loads(body) if body else None
            check_answer(f"{method} {path}", value)
        except ShapeError as fault:
            said = f"{method} {_shown(url)}: answered with data of another kind: {fault}"
            raise AnswerError(f"{said}. Is {self.server} a Codabench site?", code) from None
        except (ValueError, RecursionError):
            said = f"{method} {_shown(url)}: answered {code} with a page instead of data"
            page = self._clean(body_in_one_line(body[:LONGEST_MESSAGE]))
            raise AnswerError(f"{said}: {page}. Is {self.server} a Codabench site?", code, passing=True) from None
        return value

    def _beginning(self, method: str, url: str, answer: requests.Response, most: int) -> str:
        """Return the first bytes of an answer's body, as text."""
        found = bytearray()
        latest = time.monotonic() + LONGEST_ANSWER_S
        with _own_errors(method, url):
            # `iter_content` would wait until a chunk is full
            while len(found) < most and (part := answer.raw.read1(CHUNK, decode_content=True)):
                found += part
                if time.monotonic() > latest:
                    raise requests.exceptions.ReadTimeout
        return found[:most].decode("utf-8", "replace")

    def _request(
        self, method: str, url: str, token: Token | None, *, noted: bool = False, **options: Any
    ) -> requests.Response:
        """Return a successful answer, to be closed; `noted` before it is sent, and with what came of it."""
        waits = TIMEOUT_S if token else FILE_TIMEOUT_S
        settings: dict[str, Any] = {"allow_redirects": False, "timeout": waits, "stream": True} | options

        def authorised(request: requests.PreparedRequest) -> requests.PreparedRequest:
            if token is not None:
                request.headers["Authorization"] = f"Token {token.text}"
            return request  # without a token nothing, where `requests` would look into ~/.netrc

        if noted:
            self._note(f"{method} {_shown(url)} sending", required=self.log_required)
        outcome = "no answer"
        try:
            with _own_errors(method, url):
                answer = self._session.request(method, url, auth=authorised, **settings)
            outcome = str(answer.status_code)
        finally:
            if noted:  # the answer counts more than its line
                self._note(f"{method} {_shown(url)} {outcome}", required=False)
        if answer.status_code >= 300:
            with answer:
                self._refuse(method, url, answer)
        return answer

    def _note(self, line: str, *, required: bool) -> None:
        try:
            append_line(self.log, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}")
        except OSError as error:
            if required:
                raise UserError(f"{self.log}: the log of changes cannot be written ({error.strerror}).") from None

    def _refuse(self, method: str, url: str, answer: requests.Response) -> NoReturn:
        code = answer.status_code
        if code < 400:
            to = urlsplit(_shown(answer.headers.get("Location") or ""))
            where, hint = self.server, "Is the token right?"
            if to.netloc and f"{to.scheme}://{to.netloc}" != self.server:
                where = f"{to.scheme}://{to.netloc}"
                hint = f"If that is the site: --server {where}"
            raise AnswerError(f"{method} {_shown(url)}: leads to {where}{to.path}, and was not followed. {hint}", code)
        said = ""
        with suppress(AnswerError):  # the code says enough where the body broke off
            said = self._clean(body_in_one_line(self._beginning(method, url, answer, LONGEST_MESSAGE)))
        message = f"{method} {_shown(url)}: answered {code} {answer.reason or ''}".rstrip()
        if said:
            message += f": {said}"
        if self.token and said == "Invalid token.":
            message += f" It comes from {self.token.source}."
        raise AnswerError(message, code, passing=code in PASSING, wait_s=_wait_asked_for(answer.headers))

    def _clean(self, text: str) -> str:
        return text.replace(self.token.text, "(the token)") if self.token else text


class _WatchedFile(FileIO):
    """A file as the body of a request, whose reading is watched."""

    def __init__(self, file: Path, tick: Tick) -> None:
        super().__init__(file)
        self._size, self._tick = file.stat().st_size, tick

    def read(self, size: int | None = -1) -> bytes:
        block = super().read(size)
        self._tick(self.tell(), self._size)
        return block


def _wait_asked_for(headers: Mapping[str, str]) -> float:
    """Return the seconds that `Retry-After` gives, as a number or as a date; 0 without them."""
    try:
        return float(Retry(respect_retry_after_header=True).parse_retry_after(headers.get("Retry-After", "0")))
    except (InvalidHeader, ValueError):
        return 0


def _shown(url: str) -> str:
    """Return an address without its query, which may be signed."""
    try:
        return urlsplit(url)._replace(query="", fragment="").geturl()
    except ValueError:
        return "(invalid address)"


@contextmanager
def _own_errors(method: str, url: str) -> Iterator[None]:
    """Turn what `requests` and urllib3 raise into our errors, and a ValueError where an address is invalid."""
    try:
        yield
    except requests.exceptions.SSLError:
        raise AnswerError(
            f"{_shown(url)}: no trusted TLS connection can be made (is its certificate valid?). Nothing was sent."
        ) from None
    except ValueError:
        raise AnswerError(f"{method} {_shown(url)}: is not a valid address, or leads to one.") from None
    except (requests.RequestException, HTTPError) as error:
        reason = "cannot be reached, or the connection broke"
        if isinstance(error, requests.exceptions.Timeout | ReadTimeoutError):
            reason = "no answer in time"
        elif isinstance(error, requests.exceptions.ChunkedEncodingError | ProtocolError):
            reason = "the connection broke"
        raise AnswerError(f"{method} {_shown(url)}: {reason}.", passing=True) from None

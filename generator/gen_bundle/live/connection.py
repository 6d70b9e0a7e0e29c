"""Requests to one server: time-outs everywhere, repeated only where repeating is safe, the token to no other host.

Endpoints and their faults were seen on Codabench 1.25, and read in v1.32. Redirects of the API are not
followed: they lead to a log-in page or to another host. Exceptions of `requests` are never passed on, since their texts
hold signed addresses: each request that fails is an AnswerError.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import requests

from gen_bundle.errors import UserError
from gen_bundle.live.answers import body_in_one_line
from gen_bundle.live.change_log import ChangeLog
from gen_bundle.live.credentials import Token
from gen_bundle.live.request_parts import Tick, TokenHeader, WatchedFile

TIMEOUT_S = (20, 60)  # to connect, and for each wait on an answer
FILE_TIMEOUT_S = (60, 300)
WAITS_S = (0.5, 2, 8)  # before each further try
LONGEST_WAIT_S = 120  # that a server may ask for
TOO_MANY = 429
BUSY = (TOO_MANY, 502, 503, 504)
CHUNK = 1024 * 1024

T = TypeVar("T")


class AnswerError(UserError):
    """A server refused a request, failed, or did not answer.

    Attributes:
        code: the HTTP status; None where there was no answer.
    """

    status = 1

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code

    @property
    def unclear(self) -> bool:
        """Whether the server may have done what was asked nevertheless."""
        return self.code is None or self.code >= 500


@dataclass
class Connection:
    """A server and who asks it; to be used as a context manager. Every request may raise an AnswerError.

    Attributes:
        server: its address, without a last slash.
        log: where changing requests are noted.
        pause: waits for some seconds.
    """

    server: str
    token: Token | None = None
    log: ChangeLog = field(default_factory=ChangeLog)
    pause: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        self._session = requests.Session()

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()

    def get(self, path: str, **query: Any) -> Any:
        """The JSON at a path below `api/`; asked again when the server is busy or the connection breaks."""
        return self._repeated(lambda: self._asked("GET", path, params=query))

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Change something, and return the JSON of the answer; repeated only where the server had too many requests.

        A few of the server's switches are a GET, which has no body.

        Raises:
            AnswerError: as for all requests; `unclear` where the change may have been made nevertheless.
        """

        def once() -> Any:
            with self._noted(method, self._url(path)) as note:
                return self._asked(method, path, note, json=None if method == "GET" else body or {})

        return self._repeated(once, safe=lambda busy: busy.code == TOO_MANY)

    def exchange(self, path: str, body: Any) -> Any:
        """Post what changes nothing, such as a user name and password for a token."""
        return self._asked("POST", path, json=body)

    def put_file(self, url: str, file: Path, content_type: str, tick: Tick = lambda *_: None) -> None:
        """Store a file at a signed address, streamed; the content type is part of the signature.

        It may be repeated: the same bytes at the same place.
        """
        headers = {"Content-Type": content_type}
        if (urlsplit(_shown(url)).hostname or "").endswith(".blob.core.windows.net"):
            headers["x-ms-blob-type"] = "BlockBlob"

        def once() -> None:
            with self._noted("PUT", url) as note, file.open("rb") as stream:
                body = WatchedFile(stream, file.stat().st_size, tick)
                answer = self._request("PUT", url, token=None, data=body, headers=headers)
                note(str(answer.status_code))
                self._refused("PUT", url, answer)

        self._repeated(once)

    def download(self, url: str, target: Path, tick: Tick = lambda *_: None) -> int:
        """Fetch a signed address into a file; its size in bytes.

        What an earlier try left beside the target is continued. The number of bytes must be the one that the server
        names.

        Raises:
            AnswerError: as for all requests, and for a file of another size.
        """
        part = target.with_name(f".{target.name}.part")
        target.parent.mkdir(parents=True, exist_ok=True)
        self._repeated(lambda: self._continue(url, part, tick))
        part.replace(target)
        return target.stat().st_size

    def text(self, url: str, most: int = 65536) -> str:
        """The beginning of a text at a signed address."""

        def once() -> str:
            with self._request("GET", url, token=None, stream=True, allow_redirects=True) as answer:
                self._refused("GET", url, answer)
                with _own_errors("GET", url):
                    return next(answer.iter_content(most), b"").decode("utf-8", "replace")

        return self._repeated(once)

    def looks(self, patience_s: float, first_s: float, longest_s: float) -> Iterator[float]:
        """The seconds waited so far, for each look until the patience ends; each pause is twice the last one."""
        waited, wait = 0.0, first_s
        yield waited
        while waited < patience_s:
            self.pause(wait)
            waited, wait = waited + wait, min(2 * wait, longest_s)
            yield waited

    def _repeated(self, once: Callable[[], T], safe: Callable[["_BusyError"], bool] = lambda _: True) -> T:
        """Try up to four times what is safe to repeat."""
        waits = iter(WAITS_S)
        while True:
            try:
                return once()
            except _BusyError as busy:
                wait = next(waits, None)
                if wait is None or busy.retry_after > LONGEST_WAIT_S or not safe(busy):
                    raise
                self.pause(max(wait, busy.retry_after))

    def _continue(self, url: str, part: Path, tick: Tick) -> None:
        there = part.stat().st_size if part.exists() else 0
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={there}-"} if there else {})
        answer = self._request("GET", url, token=None, headers=headers, stream=True, allow_redirects=True)
        with answer:
            if answer.status_code == 416:  # nothing is left to send, or the part belongs to another file
                part.unlink()
                raise _BusyError(f"GET {_shown(url)}: the file was changed meanwhile.", 416)
            self._refused("GET", url, answer)
            if answer.status_code != 206:
                there = 0
            length = answer.headers.get("Content-Length")
            total = there + int(length) if length and length.isdecimal() else 0
            with _own_errors("GET", url), part.open("ab" if there else "wb") as stream:
                for chunk in answer.iter_content(CHUNK):
                    stream.write(chunk)
                    there += len(chunk)
                    tick(there, total)
        if length and there != total:
            raise _BusyError(f"GET {_shown(url)}: {there} bytes arrived, expected {total}.", None)

    def _asked(self, method: str, path: str, note: Callable[[str], None] = lambda _: None, **options: Any) -> Any:
        url = self._url(path)
        answer = self._request(method, url, token=self.token, **options)
        note(str(answer.status_code))
        self._refused(method, url, answer)
        if not answer.content:
            return None
        try:
            return answer.json()
        except (ValueError, RecursionError):
            raise AnswerError(
                f"{method} {_shown(url)}: answered {answer.status_code} with a page instead of data: "
                f"{self._clean(body_in_one_line(answer.text))}. Is {self.server} a Codabench site?",
                answer.status_code,
            ) from None

    def _url(self, path: str) -> str:
        return f"{self.server}/api/{path}"

    def _request(self, method: str, url: str, token: Token | None, **options: Any) -> requests.Response:
        waits = FILE_TIMEOUT_S if token is None else TIMEOUT_S
        settings: dict[str, Any] = {"allow_redirects": False, "timeout": waits} | options
        with _own_errors(method, url):
            return self._session.request(method, url, auth=TokenHeader(token), **settings)

    def _refused(self, method: str, url: str, answer: requests.Response) -> None:
        """Raise where an answer is not a success."""
        code = answer.status_code
        if code < 300:
            return
        if code < 400:
            to = urlsplit(_shown(answer.headers.get("Location") or ""))
            where = f"{to.scheme}://{to.netloc}" if to.netloc else self.server
            hint = "Is the token right?" if where == self.server else f"If that is the site: --server {where}"
            raise AnswerError(f"{method} {_shown(url)}: leads to {where}{to.path}, and was not followed. {hint}", code)
        said = ""
        with suppress(AnswerError), _own_errors(method, url):  # the code says enough where the body broke off
            said = self._clean(body_in_one_line(answer.text))
        message = f"{method} {_shown(url)}: answered {code} {answer.reason or ''}".rstrip()
        message += f": {said}" if said else ""
        if self.token and said == "Invalid token.":
            message += f" It comes from {self.token.source}."
        if code in BUSY:
            raise _BusyError(message, code, answer.headers.get("Retry-After", ""))
        raise AnswerError(message, code)

    def _clean(self, text: str) -> str:
        return text if self.token is None else text.replace(self.token.text, "(the token)")

    @contextmanager
    def _noted(self, method: str, url: str) -> Iterator[Callable[[str], None]]:
        """Note a request before it is sent, so that none is sent without a line, and then its answer."""
        self.log.write(method, _shown(url), "sending")
        outcome = ["no answer"]
        try:
            yield lambda status: outcome.__setitem__(0, status)
        finally:
            with suppress(UserError):  # the answer counts more than its line
                self.log.write(method, _shown(url), outcome[0])


class _BusyError(AnswerError):
    """A request that may be tried again, where it is safe to; after how many seconds the server says."""

    def __init__(self, message: str, code: int | None, retry_after: str = "") -> None:
        super().__init__(message, code)
        self.retry_after = int(retry_after) if retry_after.isdecimal() else 0


def _shown(url: str) -> str:
    """An address without its query, which may be signed."""
    try:
        return urlsplit(url)._replace(query="", fragment="").geturl()
    except ValueError:
        return "(invalid address)"


@contextmanager
def _own_errors(method: str, url: str) -> Iterator[None]:
    """Turn what `requests` raises into our errors: its own exceptions, and a ValueError where an address is invalid."""
    try:
        yield
    except requests.exceptions.SSLError:
        raise AnswerError(
            f"{_shown(url)}: no trusted TLS connection can be made (is its certificate valid?). Nothing was sent."
        ) from None
    except ValueError:
        raise AnswerError(f"{method} {_shown(url)}: is not a valid address, or leads to one.") from None
    except requests.RequestException as error:
        raise _BusyError(f"{method} {_shown(url)}: {_reason(error)}.", None) from None


def _reason(error: requests.RequestException) -> str:
    if isinstance(error, requests.exceptions.Timeout):
        return "no answer in time"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection broke"
    return "cannot be reached, or the connection broke"

"""Serves a site (`tests/live_server.py`) on two ports of the loopback address: the API, and the store of files.

The ports are the same from one test to the next. A connection is kept for further requests, as the real server keeps
it (uvicorn does), and belongs to the site that was served when it was made.

For tests of what is asked and answered, and not of how it travels, `site_here` answers in the test's own process.
"""

import http.server
import io
import itertools
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Thread
from types import MappingProxyType
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

import urllib3
from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter

from tests.live_runs import AnswerError
from tests.live_server import Site, answer_with_faults


@contextmanager
def serve_site(site: Site) -> Iterator[Site]:
    """Serve a site; `site.address` and `site.store` are where."""
    ports = FREE.pop() if FREE else (_Port(_Api), _Port(_Store))
    for port in ports:
        port.site = site
    site.address, site.store = (f"http://127.0.0.1:{port.server_port}" for port in ports)
    try:
        yield site
    finally:
        FREE.append(ports)


@contextmanager
def site_here(site: Site) -> Iterator[Site]:
    """As `serve_site`, but what `requests` sends to this site does not leave the process: in a quarter of the time."""
    ports: dict[int, type[_Handler]] = {next(FREE_PORTS): _Api, next(FREE_PORTS): _Store}
    site.address, site.store = (f"http://127.0.0.1:{port}" for port in ports)
    send = HTTPAdapter.send

    def answered(adapter: HTTPAdapter, request: PreparedRequest, **options: Any) -> Response:
        to = urlsplit(request.url or "")
        if to.port not in ports or to.scheme != "http":
            return send(adapter, request, **options)
        return adapter.build_response(request, _answered(ports[to.port], site, request))

    with patch.object(HTTPAdapter, "send", answered):
        yield site


FREE_PORTS = itertools.cycle(range(100, 400))  # where nobody listens; a site may be answered for within another's time


def _answered(kind: "type[_Handler]", site: Site, request: PreparedRequest) -> urllib3.HTTPResponse:
    handler = kind.__new__(kind)  # without a connection
    body = request.body or b""
    sent = body if isinstance(body, bytes) else b"".join(body)  # type: ignore[arg-type]  # a file in blocks
    request.headers["Content-Length"] = str(len(sent))
    handler.site, handler.command, handler.path = site, request.method or "", request.path_url
    handler.headers, handler.rfile = request.headers, io.BytesIO(sent)  # type: ignore[assignment]
    replied: list[urllib3.HTTPResponse] = []

    def reply(code: int, content: bytes, kind: str, more: Mapping[str, str] = MappingProxyType({})) -> None:
        headers = {"Content-Type": kind, "Content-Length": str(len(content)), **more}
        headers = {name: value for name, value in headers.items() if value}
        reason = http.HTTPStatus(code).phrase
        answer = urllib3.HTTPResponse(io.BytesIO(content), headers, code, reason=reason, preload_content=False)
        replied.append(answer)

    handler.reply = reply  # type: ignore[method-assign, assignment]
    getattr(handler, f"do_{handler.command}")()
    return replied[0]


class _Port(http.server.ThreadingHTTPServer):
    site: Site

    def __init__(self, handler: type[http.server.BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        Thread(target=self.serve_forever, daemon=True).start()


FREE: list[tuple[_Port, _Port]] = []


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer is sent as a whole, and the rest of a long one at once
    disable_nagle_algorithm = True
    server: _Port

    def setup(self) -> None:
        super().setup()
        self.site = self.server.site

    def handle(self) -> None:
        with suppress(ConnectionError):  # somebody who did not wait
            super().handle()

    def heard(self, address: str) -> bytes:
        """Note the request; its body."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.site.asked.append((address, self.command, self.path, self.headers.get("Authorization"), body))
        return body

    def reply(self, code: int, body: bytes, kind: str, more: Mapping[str, str] = MappingProxyType({})) -> None:
        """Answer; with less than the length among the headers, the connection breaks off."""
        headers = {"Content-Type": kind, "Content-Length": str(len(body)), **more}
        self.send_response_only(code)
        for name, value in headers.items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = headers["Content-Length"] != str(len(body))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 — the base class's name
        pass


class _Api(_Handler):
    def do_GET(self) -> None:
        body = self.heard(self.site.address)
        headers: dict[str, str] = {}
        try:
            answer = answer_with_faults(self.site, self.command, self.path, self.headers.get("Authorization"), body)
            code = 204 if answer is None else 201 if self.command == "POST" else 200
        except AnswerError as other:
            code, answer, headers = other.code, other.body, other.headers
        if isinstance(answer, bytes):
            self.reply(code, answer, "text/html", headers)
        else:
            self.reply(code, b"" if answer is None else json.dumps(answer).encode(), "application/json", headers)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 — the base class's names


class _Store(_Handler):
    @property
    def key(self) -> str:
        return urlsplit(self.path).path.rpartition("/")[2]

    def do_PUT(self) -> None:
        body = self.heard(self.site.store)
        if self.headers.get("Content-Type") != "application/zip" or self.headers.get("Authorization"):
            self.reply(403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>", "application/xml")
            return
        self.site.files[self.key] = body
        self.reply(200, b"", "application/xml")

    def do_GET(self) -> None:
        self.heard(self.site.store)
        content = self.site.files.get(self.key)
        if content is None:
            self.reply(self.site.lost, b"<Error><Code>NoSuchKey</Code></Error>", "application/xml")
            return
        asked = self.headers.get("Range") if not self.site.whole else None
        start = int((asked or "bytes=0-").removeprefix("bytes=").rstrip("-"))
        rest, length = content[start:], str(len(content) - start)
        if self.site.cut_short:
            self.site.cut_short -= 1
            rest = rest[: len(rest) // 2]
        if self.key in self.site.unannounced:
            self.reply(200, rest, "application/zip", {"Content-Length": ""})
        else:
            self.reply(206 if start else 200, rest, "application/zip", {"Content-Length": length})

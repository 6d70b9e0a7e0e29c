"""An image registry on this machine, in memory: just enough of the OCI distribution specification to push and pull."""

import contextlib
import hashlib
import http.server
import itertools
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit


class Registry:
    """What was pushed.

    Attributes:
        address: HOST:PORT, as it stands in image names; engines need no TLS for the loopback address.
        blobs: digest → content.
        manifests: (name, tag or digest) → (media type, content).
    """

    def __init__(self) -> None:
        self.address = ""
        self.blobs: dict[str, bytes] = {}
        self.manifests: dict[tuple[str, str], tuple[str, bytes]] = {}
        self.uploads: dict[str, bytes] = {}
        self.numbers = itertools.count()


@contextlib.contextmanager
def serve_registry() -> Iterator[Registry]:
    """Serve an empty registry on the loopback address."""
    registry = Registry()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            name, kind, reference = self._route()
            if kind == "":
                self._reply(200)
            elif kind == "blobs" and reference in registry.blobs:
                self._reply(200, registry.blobs[reference], {"Docker-Content-Digest": reference})
            elif kind == "manifests" and (name, reference) in registry.manifests:
                media_type, content = registry.manifests[name, reference]
                self._reply(200, content, {"Content-Type": media_type, "Docker-Content-Digest": digest_of(content)})
            else:
                self._reply(404)

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_POST(self) -> None:
            name, _, _ = self._route()
            upload = str(next(registry.numbers))
            registry.uploads[upload] = b""
            self._reply(202, b"", {"Location": f"/v2/{name}/blobs/uploads/{upload}", "Docker-Upload-UUID": upload})

        def do_PATCH(self) -> None:
            upload = urlsplit(self.path).path.rpartition("/")[2]
            registry.uploads[upload] += self._body()
            size = len(registry.uploads[upload])
            self._reply(202, b"", {"Location": self.path, "Range": f"0-{size - 1}", "Docker-Upload-UUID": upload})

        def do_PUT(self) -> None:
            name, kind, reference = self._route()
            content = self._body()
            if kind == "manifests":
                stored = self.headers["Content-Type"], content
                registry.manifests[name, reference] = registry.manifests[name, digest_of(content)] = stored
                self._reply(201, b"", {"Docker-Content-Digest": digest_of(content)})
                return
            upload = urlsplit(self.path).path.rpartition("/")[2]
            expected = parse_qs(urlsplit(self.path).query)["digest"][0]
            registry.blobs[expected] = registry.uploads.pop(upload) + content
            assert digest_of(registry.blobs[expected]) == expected
            self._reply(201, b"", {"Docker-Content-Digest": expected})

        def _route(self) -> tuple[str, str, str]:
            """Name, kind and reference of `/v2/NAME/KIND/REFERENCE`."""
            parts = urlsplit(self.path).path.removeprefix("/v2/").split("/")
            for kind in ("blobs", "manifests"):
                if kind in parts:
                    place = parts.index(kind)
                    return "/".join(parts[:place]), kind, "/".join(parts[place + 1 :])
            return "", "", ""

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            content = bytearray()
            while size := int(self.rfile.readline(), 16):
                content += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return bytes(content)

        def _reply(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for key, value in (headers or {}).items():
                self.send_header(key, value)
            self.send_header("Docker-Distribution-Api-Version", "registry/2.0")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 — the base class's name
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        registry.address = f"127.0.0.1:{server.server_port}"
        try:
            yield registry
        finally:
            server.shutdown()
            thread.join()


def digest_of(content: bytes) -> str:
    """The name of a content."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"

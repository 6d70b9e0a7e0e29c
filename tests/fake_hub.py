"""A hub of two routes on this machine, in place of the Hugging Face hub: what a model has, and its files."""

import contextlib
import hashlib
import http.server
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class FakeHub:
    """The hub's content, and what was asked of it.

    Attributes:
        models: repository → its files.
        revision: the commit that every repository is at.
        licence: what every model card states.
        stored_by_digest: names of the files whose sha256 the hub knows (large files, as on the real one).
        cut_short: how many of the next downloads end in the middle.
        asked: paths of all requests.
    """

    models: dict[str, dict[str, bytes]]
    revision: str = "0123456789abcdef0123456789abcdef01234567"
    licence: str | None = "mit"
    stored_by_digest: tuple[str, ...] = ("model.safetensors", "pytorch_model.bin", "spm.model")
    cut_short: int = 0
    asked: list[str] = field(default_factory=list)
    authorization: list[str | None] = field(default_factory=list)
    address: str = ""

    def answer(self, path: str) -> bytes | None:
        """The body for a path, or None for 404."""
        route, _, query = path.partition("?")
        for name, files in self.models.items():
            for revision in (self.revision, "main"):
                if route == f"/api/models/{name}/revision/{revision}":
                    return json.dumps(self._described(name, files, "blobs=true" in query.lower())).encode()
                if route.startswith(f"/{name}/resolve/{revision}/"):
                    return files.get(route.removeprefix(f"/{name}/resolve/{revision}/"))
        return None

    def _described(self, name: str, files: dict[str, bytes], blobs: bool) -> dict[str, Any]:
        siblings = []
        for file, content in files.items():
            entry: dict[str, Any] = {"rfilename": file}
            if blobs:
                entry |= {"size": len(content), "blobId": hashlib.sha1(content).hexdigest()}
                if file in self.stored_by_digest:
                    digest = hashlib.sha256(content).hexdigest()
                    entry["lfs"] = {"sha256": digest, "size": len(content), "pointerSize": 130}
            siblings.append(entry)
        card = {"license": self.licence} if self.licence else {}
        return {"id": name, "modelId": name, "sha": self.revision, "siblings": siblings, "cardData": card}


@contextlib.contextmanager
def serve(hub: FakeHub) -> Iterator[FakeHub]:
    """Serve the hub on the loopback address; `hub.address` is where."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hub.asked.append(self.path)
            hub.authorization.append(self.headers.get("Authorization"))
            body = hub.answer(self.path)
            if body is None:
                self.send_error(404)
                return
            start = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").rstrip("-"))
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(body) - start))
            self.end_headers()
            rest = body[start:]
            if hub.cut_short and "/resolve/" in self.path:
                hub.cut_short -= 1
                rest = rest[: len(rest) // 2]
            self.wfile.write(rest)
            self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 — the base class's name
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        hub.address = f"http://127.0.0.1:{server.server_port}"
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()

"""Serves a folder on this machine alone."""

import functools
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class _SilentHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that the base class gives it
        return


def local_server(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of a folder at 127.0.0.1, on a free port where `port` is 0; `serve_forever` runs it."""
    return ThreadingHTTPServer(("127.0.0.1", port), functools.partial(_SilentHandler, directory=str(folder)))

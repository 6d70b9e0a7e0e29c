"""A socket before the container engine's own, to be cut while a dry run is under way."""

import os
import selectors
import socket
import tempfile
import threading
from pathlib import Path
from types import TracebackType


class EngineProxy:
    """Passes bytes between a new socket and the engine at DOCKER_HOST, until it is cut."""

    def __init__(self) -> None:
        # Not below pytest's folder: the path of a socket may have 108 characters.
        self._folder = Path(tempfile.mkdtemp(prefix="cut-"))
        self._folder.chmod(0o755)
        self.path = self._folder / "engine.sock"
        self._engine = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(self.path))
        self.path.chmod(0o777)
        self._listening.listen()
        self._wake, self._woken = socket.socketpair()
        self._thread = threading.Thread(target=self._pass_on, daemon=True)

    @property
    def host(self) -> str:
        return f"unix://{self.path}"

    def __enter__(self) -> "EngineProxy":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cut()
        self._wake.close()
        self._woken.close()
        self.path.unlink(missing_ok=True)
        self._folder.rmdir()

    def cut(self) -> None:
        """Close every connection and take no more."""
        if self._thread.is_alive():
            self._wake.send(b"x")
            self._thread.join()

    def _pass_on(self) -> None:
        partner: dict[socket.socket, socket.socket] = {}
        with selectors.DefaultSelector() as selector:
            selector.register(self._listening, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while True:
                ready = [key.fileobj for key, _ in selector.select()]
                if self._woken in ready:
                    break
                for one in ready:
                    assert isinstance(one, socket.socket)
                    if one is self._listening:
                        client, _ = one.accept()
                        engine = socket.socket(socket.AF_UNIX)
                        engine.connect(self._engine)
                        partner |= {client: engine, engine: client}
                        selector.register(client, selectors.EVENT_READ)
                        selector.register(engine, selectors.EVENT_READ)
                    elif one in partner and not _moved(one, partner[one]):
                        for end in (one, partner[one]):
                            selector.unregister(end)
                            end.close()
                            del partner[end]
        for end in (*partner, self._listening):
            end.close()


def _moved(source: socket.socket, target: socket.socket) -> bool:
    try:
        chunk = source.recv(65536)
        target.sendall(chunk)
    except OSError:
        return False
    return bool(chunk)

"""Takes this machine's pip settings into an image build, as a secret file that leaves no trace in the image.

Settings that name a folder mean nothing inside a build: a folder of wheels is served on the loopback address while the
build runs. Certificates are those of the base image.
"""

import contextlib
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from gen_bundle.local_server import local_server
from gen_bundle.starting import pip_environment, python

PASSED_ON = ("index-url", "extra-index-url", "trusted-host", "default-timeout", "timeout", "find-links")


@contextlib.contextmanager
def pip_settings(folder: Path) -> Iterator[Path | None]:
    """Write `folder/pip.conf` for a build; None where this machine's pip has no settings to pass on."""
    with contextlib.ExitStack() as servers:
        lines = []
        for key, value in machine_settings().items():
            values = [place for word in value.split() if (place := _reachable(key, word, servers))]
            if values:
                lines.append(f"{key.removeprefix('default-')} = {' '.join(values)}")
        if not lines:
            yield None
            return
        target = folder / "pip.conf"
        target.write_text("\n".join(["[global]", *lines, ""]), encoding="utf-8")
        target.chmod(0o600)
        yield target


def machine_settings() -> dict[str, str]:
    """The settings to pass on, as `pip config list` gives them: those of the environment come before those of files."""
    settings: dict[str, str] = {}
    listed = [line.partition("=") for line in _pip_config()]
    for section in (":env:", "install", "global"):
        for name, _, value in listed:
            key = name.removeprefix(f"{section}.")
            if key in PASSED_ON:
                settings.setdefault(key, value.strip().strip("'\""))
    return settings


def _pip_config() -> list[str]:
    pip = shutil.which("pip") or shutil.which("pip3")
    for command in (python("-m", "pip"), [pip] if pip else []):
        if command:
            done = subprocess.run([*command, "config", "list"], capture_output=True, text=True, env=pip_environment())
            if done.returncode == 0:
                return done.stdout.splitlines()
    return []


def _reachable(key: str, value: str, servers: contextlib.ExitStack) -> str | None:
    """The value as a build can use it: a folder of wheels becomes an address; an index kept in a folder is left out."""
    address = urlsplit(value)
    if address.scheme in ("http", "https") or key not in ("find-links", "index-url", "extra-index-url"):
        return value
    folder = Path(unquote(address.path) if address.scheme == "file" else value)
    if key != "find-links" or not folder.is_dir():
        return None
    return servers.enter_context(_served(folder))


@contextlib.contextmanager
def _served(folder: Path) -> Iterator[str]:
    """The address of a folder, served on the loopback address."""
    with local_server(folder) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()

"""Which server is meant, and its token: from a file, the environment, or what `gen-bundle login` wrote."""

import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import read_json, write_json

PUBLIC_SITE = "https://www.codabench.org"
TOKEN_VARIABLE = "CODABENCH_TOKEN"  # noqa: S105 — a variable's name
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Token:
    """A token, and where it comes from; what is printed of it is the second."""

    source: str
    text: str = field(repr=False)


def server_address(text: str) -> str:
    """Return the address of a server without its last slash.

    Raises:
        UserError: it is not the root of a site, or the token would travel in the clear.
    """
    given = text if "//" in text else f"https://{text}"
    try:
        parts = urlsplit(given)
        host, user, _ = parts.hostname, parts.username or parts.password, parts.port
    except ValueError:
        host = user = None
        parts = urlsplit("")
    if user:
        raise UserError(
            "--server: holds a user name or password. Expected the site alone; log in with: gen-bundle login"
        )
    if not host or parts.scheme not in ("https", "http") or parts.query or parts.fragment:
        raise UserError(f"--server {text}: is not a site. Expected an address such as {PUBLIC_SITE}.")
    if parts.scheme == "http" and host not in LOOPBACK:
        raise UserError(f"--server {text}: the token would travel unencrypted. Expected https://{host}.")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def find_token(server: str, token_file: Path | None) -> Token:
    """Return the token for a server: from `--token-file`, else CODABENCH_TOKEN, else the file of `gen-bundle login`.

    Raises:
        UserError: there is none, it cannot be a token, or the file of `gen-bundle login` is open to others.
    """
    if token_file is not None:
        try:
            return _token(str(token_file), token_file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not a text"
            raise UserError(f"{token_file}: cannot be read ({reason}). Expected a file with a token.") from None
    if text := os.environ.get(TOKEN_VARIABLE):
        return _token(TOKEN_VARIABLE, text)
    saved = _saved()
    if server not in saved:
        site = "" if server == PUBLIC_SITE else f" --server {server}"
        raise UserError(
            f"no token for {server}. Run gen-bundle login{site}, set {TOKEN_VARIABLE}, or pass --token-file FILE."
        )
    return _token(str(tokens_file()), saved[server])


def save_token(server: str, text: str) -> Path:
    """Keep the token of a server in a file that only its owner can read; returns the file."""
    target = tokens_file()
    write_json(target, _saved() | {server: text})
    return target


def tokens_file() -> Path:
    """Return where `gen-bundle login` keeps tokens, by server."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "gen-bundle" / "tokens.json"


def _saved() -> dict[str, str]:
    file = tokens_file()
    if file.exists() and os.name == "posix" and stat.S_IMODE(file.stat().st_mode) & 0o077:
        raise UserError(f"{file}: other users can read it. Run: chmod 600 {file}")
    advice = "Delete it, and run gen-bundle login again."
    saved: dict[str, str] = read_json(file, dict[str, str], advice, missing={})
    return saved


def _token(source: str, text: str) -> Token:
    text = text.strip()
    if not re.fullmatch(r"[A-Za-z0-9._~+/=-]+", text):
        raise UserError(f"{source}: does not hold a token. Expected letters and digits in one line.")
    return Token(source, text)

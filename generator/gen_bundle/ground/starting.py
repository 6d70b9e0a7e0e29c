"""How other programs are started: no module of the current folder is imported, and no secret goes along."""

import os
import site
import sys
from pathlib import Path

from scoring_kit.base.environment import kept

PIP_PREFIX = "PIP_"
NETWORK = frozenset(
    [
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
        *("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_CACHE_HOME"),
    ]
)
"""With pip's own settings, what pip needs besides."""


def python(*arguments: str | Path, keeps_bytecode: bool = False) -> list[str]:
    """Return the command of this Python, without imports from the current folder, a script's own, or the user's site.

    The user's site stays where gen-bundle itself is installed there. Only with `keeps_bytecode`, for what runs none but
    the tool's own code, are modules' `__pycache__` written, and not where this Python does not write them either.
    """
    ours = Path(__file__).resolve()
    in_user_site = bool(site.ENABLE_USER_SITE) and ours.is_relative_to(Path(site.getusersitepackages()).resolve())
    no_user_site = [] if in_user_site else ["-s"]
    no_bytecode = [] if keeps_bytecode and not sys.dont_write_bytecode else ["-B"]
    return [sys.executable, "-P", *no_user_site, *no_bytecode, "-X", "utf8", *(str(argument) for argument in arguments)]


def environment() -> dict[str, str]:
    """Return what a program sees of our environment (`scoring_kit.base.environment`)."""
    return kept(os.environ)


def pip_environment() -> dict[str, str]:
    """Return what pip sees of it: its own settings, proxies and certificates, too."""
    passed = {name: value for name, value in os.environ.items() if name.startswith(PIP_PREFIX) or name in NETWORK}
    return environment() | passed

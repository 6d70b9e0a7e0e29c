"""Parts of requests: the token as a header, and a file as a body that is streamed and watched."""

from collections.abc import Callable, Iterator
from typing import IO

import requests
from requests.auth import AuthBase

from gen_bundle.live.credentials import Token

BLOCK = 1024 * 1024

Tick = Callable[[int, int], None]
"""Hears of a transfer: bytes done, and bytes in all (0: unknown)."""


class TokenHeader(AuthBase):
    """The token as the API takes it; without one nothing, where `requests` would look into ~/.netrc."""

    def __init__(self, token: Token | None) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token is not None:
            request.headers["Authorization"] = f"Token {self._token.text}"
        return request


class WatchedFile:
    """A file as the body of a request, whose reading is watched; its length makes `requests` stream it."""

    def __init__(self, stream: IO[bytes], size: int, tick: Tick) -> None:
        self._stream, self._size, self._tick, self._read = stream, size, tick, 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[bytes]:
        return iter(lambda: self.read(BLOCK), b"")

    def read(self, amount: int = -1) -> bytes:
        block = self._stream.read(amount)
        self._read += len(block)
        self._tick(self._read, self._size)
        return block

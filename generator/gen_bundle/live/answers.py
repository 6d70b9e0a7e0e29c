"""What servers answer, as text and lists: error bodies in one line, and lists that come in pages or whole."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gen_bundle.errors import UserError
from gen_bundle.plain_text import one_line

if TYPE_CHECKING:
    from gen_bundle.live.connection import Connection

LONGEST_TEXT = 300
PAGE_SIZE = 500
ATTEMPTS = 3


class ListingError(UserError):
    """A list changed each time that it was read."""

    status = 1


def body_in_one_line(body: str) -> str:
    """An error's body: the messages of JSON, the code of a storage's XML, or the first line of a page's text."""
    try:
        return _cut("; ".join(_messages(json.loads(body))))
    except ValueError:
        pass
    if code := re.search(r"<Code>(\w+)</Code>", body):
        return code.group(1)
    plain = re.sub(r"(?is)<(script|style|title)\b.*?</\1>|<[^>]*>", " ", body)
    lines = (" ".join(line.split()) for line in plain.splitlines())
    return _cut(next((line for line in lines if line), ""))


def _cut(text: str) -> str:
    text = one_line(" ".join(text.split()))
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def _messages(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [
            message if key in ("detail", "non_field_errors") else f"{key}: {message}"
            for key, inner in value.items()
            for message in _messages(inner)
        ]
    if isinstance(value, list):
        return [message for inner in value for message in _messages(inner)]
    return [str(value)]


def all_rows(connection: Connection, path: str, key: str = "results", **query: Any) -> list[dict[str, Any]]:
    """Every row of a list, whether the server sends it whole (until 2025) or in pages (since).

    The address of the next page is not followed, only its number counted: it may name another host. Rows that come
    twice, because others came in between, are taken once.

    Raises:
        AnswerError: as for all requests.
        ListingError: fewer rows than the server counts, each time.
    """
    for _ in range(ATTEMPTS):
        rows, expected = _pages(connection, path, key, query)
        unique = {row["id"]: row for row in rows}
        if len(unique) >= expected:
            return list(unique.values())
    raise ListingError(f"{path}: {len(unique)} rows arrived, the server counts {expected}. Try again.")


def _pages(connection: Connection, path: str, key: str, query: Mapping[str, Any]) -> tuple[list[dict[str, Any]], int]:
    rows: list[dict[str, Any]] = []
    page = 1
    while True:
        answer = connection.get(path, **query, page_size=PAGE_SIZE, page=page)
        if isinstance(answer, list):
            return answer, 0
        rows += answer.get(key) or []
        if not answer.get("next"):
            return rows, int(answer.get("count") or 0)
        page += 1

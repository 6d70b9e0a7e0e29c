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
    """A list whose rows and pages do not agree with the number of rows that the server gives."""

    status = 1


def body_in_one_line(body: str) -> str:
    """An error's body: the messages of JSON, the code of a storage's XML, or the first line of a page's text."""
    try:
        return _cut("; ".join(_messages(json.loads(body))))
    except (ValueError, RecursionError):
        pass
    if code := re.search(r"<Code>(\w+)</Code>", body):
        return code.group(1)
    plain = re.sub(r"(?is)<(script|style|title)\b.*?</\1>|<[^>]*>", " ", body)
    lines = (" ".join(line.split()) for line in plain.splitlines())
    return _cut(next((line for line in lines if line), ""))


def unsigned(text: str) -> str:
    """A text without the queries of addresses, which may be signatures: the worker quotes what it could not fetch."""
    return re.sub(r"(https?://[^\s?]+)\?\S+", r"\1", text)


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


def all_rows(connection: Connection, path: str, **query: Any) -> list[dict[str, Any]]:
    """Every row of a list, each once, although others may come in between while it is read.

    Raises:
        AnswerError: as for all requests.
        ListingError: fewer rows than the server counts, each time.
    """
    for _ in range(ATTEMPTS):
        answers = all_pages(connection, path, **query)
        unique = {row["id"]: row for answer in answers for row in answer["results"]}
        expected = int(answers[-1].get("count") or 0)
        if len(unique) >= expected:
            return list(unique.values())
    raise ListingError(f"{path}: {len(unique)} rows arrived, the server counts {expected}. Try again.")


def all_pages(connection: Connection, path: str, **query: Any) -> list[dict[str, Any]]:
    """The pages of a list; a single one where the server sends it whole, as it did until 2025.

    The address of the next page is not followed, only its number counted: it may name another host.

    Raises:
        AnswerError: as for all requests.
        ListingError: further pages are announced after an empty one, or more than there can be.
    """
    pages: list[dict[str, Any]] = []
    while not pages or pages[-1].get("next"):
        if pages and (_is_empty(pages[-1]) or len(pages) >= int(pages[-1].get("count") or 0)):
            raise ListingError(f"{path}: page {len(pages)} should be the last one, the server announces another.")
        answer = connection.get(path, **query, page_size=PAGE_SIZE, page=len(pages) + 1)
        pages.append({"results": answer} if isinstance(answer, list) else answer)
    return pages


def _is_empty(page: Mapping[str, Any]) -> bool:
    return not (page.get("results") or page.get("submissions"))  # a leaderboard's rows are its submissions

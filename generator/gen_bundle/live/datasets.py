"""Files as a server stores them ("datasets"): announced, then put at the signed address that it gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gen_bundle.live.connection import Connection
from gen_bundle.live.request_parts import Tick

LONGEST_NAME = 64  # of a file, in characters
CONTENT_TYPE = "application/zip"  # what the server signs


def store_file(
    connection: Connection,
    file: Path,
    kind: str,
    file_name: str | None = None,
    tick: Tick = lambda *_: None,
    **more: Any,
) -> str:
    """Send a file to a server; the key of its dataset, which is then to be completed with `datasets/completed/KEY/`.

    Args:
        connection: to the server, with a token.
        file: a zip.
        kind: `competition_bundle`, `submission`, `scoring_program`, `reference_data` …
        file_name: what the server calls it; the file's own name without.
        tick: hears how much of the file was sent.
        more: further keys of the dataset, such as `name` (one of a kind among the owner's datasets) or `competition`.

    Raises:
        AnswerError: a request failed.
    """
    name = file_name or file.name
    if len(name) > LONGEST_NAME:
        name = f"{name.removesuffix('.zip')[: LONGEST_NAME - 4]}.zip"
    dataset = connection.send(
        "POST",
        "datasets/",
        {"type": kind, "request_sassy_file_name": name, "file_name": name, "file_size": file.stat().st_size, **more},
    )
    connection.put_file(dataset["sassy_url"], file, CONTENT_TYPE, tick)
    return str(dataset["key"])

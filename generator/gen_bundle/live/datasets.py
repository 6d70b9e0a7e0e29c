"""Storing files on a server: the place is asked for, the bytes go there, and the server hears that they arrived."""

from pathlib import Path

from gen_bundle.live.connection import AnswerError, Connection
from gen_bundle.live.request_parts import Tick

LONGEST_NAME = 64  # of a file, in characters
CONTENT_TYPE = "application/zip"  # what the server signs


def send_file(
    connection: Connection,
    role: str,
    file: Path,
    tick: Tick = lambda *_: None,
    name: str | None = None,
    **more: object,
) -> str:
    """Send a zip to its place in the store; its key. The server has yet to hear that it arrived.

    Args:
        connection: to the server, with a token.
        role: what the file is, such as `competition_bundle` or `scoring_program`.
        file: the zip.
        tick: hears how much of it was sent.
        name: how it is listed among the user's files, where no two may have the same name.
        more: further keys of the dataset, such as `competition`, or others in place of these.

    Raises:
        AnswerError: the server refuses.
    """
    file_name = file.name if len(file.name) <= LONGEST_NAME else f"{file.stem[: LONGEST_NAME - 4]}.zip"
    wanted = {
        "type": role,
        "request_sassy_file_name": file_name,
        "file_name": file_name,
        "file_size": file.stat().st_size,
        **more,
    }
    place = connection.send("POST", "datasets/", wanted | ({"name": name} if name else {}))
    connection.put_file(place["sassy_url"], file, CONTENT_TYPE, tick)
    return str(place["key"])


def store_file(connection: Connection, role: str, file: Path, tick: Tick, name: str, **more: object) -> str:
    """Send a program or data, complete; its key.

    Raises:
        AnswerError: the server refuses.
    """
    key = send_file(connection, role, file, tick, name, **more)
    try:
        connection.send("PUT", f"datasets/completed/{key}/")
    except AnswerError as error:
        if not error.unclear:
            raise
        connection.send("PUT", f"datasets/completed/{key}/")  # only a mark on the file: setting it twice is setting it
    return key

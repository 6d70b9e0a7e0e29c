"""Storing files on a server: ask for a place, send the bytes there, and say that they arrived."""

import hashlib
import tempfile
from contextlib import suppress
from pathlib import Path

from gen_bundle.check.bundle import Bundle
from gen_bundle.codabench.competition import DataUse
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.zips.tree import Node, sha256_of, write_files
from gen_bundle.ground.zips.writing import all_files, write_zip
from gen_bundle.live.connection import AnswerError, Connection
from gen_bundle.look.difference.files import packed_files

LONGEST_NAME = 64  # of a file, in characters
CONTENT_TYPE = "application/zip"  # what the server signs


def send_file(connection: Connection, role: str, file: Path, name: str | None = None, **more: object) -> str:
    """Send a zip to its place in the store; its key. The server does not know yet that it arrived.

    Args:
        connection: to the server, with a token.
        role: what the file is, such as `competition_bundle` or `scoring_program`.
        file: the zip.
        name: how it is listed among the user's files, where no two may have the same name.
        more: further keys of the dataset, such as `competition`, or others in place of these.

    Raises:
        AnswerError: the server refuses; its advice says what is left of the file under Resources.
    """
    file_name = file.name
    if len(file_name) > LONGEST_NAME:
        file_name = f"{file.stem[: LONGEST_NAME - 4]}.zip"
    size = file.stat().st_size
    wanted = {"type": role, "request_sassy_file_name": file_name, "file_name": file_name, "file_size": size, **more}
    if name:
        wanted["name"] = name
    try:
        place = connection.send("POST", "datasets/", wanted)
    except AnswerError as error:
        if error.unclear:
            error.advice = f"An entry for {name or file_name} may be left under Resources on the site."
        raise
    key = str(place["key"])
    try:
        connection.put_file(place["sassy_url"], file, CONTENT_TYPE)
    except BaseException as error:
        left = without_file(connection, role, key, name or file_name)
        if isinstance(error, UserError):
            error.advice = left
        raise
    return key


def store_file(connection: Connection, role: str, file: Path, name: str, **more: object) -> str:
    """Send a program or data, complete; its key.

    Raises:
        AnswerError: the server refuses; its advice says what is left of the file under Resources.
    """
    key = send_file(connection, role, file, name, **more)
    for last in (False, True):  # only a mark on the file: setting it twice is setting it
        try:
            connection.send("PUT", f"datasets/completed/{key}/")
            break
        except AnswerError as error:
            if last or not error.unclear:
                error.advice = without_file(connection, role, key, name)
                raise
    return key


def number_of(connection: Connection, role: str, key: str) -> int | None:
    """Return the number of a stored file, by which phases name it; None where the site does not list it."""
    rows = connection.rows("datasets/", _type=role, search=key)
    return next((int(row["id"]) for row in rows if row.get("key") == key), None)


def without_file(connection: Connection, role: str, key: str, name: str) -> str:
    """Delete a stored file that came to nothing; what is left of it, in words, and nothing else."""
    with suppress(UserError):
        number = number_of(connection, role, key)
        if number is None:
            return ""
        connection.send("DELETE", f"datasets/{number}/")
        return ""
    return f"An entry for {name} is left under Resources on the site (key {key})."


def pack(bundle: Bundle, use: DataUse, file: Path) -> None:
    """Write a program or data of a bundle as the platform would store it: a zip as it is, a folder zipped.

    Raises:
        UserError: its path leads nowhere.
    """
    found = bundle.find(use.path)
    if not isinstance(found, Node):
        raise UserError(f"{use.path}: is not in the bundle. Run: gen-bundle check")
    if not found.is_folder:
        write_files(found, file)
        return
    for name, node in found.files():
        if node.open is None:
            raise UserError(f"{use.path}/{name}: cannot be read. Run: gen-bundle check")
    with tempfile.TemporaryDirectory() as folder:
        content = Path(folder) / "content"
        write_files(found, content)
        write_zip(file, all_files(content))


def content_digest(bundle: Bundle, use: DataUse) -> str | None:
    """SHA-256 over the names and contents of the files of a program or data; None where there are none to read."""
    files = packed_files(bundle, use)
    if files is None:
        return None
    digest = hashlib.sha256()
    for name, node in sorted(files.items()):
        digest.update(f"{name}\0{sha256_of(node)}\n".encode())
    return digest.hexdigest()

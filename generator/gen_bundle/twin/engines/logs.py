"""What programs print: followed line by line while they run, and kept up to a bound."""

from pathlib import Path

from gen_bundle.twin.engines import LineListener

KEPT_BYTES = 10 * 1024**2
READ_AT_ONCE = 1024**2
LINE_CHARACTERS = 500


class LiveLines:
    """Hands the lines of growing files to a listener; invalid UTF-8 is shown as �, long lines are cut."""

    def __init__(self, files: tuple[Path, ...], on_line: LineListener) -> None:
        self._read = dict.fromkeys(files, 0)
        self._rest = dict.fromkeys(files, b"")
        self._on_line = on_line

    def follow(self, *, last: bool = False) -> None:
        """Hand on what came since the last call; with `last` also a line without end."""
        for file, position in self._read.items():
            with file.open("rb") as opened:
                opened.seek(position)
                new = opened.read(READ_AT_ONCE)
            self._read[file] = position + len(new)
            *lines, rest = (self._rest[file] + new).split(b"\n")
            self._rest[file] = rest[:READ_AT_ONCE]
            if last and rest:
                lines.append(rest)
            for line in lines:
                self._on_line(shown_line(line))


def shown_line(line: bytes) -> str:
    """A line as it is shown live; of one that was drawn over and over, as progress bars are, the last state."""
    return printable(line.rstrip(b"\r").rpartition(b"\r")[2][: 4 * LINE_CHARACTERS])[:LINE_CHARACTERS]


def printable(printed: bytes) -> str:
    """What a program printed, without what would steer a terminal."""
    text = printed.decode(errors="replace")
    return "".join(character if character.isprintable() or character in "\n\t" else "�" for character in text)


def end_of_log(log: Path, most: int) -> str:
    """The last lines of a log that take no more than `most` bytes, as `printable` shows them."""
    size = log.stat().st_size
    with log.open("rb") as opened:
        opened.seek(max(size - most, 0))
        text = opened.read(most)
    _, line_end, whole = text.partition(b"\n")
    return printable(text) if size <= most or not line_end else f"…\n{printable(whole)}"


def keep_log(source: Path, target: Path) -> bool:
    """Copy a log up to the bound, with a last line that says what was left out.

    Returns:
        Whether it was kept in full.
    """
    size = source.stat().st_size if source.exists() else 0
    with target.open("wb") as out:
        if size:
            with source.open("rb") as opened:
                out.write(opened.read(KEPT_BYTES))
        if size > KEPT_BYTES:
            out.write(f"\n… {size - KEPT_BYTES} more bytes are not kept.\n".encode())
    return size <= KEPT_BYTES

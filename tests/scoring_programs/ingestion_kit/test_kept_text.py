"""What is kept of what code prints."""

import os

import pytest

from ingestion_kit.entry import HEAD, TAIL, KeptText


def kept(*chunks: bytes) -> str:
    reading, writing = os.pipe()
    text = KeptText(reading)
    for chunk in chunks:
        os.write(writing, chunk)
    os.close(writing)
    return text.text(5)


@pytest.mark.parametrize("size", [0, 1, HEAD, HEAD + 1, HEAD + TAIL])
def test_a_short_text_is_kept_whole(size: int) -> None:
    printed = bytes(32 + number % 90 for number in range(size))
    assert kept(printed[: size // 2], printed[size // 2 :]) == printed.decode()


def test_a_long_text_is_kept_at_both_ends() -> None:
    chunks = [f"{number:09}\n".encode() for number in range(2_000)]
    text = kept(*chunks)
    whole = b"".join(chunks).decode()
    assert text == f"{whole[:HEAD]}\n… {len(whole) - HEAD - TAIL} bytes left out …\n{whole[-TAIL:]}"


def test_bytes_that_are_no_text_are_escaped() -> None:
    assert kept(b"a\xffb") == "a\\xffb"


def test_an_open_pipe_is_not_waited_for() -> None:
    reading, writing = os.pipe()
    text = KeptText(reading)
    os.write(writing, b"so far")
    assert text.text(0.2) == "so far"
    os.close(writing)

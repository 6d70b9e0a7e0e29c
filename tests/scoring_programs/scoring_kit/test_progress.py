from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest

from scoring_kit.models.loading import progress, say_if_long


def clock(*seconds: float) -> Iterator[float]:
    yield from seconds


def test_a_quick_step_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("Embedding", 2, "texts") as advance:
        advance(1)
        advance(1)
    assert capsys.readouterr() == ("", "")


def test_a_long_step_says_where_it_is_and_when_it_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    ticks = clock(0.0, 0.5, 2.0, 3.0, 8.0, 10.0, 10.0)
    with progress("Embedding", 100, "texts", clock=lambda: next(ticks)) as advance:
        for units in (10, 10, 10, 50, 20):
            advance(units)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "Embedding: 20 of 100 texts, about 8 s left",
        "Embedding: 80 of 100 texts, about 2 s left",
        "Embedding: 100 of 100 texts in 10.0 s",
    ]


def test_a_step_that_fails_does_not_claim_to_be_done(capsys: pytest.CaptureFixture[str]) -> None:
    ticks = clock(0.0, 9.0)

    def fail() -> None:
        with progress("Embedding", 100, "texts", clock=lambda: next(ticks)):
            raise ValueError

    with pytest.raises(ValueError):
        fail()
    assert capsys.readouterr().err == ""


def test_what_could_not_be_followed_is_said_afterwards(capsys: pytest.CaptureFixture[str]) -> None:
    say_if_long("Loaded a", time.monotonic())
    say_if_long("Loaded b", time.monotonic() - 12)
    assert re.fullmatch(r"Loaded b in 12\.\d s\n", capsys.readouterr().err)

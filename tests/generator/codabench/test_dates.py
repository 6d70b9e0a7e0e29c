"""What is lost of a date on its way to the platform."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from gen_bundle.codabench.dates import read_instant

EAST = timezone(timedelta(hours=2))
LOCAL = datetime(2026, 3, 1, 12)
NOON = LOCAL.replace(tzinfo=UTC)
MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("2026-03-01 12:00:00", (NOON, None, None)),
        ("2026-03-01T12:00:00+02:00", (NOON, None, "+0200")),
        (LOCAL, (MIDNIGHT, "12:00:00", None)),
        (NOON, (MIDNIGHT, "12:00:00", None)),
        (NOON.replace(tzinfo=EAST), (MIDNIGHT, "12:00:00", "+0200")),
        (MIDNIGHT.replace(tzinfo=EAST), (MIDNIGHT, None, "+0200")),
        (MIDNIGHT, (MIDNIGHT, None, None)),
        (date(2026, 3, 1), (MIDNIGHT, None, None)),
        ("soon", (None, None, None)),
        (2026, (None, None, None)),
    ],
)
def test_texts_lose_their_zone_and_unquoted_timestamps_their_time(value: Any, read: tuple[Any, ...]) -> None:
    instant = read_instant(value, datetime.now(UTC))
    assert (instant.moment, instant.lost_time, instant.lost_zone) == read

"""What is lost of a date on its way to the platform."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from gen_bundle.codabench.dates import read_instant

EAST = timezone(timedelta(hours=2))
NOON = datetime(2026, 3, 1, 12)
MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "lost"),
    [
        (NOON, ("12:00:00", None)),
        (NOON.replace(tzinfo=UTC), ("12:00:00", None)),
        (NOON.replace(tzinfo=EAST), ("12:00:00", "+0200")),
        (MIDNIGHT.replace(tzinfo=EAST), (None, "+0200")),
        (MIDNIGHT, (None, None)),
        (date(2026, 3, 1), (None, None)),
    ],
)
def test_an_unquoted_timestamp_loses_its_time_and_its_zone(value: Any, lost: tuple[str | None, str | None]) -> None:
    read = read_instant(value, datetime.now(UTC))
    assert (read.moment, read.lost_time, read.lost_zone) == (MIDNIGHT, *lost)

from datetime import UTC, datetime, time

import pytest

from gen_bundle.declaration.dates import AOE, parse_moment, shown

MORNING, NIGHT = time(0, 0, 0), time(23, 59, 59)


@pytest.mark.parametrize(
    ("text", "date_alone", "utc"),
    [
        ("2025-03-11 AoE", NIGHT, "2025-03-12 11:59:59"),
        ("2025-03-11 AoE", MORNING, "2025-03-11 12:00:00"),
        ("2025-03-11 23:59 AoE", MORNING, "2025-03-12 11:59:00"),
        ("2025-03-11 18:00:30 UTC", NIGHT, "2025-03-11 18:00:30"),
        ("2025-03-11T18:00Z", NIGHT, "2025-03-11 18:00:00"),
        ("2025-03-11 18:00 +02:00", NIGHT, "2025-03-11 16:00:00"),
        ("2025-03-11 18:00 -0530", NIGHT, "2025-03-11 23:30:00"),
        ("2024-02-29 UTC", NIGHT, "2024-02-29 23:59:59"),
    ],
)
def test_moments_in_utc(text: str, date_alone: time, utc: str) -> None:
    assert f"{parse_moment(text, date_alone):%Y-%m-%d %H:%M:%S}" == utc


@pytest.mark.parametrize(
    "text",
    [
        "2025-03-11",
        "2025-03-11 18:00",
        "11.03.2025 AoE",
        "2025-02-30 UTC",
        "2025-03-11 25:00 UTC",
        "2025-03-11 CET",
        "9999-12-31 AoE",
        "9999-12-31 23:59 UTC",
        "0001-01-01 +14:00",
        "",
    ],
)
def test_a_moment_without_zone_or_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_moment(text, NIGHT)


def test_a_moment_before_the_calendar_of_a_zone_is_said_in_words() -> None:
    assert shown(datetime(1, 1, 1, 3, tzinfo=UTC), AOE) == "before the calendar begins"

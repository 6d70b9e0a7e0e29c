"""Moments in a declaration: always with a zone, `AoE` (anywhere on Earth, UTC-12) among them."""

import re
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from typing import Annotated, Any

from pydantic import AwareDatetime, BeforeValidator

AOE = timezone(timedelta(hours=-12), "AoE")
OFFSETS = {"AoE": "-12:00", "UTC": "Z"}
_MOMENT = re.compile(
    r"(?P<date>\d{4}-\d{2}-\d{2})"
    r"(?:[T ](?P<time>\d{2}:\d{2}(?::\d{2})?))?"
    r" ?(?P<zone>Z|UTC|AoE|[+-]\d{2}:?\d{2})"
)
FIRST_YEAR, LAST_YEAR = 1970, 9998  # a calendar's first and last day do not exist in every zone
EXPECTED = 'a moment such as "2025-03-11 AoE", "2025-03-11 23:59 UTC" or "2025-03-11 18:00 +02:00"'


def shown(moment: datetime, zone: tzinfo) -> str:
    """Return a moment in a zone, for people: a line may break between date and time, and nowhere else."""
    try:
        local = moment.astimezone(zone)
    except OverflowError:  # the first hours of the year 1, of which a foreign bundle may speak
        return "before the calendar begins"
    return f"{local:%a\N{NO-BREAK SPACE}%d\N{NO-BREAK SPACE}%b\N{NO-BREAK SPACE}%Y, %H:%M}"


def parse_moment(text: str, date_alone: time) -> datetime:
    """Return the moment that `text` names, in UTC; a date without a time means `date_alone` of that day in its zone.

    Raises:
        ValueError: no such moment, no zone given, or a year beyond what calendars of all zones hold.
    """
    match = _MOMENT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"expected {EXPECTED}")
    offset = OFFSETS.get(match["zone"], match["zone"])
    local = datetime.fromisoformat(f"{match['date']} {match['time'] or date_alone}{offset}")
    if not FIRST_YEAR <= local.year <= LAST_YEAR:
        raise ValueError(f"expected a year from {FIRST_YEAR} to {LAST_YEAR}")
    return local.astimezone(UTC)


def _validator(date_alone: time) -> BeforeValidator:
    def validate(value: Any) -> Any:
        text = value if isinstance(value, str) else ""
        return parse_moment(text, date_alone)

    return BeforeValidator(validate, json_schema_input_type=str)


Start = Annotated[AwareDatetime, _validator(time(0, 0, 0))]
End = Annotated[AwareDatetime, _validator(time(23, 59, 59))]

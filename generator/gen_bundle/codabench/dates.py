"""How the platform reads a date: unquoted timestamps lose their time, texts lose their zone."""

import re
import warnings
from contextlib import suppress
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple

ISO_DATE = r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{8})"
ISO_LIKE = re.compile(rf"\s*{ISO_DATE}(?!\d)")
TIME_OF_DAY = r"(?:\d{1,2}(:\d{2}){1,2}([.,]\d+)?(\s*[AaPp]\.?[Mm]\.?)?|\d{1,2}\s*[AaPp][Mm])"
ZONE = r"(?:Z|UTC|GMT|[+-]\d{1,2}(?::?\d{2})?|[A-Z]{3,5})"
PLAIN_ISO = re.compile(rf"\s*{ISO_DATE}((T|,|\s|\sat\s)\s*{TIME_OF_DAY})?\s*{ZONE}?\s*")
OURS = re.compile(r"[12][0-9]{3}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")
"""Dates as `utc` writes them."""
OTHER_DAYS = (datetime(2001, 3, 5), datetime(2016, 8, 24))
"""Days of upload of which every part differs: what is read otherwise then was left to the day."""


class Instant(NamedTuple):
    """A date as stored, and what was lost on the way.

    Attributes:
        moment: the stored time in UTC; None when nothing was given or it cannot be read.
        fault: why it cannot be read.
        lost_time: the time of day of an unquoted timestamp, which is dropped.
        lost_zone: the offset or zone name, which is dropped.
        other_reading: another date that people read the text as.
        incomplete: the text leaves parts to the day of the upload.
        odd: the text is not read as its writer meant in some other way.
    """

    moment: datetime | None = None
    fault: str | None = None
    lost_time: str | None = None
    lost_zone: str | None = None
    other_reading: datetime | None = None
    incomplete: bool = False
    odd: bool = False


def read_instant(value: Any, now: datetime) -> Instant:
    """Read a YAML value as the platform reads a phase's start or end (`get_datetime` in its unpacker)."""
    if not value:
        return Instant()
    if isinstance(value, datetime):
        midnight = datetime.combine(value.date(), time(), tzinfo=UTC)
        lost_time = None if value.time() == time() else f"{value.time():%H:%M:%S}"
        lost_zone = f"{value:%z}" if value.utcoffset() else None
        return Instant(midnight, lost_time=lost_time, lost_zone=lost_zone)
    if isinstance(value, date):
        return Instant(datetime.combine(value, time(), tzinfo=UTC))
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return _read_text(value, now)
    names = {bool: "a truth value", int: "a number", float: "a number", list: "a list", dict: "a mapping"}
    kind = names.get(type(value), type(value).__name__)
    return Instant(fault=f"{value!r} is not a text that could be a date (it is read as {kind})")


def _read_text(text: str, now: datetime) -> Instant:
    today = datetime.combine(now.date(), time())
    try:
        read, lost_zone = _parse(text, today)
    except (ValueError, OverflowError, TypeError, AttributeError, ArithmeticError) as error:
        return Instant(fault=f"{text!r} cannot be read as a date ({error})")
    moment = read.replace(tzinfo=UTC)
    if ISO_LIKE.match(text):
        if not PLAIN_ISO.fullmatch(text):
            return Instant(moment, odd=True)
        return Instant(moment, lost_zone=lost_zone)
    others = (_moment(text, today, dayfirst=True), _moment(text, today, yearfirst=True))
    other = next((one for one in others if one not in (None, moment)), None)
    incomplete = any(_moment(text, day) != moment for day in OTHER_DAYS)
    return Instant(moment, lost_zone=lost_zone, other_reading=other, incomplete=incomplete)


def _parse(
    text: str, default: datetime, dayfirst: bool = False, yearfirst: bool = False
) -> tuple[datetime, str | None]:
    """Dateutil's reading, and the zone in it other than UTC: its offset, or its name where dateutil knows none."""
    if OURS.fullmatch(text) and not dayfirst:  # dateutil reads it likewise, and takes long to import
        with suppress(ValueError):
            return datetime.fromisoformat(text), None
    from dateutil import parser

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read: datetime = parser.parse(text, default=default, dayfirst=dayfirst, yearfirst=yearfirst)
    ignored = re.search(r"tzname (\S+) identified", str(caught[0].message)) if caught else None
    return read, ignored.group(1) if ignored else _offset(read)


def _offset(read: datetime) -> str | None:
    """The offset from UTC as it was written; dateutil takes those of a day and more, which Python cannot hold."""
    try:
        return f"{read:%z}" if read.utcoffset() else None
    except ValueError:
        return "of more than 24 hours"


def _moment(text: str, default: datetime, dayfirst: bool = False, yearfirst: bool = False) -> datetime | None:
    try:
        return _parse(text, default, dayfirst, yearfirst)[0].replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def utc(moment: datetime) -> str:
    """Return a moment as competition.yaml holds it: UTC with seconds, to be quoted."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")

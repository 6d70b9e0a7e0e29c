"""Phases on a time axis: where each begins and ends, in per cent of the whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gen_bundle.preview.reading import PhaseView

MAX_TICKS = 6
MAX_DAYS = 40_000
OPEN_END = timedelta(days=30)
LATEST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Bar:
    """A phase on the axis; positions in per cent. `endless` where it has no end."""

    phase: PhaseView
    left: float
    width: float
    endless: bool


@dataclass(frozen=True)
class Axis:
    """The time axis, from `first` to `last` (UTC), with labelled ticks at per cent positions."""

    first: datetime
    last: datetime
    bars: tuple[Bar, ...]
    ticks: tuple[tuple[float, str], ...]


def axis(phases: Sequence[PhaseView]) -> Axis | None:
    """The axis of all phases whose start can be read; None without any."""
    dated = [(phase, phase.start.moment) for phase in phases if phase.start.moment is not None]
    if not dated:
        return None
    first = min(start for _, start in dated)
    ends = [phase.end.moment for phase, _ in dated if phase.end.moment is not None]
    last = max([*ends, *(start for _, start in dated)])
    if any(phase.end.moment is None for phase, _ in dated) or last <= first:
        last += min(max(OPEN_END, (last - first) / 8), LATEST - last)
    if last == first:
        first -= OPEN_END
    span = last - first

    def percent(moment: datetime) -> float:
        return round(100 * ((moment - first) / span), 2)

    bars = []
    for phase, start in dated:
        end = phase.end.moment or last
        bars.append(Bar(phase, percent(start), max(percent(end) - percent(start), 0.8), phase.end.moment is None))
    ticks = tuple((percent(moment), label) for moment, label in _ticks(first, last))
    return Axis(first, last, tuple(bars), ticks)


def _ticks(first: datetime, last: datetime) -> list[tuple[datetime, str]]:
    """Midnights between the ends, at most `MAX_TICKS`: of days, of Mondays, of first days of months or of years."""
    days = (last - first).days
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0)
    midnights = [midnight + timedelta(days=n) for n in range(1, min(days, MAX_DAYS) + 1)]
    if days <= 14:
        found = [(moment, f"{moment.day} {moment:%b}") for moment in midnights]
    elif days <= 75:
        found = [(moment, f"{moment.day} {moment:%b}") for moment in midnights if moment.weekday() == 0]
    elif days <= 2000:
        found = [(moment, f"{moment:%b %Y}") for moment in midnights if moment.day == 1]
    else:
        found = [(moment, f"{moment:%Y}") for moment in midnights if (moment.month, moment.day) == (1, 1)]
    return found[:: -(-len(found) // MAX_TICKS) or 1]

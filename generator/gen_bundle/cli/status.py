"""gen-bundle status ID: what happens in a live competition."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gen_bundle.cli.messages import user_errors
from gen_bundle.cli.options import competition_id, connected, json_option, live_options
from gen_bundle.plain_text import one_line

if TYPE_CHECKING:
    from gen_bundle.live.status import LiveStatus

WATCH_S = 60
EPILOG = """\b
Examples:
  gen-bundle status 1234
  gen-bundle status 1234 --watch
  gen-bundle status 1234 --json

\b
Shows how many participants wait for approval, submissions by status, the one that has waited longest, failures by what
their logs say, and the days that each phase still has. ID is the number in the competition's address.
Exit status: 0 shown, 1 refused by the server, 2 wrong use.
"""


@click.command(epilog=EPILOG)
@competition_id
@click.option("--watch", is_flag=True, help="Look again every minute, until Ctrl-C.")
@json_option("Print one line of JSON for each look.")
@live_options
def command(competition: int, watch: bool, as_json: bool, server: str, token_file: Path | None) -> None:
    """Show what happens in a live competition."""
    from gen_bundle.live.status import status

    lines: dict[int, str] = {}
    until_ended = suppress(KeyboardInterrupt) if watch else nullcontext()
    with user_errors(), connected(server, token_file) as connection, until_ended:
        while True:
            seen = status(connection, competition, datetime.now(UTC), lines)
            text = json.dumps(asdict(seen), ensure_ascii=False) if as_json else _text(seen)
            click.echo(text)
            if not watch:
                return
            time.sleep(WATCH_S)


def _text(seen: LiveStatus) -> str:
    published = "published" if seen.published else "not published"
    lines = [f"{seen.title} ({seen.id}, {published}), {seen.at}", f"  participants: {_counts(seen.participants)}"]
    for phase in seen.phases:
        lines.append(f"  phase {phase.name}: {_left(phase.days_left)}; submissions: {_counts(phase.submissions)}")
    if seen.oldest:
        waited = f"{seen.oldest.seconds // 60} min"
        lines.append(f"  waiting longest: {seen.oldest.id} of {seen.oldest.owner}, {seen.oldest.status}, {waited}")
    for failure in seen.failures:
        ids = ", ".join(map(str, failure.submissions[:5]))
        if len(failure.submissions) > 5:
            ids += " …"
        lines.append(f"  failed {len(failure.submissions)}×: {failure.line} ({ids})")
    if seen.unread_failures:
        lines.append(f"  and {seen.unread_failures} older failures")
    return "\n".join(map(one_line, lines))


def _counts(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {status}" for status, number in sorted(numbers.items())) or "none"


def _left(days: float | None) -> str:
    if days is None:
        return "no end"
    return f"{days:.1f} days left" if days >= 0 else f"over for {-days:.1f} days"

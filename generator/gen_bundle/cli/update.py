"""gen-bundle update ID BUNDLE: brings a live competition to what a bundle says."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gen_bundle.cli.live_options import connected, live_options, transfer_bar
from gen_bundle.cli.messages import can_answer, say, user_errors
from gen_bundle.errors import UserError
from gen_bundle.plain_text import counted, in_lines

if TYPE_CHECKING:
    from gen_bundle.live.reruns import Cost
    from gen_bundle.update import Update

EPILOG = """\b
Examples:
  gen-bundle update 1234 bundle.zip
  gen-bundle update 1234 bundle.zip --apply
  gen-bundle update 1234 bundle.zip --rerun
  gen-bundle update 1234 bundle.zip --apply --rerun --yes

\b
Without --apply, shows how the competition differs from the bundle, in the words of `gen-bundle diff`, and what would be
done about it; nothing is changed. --apply asks, writes what the site holds into a file beside the bundle, and changes
pages, terms, settings, phases' dates and limits, and tasks' programs and data; when one change fails, the others are
undone. What it does not change (the leaderboard; new and removed phases and tasks) is said with what to click.
--rerun shows what reruns would take; with --apply it reruns the submissions that replaced programs or data have scored,
the oldest first, and reads the leaderboard afterwards. Interrupted, it goes on when it is called again.
Exit status: 0 the same (with --apply: now), 1 different, not to be seen, refused, not all rerun, or replaced runs that
still rank, 2 wrong use or unreadable input.
"""


@click.command(epilog=EPILOG)
@click.argument("competition", metavar="ID", type=int)
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option("--apply", "apply_", is_flag=True, help="Change the competition, after a question.")
@click.option("--rerun", is_flag=True, help="With --apply: rerun what was scored by replaced programs or data.")
@click.option(
    "--remove-replaced",
    is_flag=True,
    help="With --apply: delete replaced runs that still rank, after fetching them into a folder beside the bundle.",
)
@click.option("--yes", is_flag=True, help="Do not ask; needed where nobody can answer.")
@click.option("--force", is_flag=True, help="Apply also a draft, or what the check objects to.")
@click.option("--json", "as_json", is_flag=True, help="Print the differences and what was done as JSON.")
@live_options
def command(
    competition: int,
    bundle: Path,
    apply_: bool,
    as_json: bool,
    server: str,
    token_file: Path | None,
    **asked: bool,
) -> None:
    """Bring a live competition to what a bundle says."""
    from gen_bundle.update import look

    if asked["remove_replaced"] and not apply_:
        raise click.UsageError("--remove-replaced deletes submissions, and needs --apply.")
    with user_errors(), ExitStack() as held:
        if apply_ and not asked["yes"] and not can_answer():
            raise UserError("--apply asks before it changes anything, and nobody can answer here. To agree: --yes")
        connection = held.enter_context(connected(server, token_file))
        with transfer_bar(bundle.name) as tick:
            update = look(connection, competition, bundle, held, say, tick)
        costs = update.costs() if asked["rerun"] else []
        warnings = [*update.warnings, *update.rerun_warnings(costs)]
        _show(update, costs, warnings, apply_, as_json)
        done = _applied(update, costs, **asked) if apply_ else {}
    if as_json:
        seen = {"same": update.same, "differences": [one.as_dict() for one in update.changes]}
        seen |= {"unseen": update.unseen, "still_ranking": list(map(str, update.stale))}
        spoken = {"obstacles": update.obstacles, "warnings": warnings, "reruns": list(map(str, costs))}
        click.echo(json.dumps(seen | spoken | done, indent=1, ensure_ascii=False))
    sys.exit(0 if _is_done(update, done) else 1)


def _is_done(update: Update, done: dict[str, Any]) -> bool:
    """Whether the competition is as the bundle says, as far as is known; `done` is empty without --apply."""
    if not done:
        return update.same
    by_hand = any(change.by_hand for change in update.changes)
    return bool(done["agreed"]) and not (by_hand or update.unseen or update.stale or done["faults"])


def _show(update: Update, costs: Sequence[Cost], warnings: Sequence[str], apply_: bool, as_json: bool) -> None:
    from gen_bundle.difference.report import as_text

    if not as_json and (update.changes or not update.unseen):
        click.echo(in_lines(as_text([change.difference for change in update.changes])), nl=False)
    elif not as_json:
        click.echo(f"The same as far as can be seen: {_unseen(update)}")
    hands = [change for change in update.changes if change.by_hand]
    if update.edits and not apply_:
        say(f"--apply would change {len(update.changes) - len(hands)} of them.")
    for change in hands:
        one = change.difference
        item = f"{one.item}: " if one.item else ""
        say(f"to be done by hand: {one.part}, {item}{one.what}: {change.by_hand}", "yellow")
    for obstacle in () if apply_ else update.obstacles:
        say(f"--apply would refuse the bundle: {obstacle}", "yellow")
    for warning in warnings:
        say(f"warning: {warning}", "yellow")
    for cost in costs:
        say(f"to be rerun: {cost}")


def _unseen(update: Update) -> str:
    number = len(update.unseen)
    tasks = "1 task is" if number == 1 else f"{number} tasks are"
    return f"{tasks} not yours ({', '.join(update.unseen)})."


def _applied(
    update: Update, costs: Sequence[Cost], *, rerun: bool, remove_replaced: bool, yes: bool, force: bool
) -> dict[str, Any]:
    """Ask, change, rerun and look at the leaderboard; what was done, as programs read it."""
    from gen_bundle.live.upload import NotReadyError

    if update.obstacles and update.edits and not force:
        raise NotReadyError(*update.obstacles, advice="Nothing was changed. To change it nevertheless: --force")
    removes = remove_replaced and bool(costs or update.stale)
    if not update.edits and not costs and not removes:
        say("nothing to change")
        return {"agreed": True, "faults": []}
    if not yes and not click.confirm(_question(update, costs, removes), err=True):
        say("nothing was changed")
        return {"agreed": False, "faults": []}
    with transfer_bar("storing") as tick:
        backup = update.apply(say, tick)
        if backup:
            _say_what_was_made(update)
        faults = _rerun(update, rerun, removes, tick)
    return {"agreed": True, "backup": str(backup) if backup else None, "faults": faults}


def _say_what_was_made(update: Update) -> None:
    if update.unseen:
        say(f"the competition is as the bundle says as far as can be seen: {_unseen(update)}", "yellow")
        return
    by_hand = any(change.by_hand for change in update.changes)
    rest = ", except for what is to be done by hand" if by_hand else ""
    say(f"the competition is as the bundle says{rest}", "green")


def _rerun(update: Update, rerun: bool, removes: bool, tick: Callable[[int, int], None]) -> list[str]:
    """Rerun what is due, and look at the leaderboard; what went wrong."""
    faults = update.rerun(say) if rerun else []
    if rerun or removes:
        update.stale = update.still_ranking()
    if removes:
        faults += update.remove_replaced(say, tick)
        update.stale = update.still_ranking()
    for line in (*faults, *map(str, update.stale)):
        say(line, "red")
    if update.stale and not removes:
        say("The leaderboard ranks by replaced files. To delete these runs once they are fetched: --remove-replaced")
    return faults


def _question(update: Update, costs: Sequence[Cost], removes: bool) -> str:
    address = f"{update.connection.server}/competitions/{update.before.id}/"
    steps = []
    if update.edits:
        steps.append(f"make {counted(sum(change.by_hand is None for change in update.changes), 'change')}")
    if costs:
        steps.append(f"rerun {counted(sum(cost.submissions for cost in costs), 'submission')}")
    if removes:
        steps.append("delete replaced runs that still rank")
    unseen = f" The programs and data behind its pages cannot all follow: {_unseen(update)}" if update.unseen else ""
    return in_lines(f"{update.before.competition.get('title')} ({address}): {' and '.join(steps)}?{unseen}")

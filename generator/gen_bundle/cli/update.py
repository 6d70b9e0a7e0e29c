"""gen-bundle update ID BUNDLE: brings a live competition to what a bundle says."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gen_bundle.cli.messages import can_answer, print_json, say, say_each
from gen_bundle.cli.options import PATH, competition_id, json_option, live_options, transfer_bar
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.plain_text import in_lines
from scoring_kit.base.texts import counted

if TYPE_CHECKING:
    from gen_bundle.live.connection import Connection
    from gen_bundle.live.reruns import Cost
    from gen_bundle.live.update import Update

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
@competition_id
@click.argument("bundle", type=PATH)
@click.option("--apply", "apply_", is_flag=True, help="Change the competition, after a question.")
@click.option("--rerun", is_flag=True, help="With --apply: rerun what was scored by replaced programs or data.")
@click.option(
    "--remove-replaced",
    is_flag=True,
    help="With --apply: delete replaced runs that still rank, after fetching them into a folder beside the bundle.",
)
@click.option("--yes", is_flag=True, help="Do not ask; needed where nobody can answer.")
@click.option("--force", is_flag=True, help="Apply also a draft, or what the check objects to.")
@json_option("Print the differences and what was done as JSON.")
@live_options
def command(
    competition: int,
    bundle: Path,
    apply_: bool,
    as_json: bool,
    connection: Connection,
    **asked: bool,
) -> None:
    """Bring a live competition to what a bundle says."""
    from gen_bundle.live.update import look

    if asked["remove_replaced"] and not apply_:
        raise click.UsageError("--remove-replaced deletes submissions, and needs --apply.")
    if apply_ and not asked["yes"] and not can_answer():
        raise UserError("--apply asks before it changes anything, and nobody can answer here. To agree: --yes")
    with ExitStack() as held:
        with transfer_bar(connection, bundle.name):
            update = look(connection, competition, bundle, held)
        costs = update.costs() if asked["rerun"] else []
        warnings = [*update.warnings(costs)]
        _show(update, apply_, as_json)
        say_each(warnings, "yellow", before="warning: ")
        say_each([cost.text for cost in costs], before="to be rerun: ")
        done = _applied(update, costs, **asked) if apply_ else {}
    if as_json:
        print_json(_as_dict(update, costs, warnings) | done)
    if not _is_done(update, done):
        sys.exit(1)


def _show(update: Update, apply_: bool, as_json: bool) -> None:
    """Show the differences; say what is done by --apply, what by hand, and what speaks against it."""
    from gen_bundle.look.difference.report import as_text

    if not as_json:
        text = as_text([change.difference for change in update.changes])
        if update.unseen and not update.changes:
            text = f"The same as far as can be seen: {update.unseen}\n"
        click.echo(in_lines(text), nl=False)
    if update.edits and not apply_:
        say(f"--apply would change {len(update.changes) - len(update.by_hand)} of them.")
    for change in update.by_hand:
        one = change.difference
        item = f"{one.item}: " if one.item else ""
        say(f"to be done by hand: {one.part}, {item}{one.what}: {change.by_hand}", "yellow")
    if not apply_:
        say_each(update.obstacles, "yellow", before="--apply would refuse the bundle: ")


def _as_dict(update: Update, costs: Sequence[Cost], warnings: Sequence[str]) -> dict[str, Any]:
    return {
        "same": update.same,
        "differences": [one.as_dict() for one in update.changes],
        "unseen": update.site.unseen,
        "still_ranking": [str(one) for one in update.stale],
        "obstacles": update.obstacles,
        "warnings": warnings,
        "reruns": [cost.text for cost in costs],
    }


def _is_done(update: Update, done: dict[str, Any]) -> bool:
    """Return whether the competition is as the bundle says, as far as is known; `done` is empty without --apply."""
    if not done:
        return update.same
    return done["agreed"] and not (update.by_hand or update.unseen or update.stale or done["faults"])


def _applied(
    update: Update, costs: Sequence[Cost], *, rerun: bool, remove_replaced: bool, yes: bool, force: bool
) -> dict[str, Any]:
    """Ask, change, rerun and look at the leaderboard; what was done, as programs read it."""
    from gen_bundle.live.connection import LiveError

    if update.obstacles and update.edits and not force:
        raise LiveError(*update.obstacles, advice="Nothing was changed. To change it nevertheless: --force")
    removes = remove_replaced and bool(costs or update.stale)
    question = _question(update, costs, removes)
    if not question:
        say("nothing to change")
        return {"agreed": True, "faults": []}
    if not yes and not click.confirm(question, err=True):
        say("nothing was changed")
        return {"agreed": False, "faults": []}
    with transfer_bar(update.connection, "storing"):
        backup = update.apply()
        if backup:
            _say_what_was_made(update)
        faults = update.rerun() if rerun else []
        if removes:
            faults += update.remove_replaced()
    say_each([*faults, *update.stale], "red")
    if update.stale and not removes:
        say("The leaderboard ranks by replaced files. To delete these runs once they are fetched: --remove-replaced")
    return {"agreed": True, "backup": backup, "faults": faults}


def _question(update: Update, costs: Sequence[Cost], removes: bool) -> str:
    """Return whether to take the steps that there are to take; nothing without any."""
    steps = []
    if update.edits:
        steps.append(f"make {counted(len(update.changes) - len(update.by_hand), 'change')}")
    if costs:
        steps.append(f"rerun {counted(sum(cost.submissions for cost in costs), 'submission')}")
    if removes:
        steps.append("delete replaced runs that still rank")
    if not steps:
        return ""
    address = f"{update.connection.server}/competitions/{update.before.id}/"
    question = f"{update.before.competition.get('title')} ({address}): {' and '.join(steps)}?"
    if update.unseen:
        question += f" The programs and data behind its pages cannot all follow: {update.unseen}"
    return in_lines(question)


def _say_what_was_made(update: Update) -> None:
    done = "the competition is as the bundle says"
    if update.unseen:
        say(f"{done} as far as can be seen: {update.unseen}", "yellow")
    elif update.by_hand:
        say(f"{done}, except for what is to be done by hand", "green")
    else:
        say(done, "green")

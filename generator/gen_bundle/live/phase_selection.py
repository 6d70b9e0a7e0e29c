"""Which phases of a live competition a bundle's own submissions can be sent to, without harm to the leaderboard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from gen_bundle.codabench.leaderboard import REPLACING_RULES
from gen_bundle.codabench.versions import NEWEST, PlatformVersion
from gen_bundle.live.connection import Connection
from gen_bundle.live.own_submissions import PREFIX
from gen_bundle.live.stored import moment
from gen_bundle.live.submissions import phases_of, submissions_of
from gen_bundle.twin.admission import closed
from gen_bundle.twin.bundle import Competition, Phase

Row = Mapping[str, Any]


def site_version(connection: Connection, phases: Sequence[Row]) -> PlatformVersion:
    """The version that a site follows, as far as it shows: the list of submissions came whole until 1.25."""
    if not phases:
        return NEWEST
    whole = isinstance(connection.get("submissions/", phase=phases[0]["id"]), list)
    return PlatformVersion.V1_25 if whole else NEWEST


@dataclass
class PhaseSelection:
    """The phases of a live competition that a bundle's submissions can be sent to, and why others cannot be.

    Attributes:
        site: the answer of `competitions/ID/`.
        username: who submits.
        version: the platform's that the site follows.
        now: the moment that decides whether a phase takes submissions.
        open: the phases of the bundle with the site's own.
        closed: the phases that take no submission now, with their dates.
        problems: why others are not entered.
        notes: what is worth knowing.
    """

    connection: Connection
    site: Row
    username: str
    version: PlatformVersion
    now: datetime
    open: dict[Phase, Row] = field(default_factory=dict)
    closed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def look_at(self, row: Row, bundle: Competition) -> None:
        """Whether a phase of the site is the bundle's, and takes a submission without harm."""
        name = f"phase {row['name']}"
        place = phases_of(self.site, None).index(row)
        phase = bundle.phases[place] if place < len(bundle.phases) else None
        if phase is None or phase.name != row["name"]:
            there = "no further phase" if phase is None else f"the phase {phase.name} in its place"
            self.problems.append(f"{name}: not of this bundle, which has {there}.")
            return
        ours, theirs = ([task.name for task in phase.tasks], [task["name"] for task in row.get("tasks") or []])
        if len({*ours}) < len(ours):
            self.problems.append(f"{name}: two of its tasks have the same name, and cannot be told apart.")
            return
        if sorted(ours) != sorted(theirs):
            self.problems.append(f"{name}: its tasks are {_list(theirs)}, in the bundle {_list(ours)}.")
            return
        reason = closed(replace(phase, start=moment(row.get("start")), end=moment(row.get("end"))), self.now)
        if reason and self.version is not PlatformVersion.V1_25:
            self.closed.append(
                f"{name}: not confirmed, since the site takes submissions only within the dates. {_sentence(reason)} "
                "To confirm it now, move its dates in the editor meanwhile."
            )
            return
        if reason:
            self.notes.append(f"{name}: sites of this version take submissions all the same. {_sentence(reason)}")
        if self._would_replace(row, name):
            return
        self.open[phase] = row

    def _would_replace(self, row: Row, name: str) -> bool:
        """Whether a submission of ours would take an earlier one of the same account from the board for good."""
        own = [one for one in submissions_of(self.connection, row["id"]) if one.get("owner") == self.username]
        earlier = [one for one in own if str(one.get("filename") or "").startswith(PREFIX)]
        if ids := [str(one["id"]) for one in earlier if not one.get("parent")]:
            self.notes.append(f"{name}: submissions of an earlier confirm are still there: {_list(ids)}.")
        rule = (self.site.get("leaderboards") or [{}])[0].get("submission_rule")
        shown = {
            str(one.get("parent") or one["id"])
            for one in own
            if one not in earlier and (one.get("on_leaderboard") or one.get("leaderboard"))
        }
        if not shown or rule not in REPLACING_RULES:
            return False
        self.problems.append(
            f"{name}: not confirmed, since a submission of yours is on its leaderboard ({_list(sorted(shown))}). "
            f"With the rule {rule} another one of yours may take its place, and the site does not put it back. "
            "Use the account of another organiser."
        )
        return True

    def without_submission(self, rehearsed: set[Phase]) -> None:
        """Report the phases that the bundle holds nothing for."""
        self.problems += [
            f"phase {phase.name}: the bundle has neither a solution nor a starting kit with template/ for it."
            for phase in self.open
            if phase not in rehearsed
        ]

    def quota(self, made: Mapping[int, Sequence[int]]) -> None:
        """Report what counted for the limits of the account."""
        for phase, row in self.open.items():
            limits = [
                f"{row[key]} {span}"
                for key, span in (("max_submissions_per_day", "a day"), ("max_submissions_per_person", "in all"))
                if row.get(key)
            ]
            if (number := len(made.get(row["id"], ()))) and limits:
                self.notes.append(
                    f"phase {phase.name}: {number} of your {' and '.join(limits)} "
                    "count for as long as the submissions exist."
                )


def _list(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."

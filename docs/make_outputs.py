"""Write docs/outputs.md from the types that are printed and written: `python docs/make_outputs.py`.

Where a verb puts an object together by hand, its keys are read from the code, so that none can be forgotten here.
"""

import ast
import dataclasses
import inspect
import re
import textwrap
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gen_bundle.after.report import content
from gen_bundle.after.rescore import outputs, standings
from gen_bundle.after.verify import DifferingFigure, Setting, Verdict
from gen_bundle.build.draft import Lack
from gen_bundle.check import report as check_report
from gen_bundle.cli import build, status, update
from gen_bundle.cli import list as list_verb
from gen_bundle.dry_run import engines
from gen_bundle.dry_run import report as dry_run
from gen_bundle.image.verbs import Observation
from gen_bundle.live import confirm, upload
from gen_bundle.look.difference import changes, report
from gen_bundle.look.power import words

PAGE = Path(__file__).with_name("outputs.md")
PREFACE = """\
# Outputs for programs

This page is generated from the types: `python docs/make_outputs.py`. Everything is JSON in UTF-8; `--json` prints it to
stdout, while messages for people go to stderr. A file or object is one of those below; `null` means that something is
not known or not there. Fields may be added in later versions: read those that you need.

What scoring programs write (`scores.json`, `details.json`) is in [disclosure](disclosure.md#what-a-phase-shows); what
`fetch` writes, in [live](live.md#fetch).
"""
NAMES = {str: "text", int: "integer", float: "number", bool: "true or false", types.NoneType: "null", Any: "any value"}
Row = tuple[str, str, str]
"""A field, its type in words, and what it means."""


def page() -> str:
    """The whole page."""
    return "\n".join([PREFACE, *_sections()]) + "\n"


def _sections() -> Iterator[str]:
    yield "## dry-run.json\n\nWritten by `dry-run`, also when it is interrupted; `dry-run --json` prints it.\n"
    yield table(fields(dry_run.Results, {"measured": "What each run used.", **BOTH}))
    yield from (nested(one, MORE) for one in (dry_run.Run, dry_run.BoardRow, dry_run.Measured, engines.Usage))
    yield "## check\n\n`check --json` prints an object in a line for each path.\n"
    yield table(written_by(check_report.Report.as_json, CHECKED))
    yield nested(check_report.Finding, FINDING, without=("effect",))
    yield f"`check --format sarif` prints a [SARIF 2.1.0]({check_report.SARIF_SCHEMA}) log with one run.\n"
    yield table(SARIF)
    yield "## build\n\n`gen-bundle NAME_OR_DIR --json` prints a list with an object for each bundle.\n"
    yield table(written_by(build._as_dict, BUILT))
    yield nested(Lack, {"id": "names the reason", "what": "is missing", "repair": "what to do"})
    yield "## list\n\n`list --json` prints a list with an object for each competition.\n"
    yield table(written_by(list_verb._row, LISTED))
    yield "## new\n\n`new --json` prints `folder`, `notes`, and `understood`: what it read in the gold, by heading.\n"
    yield "## diff\n"
    yield table(written_by(report.as_json, DIFFERENT))
    yield nested(changes.Difference, {"effect": one_of(effect.key for effect in changes.Effect)})
    yield "## update\n\nThe differences are those of [diff](#diff), each with `by_hand`: why it is not done, or null.\n"
    yield table(written_by(update._as_dict, UPDATE))
    yield "With `--apply`, where something was to be done, also:\n"
    yield table(written_by(update._applied, APPLIED))
    yield "## upload\n"
    yield table(fields(upload.Uploaded, {"id": "the competition's", "address": "its page", "published": PUBLISHED}))
    yield nested(upload.Mismatch, {"bundle": "what the bundle says", "server": "what the server stored"})
    yield f"Where it fails once the server has the bundle: {', '.join(f'`{key}`' for key in FAILED)}.\n"
    yield "## confirm\n"
    yield table([("good", "true or false", text_of(confirm.Confirmed.good)), *fields(confirm.Confirmed, CONFIRMED)])
    yield nested(confirm.Cell, PLACE)
    yield "## status\n\n`status --json` prints an object in a line for each look.\n"
    yield table(fields(status.LiveStatus, LIVE))
    for one in (status.PhaseStatus, status.Waiting, status.FailuresAlike):
        yield nested(one, LIVE)
    yield "## verify\n"
    yield table([("equal", "true or false", "the signature and all figures are equal"), *fields(Verdict)])
    yield nested(Setting, {"name": "the part", "old": "as published", "new": "as scored again"})
    yield nested(DifferingFigure, {"name": "the figure's", "old": "as published", "new": "as scored again"})
    yield "## rank\n\n`rank --json` and `rank --format json` print an object; packages may add keys of their own.\n"
    yield table(
        [("teams", "list of objects", "a record for each team, in the order of the first task: its keys below")]
    )
    yield "### A record of a team\n"
    yield table(TEAM)
    yield "## power.json\n\nWritten by `power --out`; `power --json` prints it.\n"
    yield table(written_by(words.as_record, POWER))
    yield "### Objects of power.json\n"
    yield table(POWER_PARTS)
    yield "## report.json\n\nWritten by `rank --report`: `version`; `signature`, null of a table of scores; `tasks`, "
    yield "an object for each task by its id.\n"
    if set(REPORTED) != set(content.FIXED):
        raise LookupError(f"report.json holds {', '.join(content.FIXED)}")
    yield table((key, *REPORTED[key]) for key in content.FIXED)
    yield "### Objects of report.json\n"
    yield table(REPORT_PARTS)
    yield "## rescore.json\n\nWritten by `rescore`: `runs`, and `changes`, which are empty without old scores.\n"
    runs = [field.name for field in dataclasses.fields(outputs.ScoredRun) if field.name not in outputs.RUN_FIELDS]
    yield nested(outputs.ScoredRun, RESCORED, without=runs)
    changed = [field.name for field in dataclasses.fields(standings.ScoreChange) if field.name not in outputs.FIELDS]
    yield nested(standings.ScoreChange, RESCORED, without=changed)
    yield "## image check\n\n`image check --json` prints a list.\n"
    yield nested(Observation, {"name": "what was looked at", "problem": "it would not work", "text": "what was seen"})


def table(rows: "Sequence[Row] | Iterator[Row]") -> str:
    """The fields as a Markdown table."""
    lines = ["| Field | Type | Meaning |", "| --- | --- | --- |"]
    for name, kind, meaning in rows:
        text = meaning.replace("|", "\\|").rstrip(".")
        lines.append(f"| `{name}` | {kind} | {text[:1].upper()}{text[1:]} |")
    return "\n".join([*lines, ""])


def nested(one: type, more: Mapping[str, str] | None = None, without: Sequence[str] = ()) -> str:
    """A dataclass under its own heading, with the first sentence of its docstring."""
    what = in_json((inspect.getdoc(one) or "").partition("\n\n")[0])
    return f"### {one.__name__}\n\n{what}\n\n{table(fields(one, more or {}, without))}"


def fields(one: Any, more: Mapping[str, str] | None = None, without: Sequence[str] = ()) -> list[Row]:
    """The fields of a dataclass, each with what its docstring says, or what is said here.

    Raises:
        LookupError: of a field nothing is said.
    """
    hints, said = typing.get_type_hints(one), {**(more or {}), **attributes(one)}
    names = [field.name for field in dataclasses.fields(one) if field.name not in without]
    if silent := [name for name in names if name not in said]:
        raise LookupError(f"{one.__name__}: nothing is said of {', '.join(silent)}")
    return [(name, kind_of(hints[name]), said[name]) for name in names]


def attributes(one: Any) -> dict[str, str]:
    """What the section `Attributes` of a docstring says, by field."""
    section = (inspect.getdoc(one) or "").partition("Attributes:\n")[2].partition("\n\n")[0]
    found: dict[str, str] = {}
    for names, text in re.findall(r"^ {4}([\w, ]+): (.*(?:\n {5,}.*)*)", section, re.MULTILINE):
        for name in names.split(", "):
            found[name] = in_json(text)
    return found


def in_json(text: str) -> str:
    """A text of a docstring in one line, with JSON's word for Python's None."""
    return re.sub(r"\bNone\b", "null", " ".join(text.split()))


def kind_of(hint: Any) -> str:
    """A type in words."""
    if hint in NAMES:
        return NAMES[hint]
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return one_of(parts)
    if origin in (types.UnionType, typing.Union):
        return " or ".join(kind_of(part) for part in parts)
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        return f"object of {kind_of(parts[1])}"
    if origin is not None:
        return f"list of {kind_of(parts[0])}"
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    return "text"


def one_of(texts: Any) -> str:
    """The texts that a field may hold."""
    return ", ".join(f"`{text}`" for text in texts)


def text_of(described: Any) -> str:
    """A docstring in one line."""
    return in_json(inspect.getdoc(described) or "")


def written_by(function: Callable[..., Any], rows: Mapping[str, tuple[str, str]]) -> list[Row]:
    """The rows of an object that a function puts together.

    Raises:
        LookupError: the function writes other keys than these.
    """
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    keys = [key.value for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys if is_text(key)]
    if set(keys) != set(rows):
        different = ", ".join(sorted(set(keys) ^ set(rows)))
        raise LookupError(f"{function.__qualname__}: {different} is said here or written there, but not both")
    return [(key, *rows[key]) for key in rows]


def is_text(node: ast.expr | None) -> typing.TypeGuard[Any]:
    """Whether an expression is a text."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


BOTH = {
    "engine": "`docker` or `process`",
    "runs": "each submission for each task",
    "board": "the rows of all boards, phase by phase, best first",
}
MORE = {
    "phase": "the phase's id, else its index",
    "task": "the task's id, else its index",
    "submission": "its name: that of the file or folder, without suffix",
    "status": "as on the platform",
    "rank": "the place on the board",
    "slowest_job_seconds": "the longer one of its two jobs",
    "usage": "memory and processor time",
}
PATH = ("text", "of the bundle")
CHECKED = {
    "path": PATH,
    "accepted": ("true or false", "Codabench would create the competition"),
    "later": ("`ok`, `trap`, `broken` or null", "what happens then; null where it is refused"),
    "platform_version": ("text", "the version whose rules were applied"),
    "findings": ("list of [Finding](#finding)", "in the platform's order"),
}
FINDING = {
    "id": "the rule, as `check --explain` lists it",
    "severity": "how bad it is",
    "file": "in the bundle",
    "line": "counted from 1",
    "column": "counted from 1",
    "what": "what was found",
    "consequence": "what happens on the platform",
    "repair": "what to do",
    "source": "where the platform says so",
    "first": "the one that the platform would report",
}
SARIF = [
    ("runs[0].tool.driver", "object", "`name`, `version` and `rules`: those that were broken"),
    ("rules[].id", "text", "of the rule"),
    (
        "rules[].shortDescription, .fullDescription, .help",
        "object with `text`",
        "title; what happens; repair and source",
    ),
    ("rules[].defaultConfiguration.level", "`error`, `warning` or `note`", "how bad it is"),
    ("runs[0].results", "list of objects", "the findings of all paths"),
    ("results[].ruleId, .ruleIndex, .level", "text, integer, text", "the rule, its place among `rules`, how bad it is"),
    ("results[].message.text", "text", "place, finding, consequence and repair"),
    (
        "results[].locations[0].physicalLocation",
        "object",
        "`artifactLocation.uri`: the file, of a zip the zip; `region`",
    ),
    ("region.startLine, .startColumn", "integer", "within a folder, as far as they are known"),
]
BUILT = {
    "path": PATH,
    "written": ("true or false", "false with `--release` where something is missing"),
    "tasks": ("list of text", "their ids"),
    "notes": ("list of text", "what is worth knowing"),
    "errors": ("list of text", "why it must not be uploaded, though it was written because of `--force`"),
    "draft": ("list of [Lack](#lack)", "what keeps it from being published"),
}
LISTED = {
    "name": ("text", "by which it is built"),
    "package": ("text", "that brings it"),
    "title": ("text", "the competition's"),
    "tasks": ("list of text", "their ids"),
    "phases": ("list of text", "their ids"),
}
DIFFERENT = {
    "same": ("true or false", "there is no difference"),
    "differences": ("list of [Difference](#difference)", "in the order of the competition's parts"),
}
UPDATE = {
    "same": ("true or false", "the competition is as the bundle says"),
    "differences": ("list of [Difference](#difference) with `by_hand`", "what is not the same"),
    "unseen": ("list of text", "tasks that are not the user's, whose files cannot be seen"),
    "still_ranking": ("list of text", "runs with replaced files that the leaderboard ranks by"),
    "obstacles": ("list of text", "why `--apply` refuses the bundle without `--force`"),
    "warnings": ("list of text", "what should be known before"),
    "reruns": ("list of text", "what would be run again, with `--rerun`"),
}
APPLIED = {
    "agreed": ("true or false", "the question was answered with yes, or `--yes` was given"),
    "backup": ("text or null", "the file with what the competition was before"),
    "faults": ("list of text", "what went wrong"),
}
PUBLISHED = "participants can see it"
FAILED = ("id", "address", "may_exist", "error")
CONFIRMED = {"competition": "its id"}
PLACE = {"phase": "the phase's name", "submission": "its name", "task": "the task's name"}
LIVE = {
    "id": "of the competition; of `oldest`, that of the submission",
    "title": "the competition's",
    "published": PUBLISHED,
    "at": "the moment of the look, UTC",
    "phases": "in their order",
    "name": "the phase's",
    "start": "as the site gives it",
    "end": "as the site gives it",
    "owner": "whose it is",
    "status": "the site's word",
    "seconds": "since it was made",
    "line": "the reason",
    "submissions": "their ids",
    "unread_failures": "older ones",
}
TEAM = [
    ("team", "text", "its name"),
    ("COLUMN", "number or null", "the value of each column, by its key"),
    ("TASK_rank", "integer or null", "the rank in each task, by its id; null for a baseline, or where it has none"),
    ("tied", "list of text", "the tasks in which it shares its rank"),
    ("not_scored", "list of text", "why its submission could not be scored; only where there are such teams"),
]
POWER = {
    "title": ("text", "the competition's"),
    "phase": ("text", "the phase whose gold it is"),
    "teams": ("integer", "how many were assumed"),
    "common": ("number", "the share of their errors that systems have in common"),
    "seed": ("integer", "of the random numbers"),
    "tasks": ("object of objects", "an object for each task by its id"),
}
POWER_PARTS = [
    ("name, column, title", "text", "the task's name; key and title of the column that ranks"),
    ("without", "text or null", "why nothing can be said; then nothing of the following is there"),
    ("sort, decimals", "text, integer", "of the column"),
    ("unit, units", "text, integer", "what the units are, and how many there are"),
    ("level", "number", "the better system's score"),
    ("baseline", "object or null", "`name` and `score` of the best baseline"),
    ("sizes[].size, .units", "number, integer", "test sets of so many times the units, and how many units that is"),
    ("sizes[].intervals", "text or null", "why the report would print no intervals"),
    (
        "sizes[].smallest, .smallest_among_teams",
        "number or null",
        "the difference found in 8 of 10 test sets, by itself and among all pairs of teams; null: none that was tried",
    ),
    ("sizes[].curve[].gap, .power", "number", "every difference that was tried, and how often it is found"),
    ("sizes[].gaps[].gap, .power, .power_among_teams", "number", "a difference, and how often it is found"),
    ("sizes[].gaps[].teams", "integer", "teams that are so far apart, ranked together"),
    ("sizes[].gaps[].first", "number", "the share of test sets in which the best of them is first"),
    ("sizes[].gaps[].tau", "number or null", "mean Kendall tau between a test set's ranking and their true order"),
    ("sizes[].gaps[].optimism", "number", "how much too good the score of the one that is first is, on average"),
]
REPORTED = {
    "name": ("text", "the task's"),
    "column": ("text", "the key of the column that ranks"),
    "title": ("text", "its title"),
    "sort": ("text", "`desc` where higher is better, else `asc`"),
    "unit": ("text or null", "what the resampled units are, such as `row`"),
    "units": ("integer", "how many there are; 0 where nothing was resampled"),
    "resamples": ("integer", "resamples, and exchanges for each pair"),
    "seed": ("integer", "of the random numbers"),
    "without": ("text or null", "why there are no intervals at all"),
    "winner": ("object or null", "who won; null where nobody is ranked, or a team that won is hidden"),
    "not_ranked": ("list of text", "the teams that have no value in the column that ranks"),
    "teams": ("list of objects", "best first"),
    "pairs": ("list of objects", "every two teams"),
    "stability": ("object", "of the ranking over the resamples"),
}
REPORT_PARTS = [
    ("teams[].team", "text", "its name"),
    ("teams[].score", "number or null", "the ranking column"),
    ("teams[].low, .high", "number or null", "the ends of its 95 % interval"),
    ("teams[].why", "text or null", "why it has none, where others may have one"),
    ("teams[].rank", "integer or null", "null for a baseline"),
    ("teams[].rank_low, .rank_high", "integer or null", "the ends of the rank's interval"),
    ("teams[].group", "integer or null", "teams of one group cannot be told apart"),
    ("pairs[].a, .b", "text", "the two teams"),
    ("pairs[].difference", "number", "the score of `a` minus that of `b`"),
    ("pairs[].low, .high", "number or null", "the ends of its 95 % interval"),
    ("pairs[].why", "text or null", "why it has none, where others may have one"),
    ("pairs[].p, .p_holm", "number or null", "p value, and the same by Holm for all pairs"),
    ("winner.teams", "list of text", "those that share the first place"),
    ("winner.next, .ahead", "list of text, number or null", "who follows, and by how much the first is ahead"),
    ("winner.alike", "list of text or null", "the teams that differ significantly from no winner; null without tests"),
    ("winner.optimism", "number or null", "by how much a first place among these teams looks too good"),
    ("stability.tau_mean", "number or null", "mean Kendall tau between the ranking and those of the resamples"),
    ("stability.wins", "object of number", "team → share of the resamples in which it is first"),
]
RESCORED = {
    "submission": "its name",
    "task": "the task's id",
    "exit_code": "of the scoring program; null where it did not run",
    "column": "the column's key",
    "old": "the old score",
    "new": "the new score",
    "rank_old": "the old place on the board",
    "rank_new": "the new place on the board",
}

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

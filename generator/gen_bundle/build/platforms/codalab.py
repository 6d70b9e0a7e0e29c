"""The bundle in CodaLab's older format (version 1.5), which Codabench reads, too.

Rules: codalab/codalab-competitions @ c7ef5e28, `apps/web/models.py` (CompetitionDefBundle.unpack), and Codabench's
`competitions/unpackers/v1.py` of 1.25. Every key that the old server does not know is an error there, so only known
ones are written. Dates are YAML timestamps in UTC: the old server takes nothing else.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

import yaml

from gen_bundle.build.package.phase_data import PhaseData
from gen_bundle.build.package.programs import program_members
from gen_bundle.build.package.resolve import Resolved
from gen_bundle.build.platforms.codabench import logo_file
from gen_bundle.build.render.markdown import page_html
from gen_bundle.build.render.pages import page_name, render_pages, terms_name
from gen_bundle.codabench.settings import OPTIONAL
from gen_bundle.declaration.model import DeclaredColumn, DeclaredPhase, DeclaredTask
from gen_bundle.ground.errors import UserError, raise_all
from gen_bundle.ground.zips.writing import Members, all_files, zipped

COMMAND = "command: python3 $program/score.py $input $output\n"
REQUIRED_PAGES = ("overview", "evaluation", "terms", "data")
MAX_TITLE, MAX_LABEL, MAX_DESCRIPTION = 100, 50, 1000
BY_HAND = ("manual", "Add", "Add_And_Delete_Multiple")
ONE_KEPT = {
    "all": "the board keeps only the latest submission of each participant",
    "Add_And_Delete_Multiple": "the board keeps one submission per participant, which they choose",
}
NO_LIMIT = 999


def bundle_tree(
    competition: Resolved, phases: Sequence[PhaseData], kits: Mapping[str, Members]
) -> dict[str, bytes | Path]:
    """Return all files of the bundle by name; `kits` are the starting kits by phase.

    Raises:
        UserError: the competition cannot be expressed in this format.
    """
    if competition.takes_code:
        raise UserError("submission.kind: code is not supported by --platform codalab. Expected codabench, or results.")
    problems = []
    if len(competition.parts) > 1:
        problems.append("layout: CodaLab has one scoring program per phase. Expected layout joint or separate.")
    if len(_title(competition)) > MAX_TITLE:
        problems.append(f"title: has more than {MAX_TITLE} characters. CodaLab takes no more: --set title=…")
    for one in competition.phases:
        if len(one.description) > MAX_DESCRIPTION:
            place = f"phases.{one.id}.description"
            problems.append(f"{place}: has more than the {MAX_DESCRIPTION} characters that CodaLab takes.")
    raise_all(problems)
    logo = logo_file(competition)
    pages = _pages(competition, phases)
    document = _document(competition, phases, pages, logo)
    tree: dict[str, bytes | Path] = {
        "competition.yaml": yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100).encode(),
        logo: competition.folder / competition.declaration.logo,
        **pages,
    }
    for data, phase in zip(phases, document["phases"].values(), strict=True):
        (part,) = competition.parts_of(data.phase)
        reference, secrets = data.gold.references[part.id], data.gold.secrets
        program = program_members(
            competition, part, data.phase, baselines=data.scores, secrets=secrets, reference=reference, scores_txt=True
        )
        program["metadata"] = COMMAND.encode()
        del program["metadata.yaml"]
        tree[phase["scoring_program"]] = zipped(program)
        tree[phase["reference_data"]] = zipped(all_files(reference))
        tree[phase["starting_kit"]] = zipped(kits[data.phase.id])
        if data.public:
            tree[phase["public_data"]] = zipped(data.public)
    return tree


def losses(competition: Resolved) -> list[str]:
    """Return what this format cannot express, for the organiser to know."""
    declaration = competition.declaration
    rule = declaration.submission_rule
    lost = ["the solutions (baselines)"]
    if rule in ONE_KEPT:
        lost.append(f"submission_rule {rule}: {ONE_KEPT[rule]}")
    if declaration.leaderboard.hidden:
        lost.append("a hidden leaderboard: hide it in the settings before the competition is published")
    if any(phase.hides_scores or phase.hide_prediction_output for phase in competition.phases):
        lost.append("the hidden outputs of the phases")
    if any(column.computation for _, column in competition.columns):
        lost.append("computed columns")
    lost += [field.name for field in OPTIONAL if getattr(declaration, field.name)]
    if declaration.fact_sheet:
        lost.append("fact_sheet")
    lost.append("ends of phases but the last: a phase lasts until the next one starts")
    return [f"CodaLab's format has no place for {text}" for text in lost]


def _title(competition: Resolved) -> str:
    """The title; in layout `separate` with the task, and then the short name where the long one leaves no room."""
    title = competition.declaration.title
    if competition.layout != "separate":
        return title
    task = competition.tasks[0].name
    if len(f"{title} – {task}") > MAX_TITLE:
        title = competition.name
    return f"{title} – {task}"


def _pages(competition: Resolved, phases: Sequence[PhaseData]) -> dict[str, bytes]:
    """HTML pages by file name; the four that the old server requires are always there."""
    texts = render_pages(competition, phases)
    declaration = competition.declaration
    pages: dict[str, bytes] = {}
    named = [(page.title, page_name(declaration, page.file)) for page in declaration.pages]
    for title, name in (*named, ("terms", terms_name(declaration))):
        codename = title.replace("/", "-")
        if title.lower() in REQUIRED_PAGES:  # pages are known by their name: `Data` is the page `data`
            codename = title.lower()
        pages[f"{codename}.html"] = page_html(texts[name].decode()).encode()
    for name in REQUIRED_PAGES:
        empty = f"<h1>{name.capitalize()}</h1><p>{escape(declaration.description)}</p>\n"
        pages.setdefault(f"{name}.html", empty.encode())
    return pages


def _document(
    competition: Resolved, phases: Sequence[PhaseData], pages: Mapping[str, bytes], logo: str
) -> dict[str, Any]:
    declaration = competition.declaration
    document: dict[str, Any] = {
        "title": _title(competition),
        "description": declaration.description,
        "image": logo,
        "competition_docker_image": declaration.image,
        "has_registration": declaration.registration == "approve",
        "enable_detailed_results": True,
        "enable_forum": declaration.forum,
        "force_submission_to_leaderboard": declaration.submission_rule not in BY_HAND,
        "html": {name.removesuffix(".html"): name for name in pages},
        "phases": {number: _phase(number, data, declaration.submission_rule) for number, data in enumerate(phases, 1)},
        "leaderboard": _leaderboard(competition.columns, declaration.leaderboard.title),
    }
    last = competition.phases[-1].end
    if last:
        document["end_date"] = _timestamp(last)
    return document


def _phase(number: int, data: PhaseData, submission_rule: str) -> dict[str, Any]:
    phase: DeclaredPhase = data.phase
    entry: dict[str, Any] = {
        "phasenumber": number,
        "label": phase.name[:MAX_LABEL],
        "description": phase.description,
        "start_date": _timestamp(phase.start),
        "is_scoring_only": True,
        "max_submissions": phase.max_submissions or NO_LIMIT,
        "max_submissions_per_day": phase.max_submissions_per_day or NO_LIMIT,
        "execution_time_limit": phase.execution_time_limit,
        "scoring_program": f"scoring_program_{phase.id}.zip",
        "reference_data": f"reference_data_{phase.data_id}.zip",
        "starting_kit": f"starting_kit_{phase.id}.zip",
    }
    if data.public:
        entry["public_data"] = f"public_data_{phase.data_id}.zip"
    if phase.auto_migrate and number > 1:
        entry["auto_migration"] = True
    if submission_rule == "best":
        entry["force_best_submission_to_leaderboard"] = True
    return entry


def _leaderboard(columns: Sequence[tuple[DeclaredTask, DeclaredColumn]], title: str) -> dict[str, Any]:
    """One board; the columns of each task form a group where there are several tasks."""
    label = {"label": title[:MAX_LABEL], "rank": 1}
    groups: dict[str, Any] = {}
    entries: dict[str, Any] = {}
    for task, column in columns:
        if column.computation is not None:
            continue
        group = groups.setdefault(f"group_{task.id}", {"label": task.name[:MAX_LABEL], "rank": len(groups) + 1})
        entries[column.key] = {
            "leaderboard": {**label},
            "column_group": {"label": group["label"]},
            "label": column.title,
            "rank": len(entries) + 1,
            "sort": column.sort,
            "numeric_format": column.precision,
        }
    board: dict[str, Any] = {"leaderboards": {"RESULTS": {**label}}}
    if len(groups) > 1:
        return board | {"column_groups": groups, "columns": entries}
    for entry in entries.values():
        del entry["column_group"]
    return board | {"columns": entries}


def _timestamp(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)

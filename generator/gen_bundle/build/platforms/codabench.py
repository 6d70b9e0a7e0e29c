"""The bundle as Codabench reads it: competition.yaml (version 2) and the files it names.

Rules: Codabench 1.25, `competitions/unpackers/v2.py` and the serializers it uses. Every file is a
ready-made zip, because a folder is zipped on the server under a name that can collide with another file.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from gen_bundle.build.package.phase_data import PhaseData
from gen_bundle.build.package.programs import empty_submission, ingestion_members, program_members
from gen_bundle.build.package.resolve import ProgramPart, Resolved
from gen_bundle.build.render.pages import page_name, render_pages, terms_name
from gen_bundle.codabench.competition import TIE_BREAK
from gen_bundle.codabench.dates import utc
from gen_bundle.codabench.settings import MIGRATE, OPTIONAL, PHASE_SETTINGS, SETTINGS, PlatformField
from gen_bundle.declaration.model import (
    CompetitionSettings,
    DeclaredColumn,
    DeclaredCompetition,
    DeclaredPhase,
    PhaseSettings,
    Question,
)
from gen_bundle.declaration.ready_programs import ForeignColumn, ForeignCompetition
from gen_bundle.ground.zips.writing import Members, all_files, zipped

SUBMISSION_RULES = {
    "manual": "Add_And_Delete",
    "last": "Force_Last",
    "best": "Force_Best",
    "all": "Force_Latest_Multiple",
    "Add": "Add",
    "Add_And_Delete_Multiple": "Add_And_Delete_Multiple",
}


def bundle_tree(
    competition: Resolved, phases: Sequence[PhaseData], kits: Mapping[str, Members]
) -> dict[str, bytes | Path]:
    """Return all files of the bundle by their names in its competition.yaml; `kits` are the starting kits by phase."""
    document = competition_document(competition, phases)
    tree: dict[str, bytes | Path] = {
        "competition.yaml": yaml_text(document),
        document["image"]: competition.folder / competition.declaration.logo,
        **render_pages(competition, phases),
    }
    for data, phase in zip(phases, document["phases"], strict=True):
        for part, index in zip(competition.parts_of(data.phase), phase["tasks"], strict=True):
            task = document["tasks"][index]
            reference, secrets = data.gold.references[part.id], data.gold.secrets
            program = program_members(
                competition, part, data.phase, baselines=data.scores, secrets=secrets, reference=reference
            )
            tree[task["scoring_program"]] = zipped(program)
            tree[task["reference_data"]] = zipped(all_files(reference))
            if competition.takes_code and task["ingestion_program"] not in tree:
                tree[task["ingestion_program"]] = zipped(ingestion_members(competition, data.phase, data.manifest))
                tree[task["input_data"]] = zipped(data.input)
        tree[phase["starting_kit"]] = zipped(kits[data.phase.id])
        if data.public:
            tree[phase["public_data"]] = zipped(data.public)
        for name, members in solutions(competition, data).items():
            tree[_solution_file(data, name)] = zipped(members)
    return tree


def losses(competition: Resolved) -> list[str]:
    """Return what this format cannot express of a declaration: nothing."""
    return []


def yaml_text(document: Mapping[str, Any]) -> bytes:
    """Return the text of competition.yaml, dumped from plain data: quoted dates."""
    return yaml.dump(
        document, Dumper=BundleDumper, sort_keys=False, allow_unicode=True, width=100, default_flow_style=False
    ).encode()


def competition_document(competition: Resolved, data: Sequence[PhaseData]) -> dict[str, Any]:
    """competition.yaml as data."""
    declaration = competition.declaration
    title = declaration.title
    if competition.layout == "separate":
        title += f" – {competition.tasks[0].name}"
    document: dict[str, Any] = {
        "version": 2,
        # longer ones are taken, and fail when the upload is stored
        "title": title[:222],
        "description": declaration.description,
        "image": logo_file(competition),
        "registration_auto_approve": declaration.registration == "auto",
        "docker_image": declaration.image,
        "enable_detailed_results": True,
        **settings(declaration, SETTINGS),
        "terms": terms_name(declaration),
        "pages": [{"title": page.title, "file": page_name(declaration, page.file)} for page in declaration.pages],
    }
    document |= {**optional_settings(declaration), "tasks": [], "solutions": [], "phases": []}
    for one in data:
        tasks = []
        # Each phase has tasks of its own, since what participants are shown of them differs.
        for part in competition.parts_of(one.phase):
            tasks.append(len(document["tasks"]))
            document["tasks"].append({"index": tasks[-1], **_task(competition, one.phase, part)})
        document["phases"].append(_phase(len(document["phases"]), one, tasks))
        for name in solutions(competition, one):
            entry = {
                "index": len(document["solutions"]),
                "name": f"{name} ({one.phase.name})"[:256],
                "path": _solution_file(one, name),
                "tasks": [*tasks],  # its own, since YAML would write one list of two places as an alias
            }
            document["solutions"].append(entry)
    document["leaderboards"] = [_leaderboard(competition)]
    return document | milestones(declaration)


def settings(declared: BaseModel, fields: Iterable[PlatformField]) -> dict[str, Any]:
    """Return those of the fields that a declaration has, as the platform calls them."""
    return {field.key: getattr(declared, field.name) for field in fields if hasattr(declared, field.name)}


def optional_settings(declaration: DeclaredCompetition | ForeignCompetition) -> dict[str, Any]:
    """Return what is written only where it is declared."""
    sheet = {key: _question(key, question) for key, question in declaration.fact_sheet.items()}
    optional = settings(declaration, OPTIONAL) | {"fact_sheet": sheet}
    return {key: value for key, value in optional.items() if value}


def milestones(declaration: CompetitionSettings) -> dict[str, Any]:
    """Return the dates beside the phases, where there are any: the platform ignores them; a preview shows them."""
    if not declaration.milestones:
        return {}
    return {"milestones": [{"name": one.name, "date": utc(one.date)} for one in declaration.milestones]}


def logo_file(competition: Resolved) -> str:
    """Return the logo's name in the bundle."""
    return "logo" + Path(competition.declaration.logo).suffix.lower()


def _task(competition: Resolved, phase: DeclaredPhase, part: ProgramPart) -> dict[str, Any]:
    entry = {"id": part.id, "name": f"{part.name} ({phase.name})"[:256]}
    if len(competition.parts) > 1 and part.tasks[0].description:
        entry["description"] = part.tasks[0].description
    entry["scoring_program"] = f"scoring_programs/{phase.id}-{part.id}.zip"
    entry["reference_data"] = f"reference_data/{phase.data_id}-{part.id}.zip"  # one for all phases that share it
    if competition.takes_code:
        entry["ingestion_program"] = f"ingestion_programs/{phase.id}.zip"
        entry["input_data"] = f"input_data/{phase.data_id}.zip"
    return entry


def solutions(competition: Resolved, phase_data: PhaseData) -> Mapping[str, Mapping[str, Path | bytes]]:
    """Return a phase's example submissions: its baselines, or else the empty template, or code that writes it."""
    return phase_data.baselines or {"empty": empty_submission(competition, phase_data.template)}


def _solution_file(data: PhaseData, name: str) -> str:
    """Where an example submission lies in the bundle; the empty template belongs to its phase alone."""
    owner = data.phase.id
    if data.baselines:
        owner = data.phase.data_id
    return f"solutions/{owner}/{name}.zip"


def _phase(index: int, data: PhaseData, task_indexes: list[int]) -> dict[str, Any]:
    phase = data.phase
    files = {"starting_kit": f"starting_kits/{phase.id}.zip"}
    if data.public:
        files["public_data"] = f"public_data/{phase.data_id}.zip"
    dates = {"start": utc(phase.start), "end": utc(phase.end) if phase.end else None}
    entry = phase_entry(index, phase, dates, files, task_indexes)
    if index == 0:
        entry[MIGRATE.key] = False  # a bundle of one task may lack the first
    return entry


def phase_entry(
    index: int, phase: PhaseSettings, dates: Mapping[str, str | None], files: Mapping[str, str], tasks: Sequence[int]
) -> dict[str, Any]:
    """Return a phase with its dates as the platform reads them, and its files' places in the bundle."""
    entry: dict[str, Any] = {"index": index, "id": phase.id, "name": phase.name}
    for key, text in {"description": phase.description, **dates}.items():
        if text:
            entry[key] = text
    entry |= {**settings(phase, PHASE_SETTINGS), **files, "tasks": tasks}
    if phase.gold == "public":
        entry["gold"] = phase.gold  # the platform ignores it; the search for leaks does not
    return entry


def _question(key: str, question: Question | dict[str, Any]) -> dict[str, Any]:
    """A question of the fact sheet as the platform reads it; a dict is one already.

    The flags are the texts "true" and "false": Codabench compares them with those, not with booleans.
    """
    if isinstance(question, dict):
        return question
    selection = {"text": "", "checkbox": [True, False], "select": question.choices or []}[question.type]
    return {
        "key": key,
        "type": question.type,
        "title": question.title,
        "selection": selection,
        "is_required": str(question.required).lower(),
        "is_on_leaderboard": str(question.on_leaderboard).lower(),
    }


def _leaderboard(competition: Resolved) -> dict[str, Any]:
    declared = competition.declaration
    numbers: dict[str, int] = {}
    for index, (_, column) in enumerate(competition.columns):
        numbers[column.key] = index
    board: dict[str, Any] = {"title": declared.leaderboard.title, "key": "results"}
    if declared.leaderboard.hidden:
        board["hidden"] = True
    board |= {"submission_rule": SUBMISSION_RULES[declared.submission_rule], "primary_index": 0}
    if competition.tie_break is not None:
        board[TIE_BREAK] = competition.tie_break
    board["columns"] = []
    for index, (_, column) in enumerate(competition.columns):
        board["columns"].append(column_entry(index, column, numbers))
    return board


def column_entry(index: int, column: DeclaredColumn | ForeignColumn, numbers: Mapping[str, int]) -> dict[str, Any]:
    """Return a column of the leaderboard; `numbers` are the indexes of all of them by their keys."""
    entry: dict[str, Any] = {
        "index": index,
        "key": column.key,
        "title": column.title,
        "sorting": column.sort,
        "precision": column.precision,
        "hidden": column.hidden,
    }
    if column.computation is not None:
        entry["computation"] = column.computation
        entry["computation_indexes"] = column.of and [numbers[key] for key in column.of]
    return entry


class BundleDumper(yaml.SafeDumper):
    """Block style with lists indented below their key, and every text that YAML could misread in quotes."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    # YAML 1.1 reads many texts as something else: dates, numbers with colons, `no` as false
    plain = text and text[0].isalpha() and text.replace("_", "").replace("/", "").replace(".", "").isalnum()
    risky = text.lower() in {"yes", "no", "on", "off", "true", "false", "null", "y", "n"}
    style = None if plain and not risky else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


BundleDumper.add_representer(str, _text)

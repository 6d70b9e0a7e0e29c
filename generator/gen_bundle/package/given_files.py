"""Files of a phase that are taken as they lie in the data: baselines, public data, what submitted code may read."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

from gen_bundle.declaration.declared import DECLARED
from gen_bundle.declaration.model import Phase
from gen_bundle.errors import UserError
from gen_bundle.package.resolve import Resolved
from gen_bundle.zips.unpacking import UNREADABLE
from gen_bundle.zips.writing import folder_members

SAMPLE = "sample"
"""The folder of the public data that holds what submitted code reads, `input/`, and gold for it, `gold/`."""


def baselines_of(competition: Resolved, phase: Phase) -> dict[str, Mapping[str, Path | bytes]]:
    """Baselines by name: each a folder, a zip, or a single file below `baselines/<phase>/`."""
    folder = competition.data / "baselines" / phase.data_id
    baselines: dict[str, Mapping[str, Path | bytes]] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.name.startswith("."):
            continue
        name = path.stem if path.is_file() else path.name
        members = _baseline_members(path)
        if not members or name in baselines:
            what = "there are two baselines of this name" if members else "holds no file"
            raise UserError(f"{path}: {what}. Expected each baseline in a folder, a zip or a file of its own.")
        if competition.layout == "separate":
            members = _own_task(members, competition.tasks[0].id, competition.all_task_ids)
        if members and not _of_others(competition, phase, members):
            baselines[name] = members
    return baselines


def _baseline_members(path: Path) -> Mapping[str, Path | bytes]:
    if path.is_dir():
        return folder_members(path)
    if path.suffix.lower() != ".zip":
        return {path.name: path}
    try:
        with zipfile.ZipFile(path) as archive:
            return {member.filename: archive.read(member) for member in archive.infolist() if not member.is_dir()}
    except UNREADABLE as error:
        raise UserError(f"{path}: is not a readable zip. Expected a submission as participants send it.") from error


def _own_task(members: Mapping[str, Path | bytes], task: str, tasks: list[str]) -> Mapping[str, Path | bytes]:
    """In layout `separate` what lies in the task's own folder is the submission; folders of other tasks are not."""
    if any(name.startswith(f"{task}/") for name in members):
        return {name.removeprefix(f"{task}/"): c for name, c in members.items() if name.startswith(f"{task}/")}
    return members if not any(name.split("/", 1)[0] in tasks for name in members) else {}


def _of_others(competition: Resolved, phase: Phase, members: Mapping[str, Path | bytes]) -> bool:
    """Whether a declared competition's baseline holds only tables that the phase's tasks do not read."""
    if competition.package.name != DECLARED:
        return False
    tasks = [task.id for task in competition.tasks_of(phase)]
    read = {one["table"] for task in tasks for one in competition.options["metrics"][task].values()}
    files = {table["id"]: table["file"]["name"] for table in competition.options["tables"]}
    names = {Path(name).name for name in members}
    return names.isdisjoint(files[table] for table in read) and not names.isdisjoint(files.values())


def public_files(competition: Resolved, phase: Phase) -> dict[str, Path | bytes]:
    """Everything below `public/`; a folder there that is named like a phase belongs to that phase alone."""
    folder = competition.data / "public"
    others = {other.id for other in competition.declaration.phases} - {phase.data_id}
    members = folder_members(folder) if folder.is_dir() else {}
    return {name: path for name, path in members.items() if name.split("/", 1)[0] not in others}


def given_files(competition: Resolved, data_id: str) -> dict[str, dict[str, str]]:
    """`given` and `given_to_all` of the organisers' `check_reference`: public data but the sample, and inputs of code.

    Where there is but one phase, all of it is that phase's.
    """
    phase = next(one for one in competition.phases if one.data_id == data_id)
    public = {f"public/{name}": path for name, path in public_files(competition, phase).items()}
    folder = competition.data / "input" / data_id
    code = folder_members(folder) if competition.takes_code and folder.is_dir() else {}
    files = public | {f"input/{data_id}/{name}": path for name, path in code.items()}
    alone = len({one.data_id for one in competition.declaration.phases}) == 1
    given: dict[str, dict[str, str]] = {"given": {}, "given_to_all": {}}
    for name, path in files.items():
        own = alone or name.startswith((f"public/{data_id}/", "input/"))
        if isinstance(path, Path) and not name.startswith(f"public/{SAMPLE}/"):
            given["given" if own else "given_to_all"][name] = str(path)
    return given


def input_files(competition: Resolved, phase: Phase) -> dict[str, Path | bytes]:
    """What submitted code may read: everything below `input/<phase>/`."""
    folder = competition.data / "input" / phase.data_id
    if not competition.takes_code:
        if folder.exists():
            raise UserError(
                f"{folder}: only submitted code reads it. Expected submission.kind: code, or no such folder."
            )
        return {}
    members = folder_members(folder) if folder.is_dir() else {}
    if not members:
        raise UserError(f"{folder}: holds no file. Expected what the submitted code may read, without gold.")
    return members

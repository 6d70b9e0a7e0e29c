"""The declaration of a foreign project, whole: its settings as they were, and the scoring as it was found."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gen_bundle.building import BuildRequest, build
from gen_bundle.codabench.dates import read_instant
from gen_bundle.declaration.read import FILE
from gen_bundle.errors import UserError
from gen_bundle.importing.declare.project import scoring_part
from gen_bundle.importing.declare.proposals import ScoringProposal
from gen_bundle.platforms.codabench import SUBMISSION_RULES

SAME = ("title", "name", "description", "logo", "contact", "registration", "forum", "reward", "queue")
PHASE_SAME = (
    *("id", "name", "description", "max_submissions_per_day", "max_submissions", "execution_time_limit"),
    *("auto_migrate", "hide_output", "hide_prediction_output", "hide_score_output", "gold"),
)
TEMPLATE_SIGNS = ("{{", "{%", "{#")
HOUSE_RULES = {theirs: ours for ours, theirs in SUBMISSION_RULES.items()}


class DeclaredProject:
    """A foreign project as a declared one.

    Attributes:
        lost: what the declaration does not take over, a line each.
        pages: pages that had to be written anew, by path.
    """

    def __init__(self, folder: Path, foreign: Mapping[str, Any]) -> None:
        self.folder = folder
        self.foreign = foreign
        self.lost: list[str] = []
        self.pages: dict[str, str] = {}

    def declaration(
        self, proposal: ScoringProposal, columns: Sequence[Mapping[str, Any]], decimals: int | None
    ) -> dict[str, Any]:
        """What bundle.yaml says.

        Raises:
            UserError: a declaration cannot say what the project has.
        """
        foreign = self.foreign
        declared: dict[str, Any] = {key: foreign[key] for key in SAME if key in foreign}
        declared |= {"scoring_program": "declared"}
        rule = foreign.get("submission_rule", "Add")
        declared["submission_rule"] = HOUSE_RULES.get(rule, rule)
        declared["pages"] = [{**page, "file": self._template(page["file"])} for page in foreign["pages"]]
        declared["terms"] = self._template(foreign["terms"])
        board = foreign["leaderboard"]
        declared["leaderboard"] = {key: board[key] for key in ("title", "hidden") if key in board}
        declared["phases"] = list(self._phases(decimals))
        part = scoring_part(proposal, [*columns, *self._computed()])
        part["tasks"][0]["columns"] = self._ordered(part["tasks"][0]["columns"])
        if foreign.get("docker_image"):
            self.lost.append(f"docker_image: {foreign['docker_image']}; the declared scorer runs in the platform's own")
        if foreign.get("fact_sheet"):
            self.lost.append("fact_sheet: write its questions anew")
        return declared | part

    def try_out(self, text: str, work: Path) -> None:
        """Build the declaration in a copy of the project.

        Raises:
            UserError: it cannot be built.
        """
        copy = work / "project"
        shutil.copytree(self.folder, copy)
        (copy / FILE).write_text(text, encoding="utf-8")
        self.add_pages(copy)
        self.add_baselines(copy)
        build(BuildRequest(str(copy), work / "bundle.zip", force=True))

    def add_pages(self, folder: Path) -> None:
        """Write the pages that had to be written anew into the project, or a copy of it."""
        for name, text in self.pages.items():
            (folder / name).write_text(text, encoding="utf-8")

    def add_baselines(self, folder: Path) -> None:
        """Copy the solutions to where a declaration looks for baselines, in the project or a copy of it."""
        for solution in self.foreign.get("solutions", []):
            source = self.folder / solution["path"]
            for phase in self.foreign["phases"]:
                if not set(phase["tasks"]) & set(solution["tasks"]) or not source.exists():
                    continue
                target = folder / "data" / "baselines" / phase["id"] / source.name
                target.parent.mkdir(parents=True, exist_ok=True)
                if source.is_dir():
                    shutil.copytree(source, target, dirs_exist_ok=True)
                else:
                    shutil.copy(source, target)

    def _phases(self, decimals: int | None) -> Iterator[dict[str, Any]]:
        first: dict[str, str] = {}  # reference data → the phase whose folder they are in
        for phase in self.foreign["phases"]:
            entry = {key: phase[key] for key in PHASE_SAME if phase.get(key) is not None}
            entry |= {key: _moment(phase[key]) for key in ("start", "end") if phase.get(key)}
            reference = self._reference(phase)
            owner = first.setdefault(reference, phase["id"])
            if owner != phase["id"]:
                entry["data"] = owner
            elif reference != f"data/{phase['id']}":
                raise UserError(f"phase {phase['id']}: its gold is in {reference}; expected data/{phase['id']}")
            if decimals is not None:
                entry["score_decimals"] = decimals
            self._tell_files(phase)
            yield entry

    def _reference(self, phase: Mapping[str, Any]) -> str:
        """Where the gold of a phase's only task is."""
        if len(phase["tasks"]) != 1:
            raise UserError(f"phase {phase['id']}: has {len(phase['tasks'])} tasks; a declaration has one a phase")
        data = {task["id"]: task.get("reference_data") for task in self.foreign["tasks"]}
        return str(data[phase["tasks"][0]])

    def _tell_files(self, phase: Mapping[str, Any]) -> None:
        """Say what of a phase's files participants would not get."""
        if phase.get("starting_kit"):
            self.lost.append(f"phase {phase['id']}: {phase['starting_kit']}; the build makes a starting kit")
        public = phase.get("public_data")
        if public and public != f"data/public/{phase['id']}":
            self.lost.append(f"phase {phase['id']}: {public}; copy it to data/public/{phase['id']}/")

    def _computed(self) -> Iterator[dict[str, Any]]:
        """The columns that the platform fills, which stay as they are."""
        for column in self.foreign["leaderboard"]["columns"]:
            if column.get("computation"):
                kept = {key: column[key] for key in ("key", "title", "sort", "precision", "hidden") if key in column}
                yield {**kept, "computation": column["computation"], "of": column.get("of", [])}

    def _ordered(self, columns: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The columns as they stood, that which ranks first; those that are new come last."""
        board = self.foreign["leaderboard"]
        places = {one["key"]: one.get("index", place) for place, one in enumerate(board["columns"])}
        primary = board.get("primary_index", 0)

        def place(column: Mapping[str, Any]) -> tuple[bool, int]:
            at = places.get(column["key"], len(places))
            return at != primary, at

        return sorted(columns, key=place)

    def _template(self, file: str) -> str:
        """A page that is no template; one that looks like it is written anew, marked as none."""
        text = (self.folder / file).read_text(encoding="utf-8", errors="replace")
        if not any(sign in text for sign in TEMPLATE_SIGNS):
            return file
        self.pages[f"{file}.j2"] = f"{{% raw %}}{text}{{% endraw %}}"
        return f"{file}.j2"


def _moment(text: str) -> str:
    """A date as the platform reads it, with its zone."""
    instant = read_instant(text, datetime.now(UTC))
    if instant.moment is None:
        raise UserError(f"the date {text!r}: expected one that Codabench reads")
    return f"{instant.moment:%Y-%m-%d %H:%M:%S} UTC"

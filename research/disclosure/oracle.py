"""All that a participant sees of one submission after another to a competition's test phase, by the program itself."""

import atexit
import html
import io
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from gen_bundle.build.package.phase_data import PhaseData, prepare_phases
from gen_bundle.build.package.programs import program_description
from gen_bundle.build.package.resolve import resolve
from gen_bundle.ground.resources import resource
from scoring_kit import frame
from tests.scoring_programs.framed import write_files


@dataclass(frozen=True)
class Setting:
    """What a phase shows, its `details` and `score_decimals`, and how many golds an attacker can keep in mind."""

    details: str
    decimals: int | None = None
    memory: int = 100_000

    @property
    def error(self) -> float:
        """How far a score may be from its exact value: half a digit, or the last bits of a sum."""
        return 1e-13 if self.decimals is None else 0.5 * 10**-self.decimals + 1e-13


@dataclass(frozen=True)
class Seen:
    """One scored submission."""

    scores: Mapping[str, float]
    details: Mapping[str, float | None]
    page: str

    def figure(self, title: str) -> dict[str, list[str]]:
        """A figure of the page: label of a row → its cells; empty where the page has no such figure."""
        for figure in re.findall(r"<figure>(.*?)</figure>", self.page, flags=re.DOTALL):
            if title in html.unescape(figure):
                rows = [_cells(row) for row in re.findall(r"<tr>(.*?)</tr>", figure, flags=re.DOTALL)]
                return {label: cells for label, *cells in rows}
        return {}


def _cells(row: str) -> list[str]:
    cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL)
    return [html.unescape(re.sub(r"<[^>]*>", "", cell)).strip() for cell in cells]


class Oracle:
    """The test phase of a competition, with its own limit of submissions.

    Attributes:
        manifest: what participants know.
        baseline: the files of the organisers' better baseline, from which an attacker takes likely answers.
        reference: the phase's gold, to see whether what an attacker believes is true.
        left: how many submissions may still be made.
    """

    def __init__(
        self, work: Path, name: str, part: str, setting: Setting, baseline: str, models: Sequence[str] = ()
    ) -> None:
        overrides = [*models, f"phases.test.details={setting.details}"]
        overrides += [] if setting.decimals is None else [f"phases.test.score_decimals={setting.decimals}"]
        layout = "joint" if part == "joint" else "tasks"
        data = data_of_test_phase(name, layout)
        write_files(work / "program", program_of_test_phase(name, layout, part, tuple(overrides)))
        self.setting = setting
        self.manifest: Mapping[str, Any] = data.manifest["expected"]
        self.baseline = {name: text_of(content) for name, content in data.baselines[baseline].items()}
        self.reference = data.gold.references[part]
        self.left = data.phase.max_submissions
        self._gold = frame.read_gold(frame.program_of(work / "program", None), self.reference)
        self._work = work
        self._number = 0

    def submit(self, files: Mapping[str, str]) -> Seen:
        """Score a submission."""
        assert self.left > 0, "the phase takes no more submissions"
        self.left -= 1
        self._number += 1
        given, output = self._work / f"input{self._number}", self._work / f"output{self._number}"
        write_files(given / "res", files)
        log = io.StringIO()
        with redirect_stdout(log), redirect_stderr(log):
            status = frame.score_once(self._work / "program", given, output, None, self._gold)
        assert status == 0, log.getvalue()
        details = json.loads((output / "details.json").read_text(encoding="utf-8"))["tasks"]
        return Seen(
            json.loads((output / "scores.json").read_text(encoding="utf-8")),
            {name: one["value"] for task in details.values() for name, one in task.items()},
            (output / "detailed_results.html").read_text(encoding="utf-8"),
        )


@cache
def program_of_test_phase(name: str, layout: str, part: str, overrides: tuple[str, ...]) -> Mapping[str, str]:
    """The files of the test phase's program, without its code."""
    competition = resolve(resource("bundles") / name, layout=layout, overrides=overrides)
    phase = next(phase for phase in competition.declaration.phases if phase.id == "test")
    chosen = next(one for one in competition.parts if one.id == part)
    description = program_description(competition, chosen.tasks, phase)
    files = {name: text_of(content) for name, content in competition.program_files.items()}
    return {"program.json": json.dumps(description), **files}


@cache
def data_of_test_phase(name: str, layout: str) -> PhaseData:
    """The test phase's files, which do not depend on what it shows; they lie in a temporary folder until the end."""
    work = Path(mkdtemp(prefix="disclosure-"))
    atexit.register(shutil.rmtree, work)
    competition = resolve(resource("bundles") / name, layout=layout)
    return next(data for data in prepare_phases(competition, work) if data.phase.id == "test")


def text_of(content: Path | bytes) -> str:
    return content.decode() if isinstance(content, bytes) else content.read_text(encoding="utf-8")

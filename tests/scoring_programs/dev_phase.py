"""The dev phase of a bundled competition: its programs, unpacked, with their gold and what is secret in it."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.build.package.phase_data import PhaseData, prepare_phases
from gen_bundle.build.package.programs import program_members
from gen_bundle.build.package.resolve import Resolved, resolve
from gen_bundle.build.render.starting_kit import starting_kits
from gen_bundle.ground.resources import resource
from gen_bundle.ground.zips.writing import write_zip
from scoring_kit import frame
from tests.scoring_programs.read_secrets import ReadSecrets, read_secrets


@dataclass(frozen=True)
class Case:
    """One program of the phase, and what the phase has besides."""

    competition: Resolved
    part: str
    program: Path
    gold: frame.PhaseGold
    data: PhaseData

    @property
    def reference(self) -> Path:
        return self.data.gold.references[self.part]

    @property
    def manifest(self) -> Mapping[str, Any]:
        return self.data.manifest

    @cached_property
    def secrets(self) -> ReadSecrets:
        """Those of the program's own tasks."""
        own = [one for one in self.data.gold.secrets if [*self.reference.glob(one["name"])]]
        return read_secrets(self.reference, {"files": own})

    @cached_property
    def kit(self) -> Mapping[str, bytes | Path]:
        (kit,) = starting_kits(self.competition, [self.data]).values()
        return kit


MADE: dict[tuple[str, str], list[Case]] = {}


def cases(name: str, layout: str, folders: pytest.TempPathFactory) -> list[Case]:
    """A case for each of the competition's programs, made once."""
    if (name, layout) not in MADE:
        MADE[name, layout] = _cases(name, layout, folders.mktemp(name))
    return MADE[name, layout]


def _cases(name: str, layout: str, work: Path) -> list[Case]:
    competition = resolve(resource("bundles") / name, layout=layout, overrides=("submission_rule=all",))
    data = prepare_phases(competition, work)[0]
    made = []
    for part in competition.parts:
        archive, program = work / f"{part.id}.zip", work / f"program-{part.id}"
        write_zip(archive, program_members(competition, part))
        shutil.unpack_archive(archive, program)
        gold = frame.read_gold(frame.program_of(program, None), data.gold.references[part.id])
        made.append(Case(competition, part.id, program, gold, data))
    return made

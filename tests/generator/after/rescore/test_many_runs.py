"""A warm worker leaves for every submission what a single run leaves: valid and spoiled ones, in any order."""

import io
import random
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from gen_bundle.build.package.phase_data import prepare_phases
from gen_bundle.build.package.programs import program_members
from gen_bundle.build.package.resolve import resolve
from gen_bundle.build.render.starting_kit import starting_kits
from gen_bundle.cli import root
from gen_bundle.ground.resources import resource
from gen_bundle.ground.zips.writing import write_zip
from tests.generator.after.rescore.warm import Left, WarmWorker, score_alone, score_in_a_fork, write_job
from tests.sweeps import sweep

PROGRAMS = (
    ("clarity2026", None),
    ("process2025", None),
    ("seedev2016", None),
    ("are2007", None),
    ("clpsych2025", "a2"),
)
"""Competition, and the task that is scored alone."""
DECLARED = ("conll2003", "emoint", "semeval2018-1-e-c", "hotpotqa")
"""Real tasks that need no Python, with tags, numbers, sets of labels, and texts."""
SPOILED = 3
TOGETHER = 5
"""So many submissions one process scores."""
Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Case:
    """An unpacked program, the gold of its dev phase, submissions, and what a single run of each leaves."""

    program: Path
    reference: Path
    submissions: list[Files]
    alone: list[Left]


@pytest.fixture(scope="module", params=sweep([*PROGRAMS, *DECLARED], [PROGRAMS[0], PROGRAMS[3], DECLARED[1]]), ids=str)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    work, task = tmp_path_factory.mktemp("case"), None
    if request.param in DECLARED:
        folder = work / "declared"
        done = CliRunner().invoke(root, ["new", folder.name, "--like", request.param, "--in", str(work)])
        assert done.exit_code == 0, done.output
    else:
        name, task = request.param
        folder = resource("bundles") / name
    competition = resolve(folder, layout="separate" if task else "joint")
    competition = competition.only(task) if task else competition
    data = prepare_phases(competition, work)[0]
    write_zip(work / "program.zip", program_members(competition, competition.parts[0]))
    with zipfile.ZipFile(work / "program.zip") as archive:
        archive.extractall(work / "program")
    (kit,) = starting_kits(competition, [data]).values()
    examples = [
        _unzipped(content)
        for path, content in kit.items()
        if path.startswith("examples/") and path.endswith(".zip") and isinstance(content, bytes)
    ]
    fewest = 2 if request.param in DECLARED else 5
    assert len(examples) >= fewest
    chance = random.Random(str(request.param))
    spoiled = [_spoiled(chance.choice(examples), chance) for _ in range(SPOILED)]
    submissions = [*examples, {}, *spoiled]
    reference = data.gold.references[competition.parts[0].id]
    jobs = [write_job(work / f"alone {n}", reference, files) for n, files in enumerate(submissions)]
    alone = [score_in_a_fork(work / "program", job) for job in jobs]
    again = write_job(work / "by itself", reference, submissions[0])
    assert score_alone(work / "program", again) == alone[0]  # so a fork may stand for such a run
    return Case(work / "program", reference, submissions, alone)


def _unzipped(content: bytes) -> Files:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def _spoiled(files: Files, chance: random.Random) -> Files:
    """A submission with some bytes of a file replaced, and sometimes a file less."""
    spoiled = dict(files)
    name = chance.choice(sorted(spoiled))
    content = bytearray(spoiled[name])
    for _ in range(chance.choice((1, 1, 20))):
        if content:
            content[chance.randrange(len(content))] = chance.choice(b'\x00\xff"{},9aE \n')
    spoiled[name] = bytes(content)
    if len(spoiled) > 1 and chance.random() < 0.3:
        del spoiled[chance.choice(sorted(spoiled))]
    return spoiled


@pytest.mark.slow
@pytest.mark.parametrize("together", [1, TOGETHER])
@pytest.mark.usefixtures("kept_organisers")
def test_every_submission_leaves_what_a_single_run_leaves(case: Case, together: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        assert {left.exit_code for left in case.alone} == {0, 1}
        order = [*range(len(case.alone)), *range(len(case.alone))]
        random.Random(together).shuffle(order)
        with WarmWorker(case.program, case.reference, log=work / "log") as worker:
            for first in range(0, len(order), together):
                jobs: dict[Path, Left] = {}
                for number in order[first : first + together]:
                    job = write_job(work / f"{first} {len(jobs)}", case.reference, case.submissions[number])
                    jobs[job] = case.alone[number]
                assert worker.score_together([*jobs]) == [*jobs.values()]

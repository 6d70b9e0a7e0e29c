from dataclasses import replace
from pathlib import Path

import pytest

from gen_bundle.codabench.runnable import read_competition
from gen_bundle.dry_run.engines import Usage
from gen_bundle.dry_run.report import Measured, verdict
from tests.generator.dry_run.bundles import Bundle

RUN = Measured(
    "test", "main", "team", "Finished", 600, seconds=12.0, slowest_job_seconds=10.0, usage=Usage(2 * 1024**2, 1.0)
)


@pytest.mark.parametrize(
    ("seconds", "judged"),
    [
        (10.0, "enough room"),
        (301.0, "tight: the platform's workers may be slower than this machine"),
        (600.0, "too slow"),
    ],
)
def test_time_is_held_against_the_limit(tmp_path: Path, seconds: float, judged: str) -> None:
    competition = read_competition(Bundle().write(tmp_path))
    told = [*verdict(competition, [replace(RUN, slowest_job_seconds=seconds)])]
    assert told == [
        f"phase test: the slowest job took {seconds:.1f} s of 600 s (the default queue, at most 600 s): {judged}",
        "phase test: 2 MiB of memory seen; the platform sets no limit",
    ]


def test_a_limit_beyond_the_default_queues_is_told(tmp_path: Path) -> None:
    competition = read_competition(Bundle(phase={"execution_time_limit": 3600}).write(tmp_path))
    time, _ = verdict(competition, [RUN])
    assert "of 600 s (the default queue, at most 600 s; the phase asks for 3600 s): enough room" in time


def test_a_run_that_failed_early_says_nothing(tmp_path: Path) -> None:
    competition = read_competition(Bundle().write(tmp_path))
    failed = replace(RUN, status="Failed")
    assert [*verdict(competition, [failed])] == []
    assert "too slow" in next(verdict(competition, [replace(failed, slowest_job_seconds=600.1)]))


def test_a_queue_of_its_own_gets_the_phases_limit(tmp_path: Path) -> None:
    competition = read_competition(Bundle(top={"queue": "0f0f0f0f-0000-4000-8000-000000000000"}).write(tmp_path))
    [time, _] = verdict(competition, [replace(RUN, limit_seconds=3600)])
    assert time == "phase test: the slowest job took 10.0 s of 3600 s (its own queue): enough room"


def test_unmeasured_memory_is_not_told(tmp_path: Path) -> None:
    competition = read_competition(Bundle().write(tmp_path))
    assert len([*verdict(competition, [replace(RUN, usage=Usage())])]) == 1
    assert len([*verdict(competition, [replace(RUN, slowest_job_seconds=0.5)])]) == 1
    on_gpu = replace(RUN, usage=Usage(1024**3, 1.0, 2 * 1024**3))
    assert "1024 MiB of memory seen, 2048 MiB on the GPU" in [*verdict(competition, [on_gpu])][1]

"""What the measured runs mean for the platform: room below the time limit, and hours of a worker."""

from collections.abc import Sequence

from gen_bundle.codabench.competition import DEFAULT_LIMIT_S
from gen_bundle.twin.bundle import Competition
from gen_bundle.twin.outcomes import Measured

# Hosted workers are slower and shared; a run that uses half of its time here may run out of it there.
TIGHT = 0.5
MIB = 1024**2


def verdict(
    competition: Competition, measured: Sequence[Measured], teams: int | None, per_day: int | None
) -> list[str]:
    """Sentences on time and memory, phase by phase.

    Args:
        competition: The bundle.
        measured: What each run used.
        teams: Participants, for the hours of worker time; None leaves them out.
        per_day: Submissions of each a day; None takes the phase's own limit.
    """
    sentences = []
    for phase in competition.phases:
        # A run that failed early shows nothing about time; one that ran into the limit does.
        runs = [
            run
            for run in measured
            if run.phase == phase.id and (run.status == "Finished" or run.slowest_job_seconds >= run.limit_seconds)
        ]
        if not runs:
            continue
        slowest = max(runs, key=lambda run: run.slowest_job_seconds)
        sentences.append(_time(phase.id, slowest, phase.execution_time_limit, own_queue=competition.own_queue))
        if memory := _memory(phase.id, runs):
            sentences.append(memory)
        daily = per_day or phase.max_submissions_per_day
        if teams and not daily:
            sentences.append(f"phase {phase.id}: no daily limit is declared; give --per-day for the worker-hours")
        if teams and daily:
            each = sum(run.seconds for run in runs) / len({run.submission for run in runs})
            sentences.append(_hours(phase.id, each, teams, daily))
    return sentences


def _time(phase: str, slowest: Measured, asked: int | None, *, own_queue: bool) -> str:
    limit, took = slowest.limit_seconds, slowest.slowest_job_seconds
    if took >= limit:
        judged = "too slow"
    elif took > TIGHT * limit:
        judged = "tight: the platform's workers may be slower than this machine"
    else:
        judged = "enough room"
    queue = "its own queue" if own_queue else f"the default queue, at most {DEFAULT_LIMIT_S} s"
    cut = f"; the phase asks for {asked} s" if asked and asked > limit else ""
    return f"phase {phase}: the slowest job took {took:.1f} s of {limit} s ({queue}{cut}): {judged}"


def _memory(phase: str, runs: Sequence[Measured]) -> str | None:
    held = [run.usage.memory_bytes for run in runs if run.usage.memory_bytes is not None]
    on_gpu = [run.usage.gpu_memory_bytes for run in runs if run.usage.gpu_memory_bytes is not None]
    if not held or max(held) < MIB:  # it ended before there was anything to see
        return None
    gpu = f", {max(on_gpu) / MIB:.0f} MiB on the GPU" if on_gpu else ""
    return f"phase {phase}: at most {max(held) / MIB:.0f} MiB of memory{gpu}; the platform sets no limit"


def _hours(phase: str, seconds: float, teams: int, daily: int) -> str:
    hours = teams * daily * seconds / 3600
    workers = f"; needs {-(-hours // 24):.0f} workers of its own" if hours > 24 else ""
    return (
        f"phase {phase}: {teams} teams × {daily} per day × {seconds:.1f} s = {hours:.1f} worker-hours per day{workers}"
    )

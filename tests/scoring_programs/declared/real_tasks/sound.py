"""Tasks of speech: whether two recordings are of one speaker, who speaks when, how good it sounds."""

from collections.abc import Sequence
from itertools import permutations

import numpy as np
from scipy.interpolate import interp1d
from scipy.optimize import brentq
from sklearn import metrics as sk

from tests.scoring_programs.declared.real_tasks.making import (
    Case,
    Team,
    Values,
    answered,
    csv_of,
    kendall,
    near,
    pearson,
    shuffled,
    spearman,
    task,
)


@task
def voxsrc2022(rng: Team) -> Case:
    trials = [(int(i % 3 == 0), f"id{10270 + i % 5}/a{i}.wav", f"id{10300 + i % 7}/b{i}.wav") for i in range(60)]
    scores = [
        near(rng, target, 0.8, -2, 3) + (0 if rng.manner == "constant" else i * 1e-5)
        for i, (target, *_) in enumerate(trials)
    ]
    scores = [round(score, 6) for score in scores]
    labels = [target for target, *_ in trials]
    false_alarms, hits, _ = sk.roc_curve(labels, scores)
    curve = interp1d(false_alarms, hits)
    costs = 0.05 * (1 - hits) + 0.95 * false_alarms
    sent = [(score, *trial[1:]) for score, trial in zip(scores, trials, strict=True)]
    return (
        {"trials.txt": "".join(f"{label} {one} {other}\n" for label, one, other in trials)},
        {"scores.txt": "".join(f"{score} {one} {other}\n" for score, one, other in shuffled(rng, sent))},
        {
            "min_dcf": float(min(costs)) / 0.05,
            "eer": 100 * float(brentq(lambda x: 1 - x - curve(x), 0.0, 1.0)),
        },
    )


Turn = tuple[int, int, str]
"""Onset and duration in hundredths of a second, and the speaker."""


def rttm(recording: str, turns: Sequence[Turn]) -> str:
    lines = [
        f"SPEAKER {recording} 1 {onset / 100:.2f} {length / 100:.2f} <NA> <NA> {who} <NA> <NA>"
        for onset, length, who in turns
    ]
    return "".join(line + "\n" for line in lines)


def frames(turns: Sequence[Turn]) -> dict[str, set[int]]:
    """Speaker → the hundredths of a second in which they speak."""
    found: dict[str, set[int]] = {}
    for onset, length, who in turns:
        found.setdefault(who, set()).update(range(onset, onset + length))
    return found


@task
def dihard3(rng: Team) -> Case:
    gold, sent = {}, {}
    errors, spoken, distances, speakers = 0, 0, 0.0, 0
    for recording in (f"DH_EVAL_000{at}" for at in range(1, 5)):
        turns = [(rng.randint(0, 400), rng.randint(5, 120), rng.choice("ABC")) for _ in range(7)]
        answers = []
        for onset, length, who in turns:
            whose = who if rng.manner == "perfect" or rng.random() < 0.7 else rng.choice("ABCD")
            onset += 0 if rng.manner == "perfect" else rng.randint(0, 20)
            answers.append((onset, length, {"A": "x", "B": "y", "C": "z", "D": "w"}[whose]))
            if rng.manner in ("random", "constant"):
                answers[-1] = (onset, length, "x" if rng.manner == "constant" else rng.choice("wxyz"))
        gold[f"{recording}.rttm"], sent[f"{recording}.rttm"] = rttm(recording, turns), rttm(recording, answers)
        right, given = frames(turns), frames(answers)
        moments = set().union(*right.values(), *given.values())
        most = sum(max(sum(at in one for one in side.values()) for side in (right, given)) for at in moments)
        padded = [*given, *(f"nobody {i}" for i in range(len(right)))]
        maps = list(permutations(padded, len(right)))
        nothing: set[int] = set()
        pairs = {(one, who): (right[one], given.get(who, nothing)) for one in right for who in padded}
        shared = {pair: len(one & other) for pair, (one, other) in pairs.items()}
        apart = {pair: 1 - len(one & other) / len(one | other) for pair, (one, other) in pairs.items()}
        errors += most - max(sum(shared[pair] for pair in zip(right, mapped, strict=True)) for mapped in maps)
        distances += min(sum(apart[pair] for pair in zip(right, mapped, strict=True)) for mapped in maps)
        spoken += sum(map(len, right.values()))
        speakers += len(right)
    return gold, sent, {"der": 100 * errors / spoken, "jer": 100 * distances / speakers}


@task
def audiomos2025_3(rng: Team) -> Case:
    systems = [f"sys{i:02}" for i in range(6)]
    rows = [(f"{name}-utt{i}.wav", round(rng.uniform(1, 5), 3), name) for name in systems for i in range(5)]
    answers = [near(rng, mos, 0.7, 1, 5) for _, mos, _ in rows]
    of_systems = [np.array([row[2] == name for row in rows]) for name in systems]
    utterances = np.array([mos for _, mos, _ in rows]), np.array(answers)
    values: Values = {}
    for kind in ("system", "utterance"):
        gold, given = (side.tolist() for side in utterances)
        if kind == "system":
            gold, given = ([float(side[own].mean()) for own in of_systems] for side in utterances)
        values |= {
            f"{kind}_srcc": spearman(gold, given),
            f"{kind}_lcc": pearson(gold, given),
            f"{kind}_ktau": kendall(gold, given),
            f"{kind}_mse": float(sk.mean_squared_error(gold, given)),
        }
    return (
        {"mos.csv": csv_of("wav,mos,system", rows)},
        {"answer.txt": csv_of("wav,mos", answered(rng, rows, answers)).partition("\n")[2]},
        values,
    )

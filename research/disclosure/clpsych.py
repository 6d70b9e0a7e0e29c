"""Attacks on the well-being scores of CLPsych A.2: by the squared errors, by the classes' errors, by macro F1."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from research.disclosure.digits import digits, places
from research.disclosure.found import Found
from research.disclosure.labels import LabelAttack
from research.disclosure.oracle import Oracle, Seen, Setting


def well_being(work: Path, setting: Setting) -> Found:
    """Well-being scores: `full` by the bars of the timelines, else by `a2_mse`."""
    oracle = Oracle(work, "clpsych2025", "a2", setting, "lexical-rule")
    scored = _scored(oracle)
    true = {(timeline, post): score for timeline, posts in scored.items() for post, score in posts.items()}
    base = json.loads(next(iter(oracle.baseline.values())))

    def submit(answers: Mapping[tuple[str, str], float]) -> Seen:
        for timeline, content in base.items():
            for post, answer in content["post_level"].items():
                answer["wellbeing_score"] = answers.get((timeline, post), 1.0)
        return oracle.submit({"Team_1.json": json.dumps(base)})

    found: dict[tuple[str, str], int] = {}
    first = submit({})
    while oracle.left:
        groups = [list(scored)] if setting.details != "full" else [[timeline] for timeline in scored]
        asked = []
        for group in groups:
            error = setting.error if setting.details != "full" else 0.005
            weight = {key: 1 / len(group) / len(scored[key[0]]) for key in true if key[0] in group}
            waiting = [key for key in weight if key not in found]
            step = 9 * min(weight.values())
            chosen = waiting[: places(step, 10, error)]
            steps = [step * 10**-i for i in range(len(chosen))]
            asked.append((group, chosen, steps, {key: s / weight[key] for key, s in zip(chosen, steps, strict=True)}))
        moved = {key: by for *_, moves in asked for key, by in moves.items()}
        seen = submit({key: 1 + by for key, by in moved.items()})
        for group, chosen, steps, moves in asked:
            before, after = _squared_error(first, group, setting), _squared_error(seen, group, setting)
            if before is None or after is None or not chosen:
                continue
            squares = sum(s * by for s, by in zip(steps, moves.values(), strict=True))
            for key, digit in zip(chosen, digits((before - after + squares) / 2, steps, 9), strict=True):
                found[key] = 1 + digit
    return Found(len(found), len(true), all(true[key] == score for key, score in found.items()))


CLPSYCH_SCORES = {"serious": 1, "impaired": 5, "minimal": 8}


def classes(work: Path, setting: Setting) -> Found:
    """Classes of well-being scores by `a2_macro_f1` alone; posts outside of a question abstain."""
    oracle = Oracle(work, "clpsych2025", "a2", setting, "lexical-rule")
    scores = {(timeline, post): score for timeline, posts in _scored(oracle).items() for post, score in posts.items()}
    true = ["serious" if score < 5 else "impaired" if score <= 6 else "minimal" for score in scores.values()]
    base = json.loads(next(iter(oracle.baseline.values())))

    def files(answers: Sequence[str]) -> Mapping[str, str]:
        given = {key: CLPSYCH_SCORES.get(answer) for key, answer in zip(scores, answers, strict=True)}
        for timeline, content in base.items():
            for post, answer in content["post_level"].items():
                answer["wellbeing_score"] = given.get((timeline, post))
        return {"Team_1.json": json.dumps(base)}

    attack = LabelAttack(oracle, list(CLPSYCH_SCORES), len(true), files, "a2_macro_f1", "none", figure="none")
    found = attack.run()
    return Found(len(found), len(true), all(true[item] == label for item, label in found.items()))


def _scored(oracle: Oracle) -> dict[str, dict[str, int]]:
    """Timeline → post → gold score, of the posts that have one."""
    gold = json.loads((oracle.reference / "gold.json").read_text(encoding="utf-8"))
    return {
        timeline: {
            post: int(one["wellbeing_score"])
            for post, one in content["post_level"].items()
            if one["wellbeing_score"] is not None
        }
        for timeline, content in gold.items()
    }


def _squared_error(seen: Seen, timelines: Sequence[str], setting: Setting) -> float | None:
    if setting.details != "full":
        return seen.scores["a2_mse"]
    cells = seen.figure("Mean squared error by timeline").get(timelines[0])
    return float(cells[0]) if cells else None


def one_post_each(work: Path, setting: Setting, column: str) -> Found:
    """Well-being scores by one squared error, such as that of a class; a question answers one post of each timeline.

    The error of an abstention is the greatest of its timeline's answers. So where a single post is answered every post
    of the timeline errs as much as that one, whichever its class is, and the column is the mean of these errors over
    the timelines that have the class. Of timelines without any answer every error is 9, so they count 81.
    """
    oracle = Oracle(work, "clpsych2025", "a2", setting, "lexical-rule")
    scored = {timeline: list(posts.items()) for timeline, posts in _scored(oracle).items()}
    base = json.loads(next(iter(oracle.baseline.values())))
    found: dict[tuple[str, str], int] = {}
    while oracle.left:
        asked = [timeline for timeline, posts in scored.items() if len(posts) >= oracle.left]
        asked = asked[: _readable(len(scored), setting.error)]
        posts = [scored[timeline][oracle.left - 1][0] for timeline in asked]
        answers = [1 + step for step in _steps(len(asked))]
        given = dict(zip(zip(asked, posts, strict=True), answers, strict=True))
        for timeline, content in base.items():
            for post, answer in content["post_level"].items():
                answer["wellbeing_score"] = given.get((timeline, post))
        shown = oracle.submit({"Team_1.json": json.dumps(base)}).scores[column]
        scores = _agreed(shown, setting.error, answers, len(scored) - len(asked))
        found.update({key: score for key, score in zip(given, scores, strict=True) if score != ABSENT})
    true = {(timeline, post): score for timeline, posts in scored.items() for post, score in posts}
    return Found(len(found), len(true), all(true[key] == score for key, score in found.items()))


ABSENT = 0
"""Instead of a score: the timeline has no post of the class."""
LARGEST_SQUARE = 81.0
MOST_ASKED = 6


def _steps(number: int) -> list[float]:
    """How far the answers are from 1: the squared error of the first is whole, the others add a decimal place each."""
    return [0.0, *(0.05 * 10**-i for i in range(number - 1))][:number]


def _readable(timelines: int, error: float) -> int:
    """How many steps differ by more than what a sum over all timelines may be off."""
    return next(n for n in range(MOST_ASKED, 0, -1) if n == 1 or 2 * _steps(n)[-1] > 2 * error * timelines)


def _agreed(shown: float, error: float, answers: Sequence[float], others: int) -> list[int]:
    """The score of each answered post on which all possible golds agree, else `ABSENT`."""
    squares = [np.array([0.0, *((score - answer) ** 2 for score in range(1, 11))]) for answer in answers]
    total, present = np.zeros(1), np.zeros(1)
    for square in squares:
        total = (total[:, None] + square).ravel()
        present = (present[:, None] + (np.arange(11) > 0)).ravel()
    possible = np.zeros(len(total), dtype=bool)
    for other in range(others + 1):
        if other * LARGEST_SQUARE > (shown + error) * (len(answers) + other):
            break  # of so many the mean is greater already
        count = np.maximum(present + other, 1)
        possible |= np.abs((total + other * LARGEST_SQUARE) / count - shown) <= error
    codes = np.array(np.unravel_index(np.flatnonzero(possible), (11,) * len(answers))).T
    return [int(codes[0, i]) if (codes[:, i] == codes[0, i]).all() else ABSENT for i in range(len(answers))]

"""Attacks on the well-being scores of CLPsych A.2: by the squared errors, by the classes' errors, by macro F1."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
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
    true = _by_post(scored)
    base = json.loads(next(iter(oracle.baseline.values())))

    def submit(answers: Mapping[tuple[str, str], float]) -> Seen:
        for timeline, content in base.items():
            for post, answer in content["post_level"].items():
                answer["wellbeing_score"] = answers.get((timeline, post), 1.0)
        return oracle.submit({"Team_1.json": json.dumps(base)})

    found: dict[tuple[str, str], int] = {}
    first = submit({})
    groups = [scored]
    if setting.details == "full":
        groups = [{timeline: posts} for timeline, posts in scored.items()]
    while oracle.left:
        asked = [_question(group, found, setting) for group in groups]
        moved = {key: 1 + by for question in asked for key, by in question.moves.items()}
        seen = submit(moved)
        for group, question in zip(groups, asked, strict=True):
            before, after = (_squared_error(one, [*group], setting) for one in (first, seen))
            if before is not None and after is not None:
                found |= question.read(before - after)
    return Found(len(found), len(true), all(true[key] == score for key, score in found.items()))


@dataclass(frozen=True)
class Question:
    """Posts of a mean, how far their answers are moved from 1, and what that adds to the mean for each point of gold.

    Attributes:
        moves: post → how far.
        steps: of each post, half of what is taken from the mean for each point by which its score is above 1.
    """

    moves: Mapping[tuple[str, str], float]
    steps: Sequence[float]

    def read(self, fallen: float) -> dict[tuple[str, str], int]:
        """The scores of the posts, by how much the mean has fallen."""
        if not self.moves:
            return {}
        squares = sum(step * by for step, by in zip(self.steps, self.moves.values(), strict=True))
        read = digits((fallen + squares) / 2, self.steps, 9)
        return {post: 1 + digit for post, digit in zip(self.moves, read, strict=True)}


def _question(
    scored: Mapping[str, Mapping[str, int]], found: Collection[tuple[str, str]], setting: Setting
) -> Question:
    """The next posts of these timelines, as many as can be told apart."""
    weight = {}
    for timeline, posts in scored.items():
        for post in posts:
            weight[timeline, post] = 1 / len(scored) / len(posts)
    waiting = [key for key in weight if key not in found]
    step = 9 * min(weight.values())
    error = 0.005 if setting.details == "full" else setting.error
    chosen = waiting[: places(step, 10, error)]
    steps = [step * 10**-i for i in range(len(chosen))]
    return Question({key: own / weight[key] for key, own in zip(chosen, steps, strict=True)}, steps)


CLPSYCH_SCORES = {"serious": 1, "impaired": 5, "minimal": 8}


def classes(work: Path, setting: Setting) -> Found:
    """Classes of well-being scores by `a2_macro_f1` alone; posts outside of a question abstain."""
    oracle = Oracle(work, "clpsych2025", "a2", setting, "lexical-rule")
    scores = _by_post(_scored(oracle))
    true = list(map(_class_of, scores.values()))
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


def _class_of(score: int) -> str:
    if score < 5:
        return "serious"
    return "impaired" if score <= 6 else "minimal"


def _scored(oracle: Oracle) -> dict[str, dict[str, int]]:
    """Timeline → post → gold score, of the posts that have one."""
    gold = json.loads((oracle.reference / "gold.json").read_text(encoding="utf-8"))
    scored: dict[str, dict[str, int]] = {}
    for timeline, content in gold.items():
        scores = {post: one["wellbeing_score"] for post, one in content["post_level"].items()}
        scored[timeline] = {post: int(score) for post, score in scores.items() if score is not None}
    return scored


def _by_post(scored: Mapping[str, Mapping[str, int]]) -> dict[tuple[str, str], int]:
    return {(timeline, post): score for timeline, posts in scored.items() for post, score in posts.items()}


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
    scored = _scored(oracle)
    true = _by_post(scored)
    base = json.loads(next(iter(oracle.baseline.values())))

    def submit(answers: Mapping[tuple[str, str], float]) -> float:
        for timeline, content in base.items():
            for post, answer in content["post_level"].items():
                answer["wellbeing_score"] = answers.get((timeline, post))
        return oracle.submit({"Team_1.json": json.dumps(base)}).scores[column]

    found: dict[tuple[str, str], int] = {}
    while oracle.left:
        asked = [timeline for timeline, posts in scored.items() if len(posts) >= oracle.left]
        asked = asked[: _readable(len(scored), setting.error)]
        posts = [[*scored[timeline]][oracle.left - 1] for timeline in asked]
        answers = [1 + step for step in _steps(len(asked))]
        given = dict(zip(zip(asked, posts, strict=True), answers, strict=True))
        scores = _agreed(submit(given), setting.error, answers, len(scored) - len(asked))
        found.update({key: score for key, score in zip(given, scores, strict=True) if score != ABSENT})
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
    total, present = np.zeros(1), np.zeros(1)
    for answer in answers:
        squares = (np.arange(1, 11) - answer) ** 2
        total = (total[:, None] + np.array([0.0, *squares])).ravel()
        present = (present[:, None] + (np.arange(11) > 0)).ravel()
    possible = np.zeros(len(total), dtype=bool)
    for other in range(others + 1):
        if other * LARGEST_SQUARE > (shown + error) * (len(answers) + other):
            break  # of so many the mean is greater already
        count = np.maximum(present + other, 1)
        possible |= np.abs((total + other * LARGEST_SQUARE) / count - shown) <= error
    codes = np.array(np.unravel_index(np.flatnonzero(possible), (11,) * len(answers))).T
    return [int(codes[0, i]) if (codes[:, i] == codes[0, i]).all() else ABSENT for i in range(len(answers))]

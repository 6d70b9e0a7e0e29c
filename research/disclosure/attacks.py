"""One attack for each figure that a competition shows: what it finds out, and of how many gold items.

Each attacker knows which items have gold and how the figures are computed, and uses the whole limit of the test phase.
All attacks are honest: they see the scores, the details and the page, and claim what follows from these with certainty.
What they do not find may still be found by a better one, so their counts are lower bounds.
"""

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from clarity2026 import reference as clarity_reference
from clarity2026.submission import CLARITY_LABELS, EVASION_LABELS
from process2025.submission import CLASSES
from research.disclosure import are, clpsych, evidence, guesses
from research.disclosure.answers import AnswerAttack
from research.disclosure.digits import digits, places
from research.disclosure.found import Found
from research.disclosure.labels import LabelAttack
from research.disclosure.oracle import Oracle, Seen, Setting


def clarity_labels(
    work: Path, setting: Setting, figure: Literal["matrix", "f1"] = "matrix", alone: bool = False
) -> Found:
    """Task 1: macro F1 over three labels, in `full` also the confusion matrix or the F1 of each label."""
    oracle = Oracle(work, "clarity2026", "joint", setting, "good")
    gold = clarity_reference.read(oracle.reference, ["clarity", "evasion"], {})
    ids, true = gold.ids, gold.clarity

    def files(answers: Sequence[str]) -> Mapping[str, str]:
        return {"a.csv": _csv(["id", "clarity_pred"], zip(ids, answers, strict=True))}

    found = LabelAttack(oracle, CLARITY_LABELS, len(true), files, "clarity_macro_f1", "none", figure, alone).run()
    return Found(len(found), len(true), all(true[item] == label for item, label in found.items()))


def clarity_evasion(work: Path, setting: Setting) -> Found:
    """Task 2: `evasion_accuracy` says how many of some labels an annotator gave."""
    oracle = Oracle(work, "clarity2026", "joint", setting, "good")
    gold = clarity_reference.read(oracle.reference, ["clarity", "evasion"], {})
    (text,) = oracle.baseline.values()
    answers = {row["id"]: row["evasion_pred"] for row in csv.DictReader(io.StringIO(text))}
    given = {
        name: set(labels).intersection(EVASION_LABELS) for name, labels in zip(gold.ids, gold.annotations, strict=True)
    }
    ids = [name for name in answers if given[name]]

    def files(asked: Sequence[int]) -> Mapping[str, str]:
        chosen = {ids[item] for item in asked}
        pairs = [(name, answers[name] if name in chosen else "none") for name in answers]
        return {"a.csv": _csv(["id", "evasion_pred"], pairs)}

    def right(seen: Seen, asked: int) -> tuple[float, float]:
        return seen.scores["evasion_accuracy"] * len(ids), setting.error * len(ids)

    found = AnswerAttack(oracle, [""] * len(ids), files, right).run()
    true = all((answers[ids[item]] in given[ids[item]]) == claim for item, claim in found.items())
    return Found(len(found), len(ids), true)


def process_classes(
    work: Path, setting: Setting, figure: Literal["matrix", "f1"] = "matrix", alone: bool = False
) -> Found:
    """Task 1: macro F1 over three classes, in `full` also the confusion matrix."""
    oracle = Oracle(work, "process2025", "joint", setting, "good")
    rows = _table(oracle.reference / "gold.csv")
    ids, true = [row["Test_ID"] for row in rows], [row["Class"] for row in rows]

    def files(answers: Sequence[str]) -> Mapping[str, str]:
        return {"PROCESS_submission_Us_There.csv": _csv(["Test_ID", "Model1_class"], zip(ids, answers, strict=True))}

    found = LabelAttack(oracle, CLASSES, len(true), files, "macro_f1", CLASSES[-1], figure, alone).run()
    return Found(len(found), len(true), all(true[item] == label for item, label in found.items()))


def process_mmse(work: Path, setting: Setting) -> Found:
    """Task 2: the root mean squared error, scores from 0 to 30 as digits of base 31 around 25."""
    oracle = Oracle(work, "process2025", "joint", setting, "good")
    rows = _table(oracle.reference / "gold.csv")
    ids = [row["Test_ID"] for row in rows]
    true = {row["Test_ID"]: float(row["MMSE"]) for row in rows if row["MMSE"]}
    count, middle, reach = len(true), 25.0, 30.0

    def squares(moves: Mapping[str, float]) -> float:
        answers = [(name, repr(middle + moves.get(name, 0.0))) for name in ids]
        seen = oracle.submit({"PROCESS_submission_Us_There.csv": _csv(["Test_ID", "Model1_MMSE"], answers)})
        return count * seen.scores["rmse"] ** 2

    whole = round(squares({}))
    found: dict[str, int] = {}
    while oracle.left and len(found) < count:
        largest = (math.sqrt(whole) + 1.001 * reach) / math.sqrt(count)
        error = count * largest * setting.error
        chosen = [name for name in true if name not in found][: places(reach, 31, error)]
        if not chosen:
            break
        steps = [reach * 31**-i for i in range(len(chosen))]
        moved = squares(dict(zip(chosen, steps, strict=True)))
        total = (whole + sum(step**2 for step in steps) - moved) / 2 + middle * sum(steps)
        found.update(zip(chosen, digits(total, steps, 30), strict=True))
    return Found(len(found), count, all(true[name] == score for name, score in found.items()))


def seedev(work: Path, setting: Setting, task: str, earned: Sequence[float] = (0.0, 1.0), alone: bool = False) -> Found:
    """SeeDev: precision counts the right events, in `full` also those of each type.

    In SeeDev-full an event without optional arguments earns half where only its negation is wrong.
    """
    oracle = Oracle(work, "seedev2016", "joint", setting, "good")
    given = {name: text.splitlines() for name, text in oracle.baseline.items() if name.startswith(f"{task}/")}
    lines = _ordered([(name, event) for name, text in given.items() for event in _events(text)])
    gold: dict[tuple[str, str], float] = {}
    for name in given:
        gold |= _gold_events(name, (oracle.reference / name).read_text(encoding="utf-8"))

    def files(asked: Sequence[int]) -> Mapping[str, str]:
        chosen: dict[str, str] = dict.fromkeys(oracle.baseline, "")
        for number, item in enumerate(asked, start=1):
            name, event = lines[item]
            chosen[name] += f"E{number}\t{event}\n"
        return chosen

    def right(seen: Seen, asked: int) -> tuple[float, float]:
        return seen.scores[f"{task}_precision"] * asked, setting.error * asked

    def right_of_kind(seen: Seen, kind: str, asked: int) -> tuple[float, float]:
        value = seen.details.get(f"precision.{kind}")
        return (math.nan, 0.0) if value is None else (value * asked, setting.error * asked)

    groups = [event.split()[0] for _, event in lines]
    in_group = right_of_kind if setting.details == "full" else None
    found = AnswerAttack(oracle, groups, files, right, in_group, earned, alone).run()
    truth = [gold.get((name, " ".join(sorted(event.split()))), 0.0) for name, event in lines]
    return Found(len(found), len(lines), all(truth[item] == claim for item, claim in found.items()))


Line = tuple[str, str]
"""The name of a file, and an event in it."""


def _events(text: Sequence[str]) -> Iterator[str]:
    """The events of a file that have no optional arguments."""
    for line in text:
        if line.startswith("E"):
            event = line.split("\t")[1]
            if len(event.split()) == 3:
                yield event


def _gold_events(name: str, text: str) -> dict[Line, float]:
    """What each event of a file of gold earns; its arguments are sorted."""
    written = [line.split("\t") for line in text.splitlines()]
    negated = {content.partition("Annotation:")[2] for mark, content in written if mark.startswith("M")}
    gold: dict[Line, float] = {}
    for mark, event in written:
        key = name, " ".join(sorted(event.split()))
        earns = 0.5 if mark in negated else 1.0
        gold[key] = max(gold.get(key, 0.0), earns)
    return gold


def _ordered(lines: Sequence[Line]) -> list[Line]:
    """The most frequent types first, three side by side, so that a question holds enough events of each."""
    kinds: dict[str, list[Line]] = {}
    for line in lines:
        kinds.setdefault(line[1].split()[0], []).append(line)
    frequent = sorted(kinds, key=lambda kind: (-len(kinds[kind]), kind))
    ordered = []
    for start in range(0, len(frequent), 3):
        ordered += _interleaved([kinds[kind] for kind in frequent[start : start + 3]])
    return ordered


def _interleaved(columns: Sequence[Sequence[tuple[str, str]]]) -> list[tuple[str, str]]:
    longest = max(map(len, columns))
    return [column[i] for i in range(longest) for column in columns if i < len(column)]


def _table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def _csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([header, *rows])
    return out.getvalue()


Attack = Callable[[Path, Setting], Found]
ATTACKS: Mapping[str, Attack] = {
    "CLPsych A.2, well-being of posts": clpsych.well_being,
    "CLPsych A.2, well-being of posts, by abstentions": partial(clpsych.one_post_each, column="a2_mse"),
    "CLPsych A.2, well-being of posts, by the error of `serious` alone": partial(
        clpsych.one_post_each, column="a2_mse_serious"
    ),
    "CLPsych A.2, well-being of posts, by the error of `impaired` alone": partial(
        clpsych.one_post_each, column="a2_mse_impaired"
    ),
    "CLPsych A.2, well-being of posts, by the error of `minimal` alone": partial(
        clpsych.one_post_each, column="a2_mse_minimal"
    ),
    "CLPsych A.2, classes of posts, by macro F1 alone": clpsych.classes,
    "CLARITY task 1, labels": clarity_labels,
    "CLARITY task 1, labels, by F1 instead of the matrix": partial(clarity_labels, figure="f1"),
    "CLARITY task 2, answers that an annotator gave": clarity_evasion,
    "PROCESS task 1, classes": process_classes,
    "PROCESS task 2, MMSE scores": process_mmse,
    "SeeDev-binary, events": partial(seedev, task="binary"),
    "SeeDev-full, events without optional arguments": partial(seedev, task="full", earned=(0.0, 0.5, 1.0)),
    "ARE task 1, antecedents": are.task1,
    "ARE task 2, links": are.task2,
    "ARE task 3, antecedents": are.task3,
    "ARE task 4, links": are.task4,
}

MODEL_ATTACKS: Mapping[str, Attack] = {
    "CLPsych A.1, sentences that are evidence": evidence.evidence,
    "CLPsych A.1, sentences that are adaptive evidence, by the recall of `adaptive` alone": partial(
        evidence.evidence, column="a1_recall_adaptive"
    ),
    "CLPsych B, which summary a post has": guesses.posts,
    "CLPsych B, which summary a post has, by consistency alone": partial(guesses.posts, columns=["b_mean_consistency"]),
    "CLPsych C, which summary a timeline has": guesses.timelines,
    "CLPsych C, which summary a timeline has, by consistency alone": partial(
        guesses.timelines, columns=["c_mean_consistency"]
    ),
}
"""Those that need the models' packages; they keep no golds in mind."""

ALONE: Mapping[str, Attack] = {
    "CLPsych A.2 bars by timeline": clpsych.well_being,
    "CLARITY task 1 matrix": partial(clarity_labels, alone=True),
    "CLARITY task 1 F1 of each label": partial(clarity_labels, figure="f1", alone=True),
    "PROCESS task 1 matrix": partial(process_classes, alone=True),
    "PROCESS task 1 F1 of each label": partial(process_classes, figure="f1", alone=True),
    "SeeDev-binary the same by type": partial(seedev, task="binary", alone=True),
    "SeeDev-full the same by type": partial(seedev, task="full", earned=(0.0, 0.5, 1.0), alone=True),
    "ARE task 1 bars by text": partial(are.task1, alone=True),
}
"""Figure → the attack that looks at nothing else; such figures are shown in `full`."""

COLUMNS: Mapping[str, str] = {
    "CLPsych A.1 recall, each of 6 columns": "CLPsych A.1, sentences that are adaptive evidence, by the recall of "
    "`adaptive` alone",
    "CLPsych B each of 3 columns": "CLPsych B, which summary a post has, by consistency alone",
    "CLPsych C each of 2 columns": "CLPsych C, which summary a timeline has, by consistency alone",
    "CLPsych A.2 squared error, each of 4 columns": "CLPsych A.2, well-being of posts",
    "CLARITY task 1 macro F1": "CLARITY task 1, labels",
    "CLARITY task 2 accuracy": "CLARITY task 2, answers that an annotator gave",
    "PROCESS task 1 macro F1, precision, recall": "PROCESS task 1, classes",
    "PROCESS task 2 RMSE": "PROCESS task 2, MMSE scores",
    "SeeDev-binary F1, recall, precision": "SeeDev-binary, events",
    "SeeDev-full F1, recall, precision, slot error rate": "SeeDev-full, events without optional arguments",
    "ARE task 1 success rate": "ARE task 1, antecedents",
    "ARE task 2 F1, recall, precision": "ARE task 2, links",
    "ARE task 3 F1, recall, precision": "ARE task 3, antecedents",
    "ARE task 4 F1, recall, precision": "ARE task 4, links",
}
"""Figure of the board → the attack that looks at nothing else in `headline`."""

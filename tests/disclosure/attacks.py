"""One attack for each figure that a competition shows: what it finds out, and of how many gold items.

Each attacker knows which items have gold and how the figures are computed, and uses the whole limit of the test phase.
All attacks are honest: they see the scores, the details and the page, and claim what follows from these with certainty.
What they do not find may still be found by a better one, so their counts are lower bounds.
"""

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from clarity2026 import reference as clarity_reference
from clarity2026.labels import CLARITY_LABELS, EVASION_LABELS
from process2025.submission import CLASSES
from tests.disclosure.answers import AnswerAttack
from tests.disclosure.digits import digits, places
from tests.disclosure.labels import LabelAttack
from tests.disclosure.oracle import Oracle, Seen, Setting


@dataclass(frozen=True)
class Found:
    """What an attack claims: how many items it decided, of how many, and whether each claim is true."""

    items: int
    of: int
    all_true: bool


def clpsych_a2(work: Path, setting: Setting) -> Found:
    """Well-being scores: `full` by the bars of the timelines, else by `a2_mse`."""
    oracle = Oracle(work, "clpsych2025", "a2", setting, "lexical-rule")
    gold = json.loads((oracle.reference / "gold.json").read_text(encoding="utf-8"))
    scored = {
        timeline: {post: one["wellbeing_score"] for post, one in content["post_level"].items()}
        for timeline, content in gold.items()
    }
    scored = {
        timeline: {post: int(score) for post, score in posts.items() if score is not None}
        for timeline, posts in scored.items()
    }
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


def clpsych_classes(work: Path, setting: Setting) -> Found:
    """Classes of well-being scores by `a2_macro_f1` alone; posts outside of a question abstain."""
    oracle = Oracle(work, "clpsych2025", "a2", setting, "lexical-rule")
    gold = json.loads((oracle.reference / "gold.json").read_text(encoding="utf-8"))
    scores = {
        (timeline, post): one["wellbeing_score"]
        for timeline, content in gold.items()
        for post, one in content["post_level"].items()
        if one["wellbeing_score"] is not None
    }
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


def _squared_error(seen: Seen, timelines: Sequence[str], setting: Setting) -> float | None:
    if setting.details != "full":
        return seen.scores["a2_mse"]
    cells = seen.figure("Mean squared error by timeline").get(timelines[0])
    return float(cells[0]) if cells else None


def clarity_labels(work: Path, setting: Setting, figure: Literal["matrix", "f1"] = "matrix") -> Found:
    """Task 1: macro F1 over three labels, in `full` also the confusion matrix or the F1 of each label."""
    oracle = Oracle(work, "clarity2026", "joint", setting, "good")
    gold = clarity_reference.read(oracle.reference, ["clarity", "evasion"], {})
    ids, true = gold.ids, gold.clarity

    def files(answers: Sequence[str]) -> Mapping[str, str]:
        return {"a.csv": _csv(["id", "clarity_pred"], zip(ids, answers, strict=True))}

    found = LabelAttack(oracle, CLARITY_LABELS, len(true), files, "clarity_macro_f1", "none", figure).run()
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


def process_classes(work: Path, setting: Setting) -> Found:
    """Task 1: macro F1 over three classes, in `full` also the confusion matrix."""
    oracle = Oracle(work, "process2025", "joint", setting, "good")
    rows = _table(oracle.reference / "gold.csv")
    ids, true = [row["Test_ID"] for row in rows], [row["Class"] for row in rows]

    def files(answers: Sequence[str]) -> Mapping[str, str]:
        return {"PROCESS_submission_Us_There.csv": _csv(["Test_ID", "Model1_class"], zip(ids, answers, strict=True))}

    found = LabelAttack(oracle, CLASSES, len(true), files, "macro_f1", CLASSES[-1]).run()
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


def seedev(work: Path, setting: Setting, task: str, earned: Sequence[float] = (0.0, 1.0)) -> Found:
    """SeeDev: precision counts the right events, in `full` also those of each type.

    In SeeDev-full an event without optional arguments earns half where only its negation is wrong.
    """
    oracle = Oracle(work, "seedev2016", "joint", setting, "good")
    given = {name: text.splitlines() for name, text in oracle.baseline.items() if name.startswith(f"{task}/")}
    lines = [
        (name, line.split("\t")[1])
        for name, text in given.items()
        for line in text
        if line.startswith("E") and len(line.split("\t")[1].split()) == 3
    ]
    frequent = sorted({event.split()[0] for _, event in lines}, key=lambda kind: (-_count(lines, kind), kind))
    kinds = {kind: [line for line in lines if line[1].split()[0] == kind] for kind in frequent}
    # the most frequent types first, three side by side, so that a question holds enough events of each
    lines = [line for i in range(0, len(frequent), 3) for line in _interleaved([kinds[k] for k in frequent[i : i + 3]])]
    gold: dict[tuple[str, str], float] = {}
    for name in given:
        written = [line.split("\t") for line in (oracle.reference / name).read_text(encoding="utf-8").splitlines()]
        negated = {content.partition("Annotation:")[2] for mark, content in written if mark.startswith("M")}
        for mark, event in written:
            key = name, " ".join(sorted(event.split()))
            gold[key] = max(gold.get(key, 0.0), 0.5 if mark in negated else 1.0)

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
    found = AnswerAttack(oracle, groups, files, right, in_group, earned).run()
    truth = [gold.get((name, " ".join(sorted(event.split()))), 0.0) for name, event in lines]
    return Found(len(found), len(lines), all(truth[item] == claim for item, claim in found.items()))


def _count(lines: Sequence[tuple[str, str]], kind: str) -> int:
    return sum(event.split()[0] == kind for _, event in lines)


def _interleaved(columns: Sequence[Sequence[tuple[str, str]]]) -> list[tuple[str, str]]:
    longest = max(map(len, columns))
    return [column[i] for i in range(longest) for column in columns if i < len(column)]


def are_task1(work: Path, setting: Setting) -> Found:
    """ARE task 1: the success rate counts the right antecedents, in `full` also those of each text."""
    oracle = Oracle(work, "are2007", "joint", setting, "good")
    expected = oracle.manifest["task1"]
    pronouns = {text: set(map(str, one["pronouns"])) for text, one in expected.items()}
    pairs = [
        (name, text, *pair)
        for name, content in oracle.baseline.items()
        if name.startswith("task1/")
        for text in [Path(name).name.removesuffix("-output.xml")]
        for pair in re.findall(r'<pronoun id="(\w+)"/><antecedent id="(\w+)"/>', content)
        if pair[1] not in pronouns[text]  # a pronoun as antecedent earns half a point or more
    ]
    chains = {text: _chains(oracle.reference / "task1" / f"{text}-key.xml") for text in expected}
    total = sum(map(len, pronouns.values()))

    def files(asked: Sequence[int]) -> Mapping[str, str]:
        bodies: dict[str, str] = dict.fromkeys(oracle.baseline, "")
        for item in asked:
            name, _, pronoun, antecedent = pairs[item]
            bodies[name] += f'<pair><pronoun id="{pronoun}"/><antecedent id="{antecedent}"/></pair>'
        return {name: f"<document>{body}</document>" for name, body in bodies.items()}

    def right(seen: Seen, asked: int) -> tuple[float, float]:
        return seen.scores["task1_success_rate"] * total, setting.error * total

    def right_in_text(seen: Seen, text: str, asked: int) -> tuple[float, float]:
        cells = seen.figure("Success rate by text").get(text)
        size = len(pronouns[text])
        return (float(cells[0]) * size, 0.005 * size) if cells else (math.nan, 0.0)

    groups = [text for _, text, *_ in pairs]
    found = AnswerAttack(oracle, groups, files, right, right_in_text if setting.details == "full" else None).run()
    truth = [any({pronoun, antecedent} <= chain for chain in chains[text]) for _, text, pronoun, antecedent in pairs]
    return Found(len(found), len(pairs), all(truth[item] == claim for item, claim in found.items()))


def are_task2(work: Path, setting: Setting) -> Found:
    """ARE task 2: `task2_precision` counts the right links; links that share no entity are asked together."""
    oracle = Oracle(work, "are2007", "joint", setting, "good")
    links = []
    for name, content in oracle.baseline.items():
        for chain in re.findall(r"<chain[^>]*>(.*?)</chain>", content) if name.startswith("task2/") else []:
            nodes = re.findall(r'id="(\w+)"', chain)
            links += [(name, one, other) for one, other in zip(nodes[::2], nodes[1::2], strict=False)]
    key = {name: _chains(oracle.reference / name.replace("-output", "-key")) for name in {name for name, *_ in links}}

    def files(asked: Sequence[int]) -> Mapping[str, str]:
        bodies: dict[str, str] = dict.fromkeys(oracle.baseline, "")
        for item in asked:
            name, one, other = links[item]
            bodies[name] += f'<chain><node id="{one}"/><node id="{other}"/></chain>'
        return {name: f"<document>{body}</document>" for name, body in bodies.items()}

    def right(seen: Seen, asked: int) -> tuple[float, float]:
        return seen.scores["task2_precision"] * asked, setting.error * asked

    found = AnswerAttack(oracle, [""] * len(links), files, right).run()
    truth = [any({one, other} <= chain for chain in key[name]) for name, one, other in links]
    return Found(len(found), len(links), all(truth[item] == claim for item, claim in found.items()))


def _chains(path: Path) -> list[set[str]]:
    chains = re.findall(r"<chain[^>]*>(.*?)</chain>", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [set(re.findall(r'<node id="(\w+)"', chain)) for chain in chains]


def _table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def _csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([header, *rows])
    return out.getvalue()


Attack = Callable[[Path, Setting], Found]
ATTACKS: Mapping[str, Attack] = {
    "CLPsych A.2, well-being of posts": clpsych_a2,
    "CLPsych A.2, classes of posts, by macro F1 alone": clpsych_classes,
    "CLARITY task 1, labels": clarity_labels,
    "CLARITY task 1, labels, by F1 instead of the matrix": partial(clarity_labels, figure="f1"),
    "CLARITY task 2, answers that an annotator gave": clarity_evasion,
    "PROCESS task 1, classes": process_classes,
    "PROCESS task 2, MMSE scores": process_mmse,
    "SeeDev-binary, events": partial(seedev, task="binary"),
    "SeeDev-full, events without optional arguments": partial(seedev, task="full", earned=(0.0, 0.5, 1.0)),
    "ARE task 1, antecedents": are_task1,
    "ARE task 2, links": are_task2,
}

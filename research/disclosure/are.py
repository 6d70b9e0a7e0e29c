"""Attacks on the answers to the four tasks of ARE: those of a good baseline, each right, wrong or partly right."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from are2007.answers import AnswerKey
from are2007.task3 import text_score
from are2007.task4 import muc_with_overlaps
from research.disclosure.answers import RIGHT_OR_WRONG, AnswerAttack
from research.disclosure.found import Found
from research.disclosure.oracle import Oracle, Seen, Setting


def task1(work: Path, setting: Setting, alone: bool = False) -> Found:
    """ARE task 1: the success rate counts the right antecedents, in `full` also those of each text."""
    oracle = Oracle(work, "are2007", "joint", setting, "good")
    expected = oracle.manifest["task1"]
    pronouns = {text: set(map(str, one["pronouns"])) for text, one in expected.items()}
    pairs = []
    for name, content in _of_task(oracle, "task1"):
        text = Path(name).name.removesuffix("-output.xml")
        for pair in re.findall(r'<pronoun id="(\w+)"/><antecedent id="(\w+)"/>', content):
            if pair[1] not in pronouns[text]:  # a pronoun as antecedent earns half a point or more
                pairs.append((name, text, *pair))
    chains = {text: _chains(oracle.reference / "task1" / f"{text}-key.xml") for text in expected}
    total = sum(map(len, pronouns.values()))

    answers = [
        (name, f'<pair><pronoun id="{pronoun}"/><antecedent id="{antecedent}"/></pair>')
        for name, _, pronoun, antecedent in pairs
    ]

    def files(asked: Sequence[int]) -> Mapping[str, str]:
        return _documents(oracle, map(answers.__getitem__, asked))

    def right(seen: Seen, asked: int) -> tuple[float, float]:
        return seen.scores["task1_success_rate"] * total, setting.error * total

    def right_in_text(seen: Seen, text: str, asked: int) -> tuple[float, float]:
        cells = seen.figure("Success rate by text").get(text)
        size = len(pronouns[text])
        return (float(cells[0]) * size, 0.005 * size) if cells else (math.nan, 0.0)

    groups = [text for _, text, *_ in pairs]
    in_text = right_in_text if setting.details == "full" else None
    found = AnswerAttack(oracle, groups, files, right, in_text, alone=alone).run()
    truth = [_are_linked(chains[text], pronoun, antecedent) for _, text, pronoun, antecedent in pairs]
    return Found(len(found), len(pairs), all(truth[item] == claim for item, claim in found.items()))


def task2(work: Path, setting: Setting) -> Found:
    """ARE task 2: `task2_precision` counts the right links; links that share no entity are asked together."""
    oracle = Oracle(work, "are2007", "joint", setting, "good")
    links = []
    for name, content in _of_task(oracle, "task2"):
        for chain in re.findall(r"<chain[^>]*>(.*?)</chain>", content):
            nodes = re.findall(r'id="(\w+)"', chain)
            links += [(name, one, other) for one, other in zip(nodes[::2], nodes[1::2], strict=False)]
    files = {name for name, *_ in links}
    key = {name: _chains(oracle.reference / name.replace("-output", "-key")) for name in files}
    answers = [(name, f'<chain><node id="{one}"/><node id="{other}"/></chain>') for name, one, other in links]
    found = _by_precision(oracle, "task2", answers)
    truth = [_are_linked(key[name], one, other) for name, one, other in links]
    return Found(len(found), len(links), all(truth[item] == claim for item, claim in found.items()))


def _of_task(oracle: Oracle, task: str) -> list[tuple[str, str]]:
    """The baseline's files of a task: name, content."""
    return [(name, content) for name, content in oracle.baseline.items() if name.startswith(f"{task}/")]


def _are_linked(chains: Sequence[set[str]], one: str, other: str) -> bool:
    return any({one, other} <= chain for chain in chains)


def _chains(path: Path) -> list[set[str]]:
    chains = re.findall(r"<chain[^>]*>(.*?)</chain>", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [set(re.findall(r'<node id="(\w+)"', chain)) for chain in chains]


MOST = 5
"""How many words a mention has at most, as an attacker takes it."""
OVERLAPS = sorted({0.0, *(common / longest for longest in range(1, MOST + 1) for common in range(1, longest + 1))})
"""What an antecedent may earn: its overlap with a mention."""
PRODUCTS = sorted({0.0, *(1 / (one * other) for one in range(1, MOST + 1) for other in range(1, MOST + 1))})
"""What a link of two words may earn: of each its overlap with a mention, which is one word of the mention's."""

Span = tuple[int, int]
Answer = tuple[str, str]
"""The name of a file and the markup of an answer in it."""


def task3(work: Path, setting: Setting) -> Found:
    """ARE task 3: `task3_precision` adds up what the overlaps of the answered antecedents earn."""
    oracle = Oracle(work, "are2007", "joint", setting, "good")
    answers = []
    for name, content in _of_task(oracle, "task3"):
        for pair in re.findall(r"<pair.*?</pair>", content):
            pronoun, antecedent = _spans(pair)
            answers.append((name, pronoun, antecedent))
    pronouns = {(name, pronoun) for name, pronoun, _ in answers}
    # a pronoun as antecedent may earn half of its overlap
    pairs = [answer for answer in answers if (answer[0], answer[2]) not in pronouns]

    written = [
        (name, f"<pair><pronoun {_place(pronoun)}/><antecedent {_place(antecedent)}/></pair>")
        for name, pronoun, antecedent in pairs
    ]
    found = _by_precision(oracle, "task3", written, OVERLAPS)
    keys = {name: _span_key(oracle, name) for name, *_ in pairs}
    truth = [text_score(keys[name], {pronoun: antecedent}) for name, pronoun, antecedent in pairs]
    return Found(len(found), len(pairs), all(math.isclose(truth[item], claim) for item, claim in found.items()))


def task4(work: Path, setting: Setting) -> Found:
    """ARE task 4: `task4_precision` adds up what links of two last words earn, the products of their overlaps."""
    oracle = Oracle(work, "are2007", "joint", setting, "good")
    links = []
    for name, content in _of_task(oracle, "task4"):
        for chain in re.findall(r"<chain.*?</chain>", content):
            spans = _spans(chain)
            links += [(name, (_last(one), _last(other))) for one, other in zip(spans[::2], spans[1::2], strict=False)]

    answers = [(name, f"<chain><node {_place(one)}/><node {_place(other)}/></chain>") for name, (one, other) in links]
    found = _by_precision(oracle, "task4", answers, PRODUCTS)
    keys = {name: _span_key(oracle, name) for name, _ in links}
    truth = [muc_with_overlaps(keys[name].chains, [link]).recalled for name, link in links]
    return Found(len(found), len(links), all(math.isclose(truth[item], claim) for item, claim in found.items()))


def _by_precision(
    oracle: Oracle, task: str, answers: Sequence[Answer], earnings: Sequence[float] = RIGHT_OR_WRONG
) -> dict[int, float]:
    """Answer → what it earns, by the task's precision: the mean of what the answers earn that are handed in."""

    def files(asked: Sequence[int]) -> Mapping[str, str]:
        return _documents(oracle, map(answers.__getitem__, asked))

    def earned(seen: Seen, asked: int) -> tuple[float, float]:
        return seen.scores[f"{task}_precision"] * asked, oracle.setting.error * asked

    return AnswerAttack(oracle, [""] * len(answers), files, earned, credits=earnings).run()


def _documents(oracle: Oracle, answers: Iterable[Answer]) -> Mapping[str, str]:
    """The files of a submission with these answers."""
    bodies: dict[str, str] = dict.fromkeys(oracle.baseline, "")
    for name, answer in answers:
        bodies[name] += answer
    return {name: f"<document>{body}</document>" for name, body in bodies.items()}


def _spans(markup: str) -> list[Span]:
    return [(int(start), int(end)) for start, end in re.findall(r'start="(\d+)" end="(\d+)"', markup)]


def _last(span: Span) -> Span:
    return span[1] - 1, span[1]


def _place(span: Span) -> str:
    return f'start="{span[0]}" end="{span[1]}"'


def _span_key(oracle: Oracle, name: str) -> AnswerKey:
    """The key of a text whose nodes are numbered in the order of the text."""
    text = (oracle.reference / name.replace("-output", "-key")).read_text(encoding="utf-8")
    chains = re.findall(r"<chain.*?</chain>", text, flags=re.DOTALL)
    return AnswerKey([_spans(chain) for chain in chains], _spans(text.partition("<anaphoric_pronouns>")[2]))

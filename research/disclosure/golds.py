"""The golds of the test phases with what is shown that depends on them, for the upper bounds of `bounds`."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from research.disclosure.bounds import Gold, Shown, doubles, numbers, parts
from research.disclosure.oracle import data_of_test_phase, text_of
from seedev2016.evaluation import WHOLE

BOARD_DECIMALS = 4
SEEDEV_DECIMALS = 3
LOWEST_RECALL = -4.5
"""A cosine of -1, rescaled by 0.64, more than any of bert-score's baselines for the model; details are not cut at 0."""
HIGHEST_RMSE = 1030.0
"""Predictions up to 1,000 on either side of 0 are accepted, golds are at most 30; details are not cut at the worst."""
HIGHEST_SLOT_ERROR_RATE = 1e6
"""Insertions raise it, one for each line of a submission."""


def golds(items: Mapping[str, int]) -> list[Gold]:
    """All golds; `items` says how many the attack of this name is about."""
    return [*_clpsych(items), *_clarity(items), *_process(items), *_seedev(items), *_are(items)]


def label_counts(items: int, labels: int) -> float:
    """log2 of how many values the numbers of right items can take, one for each label.

    Of p items that get a label 0 to p are right, and as many as there are items get some label.
    """
    return labels * math.log2(items / labels + 1)


def macro_f1(name: str, items: int, labels: int) -> Shown:
    """Macro F1, which follows from the right items of each label and from how many the gold has."""
    return Shown(name, counts=label_counts(items, labels), once=parts(items, labels))


def label_f1(name: str, items: int, labels: int) -> Shown:
    """The F1 of each label, which follows from what macro F1 does."""
    return Shown(name, (1.0,) * labels, label_counts(items, labels), parts(items, labels))


def matrix(name: str, items: int, labels: int) -> Shown:
    """A confusion matrix without the items that get no label, which are what remains of each gold label."""
    column = parts(math.ceil(items / labels), labels)
    return Shown(name, (items,) * labels**2, labels * column, once=parts(items, labels))


def _phase(competition: str) -> tuple[int, int]:
    """How many submissions the test phase takes, and how many baselines its page shows."""
    data = data_of_test_phase(competition, "joint")
    return data.phase.max_submissions, len(data.baselines)


def _clpsych(items: Mapping[str, int]) -> Iterator[Gold]:
    submissions, baselines = _phase("clpsych2025")
    phase = submissions, baselines, BOARD_DECIMALS
    models = submissions, 0, BOARD_DECIMALS  # a build scores no baseline where that needs a model
    bars = len(data_of_test_phase("clpsych2025", "joint").manifest["expected"]["timelines"])
    sentences = items[name := "CLPsych A.1, sentences that are evidence"]
    recalls = Shown("CLPsych A.1 recall, each of 6 columns", number=6, lowest=LOWEST_RECALL)
    recall_bars = Shown("CLPsych A.1 bars by timeline", (1.0,) * bars, lowest=LOWEST_RECALL, page=True)
    yield Gold(name, [math.log2(3)] * sentences, *models, [recalls], [recalls, recall_bars])

    posts = items[name := "CLPsych A.2, well-being of posts"]
    errors = Shown("CLPsych A.2 squared error, each of 4 columns", (81.0,), number=4)
    f1 = macro_f1("CLPsych A.2 macro F1", posts, 3)
    error_bars = Shown("CLPsych A.2 bars by timeline", (81.0,) * bars, once=numbers(*[bars] * 3), page=True)
    yield Gold(name, [math.log2(10)] * posts, *phase, [errors, f1], [errors, f1, error_bars])

    scores = Shown("CLPsych B each of 3 columns", number=3)
    consistency_bars = Shown("CLPsych B bars by timeline", (1.0,) * bars, page=True)
    summaries = items[name := "CLPsych B, which summary a post has"]
    yield Gold(name, [math.log2(summaries)] * summaries, *models, [scores], [scores, consistency_bars])
    scores = Shown("CLPsych C each of 2 columns", number=2)
    summaries = items[name := "CLPsych C, which summary a timeline has"]
    yield Gold(name, [math.log2(summaries)] * summaries, *models, [scores], [scores])


def _clarity(items: Mapping[str, int]) -> Iterator[Gold]:
    """The evasion label determines the clarity label, so the figures of both tasks depend on both golds."""
    phase = (*_phase("clarity2026"), BOARD_DECIMALS)
    texts = items[clarity := "CLARITY task 1, labels"]
    given = items[evasion := "CLARITY task 2, answers that an annotator gave"]
    majority = macro_f1("CLARITY task 2 macro F1 (majority)", given, 9)
    board = [
        macro_f1("CLARITY task 1 macro F1", texts, 3),
        Shown("CLARITY task 2 accuracy", counts=numbers(given)),
        Shown("CLARITY task 2 macro F1 (any match)"),
        majority,
    ]
    # any match takes another gold label where the answer is one of several, so the sizes are not the same each time
    any_match = Shown("CLARITY task 2 matrix", (given,) * 90, 10 * parts(math.ceil(given / 10), 9))
    full = [matrix("CLARITY task 1 matrix", texts, 3), any_match, majority]
    f1 = label_f1("CLARITY task 1 F1 of each label", texts, 3)
    yield Gold(clarity, [math.log2(3)] * texts, *phase, board, full, [f1])
    yield Gold(evasion, [1.0] * given, *phase, board, full)


def _process(items: Mapping[str, int]) -> Iterator[Gold]:
    """The best of three models is shown, in `full` all three."""
    phase = (*_phase("process2025"), BOARD_DECIMALS)
    speakers = items[name := "PROCESS task 1, classes"]
    counts, sizes = label_counts(speakers, 3), parts(speakers, 3)
    scores = Shown("PROCESS task 1 macro F1, precision, recall", (1.0,) * 3, counts + math.log2(3), sizes)
    models = Shown("PROCESS task 1 macro scores of 3 models", (1.0,) * 9, 3 * counts, sizes)
    full = [models, matrix("PROCESS task 1 matrix", speakers, 3)]
    f1 = label_f1("PROCESS task 1 F1 of each label", speakers, 3)
    yield Gold(name, [math.log2(3)] * speakers, *phase, [scores], full, [f1])
    scored = items[name := "PROCESS task 2, MMSE scores"]
    errors = Shown("PROCESS task 2 RMSE of 3 models", (HIGHEST_RMSE,) * 3)
    yield Gold(name, [math.log2(31)] * scored, *phase, [Shown("PROCESS task 2 RMSE", (HIGHEST_RMSE,))], [errors])


def _seedev(items: Mapping[str, int]) -> Iterator[Gold]:
    phase = (*_phase("seedev2016"), SEEDEV_DECIMALS)

    def gold(name: str, values: int, columns: str, tops: tuple[float, ...], counts: Callable[[int], float]) -> Gold:
        task, events, sizes = name.partition(",")[0], items[name], _sizes_of_types(name.partition(",")[0])
        board = Shown(f"{task} {columns}", tops, counts(events), numbers(events))
        by_type = Shown(f"{task} the same by type", tops * len(sizes), math.fsum(map(counts, sizes)), numbers(*sizes))
        # in SeeDev-binary as many as the pairs
        full = [by_type, Shown(f"{task} matches", (events,), numbers(events))] if values > 2 else [by_type]
        return Gold(name, [math.log2(values)] * events, *phase, [board], full)

    yield gold("SeeDev-binary, events", 2, "F1, recall, precision", (1.0,) * 3, numbers)
    yield gold(
        "SeeDev-full, events without optional arguments",
        3,
        "F1, recall, precision, slot error rate",
        (1.0, 1.0, 1.0, HIGHEST_SLOT_ERROR_RATE),
        # what pairs earn is a fraction, and the slot error rate also shows how many pairs there are
        lambda events: numbers(events * WHOLE, events),
    )


def _sizes_of_types(task: str) -> list[int]:
    """How many events of each type the better baseline has."""
    folder = task.lower().removeprefix("seedev-")
    files = data_of_test_phase("seedev2016", "joint").baselines["good"]
    texts = [text_of(content) for name, content in files.items() if name.startswith(f"{folder}/")]
    lines = [line for text in texts for line in text.splitlines() if line.startswith("E")]
    return list(Counter(line.split("\t")[1].split()[0] for line in lines).values())


def _are(items: Mapping[str, int]) -> Iterator[Gold]:
    phase = (*_phase("are2007"), BOARD_DECIMALS)
    expected = data_of_test_phase("are2007", "joint").manifest["expected"]

    def sizes(task: str, what: str) -> list[int]:
        return [len(text[what]) for text in expected[task].values()]

    pronouns, entities = sizes("task1", "pronouns"), sizes("task2", "entities")
    # each pronoun earns 0, a half or 1
    bars = Shown("ARE task 1 bars by text", (1.0,) * len(pronouns), numbers(*(2 * n for n in pronouns)), page=True)
    counts = Shown("ARE task 1 pronouns that earn 1 or a half", (sum(pronouns),) * 2, parts(sum(pronouns), 3))
    rate = Shown("ARE task 1 success rate", counts=numbers(2 * sum(pronouns)))
    name = "ARE task 1, antecedents"
    yield Gold(name, [1.0] * items[name], *phase, [rate], [counts, bars])

    links = sum(entities)
    for task, name, most, once in (
        ("task2", "ARE task 2, links", numbers(links), numbers(links)),
        ("task3", "ARE task 3, antecedents", doubles(sum(sizes("task3", "nodes"))), numbers(*sizes("task3", "nodes"))),
        ("task4", "ARE task 4, links", doubles(sum(sizes("task4", "nodes"))), 2 * numbers(*sizes("task4", "nodes"))),
    ):
        board = Shown(f"ARE {task[:4]} {task[4:]} F1, recall, precision", (1.0,) * 3, most, once, rising=True)
        texts = len(expected[task])
        bars = Shown(f"ARE {task[:4]} {task[4:]} bars by text", (1.0,) * texts, once=texts * once, page=True)
        full = [board, bars, Shown("ARE task 3 pronouns found", counts=once)] if task == "task3" else [board, bars]
        yield Gold(name, [1.0] * items[name], *phase, [board], full)

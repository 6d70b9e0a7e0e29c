"""Every task of the five competitions, unit by unit: generated gold and answers, and the scorer run on them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from are2007 import task1, task2, task3, task4
from are2007.answers import AnswerKey
from are2007.reference import AreReference
from are2007.submission import AreSubmission
from clarity2026 import clarity, evasion
from clarity2026.reference import ClarityReference
from clarity2026.submission import CLARITY_LABELS, EVASION_LABELS, ClaritySubmission
from clpsych2025 import a1, a2, b, c
from clpsych2025.reference import ClpsychReference, GoldPost, GoldTimeline, Summary
from clpsych2025.submission import SELF_STATES, ClpsychSubmission, PostAnswer, TimelineAnswer
from process2025 import classification, regression
from process2025.reference import ProcessReference
from process2025.submission import CLASSES, MODELS, ModelAnswers, ProcessSubmission
from scoring_kit.results import TaskResult
from seedev2016 import binary, full
from seedev2016.reference import SeeDevReference
from seedev2016.standoff import Event
from seedev2016.submission import SeeDevSubmission
from tests.scoring_programs.clpsych2025.cases import AS_RUN, OPTIONS

Gold = Any
Answer = Any


@dataclass(frozen=True)
class Task:
    """A task as a function of units.

    Attributes:
        module: the task's module.
        unit: what its unit is called.
        drawn: draws a unit: its gold, and what two submissions answer.
        score: the scorer, run on units of this gold and these answers; the units get other ids each time.
        scorable: whether a phase may consist of units with this gold.
    """

    module: ModuleType
    unit: str
    drawn: SearchStrategy[tuple[Gold, Answer, Answer]]
    score: Callable[[Sequence[Gold], Sequence[Answer]], TaskResult]
    scorable: Callable[[Sequence[Gold]], bool] = lambda golds: True

    @property
    def name(self) -> str:
        return self.module.__name__


@st.composite
def twice(
    draw: st.DrawFn, gold: SearchStrategy[Gold], answer: Callable[[Gold], SearchStrategy[Answer]]
) -> tuple[Gold, Answer, Answer]:
    """A unit's gold with two answers to it."""
    one = draw(gold)
    return one, draw(answer(one)), draw(answer(one))


def ids(units: Sequence[object]) -> list[str]:
    return [f"u{i}" for i in range(len(units))]


# CLARITY: a row

SOME_EVASION = EVASION_LABELS[:4]
ANNOTATIONS = st.lists(st.sampled_from([*SOME_EVASION, "N/A"]), max_size=3).map(tuple)


def score_clarity(golds: Sequence[str], answers: Sequence[str]) -> TaskResult:
    reference = ClarityReference(ids(golds), list(golds), [], [], False)
    return clarity.score(reference, ClaritySubmission({"clarity": list(answers)}, frozenset({"clarity"})), {})


def score_evasion(golds: Sequence[Any], answers: Sequence[str]) -> TaskResult:
    annotated = isinstance(golds[0], tuple)
    reference = ClarityReference(
        ids(golds), [], [] if annotated else list(golds), list(golds) if annotated else [], annotated
    )
    return evasion.score(reference, ClaritySubmission({"evasion": list(answers)}, frozenset({"evasion"})), {})


# PROCESS: a speaker; an answer holds a value of each model, None of one that the team did not fill in


def score_process(task: ModuleType, golds: Sequence[Any], answers: Sequence[Sequence[Any]]) -> TaskResult:
    name = task.__name__.rpartition(".")[2]
    models = []
    for number, cells in enumerate(zip(*answers, strict=True), 1):
        filled = sum(cell is not None for cell in cells)
        status = "scored" if filled == len(cells) else "ignored" if filled else "absent"
        models.append(ModelAnswers(number, "", status, list(cells) if status == "scored" else []))
    reference = ProcessReference(ids(golds), list(golds), list(golds))
    return task.score(reference, ProcessSubmission({name: models}, frozenset({name})), {})  # type: ignore[no-any-return]


# SeeDev: a document

OPTIONAL = st.frozensets(st.sampled_from([("Tissue", "T4"), ("Tissue", "T5"), ("Hormone", "T10")]), max_size=2)


def events(task: str) -> SearchStrategy[list[Event]]:
    types = {"binary": ["Binds_To", "Is_Linked_To"], "full": ["Binding", "Functional_Equivalence"]}[task]
    argument = st.sampled_from(["T1", "T2"])
    if task == "binary":
        event = st.builds(Event, st.sampled_from(types), argument, argument, st.just(frozenset()), st.just(False))
    else:
        event = st.builds(Event, st.sampled_from(types), argument, argument, OPTIONAL, st.booleans())
    return st.lists(event, max_size=4)


def score_seedev(task: ModuleType, golds: Sequence[Any], answers: Sequence[Any]) -> TaskResult:
    name = task.__name__.rpartition(".")[2]
    reference = SeeDevReference({}, {name: dict(zip(ids(golds), golds, strict=True))})
    predicted = {name: dict(zip(ids(golds), answers, strict=True))}
    return task.score(reference, SeeDevSubmission(frozenset({name}), predicted), {})  # type: ignore[no-any-return]


# ARE: a document

PLACES = st.integers(0, 5)
ENTITY = PLACES.map(lambda at: (at, at + 1))
SPAN = st.tuples(PLACES, st.integers(1, 3)).map(lambda span: (span[0], span[0] + span[1]))


def chains(mention: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Chains in which every mention stands once."""
    labelled = st.dictionaries(mention, st.integers(0, 2), max_size=6)
    return labelled.map(lambda label_of: [[m for m in label_of if label_of[m] == i] for i in {*label_of.values()}])


@st.composite
def keys(draw: st.DrawFn, mention: SearchStrategy[Any]) -> AnswerKey:
    """Chains, some of their mentions being pronouns."""
    found = draw(chains(mention))
    mentions = [one for chain in found for one in chain]
    return AnswerKey(found, [one for one in mentions if draw(st.booleans())])


def score_are(task: ModuleType, golds: Sequence[AnswerKey], answers: Sequence[Any]) -> TaskResult:
    name = task.__name__.rpartition(".")[2]
    by_text = {name: dict(zip(ids(golds), answers, strict=True))}
    reference = AreReference({}, {name: dict(zip(ids(golds), golds, strict=True))})
    return task.score(reference, AreSubmission(frozenset({name}), by_text, by_text), {})  # type: ignore[no-any-return]


def resolved(key: AnswerKey) -> SearchStrategy[Any]:
    """Answers to a key's pronouns."""
    if not key.pronouns:
        return st.just({})
    return st.dictionaries(st.sampled_from(key.pronouns), ENTITY)


# CLPsych: a timeline

WORDS = st.sampled_from(["calm now", "calm", "so alone now", "i walked home"])
SPANS = st.lists(WORDS, max_size=2).map(tuple)
STATES = st.fixed_dictionaries({"adaptive": SPANS, "maladaptive": SPANS})
SUMMARIES = st.sampled_from(["", "ab. cd", "abc", "x. abd. ce"])


def score_clpsych(
    task: ModuleType, options: Mapping[str, Any], golds: Sequence[GoldTimeline], answers: Sequence[TimelineAnswer]
) -> TaskResult:
    reference = ClpsychReference(dict(zip(ids(golds), golds, strict=True)))
    timelines = dict(zip(ids(golds), answers, strict=True))
    return task.score(reference, ClpsychSubmission(timelines, frozenset("x")), options)  # type: ignore[no-any-return]


NOTHING: Mapping[str, tuple[str, ...]] = dict.fromkeys(SELF_STATES, ())
NO_SUMMARY = Summary("", None)


def spans_unit(*, as_run: bool) -> SearchStrategy[Any]:
    gold = STATES.filter(lambda spans: any(spans.values())).map(
        lambda spans: GoldTimeline(NO_SUMMARY, spans, {"p": GoldPost(NO_SUMMARY, None)})
    )

    @cache
    def answer(states: Sequence[str]) -> SearchStrategy[TimelineAnswer]:
        allowed = {state: SPANS if state in states else st.just(()) for state in SELF_STATES}
        return st.fixed_dictionaries(allowed).map(lambda spans: TimelineAnswer("", {"p": PostAnswer(spans, "", None)}))

    return twice(gold, lambda one: answer(tuple(state for state in SELF_STATES if one.spans[state] or not as_run)))


def scores_unit(*, as_run: bool) -> SearchStrategy[Any]:
    value = st.none() | (st.floats(-2, 12) if as_run else st.floats(1, 10))
    golds = st.lists(st.none() | st.integers(1, 10), min_size=1, max_size=4)
    if as_run:
        golds = golds.filter(lambda values: any(one is not None for one in values))
    gold = golds.map(
        lambda values: GoldTimeline(
            NO_SUMMARY, NOTHING, {f"p{i}": GoldPost(NO_SUMMARY, one) for i, one in enumerate(values)}
        )
    )

    @cache
    def answer(posts: int) -> SearchStrategy[TimelineAnswer]:
        return st.lists(value, min_size=posts, max_size=posts).map(
            lambda values: TimelineAnswer("", {f"p{i}": PostAnswer(NOTHING, "", v) for i, v in enumerate(values)})
        )

    return twice(gold, lambda one: answer(len(one.posts)))


def summaries_unit() -> SearchStrategy[Any]:
    """A timeline's and its posts' summaries, for tasks B and C."""
    gold = st.tuples(SUMMARIES, st.lists(SUMMARIES, min_size=1, max_size=3)).map(
        lambda texts: GoldTimeline(
            Summary(texts[0], None),
            NOTHING,
            {f"p{i}": GoldPost(Summary(text, None), None) for i, text in enumerate(texts[1])},
        )
    )

    @cache
    def answer(posts: int) -> SearchStrategy[TimelineAnswer]:
        post = st.builds(PostAnswer, STATES, SUMMARIES, st.none())
        return st.builds(TimelineAnswer, SUMMARIES, st.fixed_dictionaries({f"p{i}": post for i in range(posts)}))

    return twice(gold, lambda one: answer(len(one.posts)))


def clpsych(task: ModuleType, drawn: Callable[..., SearchStrategy[Any]]) -> dict[str, Task]:
    return {
        f"clpsych2025 {task.__name__.rpartition('.')[2]}, {profile}": Task(
            task,
            "timeline",
            drawn() if drawn is summaries_unit else drawn(as_run=profile == "as-run"),
            lambda golds, answers, options=options: score_clpsych(task, options, golds, answers),  # type: ignore[misc]
        )
        for profile, options in (("published", OPTIONS), ("as-run", AS_RUN))
    }


def process(task: ModuleType, gold: SearchStrategy[Any], cell: SearchStrategy[Any]) -> Task:
    return Task(
        task,
        "speaker",
        st.tuples(gold, *[st.tuples(*[cell] * MODELS)] * 2),
        lambda golds, answers: score_process(task, golds, answers),
        lambda golds: any(one is not None for one in golds),
    )


def are(task: ModuleType, drawn: SearchStrategy[Any]) -> Task:
    return Task(task, "document", drawn, lambda golds, answers: score_are(task, golds, answers))


def seedev(task: ModuleType, name: str) -> Task:
    drawn = st.tuples(events(name), events(name), events(name))
    return Task(task, "document", drawn, lambda golds, answers: score_seedev(task, golds, answers))


ANSWERED_EVASION = st.sampled_from([*SOME_EVASION, "", "nonsense"])
MMSE = st.floats(0, 30).map(lambda value: round(value, 1))
CHAINS = {mention: st.builds(AnswerKey, chains(mention), st.just([])) for mention in (ENTITY, SPAN)}

TASKS: dict[str, Task] = {
    **clpsych(a1, spans_unit),
    **clpsych(a2, scores_unit),
    **clpsych(b, summaries_unit),
    **clpsych(c, summaries_unit),
    "clarity2026 clarity": Task(
        clarity,
        "row",
        st.tuples(st.sampled_from(CLARITY_LABELS), *[st.sampled_from([*CLARITY_LABELS, "?"])] * 2),
        score_clarity,
    ),
    "clarity2026 evasion, any-match": Task(
        evasion, "row", st.tuples(ANNOTATIONS, ANSWERED_EVASION, ANSWERED_EVASION), score_evasion
    ),
    "clarity2026 evasion, strict": Task(
        evasion, "row", st.tuples(st.sampled_from(SOME_EVASION), ANSWERED_EVASION, ANSWERED_EVASION), score_evasion
    ),
    "process2025 classification": process(classification, st.sampled_from(CLASSES), st.sampled_from(CLASSES)),
    "process2025 regression": process(regression, st.none() | MMSE, MMSE),
    "seedev2016 binary": seedev(binary, "binary"),
    "seedev2016 full": seedev(full, "full"),
    "are2007 task1": are(task1, twice(keys(ENTITY), resolved)),
    "are2007 task2": are(task2, st.tuples(CHAINS[ENTITY], chains(ENTITY), chains(ENTITY))),
    "are2007 task3": are(task3, st.tuples(keys(SPAN), *[st.dictionaries(SPAN, SPAN, max_size=3)] * 2)),
    "are2007 task4": are(task4, st.tuples(CHAINS[SPAN], chains(SPAN), chains(SPAN))),
}

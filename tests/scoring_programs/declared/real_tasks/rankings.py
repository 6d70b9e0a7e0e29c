"""Tasks whose answer is a ranking."""

from __future__ import annotations

import numpy as np

from tests.scoring_programs.declared.real_tasks.making import (
    Case,
    Team,
    shuffled,
    task,
    tsv_of,
)


@task
def hypernyms2020(rng: Team) -> Case:
    """Average precision over the ten first items, divided by the number of relevant ones, as trec_eval does."""
    synsets = [f"s{i}" for i in range(30)]
    gold = {f"w{i}": rng.sample(synsets, rng.randint(1, 4)) for i in range(7)}
    answers = {word: rng.sample(synsets, 12) for word in gold}
    average, reciprocal = [], []
    for word, relevant in gold.items():
        hits = [i for i, item in enumerate(answers[word][:10], start=1) if item in relevant]
        average.append(sum((n + 1) / place for n, place in enumerate(hits)) / len(relevant))
        reciprocal.append(1 / hits[0] if hits else 0.0)
    rows = [(word, item) for word in shuffled(rng, list(answers)) for item in answers[word]]
    return (
        {"gold.tsv": tsv_of("word,synset,relevance", [(word, item, 1) for word in gold for item in gold[word]])},
        {"answer.tsv": tsv_of("word,synset", rows)},
        {"map": float(np.mean(average)), "mrr": float(np.mean(reciprocal))},
    )

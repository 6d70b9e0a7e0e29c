"""Tasks whose answer is a ranking."""

from collections.abc import Sequence

import numpy as np
from sklearn import metrics as sk

from tests.scoring_programs.declared.real_tasks.making import (
    Case,
    Team,
    lines_of,
    near,
    ranked,
    sentence,
    shuffled,
    task,
    tsv_of,
)


@task
def hypernyms2020(rng: Team) -> Case:
    synsets = [f"s{i}" for i in range(30)]
    gold = {f"w{i}": rng.sample(synsets, rng.randint(1, 4)) for i in range(7)}
    answers = {word: rng.sample(synsets, 12) for word in gold}
    hits = {word: [item in relevant for item in answers[word][:10]] for word, relevant in gold.items()}
    rows = [(word, item) for word in shuffled(rng, list(answers)) for item in answers[word]]
    return (
        {"gold.tsv": tsv_of("word,synset,relevance", [(word, item, 1) for word in gold for item in gold[word]])},
        {"answer.tsv": tsv_of("word,synset", rows)},
        {
            "map": float(np.mean([average_precision(own, len(gold[word])) for word, own in hits.items()])),
            "mrr": float(np.mean(list(map(reciprocal, hits.values())))),
        },
    )


def reciprocal(hits: Sequence[bool]) -> float:
    """1/place of the first hit."""
    return next((1 / place for place, hit in enumerate(hits, start=1) if hit), 0.0)


def average_precision(hits: Sequence[bool], relevant: int) -> float:
    return sum(sum(hits[: at + 1]) / (at + 1) for at, hit in enumerate(hits) if hit) / relevant


def gain(relevances: Sequence[int]) -> float:
    """Discounted gain 2^r − 1."""
    return float(sum((2**one - 1) / np.log2(place + 1) for place, one in enumerate(relevances, start=1)))


@task
def checkthat2020_5(rng: Team) -> Case:
    """Lines of equal scores stay in the order of the file."""
    gold, sent, found = {}, {}, []
    for debate in ("20150916_rep_debate", "20160926_first_debate", "20190912_dem_debate"):
        lines = list(range(1, 15))
        relevant = set(rng.sample(lines, 4))
        order = shuffled(rng, lines)
        scores = {line: round(near(rng, float(line in relevant), 0.6), 1) for line in order}
        rows = [(line, "TRUMP", f'We "{sentence(rng)}', int(line in relevant)) for line in lines]
        gold[f"{debate}.tsv"] = lines_of(rows)
        sent[f"{debate}.tsv"] = lines_of([(line, scores[line]) for line in order])
        hits = [line in relevant for line in sorted(order, key=lambda line: -scores[line])]
        at = [sum(hits[:cutoff]) / cutoff for cutoff in (1, 3, 5, 10)]
        found.append([average_precision(hits, 4), reciprocal(hits), sum(hits[:4]) / 4, *at])
    names = ["map", "rr", "r_precision", "p_1", "p_3", "p_5", "p_10"]
    return gold, sent, dict(zip(names, map(float, np.mean(found, axis=0)), strict=True))


@task
def codiesp2020(rng: Team) -> Case:
    codes = [f"z{i}.0" for i in range(12)]
    gold = {f"S0004-{i}": set(rng.sample(codes, rng.randint(1, 4))) for i in range(10)}
    answers = {case: ranked(rng, codes, relevant)[:8] for case, relevant in gold.items()}
    hits = {case: [code in relevant for code in answers[case]] for case, relevant in gold.items()}
    rows = [(case, code.upper()) for case in answers for code in answers[case]]
    return (
        {"testD.tsv": lines_of([(case, code) for case in gold for code in sorted(gold[case])])},
        {"team.tsv": lines_of(rows)},
        {"map": float(np.mean([average_precision(own, len(gold[case])) for case, own in hits.items()]))},
    )


@task
def msmarco_passages(rng: Team) -> Case:
    passages = [str(7067000 + i) for i in range(25)]
    gold = {str(300600 + i): set(rng.sample(passages, rng.randint(1, 2))) for i in range(12)}
    answers = {question: ranked(rng, passages, relevant)[:20] for question, relevant in gold.items()}
    if rng.manner == "mixed":
        del answers["300605"]
    found = [reciprocal([one in gold[question] for one in own[:10]]) for question, own in answers.items()]
    rows = [(question, one, place) for question, own in answers.items() for place, one in enumerate(own, start=1)]
    return (
        {
            "qrels.dev.small.tsv": lines_of(
                [(question, 0, one, 1) for question in gold for one in sorted(gold[question])]
            )
        },
        {"run.tsv": lines_of(shuffled(rng, rows))},
        {"mrr": sum(found) / len(gold)},
    )


@task
def mind_news(rng: Team) -> Case:
    gold, sent, found = [], [], []
    for impression in range(1, 13):
        news = [f"N{impression}-{i}" for i in range(12)]
        opened = set(rng.sample(news, rng.randint(1, 3)))
        order = ranked(rng, news, opened)
        clicked = [int(one in opened) for one in order]
        gold += [(impression, one, int(one in opened)) for one in news]
        sent += [(impression, one, round(1 / place, 6)) for place, one in enumerate(order, start=1)]
        best = [1] * len(opened)
        reciprocals = sum(1 / place for place, one in enumerate(clicked, start=1) if one) / len(opened)
        auc = float(sk.roc_auc_score(clicked, range(12, 0, -1)))
        found.append([auc, reciprocals, gain(clicked[:5]) / gain(best[:5]), gain(clicked[:10]) / gain(best[:10])])
    values = dict(zip(["auc", "mrr", "ndcg5", "ndcg10"], map(float, np.mean(found, axis=0)), strict=True))
    return (
        {"truth.tsv": tsv_of("impression,news,clicked", gold)},
        {"prediction.tsv": tsv_of("impression,news,score", shuffled(rng, sent))},
        values,
    )


@task
def textgraphs2021(rng: Team) -> Case:
    gold, sent, found = [], [], []
    for question in range(8):
        facts = [f"{question:02x}ab-{i}" for i in range(10)]
        judged = {fact: rng.randint(1, 6) for fact in rng.sample(facts, 6)}
        order = ranked(rng, facts, set(judged))
        gold += [(f"Q{question}", fact, relevance) for fact, relevance in judged.items()]
        sent += [(f"Q{question}", fact.upper()) for fact in order]
        best = sorted(judged.values(), reverse=True)
        found.append(gain([judged.get(fact, 0) for fact in order]) / gain(best))
    return (
        {"gold.tsv": tsv_of("question,fact,relevance", gold)},
        {"run.tsv": lines_of(sent)},
        {"ndcg": float(np.mean(found))},
    )

"""Tasks whose answer is a text."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from rapidfuzz.distance import LCSseq, Levenshtein

from tests.scoring_programs.declared.oracles import squad
from tests.scoring_programs.declared.real_tasks.making import (
    Case,
    Team,
    csv_of,
    harmonic,
    jsonl_of,
    kept,
    lines_of,
    noisy,
    sentence,
    shuffled,
    some,
    task,
)


@task
def mt23(rng: Team) -> Case:
    import sacrebleu

    gold = [sentence(rng) for _ in range(8)]
    answers = [text if rng.random() < 0.5 else sentence(rng) for text in gold]
    return (
        {"ref.txt": "\n".join(gold) + "\n"},
        {"hyp.txt": "\r\n".join(answers)},
        {
            "bleu": sacrebleu.corpus_bleu(answers, [gold]).score,
            "chrf": sacrebleu.corpus_chrf(answers, [gold], word_order=2).score,
            "ter": sacrebleu.corpus_ter(answers, [gold], case_sensitive=True).score,
        },
    )


@task
def mup2022(rng: Team) -> Case:
    from rouge_score.rouge_scorer import RougeScorer

    kinds = ["rouge1", "rouge2", "rougeL"]
    gold = [[sentence(rng) for _ in range(rng.randint(1, 3))] for _ in range(6)]
    answers = [sentence(rng) for _ in gold]
    scorer = RougeScorer(kinds, use_stemmer=True)
    found = [scorer.score_multi(texts, answer) for texts, answer in zip(gold, answers, strict=True)]
    return (
        {"gold.jsonl": jsonl_of([{"paper_id": f"p{i}", "summary": texts} for i, texts in enumerate(gold)])},
        {"testing.csv": csv_of("paper_id,summary", shuffled(rng, [(f"p{i}", text) for i, text in enumerate(answers)]))},
        {kind: float(np.mean([one[kind].fmeasure for one in found])) for kind in kinds},
    )


def tokens(text: str) -> list[str]:
    return squad(text).split()


def overlap(right: Sequence[Any], answered: Sequence[Any]) -> tuple[float, float, float]:
    """Precision, recall and F1 of two bags; two empty ones are equal."""
    if not right or not answered:
        return (float(right == answered),) * 3
    common = sum((Counter(right) & Counter(answered)).values())
    precision, recall = common / len(answered), common / len(right)
    return precision, recall, harmonic(precision, recall)


@task
def squad2(rng: Team) -> Case:
    answers = ["the Norman dukes", "Norman dukes.", "in 1066", "1066", "A battle", "William", "of Hastings, England"]
    gold = [[""] if i % 3 == 0 else rng.sample(answers, 2) for i in range(30)]
    sent = [noisy(rng, right[0], ["", *answers]) for right in gold]
    exact, f1 = [], []
    for right, answered in zip(gold, sent, strict=True):
        exact.append(float(any(tokens(one) == tokens(answered) for one in right)))
        f1.append(max(overlap(tokens(one), tokens(answered))[2] for one in right))
    answerable = [right != [""] for right in gold]
    rows = [
        {"id": f"56dde{i}", "answer": right, "answerable": "yes" if one else "no"}
        for i, (right, one) in enumerate(zip(gold, answerable, strict=True))
    ]
    return (
        {"answers.jsonl": jsonl_of(rows)},
        {"predictions.json": json.dumps({f"56dde{i}": answered for i, answered in enumerate(sent)})},
        {
            "f1": float(np.mean(f1)),
            "exact": float(np.mean(exact)),
            "f1_answer": float(np.mean(kept(answerable, f1)[0])),
            "exact_answer": float(np.mean(kept(answerable, exact)[0])),
            "exact_none": float(np.mean(kept([not one for one in answerable], exact)[0])),
        },
    )


@task
def hotpotqa(rng: Team) -> Case:
    ids = [f"5a8b57f25542995d1e6f{i:04}" for i in range(24)]
    possible = ["Chief of Protocol", "the chief", "yes", "no", "Animorphs"]
    titles = [(title, number) for title in ("Ed Wood", "Scott Derrickson") for number in range(3)]
    gold = [rng.choice(possible) for _ in ids]
    facts = [set(rng.sample(titles, 2)) for _ in ids]
    answers = [noisy(rng, one, possible) for one in gold]
    given = [some(rng, one, titles) or {titles[5]} for one in facts]
    of_answers = [overlap(tokens(one), tokens(other)) for one, other in zip(gold, answers, strict=True)]
    of_facts = [overlap(sorted(one), sorted(other)) for one, other in zip(facts, given, strict=True)]
    joint_f1, joint_em = [], []
    for answer, fact in zip(of_answers, of_facts, strict=True):
        joint_f1.append(harmonic(answer[0] * fact[0], answer[1] * fact[1]))
        joint_em.append(float(answer[2] == fact[2] == 1))
    records = [{"_id": one, "answer": answer, "type": "bridge"} for one, answer in zip(ids, gold, strict=True)]
    listed = {one: sorted(map(list, own)) for one, own in zip(ids, facts, strict=True)}
    sent = {one: sorted(map(list, own)) for one, own in zip(ids, given, strict=True)}
    return (
        {"hotpot_dev_distractor.json": json.dumps(records), "facts.json": json.dumps(listed)},
        {"pred.json": json.dumps({"answer": dict(zip(ids, answers, strict=True)), "sp": sent})},
        {
            "joint_f1": float(np.mean(joint_f1)),
            "joint_em": float(np.mean(joint_em)),
            "f1": float(np.mean([answer[2] for answer in of_answers])),
            "em": float(np.mean([answer[2] == 1 for answer in of_answers])),
            "sp_f1": float(np.mean([fact[2] for fact in of_facts])),
            "sp_em": float(np.mean([fact[2] == 1 for fact in of_facts])),
        },
    )


@task
def sigmorphon2022(rng: Team) -> Case:
    stems, endings = ["walk", "un", "kind", "book"], ["ed", "ness", "s", "er"]
    gold, categories = [], []
    for _ in range(30):
        gold.append([rng.choice(stems), *rng.sample(endings, rng.randint(0, 2))])
        categories.append(rng.choice(["100", "010"]))
    categories[0] = "100"
    answers = [noisy(rng, one, [["".join(one)], one[:1], [*one, "s"]]) for one in gold]

    def scores(flags: Sequence[bool]) -> tuple[float, float, float]:
        right, answered = kept(flags, gold, answers)
        common = sum(map(LCSseq.similarity, right, answered))
        precision, recall = common / sum(map(len, answered)), common / sum(map(len, right))
        return precision, recall, harmonic(precision, recall)

    precision, recall, f1 = scores([True] * 30)
    apart = [Levenshtein.distance("|".join(one), "|".join(other)) for one, other in zip(gold, answers, strict=True)]
    words = ["".join(one) for one in gold]
    rows = [(word, " @@".join(one), kind) for word, one, kind in zip(words, gold, categories, strict=True)]
    return (
        {"eng.word.test.gold.tsv": lines_of(rows)},
        {"team.tsv": lines_of([(word, " @@".join(one)) for word, one in zip(words, answers, strict=True)])},
        {
            "precision": precision,
            "recall": recall,
            "f1": f1,
            "f1_inflected": scores([kind == "100" for kind in categories])[2],
            "distance": float(np.mean(apart)),
        },
    )

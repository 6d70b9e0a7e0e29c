"""Tasks whose answer is a text."""

from __future__ import annotations

import numpy as np

from tests.scoring_programs.declared.real_tasks.making import (
    Case,
    Team,
    csv_of,
    jsonl_of,
    sentence,
    shuffled,
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

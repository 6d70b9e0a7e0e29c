"""Real shared tasks as declarations, each compared on generated submissions with the libraries called directly.

The structure and the metrics are those of the real task, the data are made up. The rows of a submission are shuffled.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy import stats
from sklearn import metrics as sk

from tests.scoring_programs.declared.declaring import Files, csv_of, declared_options, score

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent / "real_tasks"
SUBMISSIONS = 20
EXPRESSIBLE = 17
"""Real tasks that need no Python; may only rise."""
Values = dict[str, float]
Case = tuple[Files, Files, Values]
"""Gold, a submission, and the value of every column."""
Make = Callable[[random.Random], Case]


def tsv_of(header: str, rows: Sequence[Any]) -> str:
    return "".join("\t".join(map(str, row)) + "\n" for row in [header.split(","), *rows])


def jsonl_of(rows: Sequence[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def shuffled(rng: random.Random, rows: Sequence[Any]) -> list[Any]:
    return rng.sample(list(rows), len(rows))


def noisy(rng: random.Random, label: Any, labels: Sequence[Any]) -> Any:
    return label if rng.random() < 0.6 else rng.choice(labels)


def prf(gold: Any, answers: Any, average: str) -> list[float]:
    found = sk.precision_recall_fscore_support(gold, answers, average=average, zero_division=0)
    return [float(value) for value in found[:3]]


def mean_over(
    groups: Sequence[Any], gold: Sequence[Any], answers: Sequence[Any], metric: Callable[..., float]
) -> float:
    values = []
    for group in dict.fromkeys(groups):
        at = [i for i, one in enumerate(groups) if one == group]
        values.append(float(metric([gold[i] for i in at], [answers[i] for i in at])))
    return float(np.mean(values))


def kept(flags: Sequence[bool], *columns: Sequence[Any]) -> list[list[Any]]:
    return [[value for value, flag in zip(column, flags, strict=True) if flag] for column in columns]


def pearson(gold: Any, answers: Any) -> float:
    return float(stats.pearsonr(gold, answers).statistic)


def spearman(gold: Any, answers: Any) -> float:
    return float(stats.spearmanr(gold, answers).statistic)


def kendall(gold: Any, answers: Any) -> float:
    return float(stats.kendalltau(gold, answers).statistic)


def semeval2026_13(rng: random.Random) -> Case:
    gold = [0, 1, *(rng.choice([0, 1]) for _ in range(40))]
    answers = [noisy(rng, label, [0, 1]) for label in gold]
    precision, recall, f1 = prf(gold, answers, "macro")
    return (
        {"gold.csv": csv_of("ID,label", list(enumerate(gold)))},
        {"submission.csv": csv_of("ID,label", shuffled(rng, list(enumerate(answers))))},
        {
            "macro_f1": f1,
            "macro_precision": precision,
            "macro_recall": recall,
            "accuracy": float(sk.accuracy_score(gold, answers)),
        },
    )


def afrisenti(rng: random.Random) -> Case:
    labels, languages = ["negative", "neutral", "positive"], ["swa", "yor", "amh"]
    rows = [(f"{language}{i}", rng.choice(labels), language) for language in languages for i in range(15)]
    answers = [noisy(rng, label, labels) for _, label, _ in rows]
    gold, groups = [row[1] for row in rows], [row[2] for row in rows]
    precision, recall, f1 = prf(gold, answers, "weighted")
    of = {}
    for name in languages:
        own_gold, own_answers = kept([one == name for one in groups], gold, answers)
        of[name] = prf(own_gold, own_answers, "weighted")[2]
    sent = shuffled(rng, [(row[0], label) for row, label in zip(rows, answers, strict=True)])
    return (
        {"gold.tsv": tsv_of("ID,label,language", rows)},
        {"pred_multilingual.tsv": tsv_of("ID,label", sent)},
        {
            "weighted_f1": f1,
            "weighted_precision": precision,
            "weighted_recall": recall,
            "f1_swa": of["swa"],
            "f1_yor": of["yor"],
            "f1_mean": float(np.mean(list(of.values()))),
        },
    )


def hateval(rng: random.Random) -> Case:
    gold = [[rng.choice([0, 1]) for _ in range(3)] for _ in range(40)]
    answers = [[noisy(rng, label, [0, 1]) for label in row] for row in gold]
    columns = list(zip(zip(*gold, strict=True), zip(*answers, strict=True), strict=True))
    f1 = [prf(list(g), list(a), "macro")[2] for g, a in columns]
    return (
        {"gold.tsv": tsv_of("id,HS,TR,AG", [(i, *row) for i, row in enumerate(gold)])},
        {"en_a.tsv": tsv_of("id,HS,TR,AG", shuffled(rng, [(i, *row) for i, row in enumerate(answers)]))},
        {
            "a_f1": f1[0],
            "a_accuracy": float(sk.accuracy_score(*columns[0])),
            "b_emr": float(np.mean([g == a for g, a in zip(gold, answers, strict=True)])),
            "b_f1": float(np.mean(f1)),
        },
    )


def emoint(rng: random.Random) -> Case:
    emotions = ["anger", "fear", "joy", "sadness"]
    rows = [(f"{emotion}{i}", round(rng.random(), 3), emotion) for emotion in emotions for i in range(14)]
    answers = [round(min(1.0, max(0.0, row[1] + rng.gauss(0, 0.3))), 3) for row in rows]
    gold, groups = [row[1] for row in rows], [row[2] for row in rows]
    strong = kept([value >= 0.5 for value in gold], groups, gold, answers)
    sent = shuffled(rng, [(row[0], value) for row, value in zip(rows, answers, strict=True)])
    return (
        {"gold.tsv": tsv_of("id,intensity,emotion", rows)},
        {"predictions.tsv": tsv_of("id,intensity", sent)},
        {
            "pearson": mean_over(groups, gold, answers, pearson),
            "spearman": mean_over(groups, gold, answers, spearman),
            "pearson_anger": pearson(*kept([one == "anger" for one in groups], gold, answers)),
            "pearson_strong": mean_over(strong[0], strong[1], strong[2], pearson),
        },
    )


def semrel2024(rng: random.Random) -> Case:
    gold = [round(rng.random(), 2) for _ in range(30)]
    answers = [value + rng.gauss(0, 0.2) for value in gold]
    return (
        {"gold.csv": csv_of("PairID,Text,Score", [(f"P{i}", "a, b", value) for i, value in enumerate(gold)])},
        {"pred_eng_a.csv": csv_of("PairID,Pred_Score", shuffled(rng, [(f"P{i}", v) for i, v in enumerate(answers)]))},
        {"spearman": spearman(gold, answers)},
    )


def complex2021(rng: random.Random) -> Case:
    sides = {name: [[round(rng.random(), 3) for _ in range(20)] for _ in range(2)] for name in ("single", "multi")}
    gold = {f"{name}.csv": csv_of("id,complexity", list(enumerate(side[0]))) for name, side in sides.items()}
    sent = {
        f"{name}.csv": csv_of("id,complexity", shuffled(rng, list(enumerate(side[1])))) for name, side in sides.items()
    }
    single, multi = sides["single"], sides["multi"]
    return (
        gold,
        sent,
        {
            "single_pearson": pearson(*single),
            "single_spearman": spearman(*single),
            "single_mae": float(sk.mean_absolute_error(*single)),
            "single_mse": float(sk.mean_squared_error(*single)),
            "single_r2": float(sk.r2_score(*single)),
            "multi_pearson": pearson(*multi),
            "multi_r2": float(sk.r2_score(*multi)),
        },
    )


def shroom2024(rng: random.Random) -> Case:
    labels, tracks = ["Hallucination", "Not Hallucination"], ["model-agnostic", "model-aware"]
    gold = [
        {"id": i, "label": rng.choice(labels), "p(Hallucination)": rng.randint(0, 5) / 5, "track": tracks[i % 2]}
        for i in range(40)
    ]
    sent = [
        {"id": row["id"], "label": noisy(rng, row["label"], labels), "p(Hallucination)": rng.random()} for row in gold
    ]
    values = {}
    for track, name in zip(tracks, ("agnostic", "aware"), strict=True):
        at = [row["track"] == track for row in gold]
        label, probability = (
            [[row[key] for row in side] for side in (gold, sent)] for key in ("label", "p(Hallucination)")
        )
        values[f"accuracy_{name}"] = float(sk.accuracy_score(*kept(at, *label)))
        values[f"rho_{name}"] = spearman(*kept(at, *probability))
    return {"gold.jsonl": jsonl_of(gold)}, {"test.jsonl": jsonl_of(shuffled(rng, sent))}, values


def mediqa_eval2026(rng: random.Random) -> Case:
    groups = [(lang, metric, data) for lang in ("en", "zh") for metric in ("factual", "tone") for data in ("x", "y")]
    keys = [(f"e{i}", *group) for group in groups for i in range(6)]
    gold = [rng.randint(0, 4) / 4 if i % 6 > 1 else i % 6 for i in range(len(keys))]
    answers = [rng.random() for _ in keys]
    header = "encounter_id,lang,metric,dataset,value"
    by = [key[1:] for key in keys]
    sent = shuffled(rng, [(*key, value) for key, value in zip(keys, answers, strict=True)])
    return (
        {"gold.csv": csv_of(header, [(*key, value) for key, value in zip(keys, gold, strict=True)])},
        {"prediction.csv": csv_of(header, sent)},
        {
            "kendall": mean_over(by, gold, answers, kendall),
            "pearson": mean_over(by, gold, answers, pearson),
            "spearman": mean_over(by, gold, answers, spearman),
        },
    )


WORDS = ["the", "cat", "sat", "on", "mat", "running", "dogs", "Green", "ideas", "."]


def sentence(rng: random.Random) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(5, 10)))


def mt23(rng: random.Random) -> Case:
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


def mup2022(rng: random.Random) -> Case:
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


def hypernyms2020(rng: random.Random) -> Case:
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


def micro(gold: Sequence[set[Any]], answers: Sequence[set[Any]]) -> tuple[float, float, float]:
    tp, predicted, there = (
        sum(map(len, side)) for side in ([g & a for g, a in zip(gold, answers, strict=True)], answers, gold)
    )
    precision, recall = (tp / predicted if predicted else 0.0), (tp / there if there else 0.0)
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def entities(rng: random.Random) -> set[Any]:
    return {(start, start + rng.randint(1, 4), rng.choice(["FINDING", "ORGAN"])) for start in rng.sample(range(9), 3)}


def gastrocorp2026(rng: random.Random) -> Case:
    gold = [entities(rng) if i else set() for i in range(6)]
    answers = [{entity for entity in one if rng.random() < 0.6} | entities(rng) for one in gold]
    answers[-1] = set()
    precision, recall, f1 = micro(gold, answers)
    bare = [[{entity[:2] for entity in one} for one in side] for side in (gold, answers)]
    files = [[(f"d{i}", *entity) for i, one in enumerate(side) for entity in sorted(one)] for side in (gold, answers)]
    return (
        {
            "gold.csv": csv_of("doc,start,end,type", files[0]),
            "documents.csv": csv_of("doc", [[f"d{i}"] for i in range(6)]),
        },
        {"entities.csv": csv_of("doc,start,end,type", shuffled(rng, files[1]))},
        {"f1": f1, "precision": precision, "recall": recall, "boundaries": micro(bare[0], bare[1])[2]},
    )


def runne2022(rng: random.Random) -> Case:
    types = ["PERSON", "DISEASE", "PENALTY"]
    keys = [(f"t{i}", kind) for i in range(5) for kind in types]

    def spans() -> set[Any]:
        return {(start, start + 2) for start in rng.sample(range(6), rng.randint(1, 3))}

    gold = {key: spans() for key in keys}
    answers = {key: {one for one in gold[key] if rng.random() < 0.7} | spans() for key in keys}
    of = {
        kind: micro(*([side[key] for key in keys if key[1] == kind] for side in (gold, answers)))[2] for kind in types
    }
    rows = [
        [{"id": key[0], "type": key[1], "start": s, "end": e} for key in keys for s, e in sorted(side[key])]
        for side in (gold, answers)
    ]
    return (
        {"gold.jsonl": jsonl_of(rows[0]), "keys.csv": csv_of("id,type", keys)},
        {"test.jsonl": jsonl_of(shuffled(rng, rows[1]))},
        {"macro_f1": float(np.mean(list(of.values()))), "few_shot_f1": (of["DISEASE"] + of["PENALTY"]) / 2},
    )


def synur2026(rng: random.Random) -> Case:
    def observations() -> set[Any]:
        return {(f"o{rng.randint(0, 5)}", rng.choice(["yes", "no", "2 l"])) for _ in range(3)}

    gold = [observations() for _ in range(6)]
    answers = [{one for one in row if rng.random() < 0.7} | observations() for row in gold]
    precision, recall, f1 = micro(gold, answers)
    rows = [
        [{"id": i, "observation": o, "value": v} for i, one in enumerate(side) for o, v in sorted(one)]
        for side in (gold, answers)
    ]
    return (
        {"gold.jsonl": jsonl_of(rows[0])},
        {"predictions.jsonl": jsonl_of(shuffled(rng, rows[1]))},
        {"f1": f1, "precision": precision, "recall": recall},
    )


def idioms2025(rng: random.Random) -> Case:
    languages = ["tr", "it"]
    gold = [set(rng.sample(range(8), rng.randint(0, 3))) for _ in range(20)]
    answers = [one if rng.random() < 0.5 else set(rng.sample(range(8), rng.randint(0, 3))) for one in gold]
    groups = [languages[i % 2] for i in range(20)]

    def f1(gold_sets: Sequence[set[int]], answer_sets: Sequence[set[int]]) -> float:
        pairs = zip(gold_sets, answer_sets, strict=True)
        return float(np.mean([2 * len(g & a) / (len(g) + len(a)) if g or a else 1.0 for g, a in pairs]))

    cells = [[" ".join(map(str, one)) for one in side] for side in (gold, answers)]
    return (
        {"gold.csv": csv_of("id,indices,language", list(zip(range(20), cells[0], groups, strict=True)))},
        {"prediction.csv": csv_of("id,indices", shuffled(rng, list(enumerate(cells[1]))))},
        {"f1": mean_over(groups, gold, answers, f1), "f1_tr": f1(gold[::2], answers[::2])},
    )


def recam2021(rng: random.Random) -> Case:
    gold = [rng.randint(0, 4) for _ in range(30)]
    answers = [noisy(rng, label, range(5)) for label in gold]
    return (
        {"gold.csv": csv_of("id,answer", list(enumerate(gold)))},
        {"subtask1.csv": csv_of("id,answer", shuffled(rng, list(enumerate(answers))))},
        {"accuracy": float(sk.accuracy_score(gold, answers))},
    )


def eval4nlp2023(rng: random.Random) -> Case:
    pairs = ["en-de", "en-zh"]
    rows = [(f"{pair}{i}", rng.randint(0, 9), pair) for pair in pairs for i in range(12)]
    answers = [rng.randint(0, 100) for _ in rows]
    gold, groups = [row[1] for row in rows], [row[2] for row in rows]
    sent = shuffled(rng, [(row[0], value) for row, value in zip(rows, answers, strict=True)])
    return (
        {"gold.tsv": tsv_of("segment,score,pair", rows)},
        {"seg.scores.tsv": tsv_of("segment,score", sent)},
        {"kendall": mean_over(groups, gold, answers, kendall), "kendall_de": kendall(gold[:12], answers[:12])},
    )


MAKERS: dict[str, Make] = {
    "semeval2026-13": semeval2026_13,
    "afrisenti": afrisenti,
    "hateval": hateval,
    "emoint": emoint,
    "semrel2024": semrel2024,
    "complex2021": complex2021,
    "shroom2024": shroom2024,
    "mediqa-eval2026": mediqa_eval2026,
    "mt23": mt23,
    "mup2022": mup2022,
    "hypernyms2020": hypernyms2020,
    "gastrocorp2026": gastrocorp2026,
    "runne2022": runne2022,
    "synur2026": synur2026,
    "idioms2025": idioms2025,
    "recam2021": recam2021,
    "eval4nlp2023": eval4nlp2023,
}


def submissions(make: Make) -> Iterator[Case]:
    for seed in range(SUBMISSIONS):
        yield make(random.Random(seed))


@pytest.mark.parametrize("name", MAKERS)
def test_a_real_task_scores_as_the_libraries_do(name: str, tmp_path: Path) -> None:
    options = declared_options((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    for number, (gold, answers, values) in enumerate(submissions(MAKERS[name])):
        result = score(options, gold, answers, tmp_path / str(number))
        assert result.warnings == []
        found = {key: result.value(key) for key in values}
        assert found == pytest.approx(values, abs=1e-9), f"submission {number}"


def test_every_column_of_a_real_task_is_compared() -> None:
    rng = random.Random(0)
    for name, make in MAKERS.items():
        declared = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
        keys = {column["key"] for task in declared["tasks"] for column in task["columns"] if "metric" in column}
        assert set(make(rng)[2]) == keys, name


def test_the_number_of_expressible_tasks_does_not_fall() -> None:
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(MAKERS)
    assert len(MAKERS) >= EXPRESSIBLE

"""Small gold files of our own in the shapes in which shared tasks publish theirs, and what must become of them."""

import json
import random
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

CHANCE = random.Random()
EMOTIONS = "anger anticipation disgust fear joy love optimism pessimism sadness surprise trust"
WORDS = "a bank river stone green walks under the old bridge while seven birds sing loudly about rain and never stop"


def sentence(words: int = 8) -> str:
    return " ".join(CHANCE.choices(WORDS.split(), k=words))


def lines(rows: Sequence[Sequence[object]], between: str = "\t", *, end: str = "\n") -> str:
    return "".join(between.join(map(str, row)) + end for row in rows)


def jsonl(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def one_of(*values: str) -> str:
    return CHANCE.choice(values)


def flag(share: float = 0.3) -> int:
    return int(CHANCE.random() < share)


@dataclass(frozen=True)
class Official:
    """A gold file, and the competition that is right for it.

    Attributes:
        file: its name.
        make: its text.
        kind: the kind of task.
        ranks: name of the metric that ranks.
        fields: field → type of the submission.
        options: what must be said besides `--gold`, at most two.
    """

    file: str
    make: Callable[[], str]
    kind: str
    ranks: str
    fields: dict[str, str]
    options: Sequence[str]

    @property
    def text(self) -> str:
        """Its text, always the same."""
        CHANCE.seed(self.file)
        return self.make()


OFFICIAL: dict[str, Official] = {}
Maker = Callable[[], str]


def official(file: str, kind: str, ranks: str, fields: str, options: str = "") -> Callable[[Maker], Maker]:
    """Enter a gold file that a function makes; fields are written `name: type, …`, options as on the command line."""

    def entered(make: Maker) -> Maker:
        types = dict(field.split(": ") for field in fields.split(", "))
        OFFICIAL[make.__name__] = Official(file, make, kind, ranks, types, shlex.split(options))
        return make

    return entered


@official("2018-E-c-En-test-gold.txt", "multilabel", "f1", "ID: string, labels: labels")
def e_c() -> str:
    rows = [[f"2018-En-0{i:04}", sentence(), *(flag() for _ in EMOTIONS.split())] for i in range(60)]
    return lines([["ID", "Tweet", *EMOTIONS.split()], *rows])


@official("test.csv", "classification", "f1", "id: string, label: label")
def humicroedit() -> str:
    rows: list[list[object]] = []
    for i in range(60):
        edits = [f"{sentence()} <bank/>", "bee", f"{CHANCE.random() * 3:.1f}"]
        edits += [f"{sentence()} <rain/>", "cow", f"{CHANCE.random() * 3:.1f}"]
        rows.append([f"{i}-{i + 100}", *edits, CHANCE.randrange(3)])
    return lines([["id", "original1", "edit1", "meanGrade1", "original2", "edit2", "meanGrade2", "label"], *rows], ",")


@official("tsd_test.csv", "spans", "set_f1", "id: string, spans: offsets", "--key line")
def toxic_spans() -> str:
    rows = []
    for _ in range(60):
        start = CHANCE.randrange(9)
        rows.append([f'"{list(range(start, start + CHANCE.randrange(1, 9)))}"', sentence()])
    return lines([["spans", "text"], *rows], ",")


@official("mushroom.en-tst.v1.jsonl", "spans", "set_f1", "id: string, hard_labels: spans", "--answer hard_labels")
def mu_shroom() -> str:
    rows = []
    for i in range(60):
        start = CHANCE.randrange(20)
        soft = [{"start": start, "prob": 0.3, "end": start + 4}, {"start": start + 4, "prob": 0.8, "end": start + 9}]
        row = {"id": f"tst-en-{i}", "lang": "EN", "model_input": sentence(), "model_output_text": sentence(9)}
        rows.append({**row, "model_id": "m", "soft_labels": soft, "hard_labels": [[start + 4, start + 9]]})
    return jsonl(rows)


@official("val.jsonl", "classification", "roc_auc", "id: string, label: number", "--answer label=probability")
def pan25() -> str:
    rows = []
    for _ in range(60):
        row = {"id": f"{CHANCE.getrandbits(64):016x}", "text": sentence(), "model": one_of("a", "b", "human")}
        rows.append({**row, "label": flag(0.5), "genre": one_of("essays", "news")})
    return jsonl(rows)


@official("competition_test_stances.csv", "classification", "f1", "Body ID: string, Headline: string, Stance: label")
def fnc() -> str:
    rows = []
    for i in range(90):
        rows.append([f'"{sentence(6)}, {i % 31}"', i % 25, one_of("agree", "disagree", "discuss", "unrelated")])
    return lines([["Headline", "Body ID", "Stance"], *rows], ",")


@official("qrels.robust.txt", "ranking", "ndcg", "query: string, item: string, score: number")
def trec_qrels() -> str:
    rows: list[list[object]] = []
    for i in range(20):
        found = CHANCE.sample(range(1000, 9999), 6)
        rows += [[301 + i, 0, f"FBIS3-{doc}", 1 if at == 0 else flag(0.3)] for at, doc in enumerate(found)]
    return lines(rows, " ")


@official("tg2021-dev.json", "ranking", "ndcg", "qid: string, docUUID: string, score: number")
def textgraphs() -> str:
    problems = []
    for i in range(30):
        documents = [
            {
                "docUUID": f"{CHANCE.getrandbits(32):08x}",
                "docText": sentence(),
                "relevance": 4 if at == 0 else CHANCE.randrange(3),
            }
            for at in range(5)
        ]
        problems.append({"qid": f"Q_{i}", "queryText": sentence(), "documents": documents})
    return json.dumps({"rankingProblems": problems})


@official("dev-v2.0.json", "generation", "exact_match", "id: string, answers: text")
def squad() -> str:
    articles = []
    for i in range(6):
        paragraphs = []
        for j in range(2):
            context = sentence(20)
            questions = []
            for k in range(3):
                gone = (i + j + k) % 3 == 2
                answers = (
                    [] if gone else [{"text": sentence(2), "answer_start": k}, {"text": sentence(3), "answer_start": k}]
                )
                questions.append(
                    {"id": f"5a{i}{j}{k}", "question": f"{sentence(6)}?", "answers": answers, "is_impossible": gone}
                )
            paragraphs.append({"context": context, "qas": questions})
        articles.append({"title": f"Title {i}", "paragraphs": paragraphs})
    return json.dumps({"version": "v2.0", "data": articles})


@official("hotpot_dev_distractor_v1.json", "generation", "exact_match", "_id: string, answer: text")
def hotpot() -> str:
    rows = []
    for i in range(40):
        rows.append(
            {
                "_id": f"5a8b57f25542995d{i:04}",
                "answer": one_of("yes", "no", sentence(2)),
                "question": f"{sentence(9)}?",
                "supporting_facts": [[f"Title {i}", 0], [f"Title {i + 1}", 1]],
                "context": [[f"Title {i}", [sentence(), sentence()]], [f"Title {i + 1}", [sentence()]]],
                "type": one_of("bridge", "comparison"),
                "level": "hard",
            }
        )
    return json.dumps(rows)


@official("gap-test.tsv", "classification", "f1", "ID: string, A-coref: label, B-coref: label")
def gap() -> str:
    rows: list[list[object]] = []
    for i in range(1, 61):
        first = flag(0.4)
        a, b = str(bool(first)).upper(), str(bool(flag(0.5) and not first)).upper()
        row = [f"test-{i}", sentence(14), "her", 40 + i % 7, "Ada Lind", 3, a, "Noor Haas", 20 + i % 3, b]
        rows.append([*row, f"http://en.wikipedia.org/wiki/Page_{i}"])
    names = ["ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref", "URL"]
    return lines([names, *rows])


def tagged_names(scheme: str) -> str:
    found = ["-DOCSTART- -X- -X- O", ""]
    for i in range(30):
        begin = {"iob2": "B", "iob1": "I", "iobes": "B"}[scheme]
        end = "E" if scheme == "iobes" else "I"
        single = "S" if scheme == "iobes" else begin
        found += [
            f"Ada NNP B-NP {begin}-PER",
            f"Lind{i} NNP I-NP {end}-PER",
            "visits VBZ B-VP O",
            f"{one_of('Oslo', 'Rome')} NNP B-NP {single}-LOC",
            ". . O O",
            "",
        ]
    return "\n".join(found) + "\n"


@official("eng.testa", "tagging", "span_f1", "id: string, tags: tags")
def conll2003() -> str:
    return tagged_names("iob2")


@official("eng.testb", "tagging", "span_f1", "id: string, tags: tags")
def conll2003_iob1() -> str:
    return tagged_names("iob1")


@official("test.iobes", "tagging", "span_f1", "id: string, tags: tags")
def conll_iobes() -> str:
    return tagged_names("iobes")

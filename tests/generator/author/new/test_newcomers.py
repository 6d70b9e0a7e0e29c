"""Four tasks as newcomers have them, from their files to a board: `new` once or twice, and no Python."""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.generator.cli.running import gen_bundle
from tests.sweeps import sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers", "runs_in_forks")]
WORDS = "good bad the movie plot was very boring Paris London Berlin Anna Bob café"
DRAWN = random.Random()


def text(number: int, size: int = 10) -> str:
    return f"{' '.join(DRAWN.choices(WORDS.split(), k=size))} {number}"


def a_name_in(given: str) -> tuple[int, int]:
    """The place of a word of a text."""
    word = DRAWN.choice(given.split()[:-1])
    start = given.index(word)
    return start, start + len(word)


def label_studio(folder: Path) -> None:
    """Spans; of 60 tasks five were not annotated, and an annotation may have no result."""
    tasks = []
    for number in range(1, 61):
        given = text(number)
        start, end = a_name_in(given)
        value = {"start": start, "end": end, "text": given[start:end], "labels": [DRAWN.choice(["PER", "LOC"])]}
        results = [{"from_name": "label", "to_name": "text", "type": "labels", "value": value}]
        done = [{"id": number, "completed_by": 1, "result": results * (number % 4 > 0)}]
        task = {"id": number, "annotations": done * (number > 5), "data": {"text": given}, "predictions": []}
        tasks.append({**task, "inner_id": number, "project": 3, "created_at": "2030-01-01T00:00:00Z"})
    (folder / "project.json").write_text(json.dumps(tasks), encoding="utf-8")


def excel(folder: Path) -> None:
    """CSV as a German Excel writes it: line ends in cells, decimal commas, and blank rows at the end."""
    rows = ["Nr.;Text;Wert;Klasse"]
    for number in range(1, 61):
        value = f"{DRAWN.random():.2f}".replace(".", ",")
        rows.append(f'{number};"{text(number, 3)}\nzweite Zeile";{value};{DRAWN.choice(["gut", "schlecht"])}')
    content = "\r\n".join([*rows, ";;;", ";;;", ""])
    (folder / "Daten.csv").write_bytes(content.encode("utf-8-sig"))


def trec(folder: Path) -> None:
    judgements, run = [], []
    for query in range(1, 16):
        items = DRAWN.sample(range(500), 12)
        judgements += [f"{query} 0 d{item:03d} {item % 3}" for item in items]
        DRAWN.shuffle(items)
        run += [f"{query} Q0 d{item:03d} {rank} {20 - rank}.5 bm25" for rank, item in enumerate(items, 1)]
    (folder / "qrels.txt").write_text("\n".join(judgements) + "\n", encoding="utf-8")
    (folder / "bm25.txt").write_text("\n".join(run) + "\n", encoding="utf-8")


RUN = """submission:
  file: bm25.txt
  format: csv
  delimiter: " "
  header: none
  key: query
  rows: many
  fields:
    - {field: query, type: string}
    - {field: Q0, type: string}
    - {field: item, type: string}
    - {field: rank, type: number}
    - {field: score, type: number}
    - {field: name, type: string}

"""


def with_runs(folder: Path) -> None:
    """Let participants hand in runs as TREC has them, and one of them be the baseline."""
    file = folder / "p" / "bundle.yaml"
    written = file.read_text(encoding="utf-8")
    before, _, rest = written.partition("submission:\n")
    file.write_text(before + RUN + rest[rest.index("# The gold of each phase") :], encoding="utf-8")
    (folder / "p/data/baselines/test/alphabetical").rename(folder / "old")
    (folder / "p/data/baselines/test/bm25").mkdir()
    (folder / "bm25.txt").rename(folder / "p/data/baselines/test/bm25/bm25.txt")


def subtasks(folder: Path) -> None:
    """Two subtasks in three languages."""
    for name, size in (("train", 30), ("dev", 45), ("test", 60)):
        rows = ["id,lang,text,is_propaganda,techniques"]
        for number in range(size):
            found = DRAWN.sample(["loaded", "slogan", "doubt", "flag"], DRAWN.randint(1, 3)) * (number % 2)
            says = "yes" if found else "no"
            rows.append(f"{name}{number},{['en', 'de', 'es'][number % 3]},{text(number)},{says},{'|'.join(found)}")
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


class Newcomer(NamedTuple):
    """What somebody has, types and sees.

    Attributes:
        files: writes what there is.
        calls: the options of `new`, at most twice.
        said: what is said of the files in the end.
        edit: what is changed in the project without Python.
        board: the columns.
    """

    files: Callable[[Path], None]
    calls: Sequence[str]
    said: Sequence[str]
    board: Sequence[str]
    edit: Callable[[Path], None] | None = None


OF_PHASES = "--gold dev={0} --gold test={1} --train {2}"
NEWCOMERS = {
    "Label Studio": Newcomer(
        label_studio,
        ["--gold project.json"],
        ["answers   label: spans (LOC, PER)", "rows      60", "19 items have no annotation, or an empty one"],
        ["f1", "f1_characters"],
    ),
    "Excel": Newcomer(
        excel,
        ["--gold Daten.csv", "--gold Daten.csv --answer Klasse --answer Wert"],
        ["answers   Klasse: label (gut, schlecht); Wert: number", "2 rows whose cells are all blank", "lines 122, 123"],
        ["klasse_macro_f1", "klasse_accuracy", "wert_rmse", "wert_mae", "wert_pearson"],
    ),
    "TREC": Newcomer(trec, ["--gold qrels.txt"], ["judgements as TREC has them"], ["ndcg", "map", "mrr"], with_runs),
    "two subtasks in three languages": Newcomer(
        subtasks,
        [
            OF_PHASES.format("dev.csv", "test.csv", "train.csv"),
            f"{OF_PHASES.format('dev.csv', 'test.csv', 'train.csv')} --answer is_propaganda --answer techniques",
        ],
        ["is_propaganda: label (no, yes); techniques: labels (doubt, flag, loaded, slogan)", "given     lang, text"],
        [*("is_propaganda_macro_f1", "is_propaganda_accuracy", "techniques_micro_f1"), "techniques_macro_f1"],
    ),
}


@pytest.mark.parametrize("who", sweep(NEWCOMERS, ["Label Studio"]))
def test_a_newcomer_has_a_board_after_two_calls_of_new(who: str, tmp_path: Path) -> None:
    DRAWN.seed(5)
    newcomer = NEWCOMERS[who]
    newcomer.files(tmp_path)
    for number, options in enumerate(newcomer.calls, 1):
        name = "p" if number == len(newcomer.calls) else f"p{number}"
        made = gen_bundle("new", name, *options.split(), "--yes", cwd=tmp_path)
        assert made.returncode == 0, made.stderr
    assert [said for said in newcomer.said if said not in made.stderr] == [], made.stderr
    if newcomer.edit:
        newcomer.edit(tmp_path)
    done = gen_bundle("try", "p", "--engine", "process", "--trust", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "draft, not ready to publish" in done.stderr  # their texts, dates and address are to come
    ran = json.loads((tmp_path / "p-try" / "dry-run" / "dry-run.json").read_text(encoding="utf-8"))
    phases = {"dev", "test"} if "dev=" in newcomer.calls[0] else {"test"}
    assert {row["phase"] for row in ran["board"]} == phases
    for row in ran["board"]:
        assert set(newcomer.board) <= set(row["cells"])

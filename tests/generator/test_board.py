import json
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.board import Board, Entry, NoBoardError, RefusedError
from gen_bundle.worker.competition_yaml import read_leaderboard
from gen_bundle.worker.rules import JobFailedError, WorkerCrashError, read_scores
from tests.shared import SHARED, shared_path


def recorded() -> list[dict[str, Any]]:
    file = SHARED / "corpus/codabench/scores.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def upload(board: Board, entry: Entry, text: str, folder: Path) -> object:
    """What one upload answers: the HTTP status, or why it was never sent."""
    (folder / "scores.json").write_text(text)
    try:
        scores = read_scores(folder)
    except JobFailedError:
        board.fail(entry)
        return "not JSON"
    except WorkerCrashError:
        board.finish(entry)
        return "not sent"
    board.finish(entry)
    try:
        board.upload(entry, scores)
    except RefusedError:
        return 500
    return 200


def stored(entry: Entry) -> list[list[str]]:
    scores = sorted(entry.scores, key=lambda score: score.column.index)
    return [[score.column.key, str(score.value)] for score in scores]


def shown(board: Board, entries: list[Entry], owners: list[str]) -> dict[str, Any]:
    try:
        rows = board.rows()
    except NoBoardError:
        return {"http": 500}
    return {
        "http": 200,
        "rows": [
            {
                "rank": row.rank,
                "user": owners[entries.index(row.entry)],
                "submission": entries.index(row.entry),
                "scores": [
                    [column.key, text, *([entry.task] if entry.task else [])] for entry, column, text in row.cells
                ],
            }
            for row in rows
        ],
    }


@pytest.mark.parametrize("case", recorded() or [{}], ids=lambda case: case.get("id", "no data"))
def test_recorded_uploads_and_boards(case: dict[str, Any], tmp_path: Path) -> None:
    shared_path("corpus/codabench/scores.jsonl")
    board = Board(read_leaderboard(case["leaderboard"]))
    tasks = [f"task{number}" for number in range(case["tasks"])] if case["tasks"] > 1 else []
    entries, owners = [], []
    for number, (submission, expected) in enumerate(zip(case["submissions"], case["uploads"], strict=True)):
        entry = board.submit(str(number), submission["user"], tasks)
        entries.append(entry)
        owners.append(submission["user"])
        if tasks:
            http: object = [
                upload(board, child, text, tmp_path)
                for child, text in zip(entry.children, submission["scores_json"], strict=True)
            ]
        else:
            http = upload(board, entry, submission["scores_json"], tmp_path)
        if submission.get("added_by_hand"):
            board.add_by_hand(entry)
        assert http == expected["http"]
        assert ([stored(child) for child in entry.children] if tasks else stored(entry)) == expected["stored"]
        if "parent_stored" in expected:
            assert stored(entry) == expected["parent_stored"]
        on_board = [child.on_board for child in entry.children] if tasks else entry.on_board
        assert on_board == expected["on_leaderboard"]
    assert shown(board, entries, owners) == case["board"]

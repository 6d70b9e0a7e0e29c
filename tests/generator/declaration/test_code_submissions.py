"""What a declaration of code submissions may say, and how long the code then runs."""

from pathlib import Path

import pytest

from gen_bundle.build.package.programs import entry_seconds
from gen_bundle.build.package.resolve import resolve
from gen_bundle.declaration.read import read_competition
from tests.generator.code_competition import declaration, write_declaration
from tests.generator.competition import errors_of

QUEUE = "01234567-89ab-cdef-0123-456789abcdef"


@pytest.mark.parametrize(
    "submission",
    [{}, {"interface": "command"}, {"interface": "command", "entry": "run.sh"}, {"memory": 64}, {"entry": "a-b.py"}],
)
def test_what_may_be_declared(submission: dict[str, object], tmp_path: Path) -> None:
    assert errors_of(write_declaration(tmp_path, declaration(**submission))) == []


@pytest.mark.parametrize(
    ("submission", "message"),
    [
        ({"entry": None}, "submission: entry is missing. With kind: code, the file that is run, such as model.py."),
        ({"entry": "run.sh"}, "'run.sh' cannot be run as a function. Expected a name at the top of the zip that ends"),
        ({"entry": "src/model.py"}, "'src/model.py' cannot be run as a function."),
        ({"entry": "../model.py"}, "'../model.py' cannot be run as a function."),
        ({"entry": "-c.py"}, "'-c.py' cannot be run as a function."),
        ({"entry": "model", "interface": "command"}, "cannot be run as a command. Expected a name at the top of the"),
        ({"memory": 1}, "submission.memory: should be greater than or equal to 64"),
        ({"kind": "results"}, "submission.entry: is read only with kind: code."),
        ({"kind": "results", "entry": None}, "seconds.measured: measures code. Expected submission.kind: code"),
        ({"kind": "results", "memory": 64}, "submission.memory: is read only with kind: code."),
    ],
)
def test_what_may_not_be_declared(submission: dict[str, object], message: str, tmp_path: Path) -> None:
    errors = errors_of(write_declaration(tmp_path, declaration(**{"entry": "model.py", **submission})))
    assert any(message in error for error in errors), errors


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            {"key": "again", "measured": "seconds"},
            "again.measured: there is another such column. Expected one at most.",
        ),
        ({"key": "again", "measured": "seconds", "sort": "desc"}, "again.sort: puts the slowest first. Expected asc."),
        ({"key": "again", "measured": "seconds", "metric": "accuracy"}, "again.metric: cannot be given together with"),
        (
            {"key": "again", "measured": "seconds", "computation": "avg", "of": ["accuracy"]},
            "again.computation: cannot",
        ),
        ({"key": "again", "measured": "minutes"}, "again.measured: should be 'seconds'"),
    ],
)
def test_what_a_measured_column_cannot_be(column: dict[str, object], message: str, tmp_path: Path) -> None:
    data = declaration()
    data["tasks"][0]["columns"].append(column)
    errors = errors_of(write_declaration(tmp_path, data))
    assert any(message in error for error in errors), errors


def test_a_phase_leaves_time_for_the_code(tmp_path: Path) -> None:
    data = declaration()
    data["phases"][1]["execution_time_limit"] = 59
    (error,) = errors_of(write_declaration(tmp_path, data))
    assert "phases.test.execution_time_limit: is 59, of which starting, checking and packing take a part." in error


@pytest.mark.parametrize(
    ("limit", "queue", "seconds"),
    [(60, None, 50), (100, None, 90), (300, None, 270), (600, None, 540), (3600, None, 540), (3600, QUEUE, 3480)],
)
def test_the_code_gets_the_limit_less_a_reserve(limit: int, queue: str | None, seconds: int, tmp_path: Path) -> None:
    data = declaration() | ({"queue": queue} if queue else {})
    data["phases"][1]["execution_time_limit"] = limit
    competition = resolve(write_declaration(tmp_path / "feelings", data))
    assert entry_seconds(competition, competition.phases[1]) == seconds


def test_a_measured_column_is_completed(tmp_path: Path) -> None:
    data = declaration()
    data["phases"][1]["execution_time_limit"] = 900
    column = read_competition(write_declaration(tmp_path, data)).tasks[0].columns[-1]
    assert (column.title, column.sort, column.worst, column.precision) == ("Seconds", "asc", 900, 1)

"""The validator at home and the scoring program accept and refuse the same submissions, with the same messages."""

import importlib
import io
import itertools
import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring_kit import frame, validate
from tests.scoring_programs.dev_phase import Case, cases
from tests.scoring_programs.framed import zipped
from tests.scoring_programs.packed import TAKING_RESULTS
from tests.sweeps import sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers")]
Files = Mapping[str, bytes]
Change = Callable[[Files, str, int], Files]


@pytest.fixture(scope="module", params=TAKING_RESULTS)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    (joint,) = cases(request.param, "joint", tmp_path_factory)
    return joint


def valid(case: Case) -> Files:
    """The example of a valid submission in the starting kit."""
    content = case.kit["examples/valid.zip"]
    assert isinstance(content, bytes)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module", autouse=True)
def nothing_is_scored() -> Iterator[None]:
    """Only the reading counts here: metrics, models and outputs are left out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame, "score_tasks", lambda *_: {})
        patch.setattr(frame, "write_outputs", lambda *_: {})
        yield


def said_by_program(case: Case, submission: bytes) -> tuple[int, str]:
    """Exit status, and what the scoring program says of the submission: the problems, and the warnings."""
    with tempfile.TemporaryDirectory() as work:
        given_folder = Path(work) / "input"
        with zipfile.ZipFile(io.BytesIO(submission)) as archive:
            (given_folder / "res").mkdir(parents=True)
            archive.extractall(given_folder / "res")
        (given_folder / "res" / "metadata").write_bytes(b"exitCode: null\n")  # the worker's own
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            status = frame.score_once(case.program, given_folder, Path(work) / "output", None, case.gold)
    warnings = [line for line in out.getvalue().splitlines() if re.match("warning: |… and ", line)]
    return status, "\n".join([*err.getvalue().splitlines(), *warnings])


def said_by_validator(case: Case, submission: bytes) -> tuple[int, str]:
    module = importlib.import_module(f"{case.competition.package.name}.submission")
    with tempfile.TemporaryDirectory() as work:
        path = Path(work) / "submission.zip"
        path.write_bytes(submission)
        out = io.StringIO()
        with redirect_stdout(out):
            status = validate.main(module, json.dumps(case.manifest), [str(path)])
    lines = [line for line in out.getvalue().splitlines() if " is valid." not in line]
    return status, "\n".join(lines)


def invalid_examples(case: Case) -> list[bytes]:
    files = [data for name, data in case.kit.items() if name.startswith("examples/invalid/") and name.endswith(".zip")]
    return [data for data in files if isinstance(data, bytes)]


def test_of_the_examples_in_the_starting_kit(case: Case) -> None:
    assert said_by_program(case, zipped(valid(case)))[0] == 0
    assert len(invalid_examples(case)) >= 4
    for submission in invalid_examples(case):
        status, text = said_by_program(case, submission)
        assert status == 1
        assert (status, text) == said_by_validator(case, submission)


@pytest.mark.parametrize("name", sweep(TAKING_RESULTS, TAKING_RESULTS[:2]))
def test_where_each_task_has_a_program_of_its_own(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Each reads its own part: what one of them says the validator says, and what none refuses it accepts."""
    programs = cases(name, "tasks", tmp_path_factory)
    submission = zipped(valid(programs[0]))
    assert [said_by_program(one, submission)[0] for one in programs] == [0] * len(programs)
    for submission in invalid_examples(programs[0]):
        said = [said_by_program(one, submission) for one in programs]
        status, text = said_by_validator(programs[0], submission)
        assert status == max(status for status, _ in said) == 1
        problems = {line for status, lines in said if status for line in lines.splitlines()[1:]}
        assert {line for line in problems if not line.startswith("… and")} <= set(text.splitlines())


def _token(value: str) -> Callable[[bytes, int], bytes]:
    """Replace the n-th token, a quoted text, a number or a word."""

    def change(content: bytes, n: int) -> bytes:
        found = list(re.finditer(rb'"[^"]*"|[\w.-]+', content))
        if not found:
            return content
        token = found[n % len(found)]
        return content[: token.start()] + value.encode() + content[token.end() :]

    return change


def _line(change: Callable[[list[bytes], int], list[bytes]]) -> Callable[[bytes, int], bytes]:
    def changed(content: bytes, n: int) -> bytes:
        lines = content.splitlines(keepends=True)
        return b"".join(change(lines, n % len(lines))) if lines else content

    return changed


def _in_file(change: Callable[[bytes, int], bytes]) -> Change:
    return lambda files, name, n: {**files, name: change(files[name], n)}


CONTENT: tuple[Callable[[bytes, int], bytes], ...] = (
    *map(_token, ["", "NaN", "1e999", "-1", "true", "null", '"text"', "[]", "9" * 400, "é", "T99999", "\x00"]),
    _line(lambda lines, n: lines[:n] + lines[n + 1 :]),
    _line(lambda lines, n: lines[: n + 1] + lines[n:]),
    _line(lambda lines, n: lines[n:] + lines[:n]),
    lambda content, n: content[: n % (len(content) + 1)],
    lambda content, n: content[: n % (len(content) + 1)] + b"\xff" + content[n % (len(content) + 1) :],
    lambda content, n: b"\xef\xbb\xbf" + content,
    lambda content, n: content.replace(b"\n", b"\r\n"),
    lambda content, n: content.decode("utf-8", "replace").encode("utf-16"),
    lambda content, n: content.replace(b",", b";"),
    lambda content, n: b"[" * n,
    lambda content, n: b"",
)
NAMES: tuple[Change, ...] = (
    lambda files, name, n: {other: files[other] for other in files if other != name},
    lambda files, name, n: {("x" + other if other == name else other): files[other] for other in files},
    lambda files, name, n: {(other.upper() if other == name else other): files[other] for other in files},
    lambda files, name, n: {f"my work/{other}": files[other] for other in files},
    lambda files, name, n: {**files, f"copy/{name}": files[name]},
    lambda files, name, n: {**files, "notes.txt": b"?", "__MACOSX/._x": b"?", ".DS_Store": b"?"},
    lambda files, name, n: {name.rsplit("/", 1)[-1]: files[name]},
)
STEPS = st.tuples(st.sampled_from([*map(_in_file, CONTENT), *NAMES]), st.integers(0, 10_000), st.integers(0, 10_000))


@settings(max_examples=40)
@given(steps=st.lists(STEPS, min_size=1, max_size=3))
def test_of_spoiled_submissions(case: Case, steps: list[tuple[Change, int, int]]) -> None:
    files = valid(case)
    for change, which, n in steps:
        files = change(files, sorted(files)[which % len(files)], n) if files else files
    submission = zipped(files)
    status, text = said_by_program(case, submission)
    assert status in (0, 1), text
    assert (status, text) == said_by_validator(case, submission)


def test_no_manifest_reveals_a_label(case: Case) -> None:
    text = json.dumps(case.manifest["expected"], ensure_ascii=False)
    assert [secret for secret in case.secrets.texts if secret.count(" ") > 2 and secret in text.lower()] == []
    labels = {(name, label) for name, _, label in case.secrets.labels}
    assert [
        pair for pair in _neighbours(case.manifest["expected"]) if (pair[0].lower(), pair[1].lower()) in labels
    ] == []


def _neighbours(value: Any) -> Iterator[tuple[str, str]]:
    """All pairs of values that stand together: key and value, or two values of one list or object."""
    children = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    plain = [str(child) for child in children if not isinstance(child, dict | list)]
    if isinstance(value, dict):
        yield from ((key, str(child)) for key, child in value.items())
        yield from itertools.permutations(plain, 2)
    else:
        yield from itertools.pairwise(plain)
    for child in children:
        yield from _neighbours(child)

"""Bugs in a scoring package of the organiser's own: told in few lines, with the message and the place."""

import re
from pathlib import Path

import pytest

from gen_bundle.build.package.client import ScoringPackage
from gen_bundle.ground.errors import UserError
from tests.generator.build.looking import built, edit, refused
from tests.generator.competition import small_competition

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forked_python")]


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        (
            "organiser.py",
            "    absent =",
            '    {}["x"]\n    absent =',
            r"my_task/organiser.py check_reference: failed with KeyError: 'x'\n  my_task/organiser.py:\d+ in check_ref",
        ),
        (
            "organiser.py",
            "import csv",
            "import csv(",
            r"prepare: failed with SyntaxError: .*\n  my_task/organiser.py:3",
        ),
        (
            "submission.py",
            "    expected = manifest.expected",
            "    expected = manifest.nonsense",
            r"my_task/submission.py: failed with AttributeError: .*nonsense.*\n  my_task/submission.py:\d+ in read$",
        ),
        (
            "submission.py",
            "    expected = manifest.expected",
            '    __import__("os")._exit(1)',
            "my_task/submission.py: failed with no message$",
        ),
        (
            "organiser.py",
            "LABELS[0]] for",
            '"nonsense"] for',
            "the template that organiser.py writes: is not a valid submission",
        ),
    ],
)
def test_a_bug_is_told_in_few_lines(tmp_path: Path, file: str, old: str, new: str, expected: str) -> None:
    folder = small_competition(tmp_path)
    edit(folder / "my_task" / file, old, new)
    messages = refused(folder)
    assert any(re.search(expected, message) for message in messages), messages
    assert all(len(message.splitlines()) <= 10 for message in messages)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            '"columns": ["label"]}]}',
            '"columns": ["label", 3]}]}',
            r"my_task/organiser.py secrets: answer.files.0.columns.1: input should be a valid string",
        ),
        (
            '{"files": [{"name"',
            '{"file": [{"name"',
            r"my_task/organiser.py secrets: answer.files: field required; answer.file: extra inputs are not",
        ),
        (
            '    return {"warnings": []}',
            "    return None",
            r"my_task/organiser.py prepare: answer: input should be an object",
        ),
        (
            '    return {"warnings": [f',
            '    return {"warnings": {f',
            r"my_task/organiser.py check_reference: failed with TypeError: Object of type set is not JSON serializable",
        ),
        (
            'shutil.copy(source / FILE, Path(request["out"]) / FILE)',
            "raise SystemExit(7)",
            r"my_task/organiser.py prepare: ended with exit status 7 and without an answer",
        ),
        (
            'shutil.copy(source / FILE, Path(request["out"]) / FILE)',
            "import a_package_nobody_has",
            r"The Python package a_package_nobody_has is missing on this machine. If that is its right name, ",
        ),
    ],
)
def test_a_wrong_answer_is_named_by_verb_and_field(tmp_path: Path, old: str, new: str, expected: str) -> None:
    folder = small_competition(tmp_path)
    code = folder / "my_task" / "organiser.py"
    edit(code, old, new)
    if "{f" in new:
        edit(code, "for label in absent]}", 'for label in [*absent, "x"]}}')
    assert re.search(expected, "\n".join(refused(folder)))


def test_one_process_answers_all_verbs_of_a_build_and_may_print(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    code = folder / "my_task" / "organiser.py"
    started = tmp_path / "started"
    says = f"import os; print('hello'); os.write(1, b'hello'); open({str(started)!r}, 'a').write('x')"
    edit(code, "import csv", f"import csv; {says}")
    edit(code, "    absent =", "    print('{} no JSON')\n    absent =")
    built(folder)
    assert started.read_text(encoding="utf-8") == "x"


def test_the_process_ends_with_the_build(tmp_path: Path) -> None:
    package = ScoringPackage("my_task", small_competition(tmp_path))
    with package.opened() as organiser:
        assert organiser.call("columns", {"package": "my_task", "tasks": []}) == {}
        assert organiser.process.poll() is None
    assert organiser.process.poll() is not None


def test_a_verb_that_there_is_not_is_told(tmp_path: Path) -> None:
    package = ScoringPackage("my_task", small_competition(tmp_path))
    edit(package.folder / "organiser.py", "def template(", "def empty(")
    with pytest.raises(UserError, match=r"no verb 'template'\. Expected one of check_reference, columns, disclosure, "):
        package.call("template", {})

"""Bugs in a scoring package of the organiser's own: told in few lines, with the message and the place."""

from pathlib import Path

import pytest

from gen_bundle.build import Request, build
from gen_bundle.errors import UserError
from tests.generator.competition import small_competition


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
            "organiser.py",
            "LABELS[0]] for",
            '"nonsense"] for',
            "the template that organiser.py writes: is no valid submission",
        ),
    ],
)
def test_a_bug_is_told_in_few_lines(tmp_path: Path, file: str, old: str, new: str, expected: str) -> None:
    folder = small_competition(tmp_path)
    code = folder / "my_task" / file
    text = code.read_text(encoding="utf-8")
    assert old in text
    code.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError, match=expected) as caught:
        build(Request(str(folder), tmp_path / "bundle.zip"))
    assert all(len(message.splitlines()) <= 10 for message in caught.value.messages)

"""The line that says what a run's numbers depend on."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scoring_kit.outputs import reference_digest, signature
from scoring_kit.program import Program
from scoring_kit.results import TaskResult


def signed(settings: dict[str, str]) -> dict[str, str]:
    program = Program("a-task", "a_task", "A task", "1.0", "joint", ("one",), ("one",), {"one": "One"}, {}, (), 5)
    line = signature(program, {"one": TaskResult(metrics={}, settings=settings, libraries=["scipy", "numpy"])}, "00ff")
    return dict(part.split(":", 1) for part in line.split("|"))


@given(st.text())
def test_a_setting_of_any_text_is_one_part(value: str) -> None:
    parts = signed({"c.rule": value, "d.model": "org/model:v1@main,layers=2+3"})
    assert list(parts) == ["competition", "tasks", "version", "c.rule", "d.model", "numpy", "scipy", "reference"]
    assert parts["numpy"] == np.__version__
    assert parts["d.model"] == "org/model:v1@main,layers=2+3"


def test_blanks_and_bars_are_written_as_in_an_address() -> None:
    assert signed({"c.rule": "best of|all é"})["c.rule"] == "best%20of%7Call%20é"


def test_the_gold_s_digest_is_of_its_text(tmp_path: Path) -> None:
    def digest(name: str, content: bytes) -> str:
        (tmp_path / name).mkdir()
        (tmp_path / name / "gold.csv").write_bytes(content)
        return reference_digest(tmp_path / name)

    plain = digest("plain", b"id,label\n1,a\n")
    assert digest("crlf", b"\xef\xbb\xbfid,label\r\n1,a\r\n") == digest("no-end", b"id,label\n1,a") == plain
    assert len({plain, digest("label", b"id,label\n1,b\n"), digest("blank", b"id,label\n1,a \n")}) == 3

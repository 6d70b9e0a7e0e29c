import gc
from types import SimpleNamespace
from typing import Any

import pytest

from scoring_kit.errors import Problems, SubmissionError
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import not_collecting, read_submission


def test_a_submission_is_read_without_collection_which_goes_on_even_after_a_refusal(tmp_path: Any) -> None:
    (tmp_path / "answer.txt").write_text("a\n", encoding="utf-8")
    seen: list[bool] = []

    def read(_files: object, _manifest: object, problems: Problems) -> None:
        seen.append(gc.isenabled())
        problems.error("answer.txt:1", "is a", "b")

    manifest = Manifest("made-up", ("one",), ("one",), "joint", {}, {})
    with pytest.raises(SubmissionError):
        read_submission(SimpleNamespace(read=read), tmp_path, manifest, Problems())
    assert (seen, gc.isenabled()) == ([False], True)


def test_one_pause_within_another_ends_neither() -> None:
    with not_collecting():
        with not_collecting():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()

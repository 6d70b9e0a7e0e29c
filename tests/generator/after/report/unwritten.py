"""Reports whose figures are drawn but not written, for tests of what else a report says."""

from typing import IO, Any

import pytest


@pytest.fixture
def unwritten_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what takes most of a report's time: laying out its figures and embedding their fonts."""

    def savefig(drawing: object, file: IO[bytes], **options: Any) -> None:
        file.write(b"<svg></svg>")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", savefig)

"""Which engine is chosen, and what becomes of one that stops answering meanwhile."""

from importlib import import_module

import pytest
import requests

from gen_bundle.dry_run.engines.choose import choose_engine
from gen_bundle.ground.errors import UserError


class GoneClient:
    """A client of an engine that answers its first call alone."""

    api = None

    def __init__(self) -> None:
        self.closed = False

    def version(self) -> None:
        raise requests.exceptions.ConnectionError("gone")

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> list[GoneClient]:
    made: list[GoneClient] = []

    def connect(_: int) -> GoneClient:
        made.append(GoneClient())
        return made[-1]

    monkeypatch.setattr(import_module("gen_bundle.dry_run.engines.docker"), "connect", connect)
    return made


def test_an_engine_that_goes_at_once_keeps_no_connection(clients: list[GoneClient]) -> None:
    lines: list[str] = []
    assert choose_engine(None, lines.append).name == "process"
    assert "no container engine answers" in lines[0]
    with pytest.raises(UserError, match="does not answer any more: gone"):
        choose_engine("docker", lines.append)
    assert [client.closed for client in clients] == [True] * 4

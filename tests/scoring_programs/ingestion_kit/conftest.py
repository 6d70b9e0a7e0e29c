"""One built competition for all tests of the kit."""

from pathlib import Path

import pytest

from tests.scoring_programs.ingestion_kit.steps import unpacked_bundle


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packed programs and data of the small competition."""
    return unpacked_bundle(tmp_path_factory.mktemp("code"))
